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


@click.command(epilog=_EPILOG)
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, or one object.")
def rules(*, code: str | None, as_json: bool) -> None:
    """List the rules, or show the page of the rule CODE (its code or its name)."""
    from koboshi.rules.catalogue import ALL, find

    from .printing import COLUMNS, columns, say, to_json

    room = columns() or COLUMNS
    if code is not None:
        found = find(code)
        say(to_json(rule_facts(found)) if as_json else "\n".join(_page(found, room)))
        return
    listed = sorted(ALL, key=lambda rule: rule.code)
    if as_json:
        say(to_json([rule_facts(rule) for rule in listed]))
        return
    for rule in listed:
        say("\n".join(_entry(rule, room)))


def rule_facts(rule: Rule) -> dict[str, Any]:
    """A rule; the keys are a public contract (docs/reference/json.md)."""
    summary, sections = read_page(rule.page)
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
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


def _entry(rule: Rule, room: int) -> Iterator[str]:
    from .colours import SEVERITY_COLOURS
    from .printing import paint, wrap

    summary, _ = read_page(rule.page)
    head = f"{rule.code} {rule.severity.value} {rule.name}"
    yield paint(head, SEVERITY_COLOURS[rule.severity])
    for row in wrap(summary, room - 4):
        yield f"    {row}"


def _page(rule: Rule, room: int) -> Iterator[str]:
    from .printing import paint, wrap

    summary, sections = read_page(rule.page)
    yield paint(f"{rule.code} {rule.name} ({rule.severity.value})", "bold")
    yield ""
    yield from wrap(summary, room)
    for heading, text in sections.items():
        yield ""
        yield paint(heading, "bold")
        for paragraph in text.split("\n\n"):
            for row in wrap(" ".join(paragraph.split()), room - 2):
                yield f"  {row}"
