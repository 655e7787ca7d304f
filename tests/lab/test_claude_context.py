"""Claude Code's context: filling up, compaction on its own, by the API, by hand, and refused."""

from __future__ import annotations

import pytest

from koboshi.core.readings import Status
from tests.lab.conftest import Staged
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Hang, Say, Turn, Usage, refuse, say
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: A model of 200k tokens, of which 20k are kept for the answer.
SONNET = ("--model", "claude-sonnet-4-5")
#: Compacts on its own at 150k less 20k for the answer and 13k to spare.
WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}
#: A summary that waits for `Model.release`; 2.1.325 asks for two.
SUMMARY = Turn(blocks=(Say(text="Scripted summary."),), trouble=Hang(), times=EVER)
#: What is said when the turn that was too much is sent again.
WENT_ON = say("Went on.", match=r"Go on\.\s*$")


def fill(stage: Stage, tokens: int, word: str = "everything") -> None:
    """One turn after which the context holds that many tokens."""
    usage = Usage(input=1000, cache_read=tokens - 1020, output=20)
    stage.model.expect(say(f"Noted {word}.", usage=usage))
    stage.say(f"Read {word}.")
    stage.wait_text(f"Noted {word}.")
    stage.wait_status(Status.IDLE)


@pytest.mark.parametrize(
    ("room", "tokens", "used"),
    [
        pytest.param({}, 159_000, 88, id="reactive"),  # of 180k
        pytest.param({"env": WINDOW}, 105_000, 90, id="window"),  # of 117k
        pytest.param({"settings": {"autoCompactEnabled": False}}, 166_000, 92, id="off"),  # of 180k
    ],
)
def test_a_filling_context_is_read_as_used(
    claude: Staged, room: dict[str, dict[str, object]], tokens: int, used: float
) -> None:
    """Three wordings, one number: the share of what can be filled."""
    stage = claude(args=SONNET, **room)
    stage.start()
    fill(stage, tokens)
    look = stage.wait(lambda look: look.used is not None, "a context notice")

    assert look.used == pytest.approx(used, abs=1)
    assert look.reading.status is Status.IDLE


def test_a_full_context_refuses_a_message(claude: Staged, model: Model) -> None:
    """Without compaction the program itself says no: nobody is asked, nothing runs."""
    stage = claude(args=SONNET, settings={"autoCompactEnabled": False})
    stage.start()
    fill(stage, 180_000)
    before = len(model.asked)
    stage.wait(lambda look: look.used == 100, "100% used")
    stage.submit("More.")
    look = stage.wait_text("Context limit reached")

    assert look.reading.status is Status.IDLE
    assert look.reading.reason == "context_full"
    assert len(model.asked) == before


def compacting(stage: Stage) -> None:
    """It works while the summary is awaited, and is idle when the summary is there."""
    stage.wait_status(Status.WORKING)
    stage.wait_text("Compacting")
    stage.stays(Status.WORKING, 1)

    stage.model.let_go()
    stage.wait_status(Status.IDLE, never=[Status.FAILED])


def test_a_compaction_by_hand_is_work(claude: Staged, model: Model) -> None:
    """`/compact` works until the summary is there, then the agent is idle."""
    stage = claude()
    stage.start()
    fill(stage, 10_000, "this")
    fill(stage, 10_000, "that")
    model.expect(SUMMARY)
    stage.say("/compact")
    compacting(stage)


def test_a_prompt_that_is_too_long_is_compacted(claude: Staged, model: Model) -> None:
    """The API says 400; the turn goes on by itself on a smaller context."""
    stage = claude(args=SONNET)
    stage.start()
    for word in ("this", "that", "more"):
        fill(stage, 150_000, word)
    model.expect(refuse(400, "prompt is too long: 208310 tokens > 200000 maximum"))
    model.expect(WENT_ON, SUMMARY)
    stage.say("Go on.")
    compacting(stage)
    look = stage.wait_text("Went on.")

    assert "Conversation compacted" in look.seen.text


def test_a_window_is_compacted_before_it_is_full(claude: Staged, model: Model) -> None:
    """With a window of its own the CLI does not wait for the API to say no."""
    stage = claude(args=SONNET, env=WINDOW)
    stage.start()
    fill(stage, 105_000, "this")
    fill(stage, 120_000, "that")
    model.expect(WENT_ON, SUMMARY)
    stage.say("Go on.")
    compacting(stage)
    look = stage.wait_text("Went on.")

    assert look.used is None


def test_a_prompt_that_stays_too_long_is_failed(claude: Staged, model: Model) -> None:
    """Nothing to compact: one message that does not fit."""
    stage = claude(args=SONNET)
    stage.start()
    model.expect(refuse(400, "prompt is too long: 208310 tokens > 200000 maximum", times=EVER))
    stage.say("Go on.")
    failed = stage.wait_status(Status.FAILED, never=[Status.IDLE])

    assert failed.reading.error is not None
    assert failed.reading.error.code == "context"
