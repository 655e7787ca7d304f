"""`koboshi why`: the chain from what was seen to what came of it."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from koboshi.cli.why import RECENT
from koboshi.core.actions import ACTION_KINDS
from tests.cli.journals import edit, records, run

KEYS = [
    "at",
    "utc",
    "seen",
    "status",
    "finding",
    "action",
    "verdict",
    "touched",
    "outcome",
    "words",
]


def first(journal: Path, kind: str) -> dict[str, Any]:
    """The first record of that kind."""
    return next(r for r in records(journal) if r["k"] == kind)


def test_json_has_exactly_the_public_keys(journal: Path) -> None:
    """One object per decision in the journal, in order."""
    ran = run("why", "sim", "--all", "--json")
    judged = [r for r in records(journal) if r["k"] in ("admitted", "held")]

    assert (ran.code, ran.err) == (0, "")
    assert [list(chain) for chain in ran.json] == [KEYS] * len(judged)
    assert [(c["seen"]["id"], c["finding"], c["verdict"]["word"]) for c in ran.json] == [
        (f"e{r['cause']}", r["finding"], r["word"]) for r in judged
    ]


def test_a_chain_ends_in_its_own_outcome(journal: Path) -> None:
    """Every outcome in the journal is found at the decision of its key, and nowhere else."""
    chains = run("why", "sim", "--all", "--json").json
    finished = [r for r in records(journal) if r["k"] == "finished"]
    ended = [c for c in chains if c["outcome"]]

    assert {f"e{r['seq']}": r["key"] for r in finished} == {
        c["outcome"]["event"]: c["action"]["key"] for c in ended
    }
    assert [c for c in ended if not c["verdict"]["admitted"]] == []
    assert [c for c in ended if c["outcome"]["at"] < c["at"]] == []


def test_touched_is_told_where_it_was_marked(journal: Path) -> None:
    """As many marks as the journal has."""
    chains = run("why", "sim", "--all", "--json").json
    marks = [{"at": r["at"], "utc": r["utc"]} for r in records(journal) if r["k"] == "touched"]

    # What is decided at once is begun in any order.
    told = [c["touched"] for c in chains if c["touched"]]
    assert sorted(marks, key=lambda m: m["at"]) == sorted(told, key=lambda m: m["at"])


def test_a_key_that_was_skipped_and_comes_again_is_two_chains(journal: Path) -> None:
    """Each outcome belongs to the decision before it."""
    path = max(journal.iterdir())
    whole = path.read_bytes().splitlines(keepends=True)
    whole = [line for line in whole if line.endswith(b"\n")]
    decisions = Counter(_key(line) for line in whole if line.startswith(b'{"k":"admitted"'))
    here = {key for key, times in decisions.items() if times == 1}
    ended = next(
        r
        for r in map(json.loads, whole)
        if r["k"] == "finished" and r["ending"] == "done" and r["key"] in here
    )
    own = [line for line in whole if _key(line) == ended["key"]]
    own = own[next(n for n, line in enumerate(own) if line.startswith(b'{"k":"admitted"')) :]
    decided = next(json.loads(line) for line in own if line.startswith(b'{"k":"admitted"'))
    at = next(
        i for i, line in enumerate(whole) if i and f'"seq":{decided["cause"]},'.encode() in line
    )
    # The same decision and outcome once more; the first time it came out as skipped.
    skipped = [line.replace(b'"ending":"done"', b'"ending":"skipped"') for line in whole]
    path.write_bytes(b"".join([whole[0], *skipped[1:], whole[at], *own]))
    chains = run("why", "sim", "--all", "--json").json
    own_chains = [c for c in chains if c["action"]["key"] == ended["key"] and c["outcome"]]
    endings = [c["outcome"]["ending"] for c in own_chains]

    assert endings[-2:] == ["skipped", "done"]


def _key(line: bytes) -> str:
    """What a decision, a mark or an outcome is about."""
    record = json.loads(line)
    if record["k"] == "admitted":
        return _action_key(record["action"])
    return str(record.get("key", ""))


def _action_key(raw: dict[str, Any]) -> str:
    fields = {k: v for k, v in raw.items() if k != "kind"}
    return msgspec.convert(fields, ACTION_KINDS[raw["kind"]]).key


def test_the_default_is_the_recent_ones(journal: Path) -> None:
    """The last twenty, oldest first, the same as at the end of all."""
    path = max(journal.iterdir())
    lines = path.read_bytes().rpartition(b"\n")[0].splitlines(keepends=True)
    held = next(line for line in lines if line.startswith((b'{"k":"held"', b'{"k":"admitted"')))
    at = lines.index(held)
    path.write_bytes(b"".join([*lines[: at + 1], *[held] * RECENT * 2, *lines[at + 1 :]]))
    few, many = run("why", "sim", "--json").json, run("why", "sim", "--json", "--all").json

    assert len(few) == RECENT < len(many)
    assert few == many[-RECENT:]


@pytest.mark.parametrize("prefix", ["e", ""])
def test_an_event_shows_what_it_caused(journal: Path, prefix: str) -> None:
    """The id with or without its letter."""
    cause = first(journal, "held")["cause"]
    caused = [r for r in records(journal) if r.get("cause") == cause]
    ran = run("why", "sim", "--event", f"{prefix}{cause}", "--json")

    assert ran.code == 0
    assert [c["finding"] for c in ran.json if c["seen"]["id"] == f"e{cause}"] == [
        r["finding"] for r in caused
    ]


def test_an_outcome_shows_the_decision_it_ends(journal: Path) -> None:
    """Every one of them, also those that another supervisor settled in a later segment."""
    for record in records(journal):
        if record["k"] != "finished":
            continue
        chains = run("why", "sim", "--event", f"e{record['seq']}", "--json").json

        assert record["key"] in [
            c["action"]["key"]
            for c in chains
            if c["outcome"] and c["outcome"]["event"] == f"e{record['seq']}"
        ]


def test_an_event_that_led_to_nothing_says_so(journal: Path) -> None:
    """It is shown, with what was believed after it."""
    causes = {r.get("cause") for r in records(journal)}
    quiet = next(r for r in records(journal) if r["k"] == "seen" and r["seq"] not in causes)
    ran = run("why", "sim", "--event", f"e{quiet['seq']}")

    assert ran.code == 0
    assert f"e{quiet['seq']} " in ran.out
    assert "  status   " in ran.out
    assert ran.out.endswith("nothing was decided then\n")
    assert run("why", "sim", "--event", f"e{quiet['seq']}", "--json").json == []


def test_people_get_a_story_per_decision(journal: Path) -> None:
    """Seen, evidence, found, action, verdict, touched, outcome: in that order."""
    answer = next(r for r in records(journal) if r["k"] == "admitted" and r["finding"]["evidence"])
    out = run("why", "sim", "--event", f"e{answer['cause']}").out
    labels = [line.split()[0] for line in out.splitlines() if line[:3].strip() and line[:2] == "  "]

    assert f"{answer['finding']['code']} {answer['finding']['name']}" in out
    assert labels[-6:] == ["seen", "found", "action", "verdict", "touched", "outcome"]
    assert f"│ {answer['finding']['evidence'][0].strip()}"[:40] in out


def test_a_refusal_says_why(journal: Path) -> None:
    """The gate's word and its reason; nothing about an outcome it cannot have."""
    held = first(journal, "held")
    out = " ".join(run("why", "sim", "--event", f"e{held['cause']}").out.split())

    assert f"held, {held['word']}: {held['why']}" in out


