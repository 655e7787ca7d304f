"""A dialog on a screen → what the agent wants.

Rule 1: a screen proves less than a hook: what may be cut off or wrapped is incomplete. A line break
at the edge of the screen looks like a wrapped word: `git log …⏎evil` like `git log … evil`.
Rule 2: options and questions that hold words of the agent's say nothing about the tool.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from koboshi.core.readings import Prompt, PromptKind

from .requests import Request

#: Questions whose subject is a command line, by CLI.
_COMMANDS = {
    "claude": re.compile(r"Do you want to proceed\?"),
    "scripted": re.compile(r"Do you want to proceed\?"),
    "codex": re.compile(r"Would you like to run the following command\?"),
    "gemini": re.compile(r"Allow execution of \[?Shell\]?\?"),
}
_EDITS = {
    "claude": re.compile(r"Do you want to (?:make this edit to|create|overwrite|delete) .*"),
    "codex": re.compile(r"Would you like to make the following edits\?"),
    "gemini": re.compile(r"Apply this change\?"),
}
_FETCHES = re.compile(r"Do you want to allow Claude to fetch this content\?")
_MCP = re.compile(r"^(?P<server>[\w-]+) - (?P<tool>[\w-]+)\s*\(.*\(MCP\)|\(MCP\)", re.DOTALL)
_CODEX_MCP = re.compile(r"Allow the (?P<server>\S+) MCP server to run tool \"(?P<tool>\S+)\"\?")
_GEMINI_MCP = re.compile(
    r"Allow execution of MCP tool \"(?P<tool>[\w.-]+)\" from server \"(?P<server>[\w.-]+)\"\?"
)
#: Claude asks about a search as it asks about a command; only this option differs.
_SEARCHES = re.compile(r"Yes, and don['’]t ask again for Web Search commands in .*")
_CUT = ("…", "⋯")
#: Columns of a screen of which nothing is known, and what frames and indents may take of a row.
COLUMNS = 80
_MARGIN = 12


def request_of_prompt(prompt: Prompt, cli: str, cwd: str, columns: int = COLUMNS) -> Request:
    """What that dialog asks for, run in `cwd`, seen on a screen that wide."""
    options = tuple(option.text for option in prompt.options)
    if prompt.kind is not PromptKind.PERMISSION:
        return Request(kind=prompt.kind, question=prompt.question, options=options, cwd=cwd)
    subject, question = prompt.subject, " ".join(prompt.question.split())
    whole = bool(subject) and _on_one_row(subject, columns)
    tool, command, paths, domains = _read(cli, question, subject)
    # Of a server's tool the name is judged, which comes first; what it is given may be long.
    whole = whole or tool.startswith("mcp__")
    if cli == "codex" and paths:
        whole = False  # a patch may go on with other files
    if cli == "claude" and tool == "Bash" and any(_SEARCHES.fullmatch(each) for each in options):
        tool, command, whole = "WebSearch", "", False
    return Request(
        kind=prompt.kind,
        tool=tool,
        command=command,
        paths=paths,
        domains=domains,
        question=prompt.question,
        options=options,
        complete=whole and bool(tool),
        cwd=cwd,
    )


def _on_one_row(subject: str, columns: int) -> bool:
    """Whether all of it was seen, and in a single row: nothing was put together."""
    if "\n" in subject or any(cut in subject for cut in _CUT):
        return False
    # What is not ASCII may take two columns.
    return sum(1 if char.isascii() else 2 for char in subject) <= columns - _MARGIN


def _read(
    cli: str, question: str, subject: str
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """Tool, command, paths and hosts; no tool where the dialog is not known."""
    if cli == "codex" and (found := _CODEX_MCP.match(question)):
        return f"mcp__{found['server']}__{found['tool']}", "", (), ()
    if cli == "gemini" and (found := _GEMINI_MCP.fullmatch(question)):
        return f"mcp__{found['server']}__{found['tool']}", "", (), ()
    if cli == "claude" and (found := _MCP.search(subject)):
        named = found["server"] and found["tool"]
        return (f"mcp__{found['server']}__{found['tool']}" if named else ""), "", (), ()
    if cli == "claude" and _FETCHES.fullmatch(question):
        return "WebFetch", "", (), (_host(subject),)
    if (pattern := _COMMANDS.get(cli)) and pattern.fullmatch(question):
        return "Bash", subject, (), ()
    if (pattern := _EDITS.get(cli)) and pattern.fullmatch(question):
        return "Edit", "", (subject,), ()
    return "", "", (), ()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
