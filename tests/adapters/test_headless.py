"""What a headless run printed: every way in which its exit code would have lied."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.headless import DENIED, JUDGES, Result, Tokens, result, things
from koboshi.errors import InputError

INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "/w"}
RETRY = {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": 500}
USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 5,
    "cache_read_input_tokens": 100,
    "output_tokens": 7,
}
GOOD: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "api_error_status": None,
    "result": "done",
    "session_id": "s-1",
    "num_turns": 2,
    "total_cost_usd": 0.25,
    "usage": USAGE,
    "permission_denials": [],
    "terminal_reason": "completed",
}
BILL: dict[str, Any] = {"cost": 0.25, "tokens": Tokens(input=115, cached=100, output=7)}


def jsonl(*lines: object) -> str:
    """As a stream prints them."""
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, Result(ok=True, session="s-1", summary="done", **BILL)),
        (
            {"permission_denials": [{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}]},
            Result(
                ok=False,
                error="permission_denied",
                session="s-1",
                summary="done",
                permission_denials=("Bash",),
                **BILL,
            ),
        ),
        (
            {"is_error": True, "api_error_status": 401, "result": "Invalid API key"},
            Result(ok=False, error="api_401", session="s-1", summary="Invalid API key", **BILL),
        ),
        (
            {"is_error": True, "result": "API Error: Repeated 529 Overloaded errors."},
            Result(
                ok=False,
                error="overloaded",
                session="s-1",
                summary="API Error: Repeated 529 Overloaded errors.",
                **BILL,
            ),
        ),
        (
            {"is_error": True, "api_error_status": 400, "terminal_reason": "prompt_too_long"},
            Result(ok=False, error="context_full", session="s-1", summary="done", **BILL),
        ),
        (
            {
                "subtype": "error_max_turns",
                "result": None,
                "errors": ["Reached maximum number of turns (2)"],
            },
            Result(
                ok=False,
                error="error_max_turns",
                session="s-1",
                summary="Reached maximum number of turns (2)",
                **BILL,
            ),
        ),
        (
            {"subtype": "error_during_execution", "is_error": True},
            Result(ok=False, error="error_during_execution", session="s-1", summary="done", **BILL),
        ),
        (
            {"result": "Unknown command: /nosuch", "usage": {**USAGE, "output_tokens": 0}},
            Result(
                ok=False,
                error="unknown_command",
                session="s-1",
                summary="Unknown command: /nosuch",
                cost=0.25,
                tokens=Tokens(input=115, cached=100, output=0),
            ),
        ),
    ],
)
def test_claude_is_taken_by_its_result_object(change: dict[str, Any], expected: Result) -> None:
    """As a stream, as one object, as a list."""
    end = {**GOOD, **change}

    assert result(jsonl(INIT, RETRY, end), "claude") == expected
    assert result(json.dumps(end, indent=2), "claude") == expected
    assert result(json.dumps([INIT, end]), "claude") == expected


def test_claude_may_ignore_a_schema() -> None:
    """Exit 0 and success; only the missing field tells."""
    judged = result(jsonl(INIT, GOOD), "claude", structured=True)
    obeyed = result(jsonl(INIT, {**GOOD, "structured_output": {"a": 1}}), "claude", structured=True)

    assert (judged.ok, judged.error) == (False, "no_structured_output")
    assert obeyed.ok


THREAD = {"type": "thread.started", "thread_id": "t-1"}
TURN = {"type": "turn.started"}
SAID = {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "done"}}
USED = {"input_tokens": 50, "cached_input_tokens": 40, "output_tokens": 3}
COMPLETED = {"type": "turn.completed", "usage": USED}
COMMAND = {"id": "i1", "type": "command_execution", "command": "rm x", "status": "declined"}
LIMIT = "You’ve hit your usage limit. Upgrade to Pro, or try again at 9:34 AM."
RETRIES = "exceeded retry limit, last status: 429 Too Many Requests"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [SAID, COMPLETED],
            Result(ok=True, summary="done", tokens=Tokens(input=50, cached=40, output=3)),
        ),
        (
            [{"type": "error", "message": "Reconnecting... 1/5"}, SAID, COMPLETED],
            Result(ok=True, summary="done", tokens=Tokens(input=50, cached=40, output=3)),
        ),
        (
            [{"type": "item.completed", "item": COMMAND}, SAID, COMPLETED],
            Result(
                ok=False,
                error="permission_denied",
                summary="done",
                tokens=Tokens(input=50, cached=40, output=3),
                permission_denials=("rm x",),
            ),
        ),
        (
            [{"type": "error", "message": LIMIT}, {"type": "turn.failed", "error": {}}],
            Result(ok=False, error="usage_limit", summary=LIMIT),
        ),
        (
            [{"type": "turn.failed", "error": {"message": LIMIT}}],
            Result(ok=False, error="usage_limit", summary=LIMIT),
        ),
        (
            [SAID, {"type": "turn.failed", "error": {"message": RETRIES}}],
            Result(ok=False, error="api_429", summary=RETRIES),
        ),
        ([SAID], Result(ok=False, error="no_result", summary="done")),
    ],
)
def test_codex_is_taken_by_the_end_of_its_turn(lines: Sequence[object], expected: Result) -> None:
    """An error before it may have been mended; without an end there is no success."""
    got = result(jsonl(THREAD, TURN, *lines), "codex")

    assert got.session == "t-1"
    assert Result(**{**fields(got), "session": ""}) == expected


STATS = {"models": {"pro": {"tokens": {"prompt": 9, "cached": 4, "candidates": 2, "total": 11}}}}
GEMINI = {"session_id": "g-1", "response": "done", "stats": STATS}
GEMINI_ERROR = {"session_id": "g-1", "error": {"type": "Error", "message": "bad key", "code": 401}}
DENIED_TOOL = [
    {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "x", "parameters": {}},
    {
        "type": "tool_result",
        "tool_id": "x",
        "status": "error",
        "error": {"type": "tool_not_registered", "message": "no such tool"},
    },
]
WORDS = [
    {"type": "message", "role": "assistant", "content": w, "delta": True} for w in ("do", "ne")
]
STREAM_STATS = {"total_tokens": 11, "input_tokens": 9, "output_tokens": 2, "cached": 4}
GEMINI_END = {"type": "result", "status": "success", "stats": STREAM_STATS}
GEMINI_INIT = {"type": "init", "session_id": "g-1", "model": "gemini-2.5-pro"}
SPENT = Tokens(input=9, cached=4, output=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Loaded cached credentials.\n" + json.dumps(GEMINI, indent=2) + "\n",
            Result(ok=True, session="g-1", summary="done", tokens=SPENT),
        ),
        (
            json.dumps(GEMINI_ERROR, indent=2),
            Result(ok=False, error="api_401", session="g-1", summary="bad key"),
        ),
        (
            jsonl(GEMINI_INIT, *WORDS, GEMINI_END),
            Result(ok=True, session="g-1", summary="done", tokens=SPENT),
        ),
        (
            jsonl(GEMINI_INIT, WORDS[0], *DENIED_TOOL, *WORDS, GEMINI_END),
            Result(
                ok=False,
                error="permission_denied",
                session="g-1",
                summary="done",
                tokens=SPENT,
                permission_denials=("run_shell_command",),
            ),
        ),
        (
            jsonl(
                GEMINI_INIT,
                {"type": "result", "status": "error", "error": {"message": "Quota exceeded"}},
            ),
            Result(ok=False, error="quota", session="g-1", summary="Quota exceeded"),
        ),
        (jsonl(GEMINI_INIT, *WORDS), Result(ok=False, error="no_result", session="g-1")),
        ("", Result(ok=False, error="no_result")),
    ],
)
def test_gemini_is_taken_by_its_object_or_its_stream(text: str, expected: Result) -> None:
    """Standard error, where its errors go, may be given too."""
    assert result(text, "gemini") == expected


def step(kind: str, **part: object) -> dict[str, object]:
    """A line of OpenCode."""
    return {"type": kind, "timestamp": 1, "sessionID": "o-1", "part": part}


CACHE = {"read": 4, "write": 1}
FINISH = step(
    "step_finish", reason="stop", cost=0.5, tokens={"input": 4, "output": 2, "cache": CACHE}
)
MORE = step(
    "step_finish", reason="tool-calls", cost=0.5, tokens={"input": 0, "output": 0, "cache": {}}
)
REJECTED = {
    "status": "error",
    "error": "The user rejected permission to use this specific tool call.",
}
FAILED = {"status": "error", "error": "File not found: rejected.txt"}
OPENCODE_401 = {
    "type": "error",
    "sessionID": "o-1",
    "error": {"name": "APIError", "data": {"message": "bad key", "statusCode": 401}},
}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [MORE, step("tool_use", tool="read", state=FAILED), step("text", text="done"), FINISH],
            Result(ok=True, summary="done", cost=1.0, tokens=SPENT),
        ),
        (
            [step("text", text="done"), step("tool_use", tool="bash", state=REJECTED), FINISH],
            Result(
                ok=False,
                error="permission_denied",
                summary="done",
                cost=0.5,
                tokens=SPENT,
                permission_denials=("bash",),
            ),
        ),
        (
            [step("tool_use", tool="bash", state=REJECTED)],
            Result(ok=False, error="permission_denied", permission_denials=("bash",)),
        ),
        ([OPENCODE_401], Result(ok=False, error="api_401", summary="bad key")),
        ([MORE], Result(ok=False, error="no_result", cost=0.5, tokens=Tokens())),
        ([step("step_start")], Result(ok=False, error="no_result")),
    ],
)
def test_opencode_is_taken_by_its_last_step(lines: Sequence[object], expected: Result) -> None:
    """A tool that failed is the model's affair; one that was refused is ours."""
    got = result(jsonl(*lines), "opencode")

    assert got.session == "o-1"
    assert Result(**{**fields(got), "session": ""}) == expected


