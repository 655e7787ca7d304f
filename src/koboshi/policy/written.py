"""The call behind a dialog: what the agent wrote down word for word, if the screen shows the same.

A screen wraps, cuts and names things for people; the agent's own file tells the whole command, the
folder it would run in and the tool's own name. Neither is taken alone: the file may be about
another call, so it counts only where the dialog shows that very one, but for blanks.
Rule 1: a dialog that fits several calls is about any of them; whoever judges takes the strictest.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from koboshi.core.readings import Prompt, PromptKind

from .hooks import EVENT, request_of_hook
from .policies import SHELL_TOOLS
from .requests import Request

Call = tuple[str, Mapping[str, object], str]  #: tool, what it is given, folder
_SEPARATORS = re.compile(r"[\W_]+")


def shown_calls(prompt: Prompt, calls: Iterable[Call]) -> tuple[Request, ...]:
    """What those of the calls ask for that the dialog may be about."""
    if prompt.kind is not PromptKind.PERMISSION or not prompt.tool:
        return ()
    options = tuple(option.text for option in prompt.options)
    found = []
    for tool, given, cwd in calls:
        payload = {"hook_event_name": EVENT, "tool_name": tool, "tool_input": given, "cwd": cwd}
        request = request_of_hook(payload) if posixpath.isabs(cwd) else None
        if request is not None and _shows(prompt, request, given):
            found.append(replace(request, question=prompt.question, options=options, written=True))
    return tuple(found)


def speaks_of_another(prompt: Prompt, calls: Iterable[Call]) -> bool:
    """Whether a call of that kind was written down: then one that fits none hides something."""
    shell = prompt.tool in SHELL_TOOLS
    return any(tool == prompt.tool or (shell and tool in SHELL_TOOLS) for tool, _, _ in calls)


def _shows(prompt: Prompt, request: Request, given: Mapping[str, object]) -> bool:
    tool, subject = prompt.tool, _bare(prompt.subject)
    if tool.startswith("mcp__"):
        return _same_name(tool, request.tool)
    if not subject:
        return False
    if tool in SHELL_TOOLS:
        return request.tool in SHELL_TOOLS and subject == _bare(request.command)
    if request.domains:
        return tool in {"WebFetch", request.tool} and subject == _bare(given.get("url"))
    if tool == "WebSearch":
        return request.tool == tool and subject == _bare(given.get("query"))
    writes = tool != "Read"
    if not request.paths or request.writes is not writes:
        return False
    return any(_same_path(prompt.subject, path, request.cwd) for path in request.paths)


def _bare(text: object) -> str:
    """Without blanks: a wrap adds and swallows them, and shows a line's end as it shows itself."""
    return "".join(text.split()) if isinstance(text, str) else ""


def _same_name(shown: str, own: str) -> bool:
    """Whether a tool's own name may be shown so: upper case and separators are for people."""
    parts, others = shown.split("__", 2), own.split("__", 2)
    plain = [[_SEPARATORS.sub("", each).casefold() for each in words] for words in (parts, others)]
    return plain[0] == plain[1] and len(parts) == 3 and all(plain[0])  # noqa: PLR2004 - mcp__a__b


def _same_path(shown: str, own: str, cwd: str) -> bool:
    one, other = (posixpath.normpath(posixpath.join(cwd, path)) for path in (shown, own))
    return one == other
