"""From the records of a journal to what was found, what came of it, and who saw to it."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from koboshi.copying import evolve
from koboshi.core.actions import Action, Bundle, Escalate, FixPrompt, Notify, Send
from koboshi.core.engine import Decision
from koboshi.core.events import (
    ActionFinished,
    Context,
    Ending,
    Event,
    Moment,
    Order,
    OrderGiven,
    Outcome,
    Severity,
)
from koboshi.core.gate import Verdict, Word
from koboshi.core.rules import Finding
from koboshi.incidents.findings import KEPT, Findings, Reader, found_in
from koboshi.store import wire
from tests.cli.journals import lay_down, run

SECRET = "sk-ant-api03-0123456789abcdef"


def at(second: float) -> Moment:
    """That second."""
    return Moment(at=second, utc=1_000.0 + second)


def judged(action: Action, cause: int, word: Word = Word.ADMITTED, code: str = "RUN001") -> Any:  # noqa: ANN401
    """A decision of that rule."""
    finding = Finding(
        code=code, name="run-ended-badly", severity=Severity.P0, message="exit 1", evidence=("x",)
    )
    verdict = Verdict(word=word, why="why")
    now = at(cause)
    return wire.Judged(
        decision=Decision(finding=finding, action=action, verdict=verdict, cause=cause, now=now)
    )


def seen(body: Any, seq: int) -> wire.Seen:  # noqa: ANN401
    """An event."""
    return wire.Seen(event=Event(seq=seq, now=at(seq), body=body, context=Context(agent="a")))


def finished(action: Action, seq: int, why: str = "") -> wire.Seen:
    """What came of that."""
    outcome = Outcome(ending=Ending.DONE, why=why)
    return seen(ActionFinished(key=action.key, action=action, outcome=outcome), seq)


def facts(*records: wire.Record) -> list[dict[str, Any]]:
    """What these records tell."""
    findings = Findings("a")
    for record in records:
        findings.take(record)
    return [each.facts(lambda text: text, lambda _, keys: keys) for each in findings.incidents]


BUNDLE = Bundle(about="1.crash", text="exit 1")
CALL = Escalate(about="1.crash", text="look")
PROMPT = FixPrompt(about="1.crash", text="exit 1")


def test_one_opinion_is_one_incident() -> None:
    """What it asked for, what came of each, and where the files are."""
    [told] = facts(
        judged(BUNDLE, 5),
        judged(PROMPT, 5),
        finished(BUNDLE, 6, "/state/agents/a/bundles/20260101-000000-b.tar.gz; uploaded"),
        finished(PROMPT, 7, "/state/agents/a/prompts/20260101-000000-fix-run1.md"),
    )

    assert (told["id"], told["code"], told["severity"]) == ("a:e5.RUN001", "RUN001", "P0")
    assert [(step["kind"], step["ending"]) for step in told["actions"]] == [
        ("bundle", "done"),
        ("fix-prompt", "done"),
    ]
    assert told["bundle"] == "20260101-000000-b.tar.gz"
    assert told["prompt"] == "20260101-000000-fix-run1.md"
    assert (told["asks"], told["acknowledged"]) == (False, None)


def test_a_refusal_that_is_admitted_later_is_the_same_incident() -> None:
    """Otherwise each cooldown would make one of its own."""
    send = Send(run=1, text="go on", about="idle1")
    [told] = facts(
        judged(send, 5, Word.BUSY), judged(send, 9, Word.ADMITTED), finished(send, 10, "typed")
    )

    assert told["event"] == "e5"
    assert [(step["verdict"], step["said"]) for step in told["actions"]] == [("admitted", "typed")]


def test_other_rules_and_other_occasions_are_others() -> None:
    """By code, by key."""
    note = Notify(about="1.crash", text="x", severity=Severity.P0)
    later = Notify(about="2.crash", text="x", severity=Severity.P0)

    told = facts(judged(note, 5), judged(BUNDLE, 5, code="TXT001"), judged(later, 8))

    assert [each["id"] for each in told] == ["a:e5.RUN001", "a:e5.TXT001", "a:e8.RUN001"]


@pytest.mark.parametrize("order", [Order.ACKNOWLEDGE, Order.START])
def test_whoever_saw_to_it_ends_the_asking(order: Order) -> None:
    """An order that shows that somebody was there counts; one that came before it does not."""
    before = seen(OrderGiven(order=order, by="person"), 4)
    after = seen(OrderGiven(order=order, by="person"), 8)
    message = seen(OrderGiven(order=Order.SEND, by="person", text="x"), 7)

    [open_] = facts(before, judged(CALL, 5), finished(CALL, 6), message)
    assert (open_["asks"], open_["acknowledged"]) == (True, None)
    [closed] = facts(before, judged(CALL, 5), finished(CALL, 6), message, after)
    assert (closed["asks"], closed["acknowledged"]) == (True, 1_008.0)
    assert (open_["open"], closed["open"]) == (True, False)


def test_what_is_over_asks_nobody(tmp_path: Path) -> None:
    """Whoever knows the agents says so, by the keys."""
    folder = tmp_path / "agents" / "a" / "journal"
    folder.mkdir(parents=True)
    line = wire.judged_line(judged(CALL, 5).decision)
    (folder / "2026-01-01.0001.jsonl").write_bytes(line)
    asked = list[tuple[str, tuple[str, ...]]]()

    def over(agent: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        asked.append((agent, keys))
        return ()

    [told] = found_in(tmp_path, since=0.0, still=over)

    assert (told["asks"], told["open"], asked) == (True, False, [("a", (CALL.key,))])
    [told] = found_in(tmp_path, since=0.0)
    assert told["open"]


def test_read_from_a_journal_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its decisions are in some incident; lines that are no records are passed over."""
    folder = lay_down(tmp_path)
    first = min(folder.iterdir())
    first.write_bytes(first.read_bytes() + b'{"k":"held" torn')
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))
    monkeypatch.setenv("MY_API_KEY", SECRET)
    decided = run("why", "sim", "--all", "--json").json

    found = found_in(tmp_path, since=0.0, least=Severity.P2, most=10_000)

    assert sum(len(each["actions"]) for each in found) == len(
        {(each["finding"]["code"], each["action"]["key"]) for each in decided}
    )
    assert found == sorted(found, key=lambda each: -each["utc"])
    ends = {c["action"]["key"]: c["outcome"]["ending"] for c in decided if c["outcome"]}
    told = [step["ending"] for each in found for step in each["actions"] if step["ending"]]
    assert len(told) >= len(ends) > 0
    severe = found_in(tmp_path, ("sim",), since=0.0, least=Severity.P0)
    assert severe == [each for each in found if each["severity"] == "P0"]
    assert found_in(tmp_path, since=0.0, least=Severity.P2, most=3) == found[:3]
    assert found_in(tmp_path, since=found[0]["utc"] + 1.0, least=Severity.P2) == []


