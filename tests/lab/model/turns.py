"""What the scripted model does when it is asked: values only, no protocol.

A turn answers one request. Its blocks are what the model says, its trouble what goes wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: A turn with this many `times` never leaves the queue.
EVER = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Text of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """Reasoning that comes before the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; `id` is made from the request's number when it is empty."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


Block = Say | Think | Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens the model says it used; a CLI believes them and computes its context from them."""

    input: int = 1200
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """An error answer; an empty `body` becomes what the protocol's real server would send."""

    status: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """Silence until `Model.release()`: from the first byte on, or after that many words."""

    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The connection ends, before the first byte or after that many words."""

    after: int | None = None
    reset: bool = False  #: True: TCP reset; False: an orderly close without a last event


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """An error event inside a stream that began well; a whole answer is that error instead."""

    message: str
    type: str = "overloaded_error"
    status: int = 529  #: of the whole answer


Trouble = Refuse | Hang | Drop | Break


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model. `match` is searched in what it was told last."""

    blocks: tuple[Block, ...] = ()
    usage: Usage = Usage()
    trouble: Trouble | None = None
    headers: Mapping[str, str] = field(default_factory=dict)  #: of a good answer
    pace: float = 0.01  #: seconds between words
    stop: str = ""  #: stop reason; empty: what fits the blocks
    match: str = ""  #: regular expression; the turn waits for a request that it fits, and may quote
    side: bool = False  #: True: only for requests without tools (titles, summaries)
    times: int = 1  #: requests that it answers


def say(text: str, **rest: Any) -> Turn:  # noqa: ANN401
    """A turn that says this."""
    return Turn(blocks=(Say(text=text),), **rest)


def call(tool: str, /, **given: Any) -> Turn:  # noqa: ANN401
    """A turn that calls this tool with this input."""
    return Turn(blocks=(Call(tool=tool, input=given),))


def refuse(status: int, message: str = "", *, times: int = 1, **headers: str) -> Turn:
    """A turn that is an error answer; `retry_after="3"` becomes the header `retry-after: 3`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Turn(trouble=Refuse(status=status, message=message, headers=named), times=times)


def hang(*, times: int = 1) -> Turn:
    """A turn that never answers."""
    return Turn(trouble=Hang(), times=times)


def stall(text: str, *, after: int) -> Turn:
    """A turn that begins to say this and stops after that many words."""
    return Turn(blocks=(Say(text=text),), trouble=Hang(after=after))


def drop(text: str = "", *, after: int | None = None, reset: bool = False, times: int = 1) -> Turn:
    """A turn whose connection ends."""
    said = (Say(text=text),) if text else ()
    return Turn(blocks=said, trouble=Drop(after=after, reset=reset), times=times)
