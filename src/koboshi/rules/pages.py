"""The page of a rule, taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from koboshi.core.rules import Rule


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