def fields(got: Result) -> dict[str, Any]:
    """A result's own fields, not those of what is in it."""
    return {name: getattr(got, name) for name in Result.__slots__}


@pytest.mark.parametrize("agent", JUDGES)
@pytest.mark.parametrize("text", ["", "Killed\n", '{"type":"res', "[1, 2]\n", "{}\n", "null\n"])
def test_no_result_is_no_success(agent: str, text: str) -> None:
    """A run that was killed says nothing, or half a word."""
    assert result(text, agent) == Result(ok=False, error="no_result")


@pytest.mark.parametrize("agent", ["codex", "gemini", "opencode"])
def test_a_schema_that_is_only_passed_on_is_checked_by_us(agent: str) -> None:
    """An answer in prose is no answer."""
    good = {
        "codex": jsonl(THREAD, SAID, COMPLETED),
        "gemini": json.dumps(GEMINI),
        "opencode": jsonl(step("text", text="done"), FINISH),
    }[agent]

    assert result(good, agent).ok
    assert result(good, agent, structured=True).error == "no_structured_output"
    assert result(good.replace('"done"', '"{\\"a\\": 1}"'), agent, structured=True).ok


def test_an_agent_without_such_output_is_an_error() -> None:
    """It says who has it."""
    with pytest.raises(InputError, match="gemini, opencode, scripted, not 'generic'"):
        result("", "generic")


