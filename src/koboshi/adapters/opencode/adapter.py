"""Knowledge about OpenCode, on top of its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from koboshi.adapters.clis import CliAdapter

from .equip import equip

if TYPE_CHECKING:
    from koboshi.adapters.equipment import Equipment, Kit


class OpenCodeAdapter(CliAdapter):
    """Knowledge about OpenCode. SIGTERM and SIGHUP end it with 0, too."""

    name = "opencode"
    #: Its title is the same throughout; its plug-in tells which session it is in, and no more.
    offers: ClassVar[tuple[str, ...]] = ("process", "screen", "hooks")

    def equip(self, argv: tuple[str, ...], kit: Kit) -> Equipment:
        """A plug-in that tells of its session."""
        return equip(argv, kit)
