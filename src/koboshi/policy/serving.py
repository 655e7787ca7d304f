"""What a tool of an MCP server is given: only its words are known, not what it does with them.

Rule 1: a path that holds secrets is refused wherever it stands; by its name an argument is also a
path, a command line or an address that the owner's rules may speak of.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from . import bans
from .banning import Breach, broken
from .policies import AnswerRule, command_fits, domain_fits, path_fits
from .requests import Request, Word
from .scenes import Scene, pieces
from .shell.calls import Argument, Script
from .shell.scripts import read_script

_COMMANDS = frozenset({"command", "cmd", "script", "shell", "bash", "commandline", "command_line"})
_PATHS = ("path", "file", "dir", "folder", "cwd", "root", "source", "destination", "target")
_HOSTS = ("url", "uri", "domain", "host", "endpoint", "href")
#: A longer text is prose or the contents of a file.
_LONGEST = 4096


def breaches(request: Request, scene: Scene) -> Iterator[Breach]:
    """The bans that its arguments break."""
    for name, text in request.arguments:
        if _is_command(name):
            yield from broken(_script(text, request, scene), scene)
        elif any(scene.secret(spot) for spot in _spots(text, request, scene)):
            yield Breach(ban=bans.CREDENTIALS, part=text)


def steers(request: Request, scene: Scene) -> bool:
    """Whether it names what switches koboshi or an agent's permissions; reading it is not told."""
    return any(
        scene.control(spot)
        for name, text in request.arguments
        if not _is_command(name)
        for spot in _spots(text, request, scene)
    )


def takes_arguments(rule: AnswerRule, request: Request, scene: Scene) -> bool:
    """Whether the paths, commands and hosts of a rule fit: all of them to allow, one to refuse."""
    allows = rule.do is Word.ALLOW
    checks = [
        (rule.paths, [_path_fits(rule, text, request, scene) for text in _named(request, _PATHS)]),
        (rule.domains, [_host_fits(rule, text) for text in _named(request, _HOSTS)]),
        (rule.commands, [_command_fits(rule, text, request, scene) for text in _lines(request)]),
    ]
    for wanted, found in checks:
        if wanted and not (found and (all(found) if allows else any(found))):
            return False
    return True


def _is_command(name: str) -> bool:
    return name.lower() in _COMMANDS


def _lines(request: Request) -> list[str]:
    return [text for name, text in request.arguments if _is_command(name)]


def _named(request: Request, names: tuple[str, ...]) -> list[str]:
    return [text for name, text in request.arguments if any(each in name.lower() for each in names)]


def _script(text: str, request: Request, scene: Scene) -> Script:
    return read_script(text, cwd=request.cwd or scene.around.worktree, home=scene.around.home)


def _spots(text: str, request: Request, scene: Scene) -> Iterator[str]:
    if len(text) > _LONGEST or "\n" in text:
        return
    places = frozenset({request.cwd or scene.around.worktree})
    for piece in pieces(text.removeprefix("file://")):
        word = scene.home() + piece[1:] if piece.startswith("~/") and scene.home() else piece
        yield from scene.spots(Argument(text=word), places) or ()


def _path_fits(rule: AnswerRule, text: str, request: Request, scene: Scene) -> bool:
    exact = rule.do is Word.ALLOW
    word = scene.home() + text[1:] if text.startswith("~/") and scene.home() else text
    places = frozenset({request.cwd or scene.around.worktree})
    spots = scene.spots(Argument(text=word.removeprefix("file://")), places)
    found = [
        any(path_fits(spot, each, scene, exact=exact) for each in rule.paths)
        for spot in spots or ()
    ]
    return bool(found) and (all(found) if exact else any(found))


def _host_fits(rule: AnswerRule, text: str) -> bool:
    try:
        host = urlsplit(text).hostname if "://" in text else text
    except ValueError:
        return False
    plain = "@" not in text and "\\" not in text
    return plain and any(domain_fits(host or "", each) for each in rule.domains)


def _command_fits(rule: AnswerRule, text: str, request: Request, scene: Scene) -> bool:
    exact = rule.do is Word.ALLOW
    script = _script(text, request, scene)
    found = [
        any(command_fits(call, each, exact=exact) for each in rule.commands)
        for call in script.calls
    ]
    if exact:
        return bool(found) and all(found) and not script.doubts and not script.touches
    return any(found)
