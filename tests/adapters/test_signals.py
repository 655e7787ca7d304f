"""What agents tell beside their screens, read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.claude.registry import read_registry
from koboshi.adapters.claude.transcript import tell
from koboshi.adapters.codex.rollout import is_main
from koboshi.adapters.decode import decode
from koboshi.adapters.registry import adapter, names
from koboshi.core.events import HookRead, SignalRead, Source
from koboshi.core.readings import ContextUse, Status
from koboshi.observations import (
    HookFired,
    RegistryRead,
    Signal,
    StatusLineSeen,
    TranscriptGrew,
)


def line(**entry: Any) -> bytes:  # noqa: ANN401
    """One line of a file."""
    return json.dumps(entry).encode()


def assistant(stop: str = "end_turn", *blocks: dict[str, Any], **entry: Any) -> bytes:  # noqa: ANN401
    """A message of the model; 3 + 5 + 7 + 11 tokens."""
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 7,
        "output_tokens": 11,
    }
    message = {"id": "m", "content": list(blocks), "stop_reason": stop, "usage": usage}
    return line(**{"type": "assistant", "isSidechain": False, "message": message, **entry})


def user(content: Any, **entry: Any) -> bytes:  # noqa: ANN401
    """What the model is told."""
    message = {"role": "user", "content": content}
    return line(**{"type": "user", "isSidechain": False, "message": message, **entry})


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "made"}


# -- Claude Code ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "status", "reason"),
    [
        ({"status": "busy"}, Status.WORKING, "registry: busy"),
        ({"status": "idle"}, Status.IDLE, "registry: idle"),
        ({"status": "shell"}, Status.IDLE, "registry: shell"),
        (
            {"status": "waiting", "waitingFor": "dialog open"},
            Status.ASKING,
            "registry: waiting (dialog open)",
        ),
    ],
)
def test_the_registry_says_what_claude_does(
    record: dict[str, Any], status: Status, reason: str
) -> None:
    """And which session it is in."""
    full = {"pid": 7, "sessionId": "s1", "kind": "interactive", **record}

    assert read_registry(RegistryRead(run=2, record=full)) == SignalRead(
        run=2, source=Source.REGISTRY, status=status, reason=reason, session="s1"
    )


@pytest.mark.parametrize(
    "record", [{"status": "dancing"}, {"status": 3}, {"status": "idle", "kind": "bg"}]
)
def test_a_registry_that_is_not_understood_says_nothing(record: dict[str, Any]) -> None:
    """Nor does that of a background process."""
    assert read_registry(RegistryRead(run=1, record=record)) is None


def test_an_empty_registry_takes_back() -> None:
    """The source tells once that there is none any more."""
    assert read_registry(RegistryRead(run=1, record={})) == SignalRead(
        run=1, source=Source.REGISTRY
    )


def test_a_status_line_tells_of_the_context() -> None:
    """Its share is of the whole window."""
    window = {"used_percentage": 41, "context_window_size": 200_000}
    told = {"session_id": "s1", "context_window": window, "cost": {"total_cost_usd": 0.4212345678}}
    seen = StatusLineSeen(run=1, payload=told)

    assert decode(adapter("claude"), seen) == SignalRead(
        run=1,
        source=Source.STATUSLINE,
        session="s1",
        context=ContextUse(used=41.0, source="statusline"),
        window=200_000,
        cost=0.421235,
    )


@pytest.mark.parametrize("cost", [None, True, "1", -1, 1e9, float("nan"), {}])
def test_money_that_is_none_is_not_told(cost: object) -> None:
    """Somebody else wrote it."""
    payload = {"session_id": "s1", "cost": {"total_cost_usd": cost}}
    told = decode(adapter("claude"), StatusLineSeen(run=1, payload=payload))

    assert isinstance(told, SignalRead)
    assert told.cost == 0.0


@pytest.mark.parametrize("used", [None, True, "41", -1, 101, float("nan")])
def test_a_share_that_is_none_is_not_told(used: object) -> None:
    """Before the first answer there is none."""
    payload = {"session_id": "s1", "context_window": {"used_percentage": used}}
    told = decode(adapter("claude"), StatusLineSeen(run=1, payload=payload))

    assert isinstance(told, SignalRead)
    assert told.context is None


STORIES: dict[str, tuple[list[bytes], Status | None, int, list[str]]] = {
    "asked": ([user("Count.")], Status.WORKING, 0, []),
    "answered": ([user("Count."), assistant()], Status.IDLE, 26, []),
    "a tool runs": ([assistant("tool_use", CALL)], Status.WORKING, 26, ["Bash"]),
    "a tool ran": ([assistant("tool_use", CALL), user([RESULT])], Status.WORKING, 26, []),
    "interrupted": (
        [assistant("tool_use", CALL), user("[Request interrupted by user for tool use]")],
        Status.IDLE,
        26,
        [],
    ),
    "an error ended it": (
        [user("Try."), assistant("stop_sequence", isApiErrorMessage=True, apiErrorStatus=529)],
        Status.FAILED,
        0,
        [],
    ),
    "an error stands before what was said": (
        [
            line(type="mode"),
            assistant(
                "stop_sequence", isApiErrorMessage=True, timestamp="2026-11-16T05:11:16.140Z"
            ),
            user("Try.", timestamp="2026-11-16T05:11:16.005Z"),
            line(type="file-history-snapshot"),
        ],
        Status.FAILED,
        0,
        [],
    ),
    "a result stands before its call": (
        [
            user([RESULT], timestamp="2026-11-16T05:11:17.000Z"),
            assistant("tool_use", CALL, timestamp="2026-11-16T05:11:16.000Z"),
        ],
        Status.WORKING,
        26,
        [],
    ),
    "an error is retried": (
        [user("Try."), line(type="system", subtype="api_error")],
        Status.WORKING,
        0,
        [],
    ),
    "a sub-agent": ([assistant("tool_use", CALL, isSidechain=True)], None, 0, []),
    "a command of the CLI": (
        [user("Caveat", isMeta=True), user("<command-name>/clear</command-name>")],
        None,
        0,
        [],
    ),
    "torn and foreign lines": (
        [b'{"type":"assis', b"[1]", b"null", assistant(), b"\xff\xfe", b"[" * 100_000],
        Status.IDLE,
        26,
        [],
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_a_transcript_tells_of_the_turn(name: str) -> None:
    """The newest line of the main conversation counts."""
    lines, status, tokens, calls = STORIES[name]
    tale = tell(lines)

    assert (tale.status, tale.tokens, list((tale.open or {}).values())) == (status, tokens, calls)


def test_an_open_tool_call_and_an_error_are_in_the_evidence() -> None:
    """In words for a person."""
    claude = adapter("claude")
    opened = TranscriptGrew(run=1, session="s", lines=(assistant("tool_use", CALL),))
    failed = TranscriptGrew(
        run=1, session="s", lines=(assistant(isApiErrorMessage=True, apiErrorStatus=529),)
    )
    told, error = decode(claude, opened), decode(claude, failed)

    assert isinstance(told, SignalRead)
    assert told.evidence == ("transcript: Bash has no result yet",)
    assert isinstance(error, SignalRead)
    assert error.reason == "error_text: transcript, API error 529"


def test_lines_that_say_nothing_tell_that_the_transcript_grows() -> None:
    """Most of it is bookkeeping; a sub-agent's lines are work."""
    seen = TranscriptGrew(run=1, session="s", lines=(line(type="mode"), b""))

    assert decode(adapter("claude"), seen) == SignalRead(run=1, source=Source.TRANSCRIPT)