def test_the_date_stands_where_it_changes(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once per day, in the reader's own time."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        out = run("why", "sim", "--all").out
    finally:
        monkeypatch.undo()
        time.tzset()
    dates = [line for line in out.splitlines() if line[:2] == "20"]
    first_utc = next(r["utc"] for r in records(journal) if r["k"] in ("admitted", "held"))
    local = time.strftime("%Y-%m-%d", time.gmtime(first_utc + 9 * 3600))

    assert dates == [local]


def test_a_decision_without_its_event_is_damage(journal: Path) -> None:
    """The line is named."""
    path = max(journal.iterdir())
    number = next(
        i for i, line in enumerate(path.read_bytes().splitlines(), 1) if b'"cause":' in line
    )
    edit(path, number, lambda record: record.update(cause=99999))
    ran = run("why", "sim")

    assert ran.code == 3
    assert (
        f"{path.name}, line {number}: expected a decision after e99999, which caused it" in ran.err
    )


def test_an_agent_about_which_nothing_was_decided(state: Path) -> None:
    """Not an error."""
    (state / "agents" / "new" / "journal").mkdir(parents=True)

    assert run("why", "new").out == "nothing was decided yet\n"
    assert run("why", "new", "--json").json == []
    assert "there are no events yet" in run("why", "new", "--event", "e1").err
