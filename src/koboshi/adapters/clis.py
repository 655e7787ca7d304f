"""What the adapters of the real CLIs share: a manifest reads, a few lines know the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .equipment import Bare
from .grammar import load, read_screen
from .grammar.answers import keys_to_choose

if TYPE_CHECKING:
    from koboshi.core.observations import ScreenSeen
    from koboshi.core.readings import Meaning, Prompt, Reading


class CliAdapter(Bare):
    """Knowledge about one CLI, most of it in its manifest."""

    name: str = ""
    #: Exit codes that somebody meant: a typed exit, or an asked-for end by a signal.
    clean_codes: ClassVar[frozenset[int]] = frozenset({0})

    def __init__(self, override_text: str | None = None) -> None:
        self._manifest = load(self.name, override_text)

    def read(self, seen: ScreenSeen) -> Reading:
        """What that screen shows."""
        return read_screen(self._manifest, seen)

    def argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:  # noqa: ARG002
        """A fresh run is the program itself."""
        return program

    def resume_argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:  # noqa: ARG002
        """Without a way to resume a run starts afresh."""
        return program

    def keys_for(self, prompt: Prompt, choice: Meaning) -> tuple[str, ...] | None:
        """The digit of the option of that meaning, or the way to it; None: there is none."""
        return keys_to_choose(prompt, choice, move=self._manifest.dialog.move)

    def clean_exit(self, code: int | None, signal: int | None) -> bool:
        """Whether the run was ended on purpose."""
        return signal is None and code in self.clean_codes

    def save_text(self, name: str) -> str:  # noqa: ARG002
        """Empty: it has no command of its own that saves."""
        return ""

    def load_text(self, name: str) -> str:  # noqa: ARG002
        """Empty: it has no command of its own that loads."""
        return ""

    def saved(self, lines: tuple[str, ...], name: str) -> bool:  # noqa: ARG002
        """Never: it cannot save."""
        return False

    def loaded(self, lines: tuple[str, ...], name: str) -> bool:  # noqa: ARG002
        """Never: it cannot load."""
        return False

    def exit_text(self) -> str:
        """What is typed to make the agent exit."""
        return self._manifest.words.get("exit", "")
