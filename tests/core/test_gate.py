"""The gate: every word, in its order; and the ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from koboshi.core.actions import (
    Action,
    Answer,
    Checkpoint,
    Escalate,
    Load,
    Mode,
    Notify,
    Refresh,
    Safety,
    Send,
    Start,
    Stop,
)
from koboshi.core.events import Ending, Event, Origin, Outcome, Severity
from koboshi.core.gate import (
    KEPT,
    MOST,
    YOUNG,
    Claim,
    Ledger,
    Verdict,
    Word,
    backoff,
    claim,
    close,
    judge,
    note,
)
from koboshi.core.readings import Meaning, Status
from koboshi.core.settings import Settings
from koboshi.core.view import Belief, Refreshing, Run, Sight, Stage, Tally, View
from koboshi.rules.messages import message_waiting
from tests.core.worlds import CONTEXT, moment, outcome

NOW = moment(10_000.0)
SEND = Send(run=1, text="continue", about="idle0")
ANSWER = Answer(run=1, nth=1, fingerprint="f", choice=Meaning.ONCE)
REFRESH = Refresh(run=1, nth=1, why="old")
SAVE = Checkpoint(run=1, name="n", about="refresh1.0")
STOP = Stop(run=1, about="refresh1.0")
START = Start(run=2, origin=Origin.RESUMED, session="s")
LOAD = Load(run=2, name="n", nth=0)
NOTIFY = Notify(about="x", text="t", severity=Severity.P2)
ESCALATE = Escalate(about="x", text="t")
HANDS: tuple[Action, ...] = (ANSWER, SEND, REFRESH, SAVE, STOP, START, LOAD)
TOLD: tuple[Action, ...] = (NOTIFY, ESCALATE)

VIEW = View(
    context=CONTEXT,
    settings=Settings(mode=Mode.AUTO),
    run=Run(number=1),
    belief=Belief(status=Status.IDLE),
    sight=Sight(moved_at=0.0),
)


def with_claim(action: Action, out: Outcome | None = None) -> Ledger:
    """A ledger in which that action was admitted."""
    return Ledger(claims={action.key: Claim(action=action, at=1.0, outcome=out)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand(Send):
    """An action that only a person does."""

    safety: ClassVar[Safety] = Safety.MANUAL


DONE = Outcome(ending=Ending.DONE)
OBSERVE = replace(VIEW, settings=Settings(mode=Mode.OBSERVE))
KEEP = replace(VIEW, settings=Settings(mode=Mode.KEEP))
PAUSED = replace(VIEW, paused=True)
TYPING = replace(VIEW, person_at=NOW.at - 19.0)
DRAFT = replace(VIEW, sight=Sight(draft="please als"))
WORKING = replace(VIEW, belief=Belief(status=Status.WORKING))
MOVED = replace(VIEW, sight=Sight(moved_at=NOW.at - 2.0))
GONE = replace(VIEW, belief=Belief(status=Status.GONE, since=NOW.at - 1.0), tally=Tally(crashes=1))
SPENT = replace(VIEW, restarts=tuple(NOW.at - n for n in range(1, 6)))
EMPTY = Ledger()

TABLE: dict[str, tuple[Action, View, Ledger, Word]] = {
    "admitted": (SEND, VIEW, EMPTY, Word.ADMITTED),
    "manual": (ByHand(run=1, text="t", about="x"), VIEW, EMPTY, Word.MANUAL),
    "would": (SEND, OBSERVE, EMPTY, Word.WOULD),
    "would answer": (ANSWER, KEEP, EMPTY, Word.WOULD),
    "keep sends": (SEND, KEEP, EMPTY, Word.ADMITTED),
    "paused": (SEND, PAUSED, EMPTY, Word.PAUSED),
    "under way": (SEND, VIEW, with_claim(SEND), Word.DUPLICATE),
    "decided before": (SEND, VIEW, with_claim(SEND, DONE), Word.DUPLICATE),
    "busy": (SEND, VIEW, with_claim(STOP), Word.BUSY),
    "not busy any more": (SEND, VIEW, with_claim(STOP, DONE), Word.ADMITTED),
    "telling keeps nobody busy": (SEND, VIEW, with_claim(NOTIFY), Word.ADMITTED),
    "person types": (SEND, TYPING, EMPTY, Word.PERSON),
    "person types, and a question is open": (ANSWER, TYPING, EMPTY, Word.PERSON),
    "person left a line": (SEND, DRAFT, EMPTY, Word.PERSON),
    "a start waits for nobody's line": (START, DRAFT, EMPTY, Word.ADMITTED),
    "cooling": (SEND, VIEW, Ledger(last={"send": NOW.at - 44.0}), Word.COOLING),
    "cooled": (SEND, VIEW, Ledger(last={"send": NOW.at - 45.0}), Word.ADMITTED),
    "cooling answer": (ANSWER, VIEW, Ledger(last={"answer": NOW.at - 4.0}), Word.COOLING),
    "cooled answer": (ANSWER, VIEW, Ledger(last={"answer": NOW.at - 5.0}), Word.ADMITTED),
    "why it was refused": (
        replace(SEND, about="refusal2"), VIEW, Ledger(last={"send": NOW.at}), Word.ADMITTED,
    ),
    "cooling refresh": (REFRESH, VIEW, Ledger(last={"refresh": NOW.at - 119.0}), Word.COOLING),
    "each kind cools alone": (SEND, VIEW, Ledger(last={"answer": NOW.at}), Word.ADMITTED),
    "working": (REFRESH, WORKING, EMPTY, Word.UNSETTLED),
    "moved": (REFRESH, MOVED, EMPTY, Word.UNSETTLED),
    "backoff": (START, GONE, EMPTY, Word.BACKOFF),
    "spent start": (START, SPENT, EMPTY, Word.SPENT),
    "spent refresh": (REFRESH, SPENT, EMPTY, Word.SPENT),
    "spent, but only words": (SEND, SPENT, EMPTY, Word.ADMITTED),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_the_gate_says_the_word(name: str) -> None:
    """One line of the table, one situation."""
    action, view, ledger, word = TABLE[name]

    verdict = judge(action, view, ledger, NOW)

    assert verdict.word is word
    assert verdict.admitted is (word is Word.ADMITTED)
    assert verdict == Verdict(word=Word.ADMITTED) or verdict.why


def test_every_word_is_reachable() -> None:
    """The table above has a line for each."""
    assert {word for *_, word in TABLE.values()} == set(Word)


@pytest.mark.parametrize("action", HANDS)
def test_one_pair_of_hands(action: Action) -> None:
    """While one action reaches into the terminal, all others wait."""
    for other in HANDS:
        if other.key != action.key:
            assert judge(action, VIEW, with_claim(other), NOW).word is Word.BUSY


@pytest.mark.parametrize("action", TOLD)
def test_telling_is_never_held_up(action: Action) -> None:
    """Neither by a pause, a person, hands in the terminal nor a spent budget."""
    view = replace(SPENT, paused=True, person_at=NOW.at, settings=Settings(mode=Mode.OBSERVE))

    assert judge(action, view, with_claim(STOP), NOW).admitted


def test_objections_come_in_order() -> None:
    """Everything is against it; taken away one by one, the next objection shows."""
    refresh = REFRESH
    ledger = Ledger(
        claims={**with_claim(REFRESH, DONE).claims, **with_claim(STOP).claims},
        last={"refresh": NOW.at},
    )
    view = replace(
        VIEW,
        settings=Settings(mode=Mode.OBSERVE),
        paused=True,
        sight=Sight(draft="x", moved_at=NOW.at),
        belief=Belief(status=Status.WORKING),
        restarts=SPENT.restarts,
    )
    said = [judge(refresh, view, ledger, NOW).word]
    ledger = replace(ledger, claims=with_claim(STOP).claims)
    said.append(judge(refresh, view, ledger, NOW).word)
    view = replace(view, settings=Settings(mode=Mode.KEEP))
    said.append(judge(refresh, view, ledger, NOW).word)
    view = replace(view, paused=False)
    said.append(judge(refresh, view, ledger, NOW).word)
    ledger = replace(ledger, claims={})
    said.append(judge(refresh, view, ledger, NOW).word)
    view = replace(view, sight=Sight(moved_at=NOW.at))
    said.append(judge(refresh, view, ledger, NOW).word)
    ledger = replace(ledger, last={})
    said.append(judge(refresh, view, ledger, NOW).word)
    view = replace(view, belief=Belief(status=Status.IDLE), sight=Sight(moved_at=0.0))
    said.append(judge(refresh, view, ledger, NOW).word)
    view = replace(view, restarts=())
    said.append(judge(refresh, view, ledger, NOW).word)

    assert said == [
        Word.DUPLICATE, Word.WOULD, Word.PAUSED, Word.BUSY, Word.PERSON, Word.COOLING,
        Word.UNSETTLED, Word.SPENT, Word.ADMITTED,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("crashes", "seconds"),
    [(0, 0.0), (1, 2.0), (2, 4.0), (3, 8.0), (5, 32.0), (6, 60.0), (7, 60.0), (5000, 60.0)],
)
def test_backoff_doubles_and_is_capped(crashes: int, seconds: float) -> None:
    """2, 4, 8 … and never more than a minute."""
    assert backoff(replace(VIEW, tally=Tally(crashes=crashes))) == seconds


def test_a_planned_exit_waits_for_nothing() -> None:
    """Unless the start that was planned has failed."""
    refresh = Refreshing(nth=1, why="old", stage=Stage.STARTING)
    planned = replace(VIEW, refresh=refresh, tally=Tally(crashes=2))

    assert backoff(planned) == 0.0
    assert backoff(replace(planned, tally=Tally(crashes=2, starts=1))) == 4.0


def test_the_budget_forgets_what_is_older_than_its_period() -> None:
    """Five within the hour are too many; when the oldest is an hour old, one more may be."""
    oldest = SPENT.restarts[-1]

    assert not judge(START, SPENT, EMPTY, NOW).admitted
    assert judge(START, SPENT, EMPTY, moment(oldest + 3600.0)).admitted


# -- the ledger -----------------------------------------------------------------------------------


def finished(action: Action, ending: Ending, at: float) -> Event:
    """An outcome as an event."""
    return Event(seq=1, now=moment(at), body=outcome(action, ending), context=CONTEXT)


@pytest.mark.parametrize("ending", [Ending.DONE, Ending.FAILED])
def test_a_key_that_came_out_is_never_admitted_again(ending: Ending) -> None:
    """Done and failed alike."""
    ledger = close(claim(EMPTY, SEND, moment(1.0)), finished(SEND, ending, 2.0))

    assert ledger == Ledger(
        claims={SEND.key: Claim(action=SEND, at=1.0, outcome=Outcome(ending=ending))},
        last={"send": 2.0},
    )
    assert judge(SEND, VIEW, ledger, NOW).word is Word.DUPLICATE


def test_skipped_gives_the_key_back_after_a_gap() -> None:
    """It was not done, and may be decided again, a little later."""
    ledger = close(claim(EMPTY, SEND, moment(1.0)), finished(SEND, Ending.SKIPPED, 100.0))
    said = [judge(SEND, VIEW, ledger, moment(at)).word for at in (100.0, 101.9, 102.0)]

    assert (ledger.claims, ledger.last) == ({}, {})
    assert said == [Word.COOLING, Word.COOLING, Word.ADMITTED]


def test_a_second_skip_waits_longer() -> None:
    """Something that cannot be done is tried less and less often, and at least once a minute."""
    ledger, at, waits = EMPTY, 100.0, []
    for _ in range(8):
        ledger = close(claim(ledger, SEND, moment(at)), finished(SEND, Ending.SKIPPED, at))
        wait = 0.0
        while not judge(SEND, VIEW, ledger, moment(at + wait)).admitted:
            wait += 1.0
        waits.append(wait)
        at += wait

    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_the_ledger_is_bounded_and_keeps_what_is_in_flight() -> None:
    """The oldest finished claims go; one without an outcome stays whatever its age."""
    ledger = claim(EMPTY, STOP, moment(0.0))
    for number in range(KEPT + 10):
        send = Send(run=1, text="t", about=f"n{number}")
        at = 1.0 + number * YOUNG
        ledger = close(claim(ledger, send, moment(at)), finished(send, Ending.DONE, at + 1.0))

    assert len(ledger.claims) == KEPT + 1
    assert ledger.in_flight() == (STOP,)
    assert "1.n9" not in ledger.claims
    assert "1.n10" in ledger.claims


@pytest.mark.parametrize("count", [KEPT + 10, MOST + 10])
def test_what_was_done_today_is_not_forgotten_because_much_was_done(count: int) -> None:
    """Its occasion may last for hours; only a flood without end is cut."""
    ledger = EMPTY
    for number in range(count):
        send = Send(run=1, text="t", about=f"n{number}")
        ledger = close(claim(ledger, send, moment(1.0)), finished(send, Ending.DONE, 2.0))

    assert len(ledger.claims) == min(count, MOST)
    assert f"1.n{count - MOST - 1}" not in ledger.claims
    assert f"1.n{max(0, count - MOST)}" in ledger.claims


def test_refusals_told_are_bounded_and_an_admission_clears_its_own() -> None:
    """A refusal after an admission is news again."""
    ledger = EMPTY
    for number in range(KEPT + 10):
        ledger = note(ledger, f"k{number}", Word.BUSY)
    kept = len(ledger.noted)
    ledger = claim(note(EMPTY, SEND.key, Word.BUSY), SEND, moment(1.0))

    assert kept == KEPT
    assert ledger.noted == {}


def test_ledgers_are_values() -> None:
    """Nothing is changed in place: an older world stays what it was."""
    before = claim(EMPTY, SEND, moment(1.0))
    copy = Ledger(claims=dict(before.claims))

    close(before, finished(SEND, Ending.DONE, 2.0))
    note(before, "k", Word.BUSY)
    claim(before, STOP, moment(2.0))

    assert before == copy
    assert Ledger() == EMPTY


def test_what_a_person_ordered_passes_a_rule_that_observes() -> None:
    """A switch holds back what koboshi does by itself, and never a person's own word."""
    rule = replace(message_waiting, observes=True)
    own, ordered = SEND, replace(SEND, ordered=True)
    said = [judge(each, VIEW, Ledger(), NOW, rule) for each in (own, ordered)]

    assert [verdict.word for verdict in said] == [Word.WOULD, Word.ADMITTED]
