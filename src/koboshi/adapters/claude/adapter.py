"""Knowledge about Claude Code, on top of its manifest."""

from __future__ import annotations

from typing import ClassVar

from koboshi.adapters.clis import CliAdapter

from .equip import equip
from .signals import read_signal
from .story import read_story


class ClaudeAdapter(CliAdapter):
    """Knowledge about Claude Code."""

    name = "claude"
    offers: ClassVar[tuple[str, ...]] = (
        *CliAdapter.offers,
        *("registry", "hooks", "transcript", "status line"),
    )
    # 0: /exit, Ctrl-C twice, SIGINT. 143 and 129: SIGTERM and SIGHUP, after its own clean-up.
    clean_codes: ClassVar[frozenset[int]] = frozenset({0, 129, 143})

    signal = staticmethod(read_signal)
    story = staticmethod(read_story)
    equip = staticmethod(equip)
