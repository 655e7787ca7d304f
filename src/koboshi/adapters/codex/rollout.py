"""`~/.codex/sessions/Y/M/D/rollout-<time>-<session>.jsonl`: Codex CLI's record of a session.

The file appears with the first prompt. Codex takes no session id from outside: the file's name is
where a run's session is learned, and nothing else can be resumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.values import member, object_in, tokens, word
from koboshi.core.events import SignalRead, Source
from koboshi.core.readings import ContextUse, Status
from koboshi.observations import TranscriptGrew

if TYPE_CHECKING:
    from koboshi.observations import Signal

#: What Codex itself takes off both numbers before it shows a share: instructions and tools.
BASELINE = 12_000
_TURN = {
    "task_started": (Status.WORKING, "transcript: a turn began"),
    "task_complete": (Status.IDLE, "transcript: the turn ended"),
    "turn_aborted": (Status.IDLE, "transcript: the turn was interrupted"),
}


def read_signal(seen: Signal) -> SignalRead | None:
    """What new lines of a rollout say; Codex has no other signal that can be trusted."""
    if not isinstance(seen, TranscriptGrew):
        return None
    status, reason = None, ""
    context, window = None, 0
    for line in seen.lines:
        entry = object_in(line)
        payload = member(entry, "payload")
        kind = word(payload, "type")
        if entry.get("type") != "event_msg":
            continue
        if kind in _TURN:
            status, reason = _TURN[kind]
            if payload.get("last_agent_message", "") is None:
                reason = "transcript: the turn ended without a word"  # so does one that failed
        elif kind == "token_count":
            count = member(payload, "info")
            used = tokens(member(count, "last_token_usage"), "total_tokens")
            window = tokens(count, "model_context_window") or window
            context = _share(used, window) or context
    return SignalRead(
        run=seen.run,
        source=Source.TRANSCRIPT,
        status=status,
        reason=reason,
        session=seen.session,
        context=context,
        window=window,
    )


def is_main(first_line: bytes) -> bool:
    """Whether a rollout that begins so is the person's conversation, not a sub-agent's."""
    meta = member(object_in(first_line), "payload")
    return word(meta, "source") == "cli" and word(meta, "thread_source") in ("user", "")


def _share(used: int, window: int) -> ContextUse | None:
    if not used or window <= BASELINE:
        return None
    share = 100.0 * max(0, used - BASELINE) / (window - BASELINE)
    return ContextUse(used=min(100.0, round(share, 1)), source=Source.TRANSCRIPT.value)
