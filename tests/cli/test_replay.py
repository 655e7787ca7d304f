"""`koboshi replay`: decided again, nothing differs; and what differs is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koboshi.core.actions import Notify, Send
from koboshi.core.events import Moment, Severity
from koboshi.core.rules import Proposal, Rule, rule
from koboshi.core.view import View
from koboshi.plugins import manager
from koboshi.rules.catalogue import BUILTIN
from koboshi.store import wire
from koboshi.store.journal import Line, read_segment
from koboshi.store.replays import Comparison, Kind
from koboshi.store.replays import replay as decide_again
from tests.cli.journals import bad_night, disk, edit, records, run, segments
from tests.plugins.packages import Packages, packages

__all__ = ["packages"]

SEEDS = range(1000, 1100)


def lines_of(night: dict[str, bytes]) -> list[Line]:
    """All records of a night."""
    return [line for name, content in night.items() for line in read_segment(name, content)]


def with_rules(*rules: Rule) -> Comparison:
    """The bad night decided by other rules."""
    return decide_again(lines_of(bad_night()), rules)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_rules_decide_the_same(seed: int) -> None:
    """Also across the deaths of supervisors: `step` is a function of what was written."""
    found = decide_again(lines_of(segments(seed)), BUILTIN)

    assert found.differences == []
    assert found.events > 0


def test_it_says_that_nothing_differs_and_changes_nothing(state: Path, journal: Path) -> None:
    """By name, by folder, by the agent's folder; exit 0."""
    before, counts = disk(state), records(journal)
    for words in ("sim", str(journal), str(journal.parent)):
        ran = run("replay", words, "--json")

        assert (ran.code, ran.err) == (0, "")
        assert ran.json["differences"] == []
        assert ran.json["segments"] == sum(r["k"] == "opened" for r in counts)
        assert ran.json["events"] == sum(r["k"] in ("seen", "finished") for r in counts)
        assert ran.json["decisions"] == sum(r["k"] in ("admitted", "held") for r in counts)
    assert run("replay", "sim").out.startswith("nothing would differ (")
    assert disk(state) == before


def test_a_segment_is_replayed_alone(journal: Path) -> None:
    """It begins with all that was known."""
    for path in journal.iterdir():
        ran = run("replay", str(path), "--json")

        assert (ran.code, ran.json["segments"], ran.json["differences"]) == (0, 1, [])