def test_noise_and_a_torn_end_are_passed_over() -> None:
    """Warnings before, half a line after; objects inside others are not counted."""
    text = f"warning: x\n{json.dumps([{'a': {'b': 1}}], indent=0)}\nnoise {{}}\n[{{}}]\n" + '{"c": '

    assert list(things(text)) == [{"a": {"b": 1}}, {}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
kinds = st.sampled_from(
    ["result", "error", "turn.completed", "turn.failed", "item.completed", "step_finish", "text"]
)
keys = st.sampled_from(
    [
        "usage",
        "item",
        "part",
        "error",
        "stats",
        "response",
        "permission_denials",
        "errors",
        "result",
    ]
)
lines = st.builds(lambda t, rest: {**rest, "type": t}, kinds, st.dictionaries(keys, json_values))


@given(st.lists(lines | json_values, max_size=5), st.sampled_from(sorted(JUDGES)))
def test_whatever_is_printed_is_judged(seen: list[object], agent: str) -> None:
    """No shape of it raises; an error always has a word."""
    judged = result(jsonl(*seen), agent)

    assert judged.ok == (not judged.error)


def test_codex_tells_of_a_rejected_call_on_stderr_alone() -> None:
    """Its events say that all went well (0.166.0)."""
    done = {"type": "turn.completed", "usage": {}}
    errors = (
        "Reading additional input from stdin...\n"
        "2026-11-15T18:58:25.525243Z ERROR codex_core::tools::router: error=approval policy is "
        "Never; reject command \u2014 you cannot ask for escalated permissions if the approval "
        "policy is Never\n"
    )

    judged = result(json.dumps(done), "codex", errors=errors)

    assert (judged.ok, judged.error) == (False, DENIED)
    assert judged.permission_denials == ("command",)
    assert result(json.dumps(done), "codex", errors="all is well").ok


def test_codex_tells_of_a_blocked_call_on_stderr_alone() -> None:
    """By whose hook is the same, but for ours, of which more is known elsewhere (0.166.0)."""
    done = json.dumps({"type": "turn.completed", "usage": {}})
    head = "2026-11-16T01:44:38.5Z ERROR codex_core::tools::router: error=Command blocked by "
    line = head + "PreToolUse hook: {}. Command: touch a. Command: b\nmore of it\n"

    judged = result(done, "codex", errors=line.format("the policy could not be asked"))

    assert (judged.ok, judged.error) == (False, DENIED)
    assert judged.permission_denials == ("the policy could not be asked",)
    assert result(done, "codex", errors=line.format("the owner's policy says deny: x")).ok


def test_gemini_tells_of_its_error_on_stderr() -> None:
    """And nothing else is printed."""
    said = {"session_id": "s", "error": {"message": "bad key", "code": 400}}

    assert result("", "gemini", errors=json.dumps(said, indent=2)).error == "api_400"


def test_codex_names_the_status_of_the_api() -> None:
    """In its own words."""
    message = "unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:1/v1"
    failed = {"type": "turn.failed", "error": {"message": message}}

    assert result(json.dumps(failed), "codex").error == "api_401"
