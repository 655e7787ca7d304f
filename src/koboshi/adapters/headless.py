"""What a headless run printed, judged: exit codes lie, so that only its own words count.

Pure. Traps, each seen with a real CLI:

- Claude: exit 0 and `success` although a permission was denied; `"subtype":"success"` with
  `"is_error":true` for an API error; exit 0 after SIGINT; exit 0 without `structured_output` when
  the model ignored the schema; exit 0 for a slash command nobody knows.
- Codex: exit 0 although a command was declined; an `error` that a retry mended is no failure. A
  command that asked for more than its sandbox is rejected on stderr alone: nothing in its events.
- Gemini: one object over many lines; the error is printed elsewhere, and the exit code is a status.
- OpenCode: permissions are refused by itself, exit 0.
- All: a run that was killed prints no result at all. No result is no success.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from koboshi.errors import InputError

Thing = dict[str, Any]

#: The errors that are the same for all; others are the CLI's own words.
DENIED, NO_RESULT = "permission_denied", "no_result"
NO_STRUCTURE, UNKNOWN_COMMAND = "no_structured_output", "unknown_command"
#: How a message betrays its cause: the code, and what to look for.
CAUSES = (
    ("usage_limit", r"usage limit|session limit|weekly limit"),
    ("quota", r"quota exceeded|insufficient_quota|resource_exhausted"),
    ("context_full", r"context window|prompt is too long|context_length_exceeded"),
    ("overloaded", r"high demand|overloaded"),
    ("disconnected", r"stream disconnected|unable to connect|econnreset"),
)
#: Those that do not tell what they cost.
SILENT = ("codex", "gemini")
#: How Codex logs that it rejected a call by itself.
REJECTED = re.compile(r"codex_core::\S+: error=.*approval policy is \w+; reject (\w+)")
#: How it logs that a hook kept it from a call; what ours says is known in better words.
BLOCKED = re.compile(
    r"codex_core::\S+: error=.*blocked by PreToolUse hook: (.*?)(?:\. Command: |$)", re.MULTILINE
)
SAID = "the owner's policy says"
#: What Gemini calls a tool that it was not allowed to use.
NOT_ALLOWED = ("tool_not_registered", "policy_violation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What a run used; `input` holds the cached ones too."""

    input: int = 0
    cached: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The judgement of one run."""

    ok: bool  #: it did what it was asked to, and was not kept from anything
    error: str = ""  #: why not, as a word: `api_401`, `permission_denied`, `no_result`
    session: str = ""  #: by which it can be resumed
    summary: str = ""  #: its last words, or the error's
    cost: float | None = None  #: US dollars, where the CLI tells
    tokens: Tokens | None = None
    permission_denials: tuple[str, ...] = ()  #: the tools or commands it was kept from


def result(text: str, agent: str, *, structured: bool = False, errors: str = "") -> Result:
    """What the output says; `structured`: a schema was given and must have been obeyed.

    `errors` is what it wrote to stderr: some tell there alone what went wrong.
    """
    judge = JUDGES.get(agent)
    if judge is None:
        raise InputError(f"expected one of {', '.join(JUDGES)}, not {agent!r}")
    judged = judge(list(things(text)))
    if judged.error == NO_RESULT and agent == "gemini":
        judged = judge(list(things(f"{text}\n{errors}")))
    if agent == "codex":
        told = tuple(found[1] or "call" for found in REJECTED.finditer(errors))
        blocked = (found[1] for found in BLOCKED.finditer(errors))
        told = (*told, *(why for why in blocked if not why.startswith(SAID)))
        judged = replace(judged, permission_denials=(*judged.permission_denials, *told))
    if judged.ok and judged.permission_denials:
        return replace(judged, ok=False, error=DENIED)
    if judged.ok and structured and not _structured(text, agent, judged):
        return replace(judged, ok=False, error=NO_STRUCTURE)
    return judged


def structured_output(text: str, agent: str) -> object:
    """What a run answered to a schema; None where it did not, or the CLI has no word for it."""
    if agent != "claude":
        return None
    ends = [thing for thing in things(text) if "structured_output" in thing]
    return ends[-1]["structured_output"] if ends else None


def things(text: str) -> Iterator[Thing]:
    """All JSON objects that begin at the start of a line; noise and a torn end are passed over."""
    decoder, start = json.JSONDecoder(), 0
    for line in re.finditer(r"^(?=[\[{])", text, re.MULTILINE):
        if line.start() < start:
            continue  # inside an object that began before
        try:
            value, start = decoder.raw_decode(text, line.start())
        except (ValueError, RecursionError):
            continue
        yield from (v for v in (value if isinstance(value, list) else [value]) if type(v) is dict)


def _structured(text: str, agent: str, judged: Result) -> bool:
    if agent == "claude":
        return any("structured_output" in thing for thing in things(text))
    try:  # the others pass the schema on and look no further
        json.loads(judged.summary)
    except (ValueError, RecursionError):
        return False
    return True


# -- one function per CLI --------------------------------------------------------------------------


def _claude(seen: list[Thing]) -> Result:
    session = _last(seen, "session_id")
    end = next((thing for thing in reversed(seen) if thing.get("type") == "result"), None)
    if end is None:
        return Result(ok=False, error=NO_RESULT, session=session)
    errors = [e for e in _list(end.get("errors")) if isinstance(e, str)]
    usage = _dict(end.get("usage"))
    fresh, output = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    read, made = (_count(usage, f"cache_{w}_input_tokens") for w in ("read", "creation"))
    error = _claude_error(end)
    summary = _text(end.get("result")) or "; ".join(errors)
    if not error and not output and summary.startswith("Unknown command: /"):
        error = UNKNOWN_COMMAND
    denials = map(_dict, _list(end.get("permission_denials")))
    return Result(
        ok=not error,
        error=error,
        session=session,
        summary=summary,
        cost=_money(end.get("total_cost_usd")),
        tokens=Tokens(input=fresh + read + made, cached=read, output=output) if usage else None,
        permission_denials=tuple(_text(d.get("tool_name")) or "unknown" for d in denials),
    )


def _claude_error(end: Thing) -> str:
    subtype, status = _text(end.get("subtype")), end.get("api_error_status")
    if subtype == "success" and end.get("is_error") is False:
        return ""
    if end.get("terminal_reason") == "prompt_too_long":
        return "context_full"
    if isinstance(status, int):
        return f"api_{status}"
    return subtype if subtype not in ("", "success") else _cause(_text(end.get("result")))


def _codex(seen: list[Thing]) -> Result:
    session = _last(seen, "thread_id")
    end = _last_of(seen, "turn.completed", "turn.failed")
    items = [_dict(t.get("item")) for t in seen if t.get("type") == "item.completed"]
    said = [_text(i.get("text")) for i in items if i.get("type") == "agent_message"]
    denials = tuple(
        _text(i.get("command")) or _text(i.get("type"))
        for i in items
        if i.get("status") == "declined"
    )
    judged = Result(
        ok=True, session=session, summary=said[-1] if said else "", permission_denials=denials
    )
    if end is not None and end["type"] == "turn.completed":
        usage = _dict(end.get("usage"))
        tokens = Tokens(
            input=_count(usage, "input_tokens"),
            cached=_count(usage, "cached_input_tokens"),
            output=_count(usage, "output_tokens"),
        )
        return replace(judged, tokens=tokens if usage else None)
    failures = [t for t in seen if t.get("type") in ("error", "turn.failed")]
    if not failures:
        return replace(judged, ok=False, error=NO_RESULT)
    message = next((words for t in reversed(failures) if (words := _message(t))), "")
    return replace(judged, ok=False, error=_cause(message), summary=message)


def _gemini(seen: list[Thing]) -> Result:
    session = _last(seen, "session_id")
    failed = next((t for t in reversed(seen) if _dict(t.get("error")) and "tool_id" not in t), None)
    whole = next((t for t in reversed(seen) if "response" in t), None)
    streamed = _last_of(seen, "result")
    end = whole or streamed
    if failed is not None or (streamed and streamed.get("status") != "success"):
        message = _message(failed or {})
        code = _dict((failed or {}).get("error")).get("code")
        error = f"api_{code}" if isinstance(code, int) and code >= 400 else _cause(message)  # noqa: PLR2004
        return Result(ok=False, error=error, session=session, summary=message)
    if end is None:
        return Result(ok=False, error=NO_RESULT, session=session)
    return Result(
        ok=True,
        session=session,
        summary=_text(whole.get("response")) if whole else _gemini_words(seen),
        tokens=_gemini_tokens(_dict(end.get("stats"))),
        permission_denials=_gemini_denials(seen),
    )


def _gemini_words(seen: list[Thing]) -> str:
    """What it said after its last tool; it comes in pieces."""
    words = ""
    for thing in seen:
        if thing.get("type") == "message" and thing.get("role") == "assistant":
            words += _text(thing.get("content"))
        elif thing.get("type") != "result":
            words = ""
    return words


def _gemini_tokens(stats: Thing) -> Tokens | None:
    if "input_tokens" in stats:
        output, cached = _count(stats, "output_tokens"), _count(stats, "cached")
        return Tokens(input=_count(stats, "input_tokens"), cached=cached, output=output)
    models = [_dict(_dict(m).get("tokens")) for m in _dict(stats.get("models")).values()]
    if not models:
        return None
    names = ("prompt", "cached", "candidates")
    prompt, cached, output = (sum(_count(m, name) for m in models) for name in names)
    return Tokens(input=prompt, cached=cached, output=output)


def _gemini_denials(seen: list[Thing]) -> tuple[str, ...]:
    names = {t.get("tool_id"): _text(t.get("tool_name")) for t in seen if "tool_name" in t}
    return tuple(
        names.get(t.get("tool_id")) or "unknown"
        for t in seen
        if t.get("type") == "tool_result" and _dict(t.get("error")).get("type") in NOT_ALLOWED
    )


def _opencode(seen: list[Thing]) -> Result:
    session = _last(seen, "sessionID")
    steps = [_dict(t.get("part")) for t in seen if t.get("type") == "step_finish"]
    tools = [_dict(t.get("part")) for t in seen if t.get("type") == "tool_use"]
    said = [_text(_dict(t.get("part")).get("text")) for t in seen if t.get("type") == "text"]
    error = _last_of(seen, "error")
    judged = Result(
        ok=True,
        session=session,
        summary=said[-1] if said else "",
        cost=sum(_money(step.get("cost")) or 0.0 for step in steps) if steps else None,
        tokens=_opencode_tokens(steps),
        permission_denials=tuple(_text(t.get("tool")) for t in tools if _refused(t)),
    )
    if error is not None:
        message = _message(error)
        status = _dict(_dict(error.get("error")).get("data")).get("statusCode")
        word = f"api_{status}" if isinstance(status, int) else _cause(message)
        return replace(judged, ok=False, error=word, summary=message)
    if judged.permission_denials:
        return judged  # it stops there, without a last step
    if not steps or steps[-1].get("reason") == "tool-calls":
        return replace(judged, ok=False, error=NO_RESULT)
    return judged


def _refused(tool: Thing) -> bool:
    state = _dict(tool.get("state"))
    words = ("rejected permission", "rule which prevents")
    return state.get("status") == "error" and any(w in _text(state.get("error")) for w in words)


def _opencode_tokens(steps: list[Thing]) -> Tokens | None:
    used = [_dict(step.get("tokens")) for step in steps]
    if not used:
        return None
    cached = sum(_count(_dict(u.get("cache")), "read") for u in used)
    made = sum(_count(_dict(u.get("cache")), "write") for u in used)
    fresh, output = (sum(_count(u, name) for u in used) for name in ("input", "output"))
    return Tokens(input=fresh + cached + made, cached=cached, output=output)


JUDGES: dict[str, Callable[[list[Thing]], Result]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "scripted": _claude,
}


# -- reading what may be anything ------------------------------------------------------------------


def _cause(message: str) -> str:
    status = re.search(
        r"(?:last status|API Error|unexpected status):? (\d{3})\b|\((\d{3})\)", message
    )
    for code, pattern in CAUSES:
        if re.search(pattern, message, re.IGNORECASE):
            return code
    return f"api_{status[1] or status[2]}" if status else "failed"


def _message(thing: Thing) -> str:
    """The words of an error, wherever the CLI puts them."""
    error = _dict(thing.get("error"))
    words = (_dict(error.get("data")).get("message"), error.get("message"), error.get("name"))
    return next((_text(word) for word in (*words, thing.get("message")) if _text(word)), "")


def _last(seen: list[Thing], key: str) -> str:
    return next((_text(t[key]) for t in reversed(seen) if _text(t.get(key))), "")


def _last_of(seen: list[Thing], *types: str) -> Thing | None:
    return next((t for t in reversed(seen) if t.get("type") in types), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> Thing:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(thing: Thing, key: str) -> int:
    value = thing.get(key)
    return value if isinstance(value, int) else 0


def _money(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
