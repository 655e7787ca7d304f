"""One `koboshi.toml`: what it sets, and everything that is wrong in it, at once.

Rule 1: no text makes this raise. The file of a project may come from a stranger.
Rule 2: what is wrong is left out, what is right counts.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from koboshi.adapters.registry import names
from koboshi.rules.catalogue import ALL

from .answers import TABLE, Answers, Fault, read_answers
from .kinds import brief
from .lines import Key, Lines
from .mistakes import Mistake, dotted, in_our_words
from .model import OUTSIDE, File, Values, known
from .rulebook import TABLE as RULES
from .rulebook import Rulebook, rulebook
from .whole import unfinished

#: Bytes of a file; a full one has 3,000, and two hundred rules have 60,000.
MOST_BYTES = 1 << 18
#: Mistakes that are told one by one.
MOST_TOLD = 50

_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
#: Tables, and no values of an agent.
_TABLES = ("agents", "types", *OUTSIDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The values of one table, and where each stands."""

    values: Mapping[str, Any]
    places: Mapping[str, str]
    closed: frozenset[str] = frozenset()  #: fields that were set to something unusable


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One file as it can be used."""

    file: str
    model: File
    lines: Lines
    mistakes: tuple[Mistake, ...] = ()
    wrong: tuple[Key, ...] = ()  #: the keys that were left out, under the names that were meant
    broken: bool = False  #: nothing of it could be read
    refused: tuple[str, ...] = ()  #: tables that were not even looked at
    book: Rulebook = field(default_factory=Rulebook)  #: the rules that it adds
    answers: Answers = field(default_factory=Answers)

    def layers(self, agent: str, agent_type: str) -> Iterator[Layer]:
        """What concerns that agent: for all, for its type, for itself."""
        yield self._layer(self.model, ())
        for table, name in (("types", agent_type), ("agents", agent)):
            model = getattr(self.model, table).get(name, Values())
            yield self._layer(model, (table, name))

    def _layer(self, model: Values, table: Key) -> Layer:
        keys = [key for key in model.model_fields_set if key not in _TABLES]
        where = f" [{dotted(table)}]" if table else ""
        places = {key: f"{self.file}:{self.lines.of((*table, key))}{where}" for key in keys}
        closed = {key[-1] for key in self.wrong if key[:-1] == table}
        values = {key: getattr(model, key) for key in keys}
        return Layer(values=values, places=places, closed=frozenset(closed))


def read(path: Path, *, foreign: bool = False) -> Sheet | None:
    """The file at that path; None when there is none. Of a stranger's, only what is about agents.

    To check an address is to give it the secrets that it names.
    """
    try:
        return parse(_content(path), str(path), without=OUTSIDE if foreign else ())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return _broken(str(path), "a file that can be read", reason)
    except ValueError as error:
        return _broken(str(path), str(error))


def parse(text: str, file: str, *, without: tuple[str, ...] = ()) -> Sheet:
    """What a TOML text sets; the tables `without` are left out unread."""
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "nested too deeply"
        return _unparsed(text, file, reason)
    lines, mistakes, wrong = Lines(text), list[Mistake](), list[Key]()
    refused = tuple(name for name in without if raw.pop(name, None) is not None)
    book = _rules(raw, file, lines, foreign=bool(without))
    model = File()
    answers = read_answers(raw.pop(TABLE)) if TABLE in raw else Answers()
    mistakes += [_fault(file, lines, each) for each in answers.faults]
    for _ in range(3):  # twice: all mistakes are reported at once
        try:
            model = File.model_validate(raw)
            break
        except ValidationError as error:
            for each in error.errors(include_url=False):
                key = tuple(str(part) for part in each["loc"] if part != "[key]")
                # Looking for likely names takes a while, and a file can have thousands of keys.
                likely = known(key) if len(mistakes) < MOST_TOLD else ()
                hides = key[0] in OUTSIDE  # it may be an address with a secret in it
                mistake = in_our_words(file, lines, key, each, likely, hides=hides)
                mistakes.append(mistake)
                wrong.append((*key[:-1], mistake.meant or key[-1]))
                _leave_out(raw, key)
    mistakes += _unknown_types(file, lines, model)
    mistakes += [m for m in _unfinished(file, lines, model) if m.key not in map(dotted, wrong)]
    mistakes += book.mistakes
    return Sheet(
        file=file,
        model=model,
        lines=lines,
        mistakes=_few(mistakes),
        wrong=tuple(wrong),
        refused=refused,
        book=book,
        answers=answers,
    )


def _unparsed(text: str, file: str, reason: str) -> Sheet:
    """No TOML at all."""
    at = _AT.search(reason)
    line = int(at[1] or text.count("\n") + 1) if at else None
    came = _AT.sub("", reason)
    return _broken(file, "TOML", came[:1].lower() + came[1:], line)


def _unfinished(file: str, lines: Lines, model: File) -> Iterator[Mistake]:
    for key, expected, came in unfinished(model):
        line = lines.of(key)
        yield Mistake(file=file, line=line, key=dotted(key), expected=expected, came=came)


def _rules(raw: dict[str, Any], file: str, lines: Lines, *, foreign: bool) -> Rulebook:
    tables = raw.pop(RULES, None)
    if tables is None:
        return Rulebook()
    taken = [rule.code for rule in ALL]
    commands = raw.get("commands")
    named = tuple(commands) if isinstance(commands, dict) else ()
    return rulebook(tables, file, lines, foreign=foreign, taken=taken, commands=named)


def _content(path: Path) -> str:
    # Not blocking: a named pipe in a project's folder would hold us up for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("a file, and it is something else")
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"at most {MOST_BYTES} bytes")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"UTF-8 ({error.reason} at byte {error.start})") from error


def _broken(file: str, expected: str, came: str = "", line: int | None = None) -> Sheet:
    mistake = Mistake(file=file, line=line, expected=expected, came=came)
    book = Rulebook(mistakes=(mistake,))
    lines = Lines("")
    return Sheet(file=file, model=File(), lines=lines, mistakes=(mistake,), broken=True, book=book)


def _fault(file: str, lines: Lines, fault: Fault) -> Mistake:
    return Mistake(
        file=file,
        line=lines.of(fault.key),
        key=dotted(fault.key),
        expected=fault.expected,
        came=fault.came,
        meant=fault.meant,
    )


def _leave_out(raw: Any, key: Key) -> None:  # noqa: ANN401 - tables of tables
    for part in key[:-1]:
        if not isinstance(raw, dict) or part not in raw:
            return
        raw = raw[part]
    if isinstance(raw, dict):
        raw.pop(key[-1], None)


def _unknown_types(file: str, lines: Lines, model: File) -> Iterator[Mistake]:
    types = names()
    for name in model.types:
        if name not in types:
            close = difflib.get_close_matches(name, types, n=1)
            yield Mistake(
                file=file,
                line=lines.of(("types", name)),
                key=dotted(("types", name)),
                expected=f"one of {', '.join(types)}",
                came=brief(name),
                meant=close[0] if close else "",
            )


def _few(mistakes: list[Mistake]) -> tuple[Mistake, ...]:
    """In the order of their lines, and not thousands."""
    ordered = sorted(mistakes, key=lambda each: each.line or 0)
    rest = ordered[MOST_TOLD:]
    if not rest:
        return tuple(ordered)
    more = Mistake(file=rest[0].file, expected=f"no mistakes, and there are {len(rest)} more")
    return (*ordered[:MOST_TOLD], more)
