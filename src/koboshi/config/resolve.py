"""All places where something is set → the settings of one agent, and where each comes from.

Later wins: default, the user's own file, the project's file, environment, command line. In a file:
for all, `[types.…]`, `[agents.…]`.
Rule 1: what a project's file may not do (`Trust`) is left out and told.
Rule 2: a mode or a list of allowed commands that cannot be read is closed, not passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from koboshi.core.actions import Mode
from koboshi.core.rules import Rule
from koboshi.core.settings import Settings
from koboshi.policy.policies import Policy

from .answers import in_project
from .durations import shown
from .kinds import Trust
from .load import Layer, Sheet, read
from .mistakes import Mistake
from .model import Values, is_time, trust
from .variables import FIELDS, ON_ERROR, OWN, PLAIN

FILE = "koboshi.toml"
DEFAULT, COMMAND_LINE = "default", "command line"
_CLOSED: dict[str, Any] = {"mode": Mode.OBSERVE, "allow": ()}
_WHY = {
    Trust.OWN: "the file of a project may not set this",
    Trust.LESS: "the file of a project may not raise this",
    Trust.MORE: "the file of a project may not lower this",
    Trust.FEWER: "the file of a project may not add to this",
}
_WHY_STRICTER = "the file of a project may only deny or ask; your own koboshi.toml can allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The agent that is asked about."""

    agent: str
    agent_type: str
    cwd: str
    variables: Mapping[str, str] = field(default_factory=dict)
    mode: Mode | None = None  #: as given on the command line


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Settings, where each comes from, and what could not or may not be used."""

    settings: Settings
    origins: Mapping[str, str]
    mistakes: tuple[Mistake, ...] = ()  #: in the user's own file and the environment
    foreign: tuple[Mistake, ...] = ()  #: in the project's file
    notes: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()  #: those of the files; the user's own first
    answers: Policy = field(default_factory=Policy)  #: in force in mode `auto`

    def facts(self) -> dict[str, Any]:
        """As plain values, for people and programs."""
        return {
            "values": [_fact(self.settings, self.origins, name) for name in FIELDS],
            "mistakes": [mistake_facts(each) for each in (*self.mistakes, *self.foreign)],
            "notes": list(self.notes),
        }


class _Pile:
    """Layer upon layer."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.origins = dict.fromkeys(FIELDS, DEFAULT)

    def put(self, name: str, value: Any, origin: str) -> None:  # noqa: ANN401 - as the field wants
        if name == "on_error":
            value = tuple(sorted({**dict(self.settings.on_error), **value}.items()))
        self.settings = replace(self.settings, **{name: value})
        self.origins[name] = origin

    def close(self, name: str, origin: str) -> None:
        if name in _CLOSED:
            self.put(name, _CLOSED[name], f"closed, because {origin} has a mistake there")

    def lay(self, layer: Layer, file: str) -> None:
        for name in sorted(layer.closed):
            self.close(name, file)
        for name, value in layer.values.items():
            self.put(name, value, layer.places[name])


def resolve(subject: Subject, config: Path) -> Resolved:
    """The settings of that agent; `config` is the folder of the user's own file."""
    pile, notes, answers = _Pile(), list[str](), Policy()
    mistakes, foreign = list[Mistake](), list[Mistake]()
    own_path, project_path = config / FILE, Path(subject.cwd) / FILE
    own = read(own_path)
    if own is not None:
        mistakes += own.mistakes
        answers = own.answers.policy
        if own.broken:
            pile.close("mode", own.file)
        for layer in own.layers(subject.agent, subject.agent_type):
            pile.lay(layer, own.file)
    project = None if _same(own_path, project_path) else read(project_path, foreign=True)
    if project is not None:
        foreign += project.mistakes
        notes += _lay_project(pile, project, subject)
        answers, refused = in_project(answers, project.answers)
        notes += [f"{project.file}: {each} is ignored: {_WHY_STRICTER}" for each in refused]
    mistakes += _lay_variables(pile, subject.variables)
    if subject.mode is not None:
        pile.put("mode", subject.mode, COMMAND_LINE)
    rules, doubled = merged(own, project)
    notes += doubled
    return Resolved(
        settings=pile.settings,
        origins=pile.origins,
        mistakes=tuple(mistakes),
        foreign=tuple(foreign),
        notes=tuple(notes),
        rules=rules,
        answers=replace(answers, exact=pile.settings.allow),
    )


