"""Which rule of an owner speaks of a part of a request.

Rule 1: an allow must fit all that the part may stand for, a deny or an ask only one of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .policies import SHELL_TOOLS, AnswerRule, command_fits, domain_fits, path_fits
from .requests import Request, Word
from .scenes import Scene, pieces
from .serving import takes_arguments
from .shell.calls import Argument, Call, Touch


def takes_call(rule: AnswerRule, call: Call, tool: str, scene: Scene) -> bool:
    """Whether a rule speaks of one program of a command line."""
    allows = rule.do is Word.ALLOW
    if rule.domains or rule.mcp or not _takes_shell(rule, tool):
        return False
    if rule.commands and not any(command_fits(call, each, exact=allows) for each in rule.commands):
        return False
    if not rule.paths:
        return bool(rule.commands or rule.tools)
    if allows and not rule.commands:
        return False  # a rule about files says nothing about programs
    return _words_fit(rule, call, scene, every=allows)


def _takes_shell(rule: AnswerRule, tool: str) -> bool:
    """A shell by any of its names; a rule without tools speaks of all."""
    names = {tool, *SHELL_TOOLS} if not tool or tool in SHELL_TOOLS else {tool}
    return not rule.tools or any(rule.takes_tool(name) for name in names)


def _words_fit(rule: AnswerRule, call: Call, scene: Scene, *, every: bool) -> bool:
    found = [
        _spots_fit(rule, scene.spots(Argument(text=piece, globs=word.globs), call.places), scene)
        for word in call.words[1:]
        for piece in (pieces(word.text) if not every or "/" in word.text else (word.text,))
    ]
    return all(found) if every else any(found)


def _spots_fit(rule: AnswerRule, spots: tuple[str, ...] | None, scene: Scene) -> bool:
    """Whether files fit the paths of a rule; what is not known fits none."""
    allows = rule.do is Word.ALLOW
    found = [
        any(path_fits(spot, each, scene, exact=allows) for each in rule.paths)
        for spot in spots or ()
    ]
    return bool(found) and (all(found) if allows else any(found))


def takes_touch(rule: AnswerRule, touch: Touch, tool: str, scene: Scene) -> bool:
    """Whether a rule speaks of a file; a redirect of a shell has no tool of its own."""
    if rule.commands or rule.domains or rule.mcp:
        return False
    if not any(rule.takes_tool(name) for name in _file_tools(rule, touch, tool)):
        return False
    if not rule.paths:
        return bool(rule.tools)
    return _spots_fit(rule, scene.spots(touch.target, touch.places), scene)


def _file_tools(rule: AnswerRule, touch: Touch, tool: str) -> Iterator[str]:
    if tool:
        yield tool
        if tool == "apply_patch":  # Codex's, which edits files and may make new ones
            yield from ("Edit",) if rule.do is Word.ALLOW else ("Edit", "Write")
        return
    yield "Write" if touch.writes else "Read"
    if not rule.paths:
        yield from SHELL_TOOLS  # all that a shell does, redirects too


def takes_domain(rule: AnswerRule, domain: str, tool: str) -> bool:
    """Whether a rule speaks of a host."""
    if rule.commands or rule.paths or rule.mcp or not rule.takes_tool(tool):
        return False
    if not rule.domains:
        return bool(rule.tools)
    return any(domain_fits(domain, each) for each in rule.domains)


def takes_name(rule: AnswerRule, request: Request, scene: Scene) -> bool:
    """Whether a rule speaks of a tool by its name, and of what a server's tool is given."""
    tool, looks_closer = request.tool, bool(rule.commands or rule.paths or rule.domains)
    if not tool or not rule.takes_tool(tool):
        return False
    if not looks_closer:
        return bool(rule.tools or rule.mcp)
    # `tool = "*"` with a path was written about files: to allow, it must name the server.
    named = rule.mcp or any(each.startswith("mcp__") for each in rule.tools)
    if not tool.startswith("mcp__") or (rule.do is Word.ALLOW and not named):
        return False
    return takes_arguments(rule, request, scene)
