"""The plan at the end of the demo, by itself."""

from __future__ import annotations

from pathlib import Path

from koboshi.demo.plan import Errand
from koboshi.demo.timeline import Entry


def test_one_line_is_worked_through_by_the_scripted_agent(tmp_path: Path) -> None:
    """The lie is caught; the claim is read back from the file and from git, each part of it."""
    errand, shown = Errand(tmp_path, tmp_path / "state"), list[Entry]()

    assert not errand.held()
    errand.run(shown.append, 80.0)

    assert errand.held()
    codes = [entry.mark for entry in shown]
    assert codes.count("PLN007") == 1
    assert codes[-1] == "PLN009"
    path = tmp_path / "project" / "M1.md"
    done = path.read_text()
    for old, new in (("ATTEMPTS: 2", "ATTEMPTS: 1"), ("STATUS: DONE", "STATUS: RUNNING")):
        path.write_text(done.replace(old, new, 1))
        assert not errand.held()
