"""The scripted model by itself: all that can go wrong, in every protocol. No CLI."""

from __future__ import annotations

import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Break, Hang, Refuse, Say, Turn, drop, hang, refuse, stall
from tests.lab.speech import SPEECHES, Line, Speech, events, heard

#: Seconds after which a silent connection is taken for silent.
SILENCE = 0.3


def test_an_error_has_status_headers_and_an_envelope(
    model: Model, line: Line, speech: Speech
) -> None:
    """As long as it lasts, then good answers again."""
    model.expect(refuse(429, "too much", times=2, retry_after="7"))
    answers = [line.streamed(speech) for _ in range(3)]
    body = json.load(answers[0])

    assert [answer.status for answer in answers] == [429, 429, 200]
    assert answers[0].headers["retry-after"] == "7"
    assert body["error"]["message"] == "too much"


def test_an_error_may_have_a_body_of_its_own(model: Model, line: Line, speech: Speech) -> None:
    """For what no envelope foresees."""
    model.expect(Turn(trouble=Refuse(status=400, body={"odd": True})))

    assert json.load(line.streamed(speech)) == {"odd": True}


def test_a_hang_is_silence_until_it_is_released(model: Model, line: Line, speech: Speech) -> None:
    """Not even headers come."""
    model.expect(hang(times=EVER))
    with pytest.raises(TimeoutError):
        line.streamed(speech, seconds=SILENCE)

    model.release()
    model.forget()

    assert line.streamed(speech).status == 200


def test_what_was_released_is_answered(model: Model, line: Line, speech: Speech) -> None:
    """A hang delays the answer; it does not take it away."""
    with ThreadPoolExecutor() as pool:
        model.expect(Turn(blocks=(Say(text="Late."),), trouble=Hang()))
        answer = pool.submit(line.streamed, speech)
        while not model.asked:
            time.sleep(0.01)
        model.release()

        assert "Late." in "".join(map(heard, events(answer.result())))


def test_a_stall_is_silence_after_some_words(model: Model, line: Line, speech: Speech) -> None:
    """What was said before it has been sent."""
    model.expect(stall("One two three", after=2))
    coming = map(heard, events(line.streamed(speech)))
    told: list[str] = []
    while "".join(told) != "One two ":  # a slow answer is not a silent one
        told.append(next(coming))
    line.hurry(SILENCE)
    with pytest.raises(TimeoutError):
        told.extend(coming)

    assert "".join(told) == "One two "


@pytest.mark.parametrize("after", [None, 2])
@pytest.mark.parametrize("reset", [True, False])
def test_a_drop_ends_the_connection(
    model: Model, line: Line, speech: Speech, after: int | None, *, reset: bool
) -> None:
    """By a reset or an orderly close, before the first byte or after some words."""
    model.expect(drop("One two three", after=after, reset=reset))
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        line.streamed(speech).read()


def test_a_stream_may_carry_an_error(model: Model, line: Line, speech: Speech) -> None:
    """It begins well and ends in the error, not in a good end."""
    model.expect(Turn(blocks=(Say(text="One"),), trouble=Break(message="burst")))
    answer = line.streamed(speech)
    last = list(events(answer))[-1]

    assert answer.status == 200
    assert "burst" in json.dumps(last)


@pytest.mark.parametrize("trouble", [drop("One two", after=1, reset=True), drop("One", after=0)])
def test_a_whole_answer_has_the_trouble_of_a_stream(
    model: Model, line: Line, trouble: Turn
) -> None:
    """A CLI whose stream broke asks for a whole answer: that must break, too."""
    speech = SPEECHES[0]
    model.expect(trouble)
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        line.post(speech.path, speech.body)


def test_a_whole_answer_that_breaks_is_the_error(model: Model, line: Line) -> None:
    """There is no good beginning to it."""
    speech = SPEECHES[0]
    model.expect(Turn(trouble=Break(message="burst")))
    answer = line.post(speech.path, speech.body)

    assert answer.status == 529
    assert json.load(answer)["error"]["message"] == "burst"
