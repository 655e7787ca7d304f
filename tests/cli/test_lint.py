"""`koboshi lint`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from koboshi.cli.main import main
from tests.plugins.packages import Packages, packages

__all__ = ["packages"]

LOG = """\
starting
Fatal error: no
2026-11-15T03:00:00Z Error: cannot open /a/b (1)
2026-11-15T03:00:01Z Error: cannot open /a/c (2)
fine
2026-11-15T03:00:02Z Error: cannot open /a/d (3)
"""
RULES = """
[[rule]]
code = "OWN001"
name = "started"
severity = "P2"
when = 'count("log", "^starting", "1m") >= 1'
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log."""
    file = tmp_path / "a.log"
    file.write_text(LOG, encoding="utf-8")
    return file


def test_findings_have_file_line_and_code(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1."""
    code = main(["lint", str(log)])

    assert code == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{log}:2: TXT001 it printed 'Fatal error: no'",
        f"{log}:6: TXT002 the same error, 3 times: 'Error: cannot open /a/d (3)'",
    ]


def test_nothing_found_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, and not a word."""
    file = tmp_path / "a.log"
    file.write_text("all is well\n", encoding="utf-8")

    assert main(["lint", str(file)]) == 0
    assert capsys.readouterr().out == ""


def test_rules_of_a_file_look_too(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As JSON."""
    rules = tmp_path / "r.toml"
    rules.write_text(RULES, encoding="utf-8")
    main(["lint", "--rules", str(rules), "--format", "json", str(log)])
    found = json.loads(capsys.readouterr().out)

    assert [(each["line"], each["code"]) for each in found] == [
        (1, "OWN001"),
        (2, "TXT001"),
        (6, "TXT002"),
    ]
    assert found[0]["severity"] == "P2"


def test_five_mistakes_are_all_told(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With file, line and key; nothing is looked at."""
    rules = tmp_path / "r.toml"
    text = "[[rule]]\ncode='x'\nname='X Y'\nwhen='a >'\nactions=['?']\ncooldown='soon'\n"
    rules.write_text(text, encoding="utf-8")
    code = main(["lint", "--rules", str(rules), str(log)])
    told = capsys.readouterr()

    assert (code, told.out) == (2, "")
    keys = ("code", "name", "when", "actions", "cooldown")
    assert all(f"r.toml:{n}: rule.0.{key}: " in told.err for n, key in enumerate(keys, 2))


def test_github_gets_its_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an agent printed cannot end them early."""
    file = tmp_path / "a,b.log"
    file.write_text("Fatal error: 100%::warning::x\n", encoding="utf-8")
    main(["lint", "--format", "github", str(file)])
    [row] = capsys.readouterr().out.splitlines()

    assert row.startswith("::error file=")
    assert "a%2Cb.log,line=1,title=TXT001 fatal-words-printed::" in row
    assert "100%25::warning::x" in row


def test_of_an_agents_log_only_its_own_words_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`claude_…` is in the layout of that CLI."""
    file = tmp_path / "claude_a1_20261115.log"
    rows = ("● Bash(cat x)", "  ⎿  Fatal error in the file", "● It crashed.")
    text = "".join(f"2026-11-15T03:00:00Z {row}\n" for row in rows)
    file.write_text(text, encoding="utf-8")
    main(["lint", str(file)])

    assert capsys.readouterr().out == f"{file}:3: TXT001 it printed '● It crashed.'\n"


def test_the_raw_log_of_a_pane_is_read_as_it_was_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Colours, titles, and rows that were drawn anew; as `tmux pipe-pane` writes it."""
    log = tmp_path / "pane.log"
    log.write_text(
        "ok\r\n\x1b[31mFatal error:\x1b[0m heap\r\n"
        "out of memory? no\rprogress 2\r\n"
        "\x1b]0;title\x07\x1b=\x1b[2KMemoryError\x1b[0m\r\n",
        newline="",
    )

    assert main(["lint", str(log)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{log}:2: TXT001 it printed 'Fatal error: heap'",
        f"{log}:4: TXT004 log has no memory left: MemoryError",
    ]


def test_no_such_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of one line."""
    code = main(["lint", str(tmp_path / "none.log")])

    assert code == 2
    assert "none.log: no such file" in capsys.readouterr().err


def test_fatal_text_of_a_file_is_looked_for(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the number that the same error may have."""
    rules = tmp_path / "r.toml"
    rules.write_text('fatal_text = ["^fine$"]\nsame_error_max = 2\n', encoding="utf-8")
    main(["lint", "--rules", str(rules), str(log)])

    assert capsys.readouterr().out.splitlines() == [
        f"{log}:2: TXT001 it printed 'Fatal error: no'",
        f"{log}:4: TXT002 the same error, 2 times: 'Error: cannot open /a/c (2)'",
        f"{log}:5: TXT001 it printed 'fine'",
    ]


def test_rules_of_a_plug_in_look_too(
    log: Path, packages: Packages, capsys: pytest.CaptureFixture[str]
) -> None:
    """At what they listen for."""
    packages.night()
    main(["lint", str(log)])

    assert f"{log}:1: NGT001 it is night" in capsys.readouterr().out.splitlines()


def test_a_journal_is_looked_at_event_by_event(
    journal: Path, packages: Packages, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the line of the event; all rules look, also those of a plug-in and those of a file."""
    packages.night()
    (journal.parent / "r.toml").write_text(
        "[[rule]]\ncode = 'OWN001'\nname = 'was-up'\nwhen = 'run > 0'\n"
        "actions = ['notify', 'escalate', 'debug_collect']\n"
    )
    first = min(journal.iterdir())
    code = main(["lint", "--rules", str(journal.parent / "r.toml"), str(first)])
    rows = capsys.readouterr().out.splitlines()
    started = next(
        number
        for number, line in enumerate(first.read_text().splitlines(), 1)
        if '"run-started"' in line
    )

    assert code == 1
    assert f"{first}:{started}: NGT001 it is night" in rows
    assert rows.count(f"{first}:{started}: OWN001 was up") == 1
    assert any(": RUN" in row for row in rows)


def test_a_damaged_journal_is_an_error_and_no_traceback(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the line that cannot be read."""
    first = min(journal.iterdir())
    rows = first.read_text().splitlines()
    first.write_text("\n".join((*rows[:2], rows[2][:9], *rows[3:])) + "\n")
    code = main(["lint", str(first)])

    assert code == 3
    assert f"{first.name}, line 3" in capsys.readouterr().err
