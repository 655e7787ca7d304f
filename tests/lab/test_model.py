"""The scripted model by itself: each protocol, each trouble, any usage, without a CLI."""

from __future__ import annotations

import gzip
import http.client
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.lab.model.server import Model
from tests.lab.model.turns import (
    EVER,
    Break,
    Call,
    Hang,
    Refuse,
    Say,
    Think,
    Turn,
    Usage,
    call,
    drop,
    hang,
    refuse,
    say,
    stall,
)

#: Seconds after which a silent connection is taken for silent.
SILENCE = 0.3
TOOLS = [{"name": "tool"}]
GEMINI = "/v1beta/models/gemini-2.5-pro"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """How one protocol is asked, and where its answers stand."""

    name: str
    path: str
    body: Mapping[str, Any]
    whole: str = ""  #: path for an answer in one piece, when that is another one
    streams: Mapping[str, Any] | None = None  #: added to the body to have events


SPEECHES = (
    Speech(
        name="anthropic",
        path="/v1/messages",
        body={"messages": [{"role": "user", "content": "Hello"}], "tools": TOOLS},
        streams={"stream": True},
    ),
    Speech(
        name="responses",
        path="/v1/responses",
        body={"input": [{"role": "user", "content": "Hello"}], "tools": TOOLS},
    ),
    Speech(
        name="chat",
        path="/v1/chat/completions",
        body={"messages": [{"role": "user", "content": "Hello"}], "tools": TOOLS},
        streams={"stream": True},
    ),
    Speech(
        name="gemini",
        path=f"{GEMINI}:streamGenerateContent",
        whole=f"{GEMINI}:generateContent",
        body={"contents": [{"role": "user", "parts": [{"text": "Hello"}]}], "tools": TOOLS},
    ),
)


@pytest.fixture(params=SPEECHES, ids=lambda speech: speech.name)
def speech(request: pytest.FixtureRequest) -> Speech:
    """The test runs with every protocol."""
    chosen = request.param
    assert isinstance(chosen, Speech)
    return chosen


# --- asking --------------------------------------------------------------------------------------


class Line:
    """Asks a model, and hangs up at the end."""

    def __init__(self, model: Model) -> None:
        self._address = urlsplit(model.url)
        self._open: list[http.client.HTTPConnection | http.client.HTTPResponse] = []

    def post(
        self, path: str, body: Mapping[str, Any], *, seconds: float = 10, **headers: str
    ) -> http.client.HTTPResponse:
        """Send a request; the answer is not read yet."""
        host, port = self._address.hostname, self._address.port
        assert host is not None
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
        self._open.append(connection)
        content = json.dumps(body).encode()
        if headers.get("content_encoding") == "gzip":
            content = gzip.compress(content)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, content, {"content-type": "application/json", **named})
        self._open.append(answer := connection.getresponse())
        return answer

    def streamed(self, speech: Speech, *, seconds: float = 10) -> http.client.HTTPResponse:
        """Ask for events."""
        body = {**speech.body, **(speech.streams or {})}
        return self.post(speech.path, body, seconds=seconds)

    def close(self) -> None:
        """Hang up."""
        for opened in self._open:
            opened.close()


@pytest.fixture
def line(model: Model) -> Iterator[Line]:
    """A line to the model of the test."""
    made = Line(model)
    yield made
    made.close()


def events(answer: http.client.HTTPResponse) -> Iterator[Any]:
    """The events of an answer, as they come."""
    for line in answer:
        text = line.decode().strip()
        if text.startswith("data: ") and text != "data: [DONE]":
            yield json.loads(text.removeprefix("data: "))


def strings(value: object, keys: frozenset[str]) -> Iterator[str]:
    """All strings under these keys, however deep."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            else:
                yield from strings(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, keys)


def heard(event: Any) -> str:  # noqa: ANN401
    """The text that one event of a stream adds."""
    if str(event.get("type", "")).endswith(("item.done", "item.added", ".completed")):
        return ""  # these repeat what was streamed
    return "".join(strings(event, frozenset({"text", "content", "delta"})))


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


# --- trouble -------------------------------------------------------------------------------------


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
    told: list[str] = []
    with pytest.raises(TimeoutError):
        told.extend(map(heard, events(line.streamed(speech, seconds=SILENCE))))

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
