"""Which rules hold, where each comes from, whether it acts, and what it came to lately."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koboshi.config.load import Sheet, read
from koboshi.config.resolve import FILE, merged
from koboshi.core.gate import Word
from koboshi.errors import UnknownRule
from koboshi.incidents.findings import Reader
from koboshi.plugins.manager import installed
from koboshi.rules import BUILTIN
from koboshi.rules.catalogue import ALL
from koboshi.rules.pages import rule_facts
from koboshi.store.switches import Switch, switches_in

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.incidents.findings import Incident, Step

BUILT_IN, PLAN = "built in", "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A rule and where it comes from."""

    rule: Rule
    origin: str  #: `built in`, `plug-in NAME`, `plan` (it looks at plans), or the file and line
    enabled: bool = True

    @property
    def settable(self) -> bool:
        """Whether it can be told to observe or to act; a plan's rules are its loop."""
        return self.enabled and self.origin != PLAN

    def mode(self, said: Switch | None) -> str:
        """What it does about what it finds."""
        if not self.enabled:
            return "off"
        return said.mode if said and self.settable else self.own_mode

    @property
    def own_mode(self) -> str:
        """The same, as its file has it."""
        return "observe" if self.rule.observes else "act"


@dataclass(slots=True)
class Tally:
    """What one rule came to."""

    found: int = 0
    done: int = 0
    would: int = 0
    last: dict[str, Any] | None = None
    example: dict[str, Any] | None = field(default=None)

    def take(self, incident: Incident, reader: Reader) -> None:
        """One more incident; they come in the order of their time, agent by agent."""
        self.found += 1
        told = {"utc": round(incident.utc, 3), "agent": incident.agent, "event": incident.event}
        if self.last is None or self.last["utc"] <= told["utc"]:
            self.last = {**told, "message": reader.mask(incident.message)}
        for step in incident.steps.values():
            self._step(step, told, reader)

    def _step(self, step: Step, told: dict[str, Any], reader: Reader) -> None:
        self.done += step.ending == "done"
        if step.verdict != Word.WOULD:
            return
        self.would += 1
        if self.example is None or self.example["utc"] <= told["utc"]:
            self.example = {**told, "words": reader.mask(step.words), "why": reader.mask(step.why)}


def standings(config: Path, folders: Iterable[str]) -> list[Standing]:
    """All rules there are for agents that work in these folders, by code."""
    found = {rule.code: Standing(rule=rule, origin=_place(rule)) for rule in ALL}
    for sheet in _sheets(config, folders):
        for each in _of_file(sheet):
            found.setdefault(each.rule.code, each)
    brought = installed()
    for rule in brought.rules:  # last: where a file has its code, the file counts
        origin = f"plug-in {brought.origins.get(rule.code, '')}".strip()
        found.setdefault(rule.code, Standing(rule=rule, origin=origin))
    return [found[code] for code in sorted(found)]


def troubles(config: Path, folders: Iterable[str]) -> list[str]:
    """What in the files and among the plug-ins cannot be used."""
    sheets = _sheets(config, folders)
    wrong = [mistake for sheet in sheets for mistake in sheet.book.mistakes]
    _, notes = merged(*[*sheets, None, None][:2])
    return [str(each) for each in (*wrong, *notes, *installed().broken)]


def _sheets(config: Path, folders: Iterable[str]) -> list[Sheet]:
    """The owner's file, and those of projects, which may do less."""
    own = config / FILE
    files = [own, *(Path(folder) / FILE for folder in dict.fromkeys(folders))]
    read_ = [read(file, foreign=file != own) for file in dict.fromkeys(files)]
    return [sheet for sheet in read_ if sheet is not None]


def _place(rule: Rule) -> str:
    return BUILT_IN if rule in BUILTIN else PLAN


def _of_file(sheet: Sheet) -> Iterator[Standing]:
    book = sheet.book
    for rule in (*book.rules, *book.off):
        origin = f"{sheet.file}:{book.places.get(rule.code) or 1}"
        yield Standing(rule=rule, origin=origin, enabled=rule in book.rules)


def named(all_: Iterable[Standing], code: str) -> Standing:
    """The one of that code or name."""
    for each in all_:
        if code.upper() == each.rule.code.upper() or code.lower() == each.rule.name:
            return each
    raise UnknownRule(
        f"expected a rule code such as 'RUN001', not {code!r}", hint="'koboshi rules' lists them"
    )


def tallied(readers: Iterable[Reader], since: float) -> dict[str, Tally]:
    """What each rule came to since then, by code."""
    found: dict[str, Tally] = {}
    for reader in readers:
        for incident in reader.renew(since):
            if incident.utc >= since:
                found.setdefault(incident.code, Tally()).take(incident, reader)
    return found


def standing_facts(each: Standing, said: Switch | None, tally: Tally | None) -> dict[str, Any]:
    """For JSON; the keys are a public contract (docs/reference/json.md)."""
    counted = tally or Tally()
    return {
        **rule_facts(each.rule),
        "origin": each.origin,
        "mode": each.mode(said),
        "own_mode": each.own_mode if each.enabled else "off",
        "switched": said.facts() if said and each.settable else None,
        "settable": each.settable,
        "found": counted.found,
        "done": counted.done,
        "would": counted.would,
        "last": counted.last,
        "example_would": counted.example,
    }


def told(
    state: Path,
    config: Path,
    folders: Iterable[str],
    readers: Iterable[Reader],
    *,
    since: float,
) -> list[dict[str, Any]]:
    """Every rule with what it came to."""
    said, tallies = switches_in(state), tallied(readers, since)
    return [
        standing_facts(each, said.get(each.rule.code), tallies.get(each.rule.code))
        for each in standings(config, folders)
    ]
