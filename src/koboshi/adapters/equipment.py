"""What a run is given so that it tells of itself: values, and the adapter that gives nothing.

Rule 1: the user's own files are never edited. What a run needs is a file of its own, an option or a
variable.
Rule 2: what the user set himself stays in force: it is merged in, or nothing is added and `note`
says why.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from .pasted import holds
from .story import Story

if TYPE_CHECKING:
    from koboshi.core.events import SignalRead
    from koboshi.observations import ScreenSeen, Signal


#: The file of a run in which its brief waits for the shim, which takes it away.
BRIEF = "brief.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What there is to equip a run with."""

    agent: str
    run: int
    shim: tuple[str, ...]  #: the command that hands a hook's JSON on
    folder: str  #: where files of this run may be put
    socket: str = ""  #: where the shim finds us
    spool: str = ""  #: where it leaves what nobody was there to take
    url: str = ""  #: where hooks are posted to, instead of calling the shim
    cwd: str = ""
    around: Mapping[str, str] = field(default_factory=dict)  #: environment it starts in
    texts: Mapping[str, str] = field(default_factory=dict)  #: files by path, as far as there are
    brief: str = ""  #: what the run is to know before anybody types, where its CLI can be told so

    @property
    def env(self) -> dict[str, str]:
        """What the shim has to know, as variables."""
        said = {
            "KOBOSHI_AGENT": self.agent,
            "KOBOSHI_RUN_NUMBER": str(self.run),
            "KOBOSHI_HOOK_SOCKET": self.socket,
            "KOBOSHI_HOOK_SPOOL": self.spool,
        }
        return {name: value for name, value in said.items() if value}

    def command(self, *words: str) -> str:
        """The shim as one line for a shell, with what it has to know.

        A CLI may be started through something that cleans the environment.
        """
        known = (f"{name}={shlex.quote(value)}" for name, value in self.env.items())
        return " ".join((*known, shlex.join((*self.shim, *words))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What is added to a run: the whole argv, variables, and files by path with their text."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    note: str = ""  #: why there is less than there could be


class Bare:
    """An adapter of something that tells nothing beside its screen and has no words of its own."""

    offers: ClassVar[tuple[str, ...]] = ("process", "screen")
    tested: str = ""

    def signal(self, seen: Signal) -> SignalRead | None:  # noqa: ARG002
        """Nothing."""
        return None

    hands_over: ClassVar[bool] = False

    def own(self, rows: tuple[str, ...]) -> tuple[bool, ...]:
        """All of them, as far as anybody knows."""
        return (True,) * len(rows)

    def story(self, lines: Iterable[bytes]) -> Story:  # noqa: ARG002
        """Nothing is written down."""
        return Story()

    def holds(self, draft: str, text: str) -> bool:
        """Whether it is shown as it is."""
        return holds(draft, text)

    def said_goodbye(self, seen: ScreenSeen) -> bool:  # noqa: ARG002
        """Its last words are not known."""
        return False

    def lost_session(self, seen: ScreenSeen) -> bool:  # noqa: ARG002
        """How it would say that is not known."""
        return False

    def equip(self, argv: tuple[str, ...], kit: Kit) -> Equipment:  # noqa: ARG002
        """Nothing is added."""
        return Equipment(argv=argv)

    def continue_argv(self, *, program: tuple[str, ...]) -> tuple[str, ...]:
        """It knows no last session: it starts afresh."""
        return program

    def headless_argv(
        self,
        *,
        program: tuple[str, ...],
        prompt: str,
        session: str | None = None,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """The prompt is its last word."""
        return (*program, prompt)

    def env(self, program: tuple[str, ...]) -> Mapping[str, str]:  # noqa: ARG002
        """It needs none."""
        return {}

    def clean_exit(self, code: int | None, signal: int | None) -> bool:
        """Zero means what it means everywhere."""
        return code == 0 and signal is None

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
