"""Any terminal program: whether it is there can be known, what it is doing cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from koboshi.core.readings import Reading, Status

from .equipment import Bare
from .screens import read_gone
from .text import rows_of

if TYPE_CHECKING:
    from koboshi.core.readings import Meaning, Prompt
    from koboshi.observations import ScreenSeen

_KEPT_LINES = 40


class GenericAdapter(Bare):
    """Knowledge about no CLI in particular: it never proposes a key or a word."""

    name = "generic"
    #: Styles say nothing about a program that is not known; to capture them costs tmux most.
    reads_plain: ClassVar[bool] = True

    def read(self, seen: ScreenSeen) -> Reading:
        """`gone` with proof, `unknown` otherwise."""
        rows = rows_of(seen.text)
        gone = read_gone(seen, rows)
        if gone is not None:
            return gone
        shown = tuple(row for row in rows[-2 * _KEPT_LINES :] if row)[-_KEPT_LINES:]
        reason = "program_not_known" if shown else "blank_screen"
        return Reading(status=Status.UNKNOWN, reason=reason, evidence=shown[-1:], lines=shown)

    def argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:  # noqa: ARG002
        """A fresh run is the program itself."""
        return program

    def resume_argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:  # noqa: ARG002
        """A program that is not known cannot resume: it starts afresh."""
        return program

    def session_at_start(self, *, program: tuple[str, ...], session: str) -> str:  # noqa: ARG002
        """Empty: it has no sessions."""
        return ""

    def interrupt_keys(self) -> tuple[str, ...]:
        """None are known."""
        return ()

    @property
    def submit_pause(self) -> float:
        """As long as any CLI needs."""
        return 0.3

    def keys_for(self, prompt: Prompt, choice: Meaning) -> tuple[str, ...] | None:  # noqa: ARG002
        """No key is known to be right."""
        return None

    def exit_text(self) -> str:
        """Empty: no words are known that end it."""
        return ""
