"""Intents. An action is a value: it says what should be done, about what, and how bad a mistake is.

Every action has a `key`. It names what the action was decided about (law 2), so it is both the
dedupe key in the ledger and the fence a performer checks: a `run` that is over makes it void.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar, get_args

from .events import Origin, Severity
from .readings import Meaning


class Safety(enum.Enum):
    """What a wrong decision would cost."""

    SAFE = "safe"  #: Nothing that cannot be taken back
    UNSAFE = "unsafe"  #: Could lose work; shown only, until a config can opt in
    MANUAL = "manual"  #: Shown only; a person does it


class Mode(enum.IntEnum):
    """How much the owner lets koboshi do; each includes the one before."""

    OBSERVE = 0  #: Look and tell, touch nothing
    KEEP = 1  #: Save, continue, refresh, resume, wait out limits
    AUTO = 2  #: Keep, and answer questions by policy


class Intent:
    """What all actions have: a kind, the harm if wrong, and the mode it takes."""

    __slots__ = ()
    kind: ClassVar[str]
    safety: ClassVar[Safety] = Safety.SAFE
    mode: ClassVar[Mode] = Mode.KEEP

    @property
    def key(self) -> str:
        """One per occasion: the same question, attempt or incident gives the same key."""
        return self._about()

    def _about(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Intent):
    """Pick the option of that meaning in the nth question of the run."""

    kind: ClassVar[str] = "answer"
    mode: ClassVar[Mode] = Mode.AUTO
    run: int
    nth: int
    fingerprint: str
    choice: Meaning

    def _about(self) -> str:
        return f"{self.run}.question{self.nth}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Send(Intent):
    """Type a message and submit it."""

    kind: ClassVar[str] = "send"
    run: int
    text: str
    about: str
    ordered: bool = False  #: a person's own words
    at_once: bool = False  #: also while a turn runs

    def _about(self) -> str:
        return f"{self.run}.{self.about}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh(Intent):
    """Begin the save → exit → start → load sequence; the RFR rules walk it."""

    kind: ClassVar[str] = "refresh"
    run: int
    nth: int
    why: str
    back: bool = False  #: the same session goes on in a new process; else a fresh one with a note
    cure: bool = False  #: for errors: one of these, then a person is asked
    forced: bool = False  #: its turn does not end: it is interrupted
    note: str = ""  #: the run is gone: koboshi writes the note of that name itself

    def _about(self) -> str:
        return f"{self.run}.refresh{self.nth}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Intent):
    """End a turn that does nothing any more; the agent is at its prompt afterwards."""

    kind: ClassVar[str] = "interrupt"
    run: int
    about: str

    def _about(self) -> str:
        return f"{self.run}.{self.about}.interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint(Intent):
    """Have the agent save its work under `name`, and see that it did."""

    kind: ClassVar[str] = "checkpoint"
    run: int
    name: str
    about: str
    last: bool = False  #: the agent is not asked again: whoever can writes the note for it

    def _about(self) -> str:
        return f"{self.run}.{self.about}.save"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Intent):
    """End the process: its own way first, then SIGTERM, then SIGKILL."""

    kind: ClassVar[str] = "stop"
    run: int
    about: str
    ordered: bool = False  #: by a person, who need not wait for the end of a turn
    force: bool = False  #: SIGKILL at once; nothing is typed
    asked: bool = False  #: by the agent, in the middle of its turn: nothing is typed

    def _about(self) -> str:
        return f"{self.run}.{self.about}.stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Intent):
    """Start run number `run`. Every one counts against the restart budget (law 6)."""

    kind: ClassVar[str] = "start"
    run: int
    origin: Origin
    session: str = ""
    nth: int = 0
    ordered: bool = False  #: whoever asked for it said so

    def _about(self) -> str:
        return f"{self.run}.start{self.nth}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Intent):
    """Hand the saved work to a fresh run, and see that it arrived."""

    kind: ClassVar[str] = "load"
    run: int
    name: str
    nth: int

    def _about(self) -> str:
        return f"{self.run}.load{self.nth}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling(Intent):
    """About something that happened; it reaches people, files and programs, and no terminal."""

    mode: ClassVar[Mode] = Mode.OBSERVE
    about: str
    text: str  #: in one line: what happened, or what is needed of a person

    def _about(self) -> str:
        return f"{self.about}.{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify(_Telling):
    """Tell whoever listens; needs no answer."""

    kind: ClassVar[str] = "notify"
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalate(_Telling):
    """Ask a person to act; `text` says in one line what is needed of them."""

    kind: ClassVar[str] = "escalate"
    gives_up: bool = False  #: no restart until a person acknowledges


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle(_Telling):
    """Put everything that tells of an incident into one file, without secrets."""

    kind: ClassVar[str] = "bundle"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixPrompt(_Telling):
    """Write a prompt that asks an agent for cause, fix and prevention of an incident."""

    kind: ClassVar[str] = "fix-prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(_Telling):
    """Run a program that the owner's configuration names."""

    kind: ClassVar[str] = "command"
    name: str

    def _about(self) -> str:
        return f"{self.about}.{self.name}.{self.kind}"


_Terminal = Answer | Send | Refresh | Interrupt | Checkpoint | Stop | Start | Load
Telling = Notify | Escalate | Bundle | FixPrompt | Command
Action = _Terminal | Telling

#: Wire name of each action. Names are never reused.
ACTION_KINDS: dict[str, type[Action]] = {cls.kind: cls for cls in get_args(Action)}

#: Actions that reach into the agent's terminal: one at a time, and never while a person types.
HANDS = get_args(_Terminal)
