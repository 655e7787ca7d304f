"""The pages that come from code say what the code says."""

from pathlib import Path

from koboshi.cli.group import VERBS
from koboshi.core.readings import Status
from koboshi.core.status import TRANSITIONS
from koboshi.rules.catalogue import BUILTIN
from scripts.gen_docs import pages, stale, write


def test_no_page_is_stale() -> None:
    """`make docs` writes them anew."""
    assert stale() == []


def test_a_page_that_was_changed_left_out_or_outlived_is_stale(tmp_path: Path) -> None:
    """And writing brings everything up to date."""
    assert sorted(pages()) == sorted(write(tmp_path))
    (tmp_path / "rules" / "RUN001.md").write_text("by hand")
    (tmp_path / "rules" / "OLD001.md").write_text("a rule that is gone")
    (tmp_path / "status.md").unlink()

    assert stale(tmp_path) == ["rules/RUN001.md", "status.md", "rules/OLD001.md"]
    assert write(tmp_path) == ["rules/RUN001.md", "status.md", "rules/OLD001.md"]
    assert stale(tmp_path) == []


def test_every_rule_has_its_page_with_three_sections() -> None:
    """Why, Example, Safety."""
    made = pages()
    for rule in BUILTIN:
        page = made[f"rules/{rule.code}.md"]

        assert [h for h in ("## Why\n", "## Example\n", "## Safety\n") if h not in page] == []
        assert f"[{rule.code}]({rule.code}.md)" in made["rules/index.md"]


def test_the_table_of_statuses_is_the_table_of_the_code() -> None:
    """Read back cell by cell."""
    rows = [r for r in pages()["status.md"].splitlines() if r.startswith("| **")]
    read = {}
    for row in rows:
        before, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        after = {s for s, cell in zip(Status, cells, strict=True) if cell == "yes"}
        read[Status(before.strip("*"))] = after

    assert read == {status: set(TRANSITIONS[status]) - {status} for status in Status}


def test_every_command_shows_an_example_and_its_exit_codes() -> None:
    """The page is made of the help texts."""
    page = pages()["reference/cli.md"]
    parts = page.split("\n## koboshi ")[1:]

    assert [p.split("\n")[0] for p in parts] == sorted(VERBS)
    assert [p.split("\n")[0] for p in parts if "Example" not in p] == []
    assert max(map(len, "".join(parts).splitlines())) <= 80
