"""The scripted model by itself: what it answers, what it keeps. No CLI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.lab.model.server import Model
from tests.lab.model.turns import Call, Say, Think, Turn, Usage, call, refuse, say
from tests.lab.speech import GEMINI, SPEECHES, Line, Speech, events, heard, strings

# --- answers -------------------------------------------------------------------------------------


def test_a_text_comes_word_by_word(model: Model, line: Line, speech: Speech) -> None:
    """The words of all events together are the text."""
    model.expect(say("One two  three", pace=0))
    told = [heard(event) for event in events(line.streamed(speech))]

    assert "".join(told) == "One two  three"
    assert len([word for word in told if word]) == 3


@pytest.mark.parametrize(
    "speech",
    [speech for speech in SPEECHES if speech.streams or speech.whole],
    ids=lambda speech: speech.name,
)
def test_an_answer_in_one_piece_holds_the_text(model: Model, line: Line, speech: Speech) -> None:
    """Where a protocol has such answers."""
    model.expect(say("One two three"))
    answer = json.load(line.post(speech.whole or speech.path, speech.body))

    assert "One two three" in strings(answer, frozenset({"text", "content"}))


def test_a_call_carries_its_tool_and_its_input(model: Model, line: Line, speech: Speech) -> None:
    """Whatever it is called there: name, input, and an id of its own."""
    model.expect(call("Bash", command="date"))
    answer = list(events(line.streamed(speech)))
    text = json.dumps(answer).replace("\\", "")

    assert '"Bash"' in text
    assert '"command": "date"' in text
    assert "call_0001_0" in text


def test_thoughts_are_no_text(model: Model, line: Line, speech: Speech) -> None:
    """Reasoning comes in a field of its own."""
    model.expect(Turn(blocks=(Think(text="Hmm."), Say(text="Yes.")), pace=0))
    answer = list(events(line.streamed(speech)))
    thought = json.dumps([event for event in answer if "Hmm." in json.dumps(event)])

    assert "Hmm." in thought
    assert any(word in thought for word in ("thinking", "reasoning", "thought"))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("anthropic", {"input_tokens": 5, "cache_read_input_tokens": 70, "output_tokens": 9}),
        ("responses", {"input_tokens": 75, "output_tokens": 9, "total_tokens": 84}),
        ("chat", {"prompt_tokens": 75, "completion_tokens": 9, "total_tokens": 84}),
        ("gemini", {"promptTokenCount": 75, "candidatesTokenCount": 9, "totalTokenCount": 84}),
    ],
)
def test_usage_is_what_the_test_says(
    model: Model, line: Line, name: str, wanted: dict[str, int]
) -> None:
    """The last event that tells of tokens has the scripted numbers."""
    (speech,) = (speech for speech in SPEECHES if speech.name == name)
    model.expect(say("Long.", usage=Usage(input=5, cache_read=70, output=9)))
    told = json.dumps(list(events(line.streamed(speech)))[-2:])

    assert [key for key, value in wanted.items() if f'"{key}": {value}' not in told] == []


def test_headers_of_a_good_answer_are_sent(model: Model, line: Line, speech: Speech) -> None:
    """A limit may be announced on a good answer."""
    model.expect(say("Fine.", headers={"x-limit": "near"}))

    assert line.streamed(speech).headers["x-limit"] == "near"


# --- the queue and the log -----------------------------------------------------------------------


def test_a_turn_may_wait_for_the_request_that_it_fits(model: Model, line: Line) -> None:
    """Titles take none of the turns that are meant for work."""
    speech = SPEECHES[0]
    title = {**speech.body, "tools": []}
    model.expect(say("For you.", match="you"), say("Hi."), say("Title.", side=True))
    said = [json.load(line.post(speech.path, body)) for body in (title, speech.body)]
    waiting = model.waiting

    assert [answer["content"][0]["text"] for answer in said] == ["Title.", "Hi."]
    assert waiting == 1


def test_it_keeps_what_it_was_told(model: Model, line: Line, speech: Speech) -> None:
    """The newest message, and whether it came from a turn of the agent."""
    line.streamed(speech).read()
    line.post(speech.path, {**speech.body, "tools": []}).read()
    (main,) = model.asked

    assert (main.protocol, main.told, len(model.requests)) == (speech.name, "Hello", 2)


RESULTS: dict[str, dict[str, Any]] = {
    "anthropic": {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ran"}],
            }
        ]
    },
    "responses": {"input": [{"type": "function_call_output", "call_id": "a", "output": "ran"}]},
    "chat": {"messages": [{"role": "tool", "tool_call_id": "a", "content": "ran"}]},
    "gemini": {
        "contents": [{"parts": [{"functionResponse": {"id": "a", "response": {"output": "ran"}}}]}]
    },
}


def test_it_keeps_the_results_of_its_calls(model: Model, line: Line, speech: Speech) -> None:
    """By the id of the call."""
    line.post(speech.path, {**speech.body, **RESULTS[speech.name]}).read()
    (result,) = model.results

    assert result.id == "a"
    assert "ran" in result.text


def test_a_compressed_request_is_read(model: Model, line: Line) -> None:
    """Some CLIs send gzip."""
    speech = SPEECHES[0]
    line.post(speech.path, speech.body, content_encoding="gzip").read()

    assert model.asked[0].told == "Hello"


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/messages/count_tokens", {"input_tokens": 1200}),
        (f"{GEMINI}:countTokens", {"totalTokens": 1200}),
        ("/v1/telemetry", {}),
    ],
)
def test_what_is_no_turn_takes_none(
    model: Model, line: Line, path: str, answer: dict[str, int]
) -> None:
    """Token counts and unknown paths are answered beside the queue."""
    model.expect(Turn(blocks=(Call(tool="Bash"),)))

    assert json.load(line.post(path, {})) == answer
    assert model.waiting == 1


# --- the same request again ----------------------------------------------------------------------


def test_the_same_request_again_has_the_same_turn(model: Model, line: Line) -> None:
    """Also without a stream: a CLI that lost its patience takes nobody else's turn."""
    (speech,) = (each for each in SPEECHES if each.name == "anthropic")
    body = {**speech.body, "metadata": {"user_id": "session-1"}, "stream": True}
    model.expect(say("First."), say("Second."))

    streamed = "".join(heard(event) for event in events(line.post(speech.path, body)))
    whole = json.load(line.post(speech.path, {**body, "stream": False}))

    assert streamed == "First."
    assert "First." in strings(whole, frozenset({"text"}))
    assert model.waiting == 1


def test_an_error_on_purpose_is_not_given_again(model: Model, line: Line) -> None:
    """Who tries again gets what comes next; another run with the same words does, too."""
    (speech,) = (each for each in SPEECHES if each.name == "anthropic")
    body = {**speech.body, "metadata": {"user_id": "session-1"}, "stream": True}
    model.expect(refuse(500), say("First."), say("Second."))

    assert line.post(speech.path, body).status == 500
    told = [
        "".join(heard(event) for event in events(line.post(speech.path, each)))
        for each in (body, {**body, "metadata": {"user_id": "session-2"}})
    ]

    assert told == ["First.", "Second."]