def test_secrets_are_masked(tmp_path: Path) -> None:
    """In what was found, what it rests on, and what was done."""
    folder = tmp_path / "agents" / "a" / "journal"
    folder.mkdir(parents=True)
    note = Notify(about="1.x", text=f"key {SECRET}", severity=Severity.P0)
    record = judged(note, 5)
    line = wire.judged_line(record.decision)
    (folder / "2026-01-01.0001.jsonl").write_bytes(line.replace(b"exit 1", SECRET.encode()))

    [told] = found_in(tmp_path, since=0.0)

    assert SECRET not in str(told)
    assert "key" in told["actions"][0]["words"]


def test_as_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a list for people, and as JSON."""
    lay_down(tmp_path)
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))
    every = found_in(tmp_path, since=0.0)
    monkeypatch.setattr(time, "time", lambda: every[0]["utc"] + 60.0)

    told = run("incidents", "sim", "--since", "14d", "--json")
    said = run("incidents", "--since", "14d")

    assert (told.code, told.err) == (0, "")
    assert told.json == every
    assert len(every) > 0
    for each in every:
        assert f"{each['severity']} {each['code']} {each['name']}  sim" in said.out
    monkeypatch.setenv("COLUMNS", "40")
    narrow = run("incidents", "--since", "14d").out
    assert max(len(row) for row in narrow.splitlines() if row.startswith("    ")) <= 40
    assert "".join(narrow.split()) == "".join(said.out.split())
    assert run("incidents", "nobody").code == 2
    assert run("incidents", "--since", "soon").code == 2
    assert "nothing was found" in run("incidents", "--since", "0s").out


def test_who_asks_again_reads_only_what_is_new(tmp_path: Path) -> None:
    """Half a line waits until it is whole; a new segment is gone on with."""
    folder = tmp_path / "agents" / "a" / "journal"
    folder.mkdir(parents=True)
    first, second = (folder / f"2026-01-01.000{n}.jsonl" for n in (1, 2))
    lines = [wire.judged_line(judged(CALL, 5).decision), wire.seen_line(finished(CALL, 6).event)]
    ack = wire.seen_line(seen(OrderGiven(order=Order.ACKNOWLEDGE, by="person"), 7).event)
    reader = Reader(tmp_path, "a")
    first.write_bytes(lines[0] + lines[1][:20])
    [told] = reader.renew(0.0)
    assert told.steps[CALL.key].ending == ""

    with first.open("ab") as file:
        file.write(lines[1][20:])
    assert reader.renew(0.0) == [told]
    assert told.steps[CALL.key].ending == "done"
    first.write_bytes(b"")  # it is not looked at again
    second.write_bytes(ack)
    assert reader.renew(0.0) == [told]
    assert told.acknowledged == 1_007.0


def test_no_more_is_read_than_was_asked_for(tmp_path: Path) -> None:
    """Of a week only the last days; who asks for more gets all of it, and each once."""
    day = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    for name, number in itertools.product("ab", (1, 5, 6, 7, 8)):
        folder = tmp_path / "agents" / name / "journal"
        folder.mkdir(parents=True, exist_ok=True)
        call = Escalate(about=f"{number}.crash", text="look")
        now = Moment(at=0.0, utc=day + (number - 1) * 86_400.0 + 3_600.0)
        line = wire.judged_line(evolve(judged(call, number).decision, now=now))
        (folder / f"2026-01-0{number}.0001.jsonl").write_bytes(line)
    reader, eighth = Reader(tmp_path, "a"), day + 7 * 86_400.0

    def events(since: float) -> list[str]:
        return [each.event for each in reader.renew(since)]

    # One that began the day before may go on; that day's may be in a segment of an earlier one.
    assert events(eighth) == ["e6", "e7", "e8"]
    assert events(eighth + 60.0) == ["e6", "e7", "e8"]
    assert events(day) == ["e1", "e5", "e6", "e7", "e8"]
    assert events(eighth) == ["e1", "e5", "e6", "e7", "e8"]
    told = found_in(tmp_path, ("a",), since=eighth, readers={"a": reader})
    assert [each["event"] for each in told] == ["e8"]
    told = found_in(tmp_path, ("a", "b"), since=day, readers={"a": reader}, most=3)
    assert [each["event"] for each in told] == ["e8", "e8", "e7"]


def test_not_for_ever() -> None:
    """The newest are remembered, with what still comes of them."""
    findings = Findings("a")
    for n in range(2 * KEPT + 1):
        findings.take(judged(Bundle(about=f"{n}.x", text=""), n))

    assert len(findings.incidents) == KEPT
    assert findings.incidents[-1].event == f"e{2 * KEPT}"
    last = Bundle(about=f"{2 * KEPT}.x", text="")
    findings.take(finished(last, 9, "/x/20260101-000000-b.tar.gz"))
    assert findings.incidents[-1].bundle == "20260101-000000-b.tar.gz"
