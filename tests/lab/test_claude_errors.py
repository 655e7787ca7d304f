"""What the API may answer Claude Code, and what is left on the screen."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from koboshi.core.readings import ApiError, Status
from tests.lab.conftest import Staged
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Break, Say, Turn, drop, refuse, say
from tests.lab.stage import Stage, failures

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: As few tries as can be: the wait between them would be minutes.
ONCE = {"CLAUDE_CODE_MAX_RETRIES": "1"}
CREDIT = "Your credit balance is too low to access the Anthropic API."


def broken(message: str, kind: str, status: int) -> Turn:
    """A stream that begins well and carries an error."""
    trouble = Break(message=message, type=kind, status=status)
    return Turn(blocks=(Say(text="Hello."),), trouble=trouble, times=EVER)


#: What goes wrong, by the code that must be read. One session goes through all of it.
REFUSED = {
    "400": refuse(400, "messages: odd", times=EVER),
    "401": refuse(401, times=EVER, x_should_retry="false"),
    "403": refuse(403, times=EVER),
    "404": refuse(404, times=EVER),
    "429": refuse(429, times=EVER, x_should_retry="false"),
    "credit": refuse(400, CREDIT, times=EVER),
}
BROKEN = {
    **{str(status): refuse(status, times=EVER) for status in (500, 502, 503, 529)},
    "network": drop(times=EVER, reset=True),
    "length": say("One two", stop="max_tokens", times=EVER),
    "policy": say("One two", stop="refusal", times=EVER),
}
#: Where the screen does not say which error it is.
CODES = {"length": "api", "policy": "api"}


@pytest.mark.parametrize(
    "troubles",
    [
        pytest.param(REFUSED, id="refused"),
        pytest.param(BROKEN, id="broken"),
    ],
)
def test_an_error_that_ends_the_turn_leaves_it_failed(
    claude: Staged, troubles: Mapping[str, Turn]
) -> None:
    """Nobody tries again; the prompt is there, but the turn has not been done."""
    stage = claude(env=ONCE)
    stage.start()

    assert failures(stage, troubles) == {
        name: ApiError(code=CODES.get(name, name)) for name in troubles
    }


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(broken("Overloaded", "overloaded_error", 529), id="overloaded"),
        pytest.param(broken("Internal", "api_error", 500), id="api-error"),
        pytest.param(drop("One two three", after=2, times=EVER), id="cut"),
        pytest.param(drop("One two three", after=2, reset=True, times=EVER), id="reset"),
    ],
)
def test_a_stream_that_breaks_for_good_leaves_it_failed(claude: Staged, turn: Turn) -> None:
    """It asks again for a whole answer, which fails too."""
    stage = claude(env=ONCE)
    stage.start()
    (error,) = failures(stage, {"broken": turn}).values()

    assert error is not None
    assert not error.retrying


def test_a_stream_that_breaks_once_is_mended(claude: Staged, model: Model) -> None:
    """The answer comes on the second try: nothing has failed."""
    stage = claude()
    stage.start()
    model.expect(drop("One two three", after=2, reset=True), say("Mended."))
    stage.say("Try.")
    stage.wait_text("Mended.")
    stage.wait_status(Status.IDLE, never=[Status.FAILED])


def test_a_request_that_is_too_large_leaves_it_failed(claude: Staged, model: Model) -> None:
    """413, which 2.1.197 draws like an answer."""
    stage = claude(env=ONCE)
    stage.start()
    model.expect(refuse(413, times=EVER))
    stage.say("Try.")
    failed = stage.wait_status(Status.FAILED, never=[Status.IDLE])

    assert failed.reading.error == ApiError(code="413")


def test_an_error_that_is_retried_is_work_until_it_fails(claude: Staged, model: Model) -> None:
    """500: retrying is work with an error beside it; the last one leaves the turn failed."""
    stage = claude(env={"CLAUDE_CODE_MAX_RETRIES": "3"})
    stage.start()
    model.expect(refuse(500, times=EVER))
    stage.say("Try.")
    look = stage.wait(lambda look: look.retrying, "a retry")

    assert look.reading.status is Status.WORKING
    assert look.reading.error is not None
    assert look.reading.error.of == 3

    failed = stage.stays_until(Status.WORKING, Status.FAILED)

    assert failed.reading.error == ApiError(code="500")


def test_a_wait_that_the_api_asks_for_is_work(claude: Staged, model: Model) -> None:
    """429 with retry-after: half a minute in which nothing is wrong with the agent."""
    stage = claude()
    stage.start()
    model.expect(refuse(429, times=EVER, retry_after="37"))
    stage.say("Try.")
    stage.wait(lambda look: look.retrying, "a retry")
    stage.stays(Status.WORKING, 1)

    assert len(model.asked) == 1


def test_opus_gives_up_at_once_when_overloaded(claude: Staged, model: Model) -> None:
    """529 three times, a second apart, although ten retries are allowed."""
    stage = claude(args=("--model", "claude-opus-4-5"))
    stage.start()
    read = failures(stage, {"529": refuse(529, times=EVER)})

    assert read == {"529": ApiError(code="529")}
    assert len(model.asked) == 3


def test_a_missing_login_leaves_it_failed(claude: Staged) -> None:
    """Without a key nobody is asked."""
    stage: Stage = claude(env={"ANTHROPIC_API_KEY": ""})
    stage.start()
    stage.submit("Hello.")
    failed = stage.wait_status(Status.FAILED)

    assert failed.reading.error == ApiError(code="login")
