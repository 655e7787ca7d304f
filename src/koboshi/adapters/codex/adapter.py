"""Knowledge about Codex CLI, on top of its manifest."""

from __future__ import annotations

from typing import ClassVar

from koboshi.adapters.clis import CliAdapter

from .rollout import read_signal
from .story import read_story


class CodexAdapter(CliAdapter):
    """Knowledge about Codex CLI.

    SIGTERM and SIGHUP end it with 143 and 129 and leave its frame on the screen: nothing of its
    own was closed, so only 0 counts as meant.
    """

    name = "codex"
    offers: ClassVar[tuple[str, ...]] = (*CliAdapter.offers, "transcript")

    signal = staticmethod(read_signal)
    story = staticmethod(read_story)
