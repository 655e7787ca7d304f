"""Hook payloads, good ones and all others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.hooks import HookReading, read_hook
from koboshi.core.readings import Status


def test_a_permission_request_says_what_is_asked_about() -> None:
    """Identity comes from hooks: session, tool, command, use id."""
    payload = {
        "session_id": "s1",
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "toolu_1",
    }

    expected = HookReading(
        event="PermissionRequest",
        session="s1",
        status=Status.ASKING,
        tool="Bash",
        command="ls",
        tool_use_id="toolu_1",
    )

    assert expected == read_hook(payload)


@pytest.mark.parametrize(
    ("event", "status"),
    [
        ("SessionStart", None),
        ("UserPromptSubmit", Status.WORKING),
        ("PreToolUse", Status.WORKING),
        ("PostToolUse", Status.WORKING),
        ("Stop", Status.IDLE),
        ("StopFailure", Status.FAILED),
        ("SessionEnd", None),
        ("BrandNewEvent", None),
    ],
)
def test_events_hint_at_a_status(event: str, status: Status | None) -> None:
    """A new event of a newer CLI is an event without a hint."""
    reading = read_hook({"hook_event_name": event})

    assert reading is not None
    assert status == reading.status


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "Stop",
        {},
        {"hook_event_name": 3},
        {"hook_event_name": ""},
        {"hook_event_name": "Stop", "session_id": ["s1"]},
        {"hook_event_name": "Stop", "session_id": "s" * 1000},
        {"hook_event_name": "PreToolUse", "tool_input": "ls"},
        {"hook_event_name": "PreToolUse", "tool_input": {"command": 1}},
        {"hook_event_name": "PreToolUse", "tool_input": {"command": "x" * 1_000_000}},
    ],
)
def test_what_is_no_hook_is_none(payload: object) -> None:
    """Wrong types, missing keys, huge values."""
    assert read_hook(payload) is None


values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=6,
)
keys = st.sampled_from(("hook_event_name", "session_id", "tool_name", "tool_input", "tool_use_id"))


@given(payload=values | st.dictionaries(keys, values))
def test_read_hook_never_raises(payload: object) -> None:
    """Whatever runs as the user may write to the socket."""
    read_hook(payload)