def merged(own: Sheet | None, project: Sheet | None) -> tuple[tuple[Rule, ...], list[str]]:
    """The rules of both files, and what is left out: a code that the user's own file has, too."""
    rules = {rule.code: rule for rule in (own.book.rules if own else ())}
    notes = []
    for rule in project.book.rules if project else ():
        if rule.code in rules and project:
            notes.append(
                f"{project.file}: rule {rule.code} is ignored: your own file has that code"
            )
        rules.setdefault(rule.code, rule)
    return tuple(rules.values()), notes


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


# -- the project's file -------------------------------------------------------------------------


def _lay_project(pile: _Pile, sheet: Sheet, subject: Subject) -> Iterator[str]:
    bound, own = pile.settings, "your own koboshi.toml, the environment or the command line can"
    for table in sheet.refused:
        place = f"{sheet.file}:{sheet.lines.of((table,))}"
        yield f"{place}: [{table}] is ignored: {_WHY[Trust.OWN]}; your own koboshi.toml can"
    for layer in sheet.layers(subject.agent, subject.agent_type):
        for name in sorted(layer.closed):
            pile.close(name, sheet.file)
        for name, value in layer.values.items():
            place = layer.places[name]
            if _may(trust(name), value, getattr(bound, name)):
                pile.put(name, value, place)
            else:
                yield f"{place}: {name} is ignored: {_WHY[trust(name)]}; {own}"


def _may(allowed: Trust, value: Any, bound: Any) -> bool:  # noqa: ANN401 - as the field wants
    match allowed:
        case Trust.FREE:
            return True
        case Trust.LESS:
            return bool(value <= bound)
        case Trust.MORE:
            return bool(value >= bound)
        case Trust.FEWER:
            return set(value) <= set(bound)
        case Trust.OWN:
            return False


# -- the environment ----------------------------------------------------------------------------


def _lay_variables(pile: _Pile, variables: Mapping[str, str]) -> Iterator[Mistake]:
    """First the plain names, then ours, which are the more exact ones."""
    for variable in sorted(variables, key=lambda name: (name in OWN, name)):
        name, value = _meant(variable, variables[variable])
        if not name:
            continue
        try:
            model = Values.model_validate({name: value})
            pile.put(name, getattr(model, name), variable)
        except ValidationError as error:
            pile.close(name, variable)
            facts = error.errors(include_url=False)[0].get("ctx", {})
            expected = facts.get("expected", "a list such as '429=retry,5xx=skip'")
            came = facts.get("came", repr(value))
            yield Mistake(file="environment", key=variable, expected=expected, came=came)


def _meant(variable: str, text: str) -> tuple[str, object]:
    """The field that the variable sets, and the value as a file would say it."""
    if code := ON_ERROR.fullmatch(variable):
        return "on_error", {code[1]: text.strip()}
    if variable in PLAIN:
        plain = PLAIN[variable]
        bare = plain.unit and text.strip().replace(".", "", 1).isdigit()
        return plain.field, f"{text.strip()}{plain.unit}" if bare else text
    name = OWN.get(variable, "")
    return name, _pairs(text) if name == "on_error" else text


def _pairs(text: str) -> object:
    """`429=retry,5xx=skip`; anything else is what it is, and no table."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if not all(equals for _, equals, _ in pairs):
        return text
    return {code.strip(): reaction.strip() for code, _, reaction in pairs}


# -- telling ------------------------------------------------------------------------------------


def _fact(settings: Settings, origins: Mapping[str, str], name: str) -> dict[str, Any]:
    return {
        "key": name,
        "value": plain_value(name, getattr(settings, name)),
        "shown": shown_value(name, getattr(settings, name)),
        "from": origins[name],
    }


def plain_value(name: str, value: Any) -> Any:  # noqa: ANN401 - as the field is
    """The value as JSON says it."""
    if isinstance(value, Mode):
        return value.name.lower()
    if name == "on_error":
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def shown_value(name: str, value: Any) -> str:  # noqa: ANN401 - as the field is
    """The value as a file would say it."""
    if is_time(name):
        return shown(value)
    if isinstance(value, float):
        return f"{value:g} %"
    if name == "on_error":
        return ", ".join(f"{code}={reaction}" for code, reaction in value) or "none"
    if isinstance(value, tuple):
        return ", ".join(repr(each) for each in value) or "none"
    return repr(value) if isinstance(value, str) else str(plain_value(name, value))


def mistake_facts(mistake: Mistake) -> dict[str, Any]:
    """A mistake as plain values."""
    return {
        "file": mistake.file,
        "line": mistake.line,
        "key": mistake.key,
        "expected": mistake.expected,
        "came": mistake.came,
        "meant": mistake.meant,
        "said": str(mistake),
    }
