"""The answer to a question for the context is read below the question, and nowhere else."""

from __future__ import annotations

import pytest

from koboshi.core.actions import Send
from koboshi.core.events import Ending, SignalRead, Source
from koboshi.core.readings import ContextUse
from koboshi.performers.probing import answer_in
from koboshi.rules.probes import WORDS
from koboshi.scripted import behaviour
from koboshi.scripted.behaviour import Done, EndTurn, Script, Work
from tests.performers.benches import Bench

ASK = Send(run=1, text=WORDS, about="probe1")


@pytest.fixture(autouse=True)
def _no_answer_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted agent says what its script says, whatever it is asked."""
    monkeypatch.setattr(behaviour, "_PROBE", "\0")


def bench_saying(*answers: str) -> Bench:
    """An agent that answers so, a turn each."""
    script: Script = tuple(
        act for text in answers for act in (Work(seconds=2.0, say=text), EndTurn())
    )
    return Bench((*script, Done()))


def test_the_answer_is_told() -> None:
    """As a share of the context."""
    bench = bench_saying("CTX:37%")

    result = bench.perform(ASK)

    assert (result.ending, result.why) == (Ending.DONE, "the agent says: 37% used")
    use = ContextUse(used=37.0, source="probe")
    assert bench.told == [SignalRead(run=1, source=Source.SCREEN, context=use)]


@pytest.mark.parametrize("said", ["I do not know.", "CTX:<n>%", "CTX: about half"])
def test_no_answer_is_no_news(said: str) -> None:
    """It is waited for no longer than was set."""
    bench = bench_saying(said)
    begun = bench.runtime.monotonic

    assert bench.perform(ASK).why == "no answer came in time"
    assert bench.told == []
    assert bench.runtime.monotonic - begun < 20.0


def test_an_older_answer_is_none() -> None:
    """It stands above the question."""
    bench = bench_saying("CTX:12%", "nothing")
    bench.perform(ASK)
    bench.wait(10.0)
    bench.told.clear()

    assert bench.perform(ASK).ending is Ending.FAILED
    assert bench.told == []


def test_an_answer_to_a_question_that_is_not_there_is_none() -> None:
    """A file that is shown may have such a line."""
    bench = bench_saying("CTX:12%")
    bench.say("go")
    bench.wait(10.0)
    glance = bench.run(bench.hands.look())

    assert answer_in(glance, WORDS) is None
    assert answer_in(glance, "go") == 12.0
