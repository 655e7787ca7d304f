"""What in a person's own settings keeps an agent from being supervised well.

Pure: the files come in as text. Nothing is changed: koboshi sets per run what a flag or a variable
can set, and this is the rest, for `koboshi doctor` to tell.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Table = dict[str, Any]

#: The files that are looked at, from HOME.
FILES: Mapping[str, tuple[str, ...]] = {
    "claude": (".claude.json", ".claude/settings.json"),
    "codex": (".codex/config.toml",),
    "gemini": (".gemini/settings.json",),
    "opencode": (".config/opencode/opencode.json",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One setting, why it matters, and what to write."""

    agent: str
    file: str
    key: str  #: dotted; empty: the file as a whole
    why: str
    cure: str


def advice(files: Mapping[str, str]) -> tuple[Advice, ...]:
    """What to tell about these files (path from HOME → text); a missing file is an empty one."""
    told: list[Advice] = []
    for agent, paths in FILES.items():
        if not any(path in files for path in paths):
            continue  # a CLI that nobody uses here
        for path in paths:
            told += _of_file(agent, path, files.get(path, ""))
    return tuple(told)


def _of_file(agent: str, path: str, text: str) -> Iterator[Advice]:
    try:
        settings = _parsed(path, text)
    except ValueError as error:
        cure = f"mend the file: {error}"
        yield Advice(agent=agent, file=path, key="", why="it cannot be read", cure=cure)
        return
    for key, wrong, why, cure in _WATCHED.get(path, ()):
        if wrong(_value(settings, key)):
            yield Advice(agent=agent, file=path, key=key, why=why, cure=cure)


def _parsed(path: str, text: str) -> Table:
    if not text.strip():
        return {}
    parsed = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
    if not isinstance(parsed, dict):
        message = f"expected a table, not {type(parsed).__name__}"
        raise ValueError(message)  # noqa: TRY004 - one kind of error for all that cannot be read
    return parsed


def _value(settings: Table, key: str) -> object:
    value: object = settings
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _is_not(wanted: object) -> Callable[[object], bool]:
    return lambda value: value is not wanted


def _is(unwanted: object) -> Callable[[object], bool]:
    return lambda value: value is unwanted


def _lacks(*words: str) -> Callable[[object], bool]:
    return lambda value: not (isinstance(value, list) and set(words) & set(map(str, value)))


_Watched = Iterable[tuple[str, Callable[[object], bool], str, str]]
_WATCHED: Mapping[str, _Watched] = {
    ".claude.json": (
        (
            "hasCompletedOnboarding",
            _is_not(wanted=True),
            "the first start asks for a theme and a login, and nobody is there to answer",
            "start claude once by hand",
        ),
        (
            "leftArrowOpensAgents",
            _is_not(wanted=False),
            (
                "left arrow on an empty box moves the session into a daemon; only runs that "
                "koboshi starts are kept from that, by CLAUDE_CODE_DISABLE_AGENT_VIEW"
            ),
            '"leftArrowOpensAgents": false',
        ),
        (
            "autoCompactEnabled",
            _is(unwanted=False),
            "with a full context it refuses every message, and works no more until /compact",
            'remove it, or "autoCompactEnabled": true',
        ),
    ),
    ".codex/config.toml": (
        (
            "tui.status_line",
            _lacks("context-used", "context-remaining"),
            "its screen does not show how much of the context is used",
            'status_line = ["model-with-reasoning", "context-used", "current-dir"] under [tui]',
        ),
    ),
    ".gemini/settings.json": (
        (
            "general.disableAutoUpdate",
            _is_not(wanted=True),
            "no variable keeps it from updating itself in the night",
            '"general": {"disableAutoUpdate": true}',
        ),
        (
            "ui.footer.hideContextPercentage",
            _is_not(wanted=False),
            "its screen does not show how much of the context is used",
            '"ui": {"footer": {"hideContextPercentage": false}}',
        ),
        (
            "ui.hideBanner",
            _is(unwanted=True),
            "without its banner nobody can tell when a fresh start takes its first message",
            'remove it, or "ui": {"hideBanner": false}',
        ),
    ),
}
