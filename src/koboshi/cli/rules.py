"""`koboshi rules`: the list of rules, and the page of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.core.rules import Rule

_EPILOG = """\b
Examples:
  koboshi rules
  koboshi rules CTX001
  koboshi rules context-nearly-full --json

\b
Exit codes: 0 fine · 2 no such rule
"""
#: The source of a rule that comes with koboshi.
BUILT_IN = "built in"


@click.command(epilog=_EPILOG)
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, or one object.")
def rules(*, code: str | None, as_json: bool) -> None:
    """List the rules, or show the page of the rule CODE (its code or its name).

    Those that are built in, those of plug-ins, those of your own koboshi.toml and those of the
    koboshi.toml in this folder; each says where it is from.
    """
    from .printing import COLUMNS, columns, say, to_json

    room = columns() or COLUMNS
    listed = sorted(_sourced(), key=lambda pair: pair[0].code)
    if code is not None:
        rule, source = _found(code, listed)
        facts = rule_facts(rule, source)
        say(to_json(facts) if as_json else "\n".join(_page(rule, source, room)))
        return
    if as_json:
        say(to_json([rule_facts(*pair) for pair in listed]))
        return
    for pair in listed:
        say("\n".join(_entry(*pair, room)))


def _sourced() -> Iterator[tuple[Rule, str]]:
    """Every rule, and where it is from; what cannot be used is told."""
    from pathlib import Path

    from koboshi.config.load import read
    from koboshi.config.resolve import FILE, merged
    from koboshi.plugins.manager import in_force, installed
    from koboshi.rules.catalogue import PLANS
    from koboshi.store.manifests import config_dir

    from .printing import complain

    own, here = config_dir() / FILE, Path.cwd() / FILE
    foreign = here.resolve() != own.resolve()
    sheets = [read(own), read(here, foreign=True) if foreign else None]
    ours, notes = merged(*sheets)
    brought = installed()
    wrong = [mistake for sheet in sheets if sheet for mistake in sheet.book.mistakes]
    for each in (*wrong, *notes, *brought.broken):
        complain(str(each))
    places = {
        code: f"{sheet.file}:{line}"
        for sheet in reversed(sheets)
        if sheet
        for code, line in sheet.book.places.items()
    }
    plugins = {code: f"plug-in {name}" for code, name in brought.origins.items()}
    for rule in (*in_force(ours), *PLANS):
        yield rule, places.get(rule.code) or plugins.get(rule.code) or BUILT_IN


def _found(code: str, listed: list[tuple[Rule, str]]) -> tuple[Rule, str]:
    for rule, source in listed:
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule, source
    from koboshi.errors import UnknownRule

    raise UnknownRule(
        f"expected a rule code such as 'RUN001', not {code!r}", hint="'koboshi rules' lists them"
    )


def rule_facts(rule: Rule, source: str) -> dict[str, Any]:
    """A rule; the keys are a public contract (docs/reference/json.md)."""
    summary, sections = read_page(rule.page)
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "source": source,
        "summary": summary,
        "why": sections.get("Why", ""),
        "example": sections.get("Example", ""),
        "safety": sections.get("Safety", ""),
    }


def read_page(page: str) -> tuple[str, dict[str, str]]:
    """The first paragraph of a rule's page, and its sections by their headings."""
    summary, *parts = page.split("\n## ")
    sections = {}
    for part in parts:
        heading, _, text = part.partition("\n")
        sections[heading.strip()] = text.strip()
    return " ".join(summary.split()), sections


def _entry(rule: Rule, source: str, room: int) -> Iterator[str]:
    from .colours import SEVERITY_COLOURS
    from .printing import paint, wrap

    summary, _ = read_page(rule.page)
    told = "" if source == BUILT_IN else f" ({source})"
    head = f"{rule.code} {rule.severity.value} {rule.name}{told}"
    yield paint(head, SEVERITY_COLOURS[rule.severity])
    for row in wrap(summary, room - 4):
        yield f"    {row}"


def _page(rule: Rule, source: str, room: int) -> Iterator[str]:
    from .printing import paint, wrap

    summary, sections = read_page(rule.page)
    yield paint(f"{rule.code} {rule.name} ({rule.severity.value})", "bold")
    yield from () if source == BUILT_IN else (f"from {source}",)  # a path is not broken
    yield ""
    yield from wrap(summary, room)
    for heading, text in sections.items():
        yield ""
        yield paint(heading, "bold")
        for paragraph in text.split("\n\n"):
            for row in wrap(" ".join(paragraph.split()), room - 2):
                yield f"  {row}"
