"""Screen grammar of a CLI: a TOML file, read from the package or from the user, compiled once.

A CLI update is then a change of data. Patterns must be linear: no nested quantifiers, since they
run over text an agent may print on purpose. Every pattern has a name; a reading's evidence shows
the name with the line it matched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from koboshi.adapters.versions import within
from koboshi.core.readings import Meaning, PromptKind, Status
from koboshi.errors import ManifestBroken

from .merging import for_version, merged, tables
from .schemas import complaints, line_of
from .starts import StartGrammar, read_start

_PAUSE = 0.3  # seconds: enough for every CLI that was tried
Pattern = re.Pattern[str]
NEVER = re.compile(r"(?!)")
_BOX_PLAIN = {"layout", "most_below", "first_gap", "toasts"}  # no patterns


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # compared by identity: kept as a key
class Sign:
    """A named pattern and what it means where it is found."""

    name: str
    pattern: Pattern
    status: Status = Status.UNKNOWN
    code: str = ""  #: of the error, where the text names none
    coloured: bool = False  #: counts only in colour, where colours are known
    faint: str = ""  #: a part of it that the program draws faint; an agent cannot
    above: Pattern | None = None  #: what the row above it must look like
    whole: bool = False  #: counts only where nothing else stands in its block
    noticed: bool = False  #: no failure where the context notice below the box says it, too
    toasted: bool = False  #: counts only while the program tells something in passing


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxGrammar:
    """The input box: how it is framed and what in it is not a person's text."""

    layout: str  #: ruled · caret · panel
    caret: Pattern  #: the first row; group `text` is the draft, group `mode` is kept in it
    rule: Pattern = NEVER
    below: Pattern = NEVER  #: what a row under a `caret` box may look like
    placeholder: Pattern = NEVER
    pasted: Pattern = NEVER  #: what stands for a long paste: `chars`, `lines`, `breaks` of it
    scrolled: Pattern = NEVER  #: what stands for the first rows of a draft that has no room
    alone: Pattern = NEVER  #: rows above a box that is drawn before it takes text
    menu: Pattern = NEVER  #: an entry of the menu of commands: group entry, and mark if any
    toasts: bool = False  #: the program lays words over the corner of its screen for some seconds
    first_gap: bool = False  #: the first blank row ends a `caret` box, not the last one
    most_below: int = 45  #: rows: a menu may be as high as the screen


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockGrammar:
    """The transcript: where a block starts, and which of them a turn cannot end with."""

    head: Pattern
    user: Pattern
    ended: Pattern = NEVER
    tool: Pattern = NEVER
    tree: Pattern = NEVER
    open_end: Pattern = NEVER  #: an answer that may still be growing when no end follows


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSign:
    """A dialog is of that kind when the pattern is found in that part of it."""

    name: str
    pattern: Pattern
    kind: PromptKind
    where: str = "question"  #: title · question · options · hint · body


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningSign:
    """An option whose text matches does that, in dialogs of these kinds (none named: in all)."""

    pattern: Pattern
    meaning: Meaning
    kinds: frozenset[PromptKind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectSign:
    """Where the subject of a dialog stands whose title (or question) matches."""

    title: Pattern
    take: str  #: content · flat · path · lead · hint · question · title · titled · body
    extract: Pattern | None = None  #: group `subject`, searched in what was taken
    glued: bool = False  #: a row break in it is one of the screen's


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSign:
    """Which tool a dialog is about whose title (or question) matches."""

    title: Pattern
    tool: str  #: its name; `{server}` and `{tool}` are groups of `extract`
    take: str = "title"  #: as for a subject
    extract: Pattern | None = None  #: must be found in what was taken


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogGrammar:
    """The rows a dialog is made of."""

    tops: tuple[
        Sign, ...
    ] = ()  #: rule, inset (a plan's), edge (a menu's), title (its own first row)
    bar: Pattern = NEVER  #: group `text`: its rows stand behind a bar
    mark: str = "❯"  #: the characters that mark the selected row; the first also without a number
    option: Pattern = NEVER  #: groups mark, number, text
    hint: Pattern = NEVER  #: the row that says which keys it takes
    hint_end: Pattern = NEVER  #: the last row of a hint that is too long for one
    hintless: Pattern = NEVER  #: questions that come without one
    closing: Pattern = NEVER  #: a last option that needs none below it: it names the key itself
    picks: Pattern = NEVER  #: a hint under which a digit selects and does not choose
    refusal: Pattern = NEVER  #: an option that a whole list about a permission has
    after: Pattern = NEVER  #: what may stand below it
    footer: Pattern = NEVER  #: rows of the program's own that stay below a drawn border
    foreign: Pattern = NEVER  #: rows of a transcript: a dialog that holds one is torn
    restless: Pattern = NEVER  #: rows above it that change by themselves: they tell nothing new
    aside: Pattern = NEVER  #: rows of it that say nothing about the question
    cut: Pattern = NEVER  #: splits a description from an option's text
    inner_rule: Pattern = NEVER
    glue: Pattern = NEVER  #: an end of a row after which a wrap lost no blank
    join_rows: bool = False  #: rows under an option are its text unless they are faint
    first_question: bool = False  #: the question opens the dialog, not its list
    buttons: bool = False  #: options stand side by side; only their colour tells the selected one
    move: tuple[str, str] = ("Up", "Down")
    dismiss: str = ""  #: the key that refuses a plan or a question that has no option for it
    kinds: tuple[KindSign, ...] = ()
    meanings: tuple[MeaningSign, ...] = ()
    subjects: tuple[SubjectSign, ...] = ()
    tools: tuple[ToolSign, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything the reader must know about one CLI."""

    name: str
    versions: str
    command: Pattern
    box: BoxGrammar
    blocks: BlockGrammar
    dialog: DialogGrammar
    title_busy: Pattern = NEVER
    title_asking: Pattern = NEVER
    title_idle: Pattern = NEVER  #: only where a running turn always changes it
    signs: dict[str, tuple[Sign, ...]] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0  #: seconds between a paste and Enter
    interrupt: tuple[str, ...] = ()  #: keys that end a turn
    start: StartGrammar = field(default_factory=StartGrammar)
    strange_version: str = ""  #: evidence that this version was not tested; empty: it was

    def sign(self, where: str) -> tuple[Sign, ...]:
        """The patterns for that place, in the order they are tried."""
        return self.signs.get(where, ())


@lru_cache(maxsize=32)
def load(name: str, override: str | None = None, version: str = "") -> Manifest:
    """The manifest of that CLI in that version, with the user's own text of it on top.

    ManifestBroken when the user's text cannot be used.
    """
    folder = resources.files(f"koboshi.adapters.{name}")
    raw = tables(folder.joinpath("manifest.toml").read_text("utf-8"))
    if override is not None:
        raw = merged(raw, _checked(override))
    try:
        return made(for_version(raw, version), version)
    except (KeyError, TypeError, ValueError, re.error) as error:
        missing = f"expected the key {error}" if isinstance(error, KeyError) else str(error)
        raise ManifestBroken((missing,)) from error


def _checked(text: str) -> dict[str, Any]:
    """The user's tables, if all that they say can be understood."""
    try:
        raw = tables(text)
    except ValueError as error:
        raise ManifestBroken((f"not TOML: {error}",)) from error
    found = complaints(raw)
    if found:
        lines = (line_of(text, key) for key, _ in found)
        where = (f"line {line}, " if line else "" for line in lines)
        told = (
            f"{place}key '{key}': {wrong}" for place, (key, wrong) in zip(where, found, strict=True)
        )
        raise ManifestBroken(tuple(told))
    return raw


def made(raw: dict[str, Any], version: str = "") -> Manifest:
    """A manifest from its tables; KeyError, re.error or ValueError when they are not one."""
    titles = raw.get("title", {})
    typing = raw.get("typing", {})
    known = within(version, raw["versions"])
    return Manifest(
        name=raw["name"],
        versions=raw["versions"],
        command=re.compile(raw["command"]),
        box=BoxGrammar(**_compiled(raw["box"], _BOX_PLAIN)),
        blocks=BlockGrammar(**_compiled(raw["blocks"])),
        dialog=_dialog(raw["dialog"]),
        title_busy=re.compile(titles["busy"]) if "busy" in titles else NEVER,
        title_idle=re.compile(titles["idle"]) if "idle" in titles else NEVER,
        title_asking=re.compile(titles["asking"]) if "asking" in titles else NEVER,
        signs={place: tuple(map(_sign, rows)) for place, rows in raw.get("signs", {}).items()},
        words=raw.get("words", {}),
        pause=float(typing.get("pause", _PAUSE)),
        interrupt=tuple(typing.get("interrupt", ())),
        start=read_start(raw.get("start", {})),
        strange_version=f"version: {version} is outside the tested range {raw['versions']}"
        if known is False
        else "",
    )


def _compiled(
    raw: dict[str, Any], plain: frozenset[str] | set[str] = frozenset()
) -> dict[str, Any]:
    return {key: value if key in plain else re.compile(value) for key, value in raw.items()}


def _sign(raw: dict[str, Any]) -> Sign:
    return Sign(
        name=raw["name"],
        pattern=re.compile(raw["pattern"]),
        status=Status(raw.get("status", "unknown")),
        code=raw.get("code", ""),
        coloured=raw.get("coloured", False),
        faint=raw.get("faint", ""),
        above=re.compile(raw["above"]) if "above" in raw else None,
        whole=raw.get("whole", False),
        noticed=raw.get("noticed", False),
        toasted=raw.get("toasted", False),
    )


def _tool(raw: dict[str, Any]) -> ToolSign:
    extract = re.compile(raw["extract"]) if "extract" in raw else None
    raw["tool"].format_map(dict.fromkeys(extract.groupindex if extract else (), ""))
    return ToolSign(
        title=re.compile(raw["title"]),
        tool=raw["tool"],
        take=raw.get("take", "title"),
        extract=extract,
    )


def _dialog(raw: dict[str, Any]) -> DialogGrammar:
    lists = {"tops", "kinds", "meanings", "subjects", "tools"}
    plain = {"mark", "dismiss", "first_question", "join_rows", "buttons"}
    rest = {key: value for key, value in raw.items() if key not in lists | {"move"}}
    return DialogGrammar(
        tops=tuple(map(_sign, raw.get("tops", ()))),
        kinds=tuple(
            KindSign(
                name=entry["name"],
                pattern=re.compile(entry["pattern"]),
                kind=PromptKind(entry["kind"]),
                where=entry.get("where", "question"),
            )
            for entry in raw.get("kinds", ())
        ),
        meanings=tuple(
            MeaningSign(
                pattern=re.compile(entry["pattern"]),
                meaning=Meaning(entry["meaning"]),
                kinds=frozenset(map(PromptKind, entry.get("kinds", ()))),
            )
            for entry in raw.get("meanings", ())
        ),
        subjects=tuple(
            SubjectSign(
                title=re.compile(entry["title"]),
                take=entry["take"],
                extract=re.compile(entry["extract"]) if "extract" in entry else None,
                glued=entry.get("glued", False),
            )
            for entry in raw.get("subjects", ())
        ),
        tools=tuple(map(_tool, raw.get("tools", ()))),
        move=tuple(raw["move"]) if "move" in raw else ("Up", "Down"),
        **_compiled(rest, plain),
    )
