"""Screen grammar: a TOML file per CLI, read from the package and compiled once.

A CLI update is then a change of data. Patterns must be linear: no nested quantifiers,
since they run over text an agent may print on purpose.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from koboshi.core.readings import Meaning, PromptKind, Status

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regions:
    """How the parts of a screen are told apart."""

    rule: Pattern
    caret: str
    block: Pattern
    busy_block: Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """What the line under the input box may say."""

    idle: Pattern
    busy: Pattern
    context_used: Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogGrammar:
    """The rows a dialog is made of, from its rule to its cancel line."""

    option: Pattern
    option_more: Pattern
    question: Pattern
    subject: Pattern
    title: Pattern
    cancel: Pattern
    titles: dict[str, PromptKind]
    tools: dict[str, str]  #: which tool a dialog with that title is about
    closed: frozenset[PromptKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningPattern:
    """An option whose text matches has that meaning, in dialogs of these kinds."""

    pattern: Pattern
    meaning: Meaning
    kinds: frozenset[PromptKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPattern:
    """A block that matches says this; groups: code, attempt, of, limit, resets."""

    pattern: Pattern
    status: Status
    reason: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is typed to the agent and how it confirms; `{name}` is the note's name."""

    save: str
    load: str
    exit: str
    saved: str
    loaded: str
    echo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything a screen reader must know about one CLI."""

    name: str
    regions: Regions
    footer: Footer
    dialog: DialogGrammar
    meanings: tuple[MeaningPattern, ...]
    working: tuple[BlockPattern, ...]
    resting: tuple[BlockPattern, ...]
    local: tuple[Pattern, ...]
    words: Words


@cache
def load(name: str) -> Manifest:
    """The built-in manifest of that name."""
    text = resources.files(f"koboshi.adapters.{name}").joinpath("manifest.toml").read_text("utf-8")
    return parse(text)


def parse(text: str) -> Manifest:
    """A manifest from TOML; KeyError, re.error or ValueError when it is not one."""
    raw = tomllib.loads(text)
    regions, footer = raw["regions"], raw["footer"]
    return Manifest(
        name=raw["name"],
        regions=Regions(
            rule=re.compile(regions["rule"]),
            caret=regions["caret"],
            block=re.compile(regions["block"]),
            busy_block=re.compile(regions["busy_block"]),
        ),
        footer=Footer(**{key: re.compile(footer[key]) for key in ("idle", "busy", "context_used")}),
        dialog=_dialog(raw["dialog"]),
        meanings=tuple(_meaning(entry) for entry in raw["meanings"]),
        working=tuple(_block(entry, Status.WORKING) for entry in raw["working"]),
        resting=tuple(_block(entry, Status(entry["status"])) for entry in raw["resting"]),
        local=tuple(re.compile(entry["pattern"]) for entry in raw["local"]),
        words=Words(**raw["words"]),
    )


def _dialog(raw: dict[str, Any]) -> DialogGrammar:
    rows = ("option", "option_more", "question", "subject", "title", "cancel")
    titles = {title: PromptKind(kind) for title, kind in raw["titles"].items()}
    tools = dict(raw["tools"])
    closed = frozenset(PromptKind(kind) for kind in raw["closed"])
    return DialogGrammar(
        titles=titles, tools=tools, closed=closed, **{row: re.compile(raw[row]) for row in rows}
    )


def _meaning(raw: dict[str, Any]) -> MeaningPattern:
    return MeaningPattern(
        pattern=re.compile(raw["pattern"]),
        meaning=Meaning(raw["meaning"]),
        kinds=frozenset(PromptKind(kind) for kind in raw["kinds"]),
    )


def _block(raw: dict[str, Any], status: Status) -> BlockPattern:
    return BlockPattern(
        pattern=re.compile(raw["pattern"]),
        status=status,
        reason=raw["reason"],
        code=raw.get("code", ""),
    )