# -- Codex CLI --------------------------------------------------------------------------------


def event(kind: str, **payload: Any) -> bytes:  # noqa: ANN401
    """One event of a rollout."""
    return line(type="event_msg", payload={"type": kind, **payload})


def test_a_rollout_tells_of_session_turn_and_context() -> None:
    """The share is counted as Codex itself does, without the first 12,000 tokens."""
    count = {"last_token_usage": {"total_tokens": 50_000}, "model_context_window": 258_400}
    lines = (event("task_started"), event("token_count", info=count), event("task_complete"))
    seen = TranscriptGrew(run=3, session="s9", lines=lines)

    assert decode(adapter("codex"), seen) == SignalRead(
        run=3,
        source=Source.TRANSCRIPT,
        status=Status.IDLE,
        reason="transcript: the turn ended",
        session="s9",
        context=ContextUse(used=15.4, source="transcript"),
        window=258_400,
    )


def test_a_turn_that_ended_without_a_word_is_not_told_as_a_good_one() -> None:
    """Codex writes that a task is complete after an API error, too."""
    lines = (event("task_complete", last_agent_message=None),)
    seen = TranscriptGrew(run=3, session="s9", lines=lines)
    told = decode(adapter("codex"), seen)

    assert isinstance(told, SignalRead)
    assert (told.status, told.reason) == (
        Status.IDLE,
        "transcript: the turn ended without a word",
    )


def test_a_sub_agents_rollout_is_not_the_conversation() -> None:
    """Its session must not be resumed in place of the person's."""
    main = {"source": "cli", "thread_source": "user"}

    assert is_main(line(type="session_meta", payload=main))
    assert not is_main(line(type="session_meta", payload={"source": {"subagent": "x"}}))
    assert not is_main(b"")


# -- all --------------------------------------------------------------------------------------


def test_a_hook_keeps_who_vouches_for_it() -> None:
    """And how the session began."""
    payload = {"hook_event_name": "SessionStart", "session_id": "s2", "source": "clear"}
    body = decode(adapter("claude"), HookFired(payload=payload, run=4, age=1.5))

    assert body == HookRead(word="SessionStart", session="s2", run=4, began="clear", age=1.5)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
words = st.sampled_from(
    ["type", "message", "content", "usage", "status", "payload", "info", "context_window"]
)
objects = st.dictionaries(words | st.text(max_size=6), json_values | st.sampled_from(
    ["assistant", "user", "event_msg", "token_count", "busy"]
), max_size=5)  # fmt: skip
garbage = st.binary(max_size=200) | objects.map(lambda value: json.dumps(value).encode())
signals = (
    st.builds(RegistryRead, run=st.just(1), record=objects)
    | st.builds(StatusLineSeen, run=st.just(1), payload=objects)
    | st.builds(
        TranscriptGrew,
        run=st.just(1),
        session=st.text(max_size=5),
        lines=st.lists(garbage, max_size=4).map(tuple),
    )
)


@given(st.sampled_from(names()), signals)
def test_no_garbage_breaks_a_reader(name: str, seen: Signal) -> None:
    """Whatever runs as the user may write these files; a context is a share, or none."""
    told = decode(adapter(name), seen)

    assert told is None or isinstance(told, SignalRead)
    if isinstance(told, SignalRead) and told.context is not None:
        assert 0.0 <= told.context.used <= 100.0
    if isinstance(told, SignalRead):
        assert told.status is not Status.ASKING or told.source is Source.REGISTRY
