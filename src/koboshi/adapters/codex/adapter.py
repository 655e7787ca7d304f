"""Knowledge about Codex CLI, on top of its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from koboshi.adapters.clis import CliAdapter

from .equip import equip
from .rollout import read_signal
from .story import read_story

if TYPE_CHECKING:
    from koboshi.adapters.equipment import Equipment, Kit


class CodexAdapter(CliAdapter):
    """Knowledge about Codex CLI.

    SIGTERM and SIGHUP end it with 143 and 129 and leave its frame on the screen: nothing of its
    own was closed, so only 0 counts as meant.
    """

    name = "codex"
    offers: ClassVar[tuple[str, ...]] = (*CliAdapter.offers, "hooks", "transcript")

    signal = staticmethod(read_signal)
    story = staticmethod(read_story)

    def equip(self, argv: tuple[str, ...], kit: Kit) -> Equipment:
        """Hooks, in versions that know ours without a question."""
        return equip(argv, kit, self._version)
