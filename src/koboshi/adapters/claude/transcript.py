"""`~/.claude/projects/<folder>/<session>.jsonl`: what was said, asked for and run, line by line.

A line is written when something is over: a message, a tool call, an error. What the newest line
says about the turn is an edge, and only of the main conversation: sub-agents write lines, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from koboshi.adapters.clocks import asked_wait
from koboshi.adapters.values import member, members, object_in, tokens, word
from koboshi.core.events import SignalRead, Source
from koboshi.core.readings import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from koboshi.observations import TranscriptGrew

_USAGE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
#: How a user's line begins that is a command of the CLI or its output, not a message to the model.
_LOCAL = ("<command-", "<local-command-", "<bash-")
#: Characters of an error's code: a number, or a word such as `invalid_request`.
_CODE = 32
_INTERRUPTED = "[Request interrupted by user"
#: Tool names in the evidence; a turn may call dozens.
_SHOWN = 5


@dataclass(slots=True)
class Tale:
    """What lines tell: the newest word about the turn, the context, and the tool calls."""

    status: Status | None = None
    reason: str = ""
    tokens: int = 0
    wait: float = 0.0  #: seconds that the error asks for, in which the turn ended
    open: dict[str, str] | None = None  #: tool calls without a result yet: id → name

    def calls(self) -> dict[str, str]:
        """The open tool calls, to be changed."""
        if self.open is None:
            self.open = {}
        return self.open


def read_transcript(seen: TranscriptGrew) -> SignalRead:
    """What the new lines say; that there are any is news, too: a sub-agent may write for long."""
    tale = tell(seen.lines)
    names = sorted(set((tale.open or {}).values()))[:_SHOWN]
    return SignalRead(
        run=seen.run,
        source=Source.TRANSCRIPT,
        status=tale.status,
        reason=tale.reason,
        evidence=tuple(f"transcript: {name} has no result yet" for name in names),
        tokens=tale.tokens,
        wait=tale.wait if tale.status is Status.FAILED else 0.0,
    )


def tell(lines: Iterable[bytes]) -> Tale:
    """The lines of a transcript, whatever else is between them."""
    tale = Tale()
    for entry in _by_time(map(object_in, lines)):
        kind = entry.get("type")
        if kind == "assistant":
            _assistant(tale, entry)
        elif kind == "user" and entry.get("isMeta") is not True:
            _user(tale, entry)
        elif kind == "system" and entry.get("subtype") == "api_error":
            tale.status, tale.reason = Status.WORKING, "transcript: an API error, retrying"
    return tale


def _by_time(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The main conversation's lines, as it went.

    Claude Code 2.1.197 begins the file when it is first told something, and writes what it was
    told after that. The answer does not wait for it: an error that comes at once stands before it.
    """
    timed: list[tuple[str, dict[str, Any]]] = []
    at = ""
    for entry in entries:
        if entry.get("isSidechain") is not True:
            at = word(entry, "timestamp") or at  # a line without one belongs to the one above it
            timed.append((at, entry))
    return [entry for _, entry in sorted(timed, key=itemgetter(0))]


def _assistant(tale: Tale, entry: dict[str, Any]) -> None:
    message = member(entry, "message")
    if entry.get("isApiErrorMessage") is True:
        code = entry.get("apiErrorStatus") or entry.get("error")
        said = f" {code}" if isinstance(code, int | str) and len(str(code)) <= _CODE else ""
        tale.status, tale.reason = Status.FAILED, f"error_text: transcript, API error{said}"
        texts = (word(block, "text") for block in members(message, "content"))
        tale.wait = max(map(asked_wait, texts), default=0.0)
        tale.calls().clear()
        return
    tale.tokens = tokens(member(message, "usage"), *_USAGE) or tale.tokens
    for block in members(message, "content"):
        if block.get("type") == "tool_use":
            tale.calls()[word(block, "id")] = word(block, "name") or "a tool"
    ended = word(message, "stop_reason") in ("end_turn", "stop_sequence")
    tale.status = Status.IDLE if ended else Status.WORKING
    tale.reason = "transcript: the turn ended" if ended else "transcript: in a turn"


def _user(tale: Tale, entry: dict[str, Any]) -> None:
    message = member(entry, "message")
    said = message.get("content")
    blocks = members(message, "content")
    for block in blocks:
        if block.get("type") == "tool_result":
            tale.calls().pop(word(block, "tool_use_id"), None)
    texts = [said] if isinstance(said, str) else [block.get("text") for block in blocks]
    first = next((text for text in texts if isinstance(text, str)), "")
    if first.startswith(_INTERRUPTED):
        tale.status, tale.reason = Status.IDLE, "transcript: interrupted by the user"
        tale.calls().clear()
    elif blocks or (first and not first.startswith(_LOCAL)):
        tale.status, tale.reason = Status.WORKING, "transcript: the model was told something"
