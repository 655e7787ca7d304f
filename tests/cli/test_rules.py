"""`koboshi rules`: the list, and the page of one."""

from koboshi.rules.catalogue import ALL
from tests.cli.journals import run

KEYS = ["code", "name", "severity", "summary", "why", "example", "safety"]


def test_the_list_names_every_rule_by_code() -> None:
    """Code, severity, name; the first line of its page below."""
    heads = [line for line in run("rules").lines_of() if not line.startswith(" ")]

    assert heads == sorted(f"{r.code} {r.severity.value} {r.name}" for r in ALL)


def test_json_has_exactly_the_public_keys_and_no_empty_section() -> None:
    """A list of all; one object with a code."""
    listed = run("rules", "--json").json

    assert [list(rule) for rule in listed] == [KEYS] * len(ALL)
    assert [r["code"] for r in listed if not all(r.values())] == []
    assert run("rules", "--json", "RUN001").json == next(r for r in listed if r["code"] == "RUN001")


def test_a_page_has_its_sections() -> None:
    """By code in any case, or by name."""
    page = run("rules", "run001").out

    assert page.startswith("RUN001 run-ended-badly (P0)\n\nThe process ended")
    assert [line for line in page.splitlines() if line in ("Why", "Example", "Safety")] == [
        "Why",
        "Example",
        "Safety",
    ]
    assert page == run("rules", "run-ended-badly").out
