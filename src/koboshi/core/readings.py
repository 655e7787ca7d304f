"""What one look at a screen says: values only, no memory, no clock.

An adapter turns a `ScreenSeen` into a `Reading`; `koboshi inspect` prints one.
The keys of `Reading`, `Prompt`, `ContextUse`, `Limit` and `ApiError` are a public contract.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass


class Status(enum.StrEnum):
    """What an agent is doing; the same words in code, JSON and pages."""

    STARTING = "starting"  #: Process is up, its prompt is not
    WORKING = "working"  #: A turn runs, also compacting and retrying
    IDLE = "idle"  #: At its prompt, nothing to do
    ASKING = "asking"  #: Blocked on a question
    LIMITED = "limited"  #: Usage limit, knows when it resets
    FAILED = "failed"  #: The turn ended in an error, needs a nudge
    GONE = "gone"  #: Process ended, or only a shell is left
    UNKNOWN = "unknown"  #: The evidence does not say, or contradicts itself


class PromptKind(enum.StrEnum):
    """What a question is about; a policy looks at this first."""

    PERMISSION = "permission"  #: May this tool call run
    QUESTION = "question"  #: The agent asks its user to choose
    PLAN = "plan"  #: Shall this plan be carried out
    TRUST = "trust"  #: Is this folder, key or server to be trusted
    LIMIT = "limit"  #: The menu a CLI opens at a usage limit
    PICKER = "picker"  #: A menu a person opened (/model …): never answered


class Meaning(enum.StrEnum):
    """What choosing an option does, whatever its position or number."""

    ONCE = "once"  #: Yes, this time
    ALWAYS = "always"  #: Yes, and do not ask again
    NO = "no"  #: Refuse
    WAIT = "wait"  #: Stop and wait for the limit to reset
    OTHER = "other"  #: Anything else


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One row of a dialog; `key` is the single key that picks it, if there is one."""

    text: str
    meaning: Meaning = Meaning.OTHER
    key: str = ""
    checked: bool | None = None  #: whether its box is ticked; None: it has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question on the live part of the screen."""

    kind: PromptKind
    question: str
    options: tuple[Option, ...] = ()
    selected: int | None = None
    subject: str = ""
    tool: str = ""  #: what it would run ("Bash", "mcp__server__tool"), where the dialog says so
    dismiss: str = ""  #: the key that refuses it, where no option does

    @property
    def fingerprint(self) -> str:
        """Same words, same fingerprint; which row is selected does not count."""
        words = "\x1f".join(
            (self.kind, self.question, self.subject, *(o.text for o in self.options))
        )
        return hashlib.blake2s(words.encode(errors="surrogatepass"), digest_size=8).hexdigest()

    @property
    def several(self) -> bool:
        """Whether more than one option may be picked."""
        return any(option.checked is not None for option in self.options)

    def index_of(self, meaning: Meaning) -> int | None:
        """Where the first option of that meaning stands."""
        return next((i for i, o in enumerate(self.options) if o.meaning is meaning), None)

    def takes(self, meaning: Meaning) -> bool:
        """Whether it can be answered so."""
        dismissed = meaning is Meaning.NO and bool(self.dismiss)
        return dismissed or self.index_of(meaning) is not None


def alike(shown: Prompt, told: Prompt) -> bool:
    """Whether a dialog asks what a hook tells of, word for word; a screen breaks lines."""
    if shown.kind is not told.kind or told.kind is PromptKind.PLAN:
        return shown.kind is told.kind  # no agent shows two plans
    asks = told.kind is PromptKind.QUESTION
    here, there = ("".join((p.question if asks else p.subject).split()) for p in (shown, told))
    return here == there != ""


def picked(text: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that a text names, one or several with commas between; else none of them."""
    plain = [label.strip().casefold() for label in labels]
    known = {key: label for key, label in zip(plain, labels, strict=True) if plain.count(key) == 1}
    rest, found = text.strip().casefold(), list[str]()
    while rest:
        ends = (
            each for each in known if rest == each or rest.startswith((f"{each},", f"{each} ,"))
        )
        label = max(ends, key=len, default="")
        if not label or known[label] in found:
            return ()
        found.append(known[label])
        rest = rest[len(label) :].lstrip(" ,")
    return tuple(label for label in labels if label in found)


def unmarked(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Lines without what stands before their words: the mark of a call that runs may blink."""
    return tuple(line.lstrip(" \t●⏺○◉•·*✻✽✢✶✳∗") for line in lines)


def added(above: tuple[str, ...], lines: tuple[str, ...]) -> tuple[str, ...] | None:
    """The lines that came after `above`; None when the transcript was rebuilt or scrolled away."""
    for size in range(min(len(above), len(lines)), 0, -1):
        if above[-size:] == lines[:size]:
            return lines[size:]
    return None if above else lines


def ran_between(above: tuple[str, ...], lines: tuple[str, ...], subject: str) -> bool:
    """Whether new lines above a dialog tell that its subject was carried out meanwhile.

    Anything can be printed above an open dialog; only the tool call itself proves that the dialog
    was answered and that the same words are asked again.
    """
    told = "".join("".join(added(above, lines) or ()).split())
    return bool(subject) and "".join(subject.split()) in told


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUse:
    """Share of the context window in use, in percent; `source` is who said so."""

    used: float
    source: str = "screen"

    @property
    def left(self) -> float:
        """What remains; the opposite reading of `used`."""
        return 100.0 - self.used


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A usage limit; `resets_at` is an instant in epoch seconds, None when not shown."""

    kind: str
    resets_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """An API error; `code` is the HTTP status or a word such as "network"."""

    code: str
    retrying: bool = False
    attempt: int | None = None
    of: int | None = None
    wait: float = 0.0  #: seconds that it asks to wait before the next try


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that one look says. `lines` is the tail of the transcript, without box and footer."""

    status: Status
    reason: str = ""
    evidence: tuple[str, ...] = ()
    prompt: Prompt | None = None
    context: ContextUse | None = None
    limit: Limit | None = None
    error: ApiError | None = None
    draft: str = ""
    unended: bool = False  #: its box is open and no turn is seen to run; nothing says that it ended
    lines: tuple[str, ...] = ()