def test_a_file_in_this_folder_needs_no_path(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`koboshi replay 2026-01-15.0001.jsonl`."""
    monkeypatch.chdir(journal)

    assert run("replay", min(p.name for p in journal.iterdir())).code == 0


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_journal_cut_anywhere_behind_its_first_line_has_no_differences(
    share: float, journal: Path
) -> None:
    """What the torn end hides is counted, not called a difference."""
    path = max(journal.iterdir())
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for size in range(start + int(share * (len(whole) - start)), len(whole), 397):
        path.write_bytes(whole[:size])
        ran = run("replay", str(path), "--json")

        assert (ran.code, ran.json["differences"]) == (0, [])


def test_a_decision_whose_record_was_torn_off_is_counted_as_cut(journal: Path) -> None:
    """The event is there, its decision is not, and nothing follows."""
    path = max(journal.iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"cause":' in line)
    path.write_bytes(b"".join(lines[:at]))
    ran = run("replay", str(path), "--json")

    assert (ran.code, ran.json["cut"] > 0) == (0, True)
    assert "at a torn end could not be compared" in " ".join(run("replay", str(path)).out.split())


# --- what differs --------------------------------------------------------------------------------


def test_a_verdict_that_was_written_otherwise_is_a_change(journal: Path) -> None:
    """Exit 1; then and now stand side by side."""
    path, number = _line_of(journal, '"k":"held"')
    edit(path, number, lambda record: record.update(word="paused", why="by hand"))
    ran = run("replay", "sim", "--json")
    (difference,) = [d for d in ran.json["differences"] if d["kind"] == "changed"]

    assert ran.code == 1
    assert difference["parts"] == ["verdict"]
    assert difference["recorded"]["verdict"]["why"] == "by hand"
    assert difference["now"]["verdict"]["why"] != "by hand"
    assert (difference["segment"], difference["line"] < number) == (path.name, True)
    out = run("replay", "sim").out
    assert "then     held, paused: by hand" in out
    assert "would differ (" in out


def test_a_message_that_was_written_otherwise_is_a_change(journal: Path) -> None:
    """Whole decisions are compared, not only their verdicts."""
    path, number = _line_of(journal, '"k":"admitted"')
    edit(path, number, lambda record: record["finding"].update(message="by hand"))
    found = run("replay", "sim", "--json").json["differences"]

    assert [(d["kind"], d["parts"]) for d in found] == [("changed", ["finding"])]


def _line_of(journal: Path, mark: str) -> tuple[Path, int]:
    """Where the first such record stands."""
    for path in sorted(journal.iterdir()):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if mark.encode() in line:
                return path, number
    raise AssertionError(mark)


def test_a_rule_that_is_gone_leaves_its_decisions_unmade() -> None:
    """All of them, and no others."""
    code = _codes(bad_night())[0]
    found = with_rules(*(r for r in BUILTIN if r.code != code))
    kinds = {(d.kind, d.recorded.finding.code) for d in found.differences if d.recorded}

    assert (Kind.LOST, code) in kinds
    assert len([d for d in found.differences if d.kind is Kind.LOST]) == _codes(bad_night()).count(
        code
    )


def _codes(night: dict[str, bytes]) -> list[str]:
    return [
        line.record.decision.finding.code
        for line in lines_of(night)
        if isinstance(line.record, wire.Judged)
    ]


@rule("XXX001", "anything-at-all", Severity.P2)
def anything_at_all(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A rule that always speaks."""
    note = Notify(about="anything", text="anything", severity=Severity.P2)
    return Proposal(message="anything", actions=(note,))


def test_a_new_rule_is_told_once_per_occasion() -> None:
    """It speaks at every event; its admission is one difference, and breeds no others."""
    found = with_rules(*BUILTIN, anything_at_all)

    assert [(d.kind, d.now.finding.code) for d in found.differences if d.now] == [
        (Kind.NEW, "XXX001")
    ]


@rule("XXX002", "hands-wanted", Severity.P2)
def hands_wanted(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A rule that wants to type once per run."""
    send = Send(run=view.run.number, text="x", about="hands")
    return Proposal(message="hands", actions=(send,)) if view.run.number else None


def test_what_was_never_tried_does_not_stand_in_the_way_of_the_others() -> None:
    """An action of a new rule has no outcome; the recorded ones are judged without it."""
    found = with_rules(*BUILTIN, hands_wanted)

    assert {d.now.finding.code for d in found.differences if d.now} == {"XXX002"}
    assert {d.kind for d in found.differences} == {Kind.NEW}


def test_a_rule_that_speaks_otherwise_is_a_change() -> None:
    """Found at each decision it made."""
    code = _codes(bad_night())[0]

    def louder(old: Rule) -> Rule:
        def check(view: View, now: Moment) -> Proposal | None:
            made = old.check(view, now)
            return made and replace(made, message=made.message.upper() + "!")

        return replace(old, check=check)

    found = with_rules(*(louder(r) if r.code == code else r for r in BUILTIN))

    assert {d.kind for d in found.differences} == {Kind.CHANGED}
    assert {d.parts for d in found.differences} == {("finding",)}
    assert len(found.differences) + found.cut == _codes(bad_night()).count(code)


def test_the_command_uses_the_built_in_rules(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With none, every decision of the night is not made again."""
    assert state.is_dir()
    monkeypatch.setattr(manager, "BUILTIN", ())
    ran = run("replay", "sim", "--json")
    kinds: set[Any] = {d["kind"] for d in ran.json["differences"]}

    assert (ran.code, kinds) == (1, {"not-made-again"})
    assert "not made again" in run("replay", "sim").out
    assert capsys.readouterr().err == ""


def test_a_decision_that_follows_another_event_is_damage(journal: Path) -> None:
    """The line is named; exit 3."""
    path, number = _line_of(journal, '"k":"admitted"')
    edit(path, number, lambda record: record.update(cause=record["cause"] - 1))
    ran = run("replay", str(path))

    assert ran.code == 3
    assert f"{path.name}, line {number}: expected a decision after e" in ran.err


def test_other_rules_show_what_they_would_have_done(journal: Path, tmp_path: Path) -> None:
    """In the place of one's own; the journal stays as it is."""
    rules = tmp_path / "r.toml"
    rules.write_text(
        '[[rule]]\ncode = "OWN001"\nname = "at-rest"\nwhen = \'status == "idle"\'\n',
        encoding="utf-8",
    )
    before = {path: path.read_bytes() for path in journal.iterdir()}
    told = run("replay", "sim", "--rules", str(rules), "--json")

    found = told.json["differences"]
    assert told.code == 1
    assert {(each["kind"], each["now"]["finding"]["code"]) for each in found} == {
        ("not-recorded", "OWN001")
    }
    assert {path: path.read_bytes() for path in journal.iterdir()} == before


def test_a_rule_that_listens_hears_what_the_journal_has(journal: Path, tmp_path: Path) -> None:
    """From the screens: nobody listened for it then."""
    rules = tmp_path / "r.toml"
    when = 'count("log", "(?i)[a-z]", "1h") >= 1'
    rules.write_text(f"[[rule]]\ncode='OWN001'\nname='heard'\nwhen='{when}'\n", encoding="utf-8")

    assert journal.exists()
    assert run("replay", "sim", "--rules", str(rules), "--json").json["differences"]


def test_mistakes_in_the_rules_are_all_told(journal: Path, tmp_path: Path) -> None:
    """Nothing is replayed."""
    rules = tmp_path / "r.toml"
    rules.write_text("[[rule]]\ncode='x'\nname='X'\nwhen='nope'\n", encoding="utf-8")
    told = run("replay", "sim", "--rules", str(rules))

    assert journal.exists()
    assert (told.code, told.out) == (2, "")
    assert [f"r.toml:{n}: rule.0." in told.err for n in (2, 3, 4)] == [True] * 3


def test_rules_of_a_plug_in_decide_too(state: Path, packages: Packages) -> None:
    """Beside those of a file, and without one."""
    packages.night()
    (state.parent / "r.toml").write_text(
        "[[rule]]\ncode = 'OWN001'\nname = 'was-up'\nwhen = 'run > 0'\n"
    )
    plain = run("replay", "sim", "--json")
    more = run("replay", "sim", "--rules", str(state.parent / "r.toml"), "--json")
    codes = [
        {each["now"]["finding"]["code"] for each in ran.json["differences"]}
        for ran in (plain, more)
    ]

    assert (plain.code, more.code) == (1, 1)
    assert codes == [{"NGT001"}, {"NGT001", "OWN001"}]
