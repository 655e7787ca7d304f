"""Claude-style hook JSON as a value: tolerant, since whatever runs as the user may send it."""

from __future__ import annotations

from dataclasses import dataclass

from koboshi.core.readings import Status

#: What each event says about the agent at that moment; other events say nothing.
_HINTS: dict[str, Status | None] = {
    "SessionStart": None,
    "UserPromptSubmit": Status.WORKING,
    "PreToolUse": Status.WORKING,
    "PermissionRequest": Status.ASKING,
    "PostToolUse": Status.WORKING,
    "PostToolUseFailure": Status.WORKING,
    "PreCompact": Status.WORKING,
    "SubagentStop": None,
    "Notification": None,
    "Stop": Status.IDLE,
    "StopFailure": Status.FAILED,
    "SessionEnd": None,
}
_NOTICES = {"permission_prompt": Status.ASKING, "idle_prompt": Status.IDLE}

_MAX_WORD = 256  # an id or a name; the real ones have under 64 characters
_MAX_COMMAND = 65_536  # of what a tool is asked to run; more is no command line


@dataclass(frozen=True, slots=True, kw_only=True)
class HookReading:
    """What one hook says; `status` is a hint about that moment only."""

    event: str
    session: str = ""
    status: Status | None = None
    tool: str = ""
    command: str = ""
    tool_use_id: str = ""
    began: str = ""  #: how the session began, where the event tells of that


def read_hook(payload: object) -> HookReading | None:
    """The hook's meaning, or None when the payload is not one we can trust the shape of."""
    if not isinstance(payload, dict):
        return None
    event = _word(payload, "hook_event_name")
    session = _word(payload, "session_id")
    tool = _word(payload, "tool_name")
    use = _word(payload, "tool_use_id")
    command = _command(payload.get("tool_input"))
    if not event or session is None or tool is None or use is None or command is None:
        return None
    status = _HINTS.get(event)
    if event == "Notification":
        status = _NOTICES.get(_word(payload, "notification_type") or "")
    return HookReading(
        event=event,
        session=session,
        status=status,
        tool=tool,
        command=command,
        tool_use_id=use,
        began=(_word(payload, "source") or "") if event == "SessionStart" else "",
    )


def _word(payload: dict[object, object], key: str) -> str | None:
    return _text(payload.get(key, ""), _MAX_WORD)


def _command(tool_input: object) -> str | None:
    if tool_input is None:
        return ""
    if not isinstance(tool_input, dict):
        return None
    return _text(tool_input.get("command", ""), _MAX_COMMAND)


def _text(value: object, most: int) -> str | None:
    """A string no longer than that, without the half surrogate pairs that JSON may carry."""
    if not isinstance(value, str) or len(value) > most:
        return None
    return value.encode(errors="replace").decode()
