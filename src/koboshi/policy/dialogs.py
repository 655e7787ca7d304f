"""A dialog on a screen → what the agent wants.

Rule 1: a screen proves less than a hook: what may be cut off or wrapped is incomplete. A line break
at the edge of the screen looks like a wrapped word: `git log …⏎evil` like `git log … evil`.
Rule 2: which tool it is, the dialog's own title says; options and questions that hold words of the
agent's say nothing about it.
"""

from __future__ import annotations

import re

from koboshi.core.readings import Prompt, PromptKind

from .hooks import host_of
from .policies import SHELL_TOOLS
from .requests import Request

#: Tools that are asked about with a command, a file, an address.
_WRITES = frozenset({"Edit", "Write", "NotebookEdit", "Delete", "apply_patch"})
_READS = frozenset({"Read"})
_FETCHES = frozenset({"WebFetch", "web_fetch"})
_SEARCHES = frozenset({"WebSearch"})
#: What a dialog calls a server's tool where that is the tool's own name, and not one for people.
_OWN_NAME = re.compile(r"mcp__[\w.-]+__[a-z0-9_.-]+")
#: CLIs whose dialogs do not tell in which folder a command would run, and whose tools take one.
_ELSEWHERE = frozenset({"codex", "opencode"})
#: The widest terminal in which a CLI shows nothing beside its dialogs: in a wider one what a row
#: holds may be wrapped or cut off earlier than its edge.
_ALONE = {"opencode": 120}
_CUT = ("…", "⋯")
#: Columns of a screen of which nothing is known, and what frames and indents may take of a row.
COLUMNS = 80
_MARGIN = 12


def request_of_prompt(prompt: Prompt, cli: str, cwd: str, columns: int = COLUMNS) -> Request:
    """What that dialog asks for, run in `cwd`, seen on a screen that wide."""
    options = tuple(option.text for option in prompt.options)
    if prompt.kind is not PromptKind.PERMISSION:
        return Request(
            kind=prompt.kind,
            question=prompt.question,
            options=options,
            several=prompt.several,
            cwd=cwd,
        )
    tool, subject = prompt.tool, prompt.subject
    return Request(
        kind=prompt.kind,
        tool=tool,
        command=subject if tool in SHELL_TOOLS else "",
        paths=(subject,) if subject and tool in _WRITES | _READS else (),
        writes=tool not in _READS,
        domains=(host_of(subject),) if tool in _FETCHES else (),
        arguments=(("query", subject),) if tool in _SEARCHES else (),
        question=prompt.question,
        options=options,
        complete=_is_whole(tool, subject, cli, columns),
        cwd=cwd,
    )


def _is_whole(tool: str, subject: str, cli: str, columns: int) -> bool:
    """Whether the dialog shows all there is to know about it."""
    if tool.startswith("mcp__"):
        # The name is judged, which comes first; what it is given may be long.
        return cli != "claude" or _OWN_NAME.fullmatch(tool) is not None
    if tool in SHELL_TOOLS and cli in _ELSEWHERE:
        return False
    if tool == "apply_patch":
        return False  # a patch may go on with other files
    if columns > _ALONE.get(cli, columns):
        return False
    known = tool in SHELL_TOOLS or tool in _WRITES | _READS | _FETCHES | _SEARCHES
    return known and bool(subject.strip()) and _on_one_row(subject, columns)


def _on_one_row(subject: str, columns: int) -> bool:
    """Whether all of it was seen, and in a single row: nothing was put together."""
    if "\n" in subject or any(cut in subject for cut in _CUT):
        return False
    # What is not ASCII may take two columns.
    return sum(1 if char.isascii() else 2 for char in subject) <= columns - _MARGIN
