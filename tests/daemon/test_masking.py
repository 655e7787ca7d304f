"""What is told at the door has no secret in it: by value, by verb, and over a real daemon."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.daemon.control.client import Refused, call
from koboshi.daemon.control.masking import OURS, Masks
from koboshi.errors import KoboshiError
from koboshi.store.roster import Entry, Roster
from tests.daemon.trials import PATIENCE, Trial, trial

#: One that can be told by its looks, and one that nobody could know but from the environment.
KEY, WORD = "sk-ant-api03-0123456789abcdef", "correct horse battery"
SECRETS = (KEY, WORD)


@pytest.fixture
def masks(tmp_path: Path) -> Masks:
    """Over one agent that was started with a secret."""
    roster = Roster(tmp_path)
    entry = Entry(agent="a", agent_type="claude", argv=("x",), cwd="/")
    roster.keep(entry, {"DEPLOY_TOKEN": WORD, "AUTH_MODE": "claude"})
    return Masks(roster)


def clean(value: object) -> bool:
    """Whether no secret can be read in it."""
    return not any(secret in json.dumps(value) for secret in SECRETS)


def test_secrets_are_masked_wherever_they_stand(masks: Masks) -> None:
    """However deep, in rows that a terminal wrapped, by what the agent's own environment says."""
    rows = ["x" * 20 + KEY[:12], KEY[12:], "done"]
    told = {
        "agent": "a",
        "reason": f"it said {KEY}",
        "evidence": rows,
        "question": {"subject": f"deploy --with '{WORD}'", "options": [{"text": f"Yes, {KEY}"}]},
        "count": 3,
        "outcome": {"ending": "failed", "why": WORD},
    }

    masked = masks.value("", told)

    assert clean(masked)
    assert KEY[12:] not in masked["evidence"]
    assert [len(row) for row in masked["evidence"]] == [len(row) for row in rows]
    assert (masked["count"], masked["agent"]) == (3, "a")


def test_words_of_ours_are_left(masks: Masks) -> None:
    """Its type is 'claude', and so is the value of a variable that sounds secret."""
    told = {"agent": "a", "type": "claude", "status": "working", "reason": "claude works"}

    assert masks.value("", told) == {**told, "reason": "xxxxxx works"}


def test_one_agents_secrets_are_found_in_its_own_answers_only(masks: Masks) -> None:
    """The environment of another is nobody's business here."""
    told = [{"agent": "a", "reason": WORD}, {"agent": "b", "reason": WORD}]

    assert clean(masks.value("", told)[0])
    assert masks.value("", told)[1]["reason"] == WORD
    assert clean(masks.value("a", {"text": WORD}))


def test_errors_are_masked(masks: Masks) -> None:
    """Their hint, too."""

    async def fails(args: dict[str, Any]) -> None:
        raise KoboshiError(f"not {args['text']!r}", hint=KEY)

    verbs = masks.over({"send": fails})
    with pytest.raises(KoboshiError) as raised:
        asyncio.run(verbs["send"]({"name": "a", "text": WORD}))  # type: ignore[arg-type]

    assert clean([str(raised.value), raised.value.hint])


def test_an_option_that_was_shown_masked_can_be_chosen(masks: Masks) -> None:
    """What comes back is the mask, and what is meant is what was under it."""
    offered = ["No", f"Yes, and always for 'login {KEY}'"]
    shown = masks.value("a", offered)[1]

    assert KEY not in shown
    assert masks.meant("a", shown, offered) == offered[1]
    assert masks.meant("a", "something else", offered) == "something else"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just(f"a {KEY} b"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5).filter(lambda k: k not in OURS), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_nothing_gets_through_and_shapes_stay(value: object) -> None:
    """Any answer at all: the same shape, the same keys, no secret."""
    masked = Masks(Roster(Path("/nowhere"))).value("", value)

    assert clean(masked)
    assert _shape(masked) == _shape(value)


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    return [_shape(each) for each in value] if isinstance(value, list) else type(value)


ASKS = (
    f'[[act]]\ndo = "work"\nseconds = 0.2\nsay = "the key is {KEY}"\n\n'
    f'[[act]]\ndo = "ask"\nkind = "question"\ncommand = "use {KEY}"\nquestion = "Which one?"\n'
    f'options = ["{KEY}", "another"]\n\n[[act]]\ndo = "end_turn"\n'
)


def ask(koboshi: Trial, verb: str, **args: Any) -> Any:  # noqa: ANN401
    """One verb."""
    return call(koboshi.state, verb, patience=40.0, **args)


@pytest.mark.tmux
def test_no_verb_tells_a_secret(tmp_path: Path) -> None:
    """Everything that can be asked of an agent that prints one, asks about one and noted one."""
    with trial(tmp_path) as koboshi:
        argv = koboshi.script(ASKS)
        koboshi.say("run", "-d", "--name", "a", "--as", "scripted", "--", *argv)
        koboshi.until_status("a", "idle")
        ask(koboshi, "send", name="a", text=f"go {KEY}", wait=10.0)
        koboshi.until_status("a", "asking")
        notes = next(koboshi.state.rglob("journal")).parent / "notes"
        notes.mkdir(exist_ok=True)
        (notes / "ckpt-1.md").write_text(f"The key is {KEY}.\n")

        told = {
            verb: ask(koboshi, verb, **args)
            for verb, args in (
                ("ls", {}),
                ("status", {"name": "a"}),
                ("follow", {}),
                ("picture", {"name": "a"}),
                ("screen", {"name": "a"}),
                ("questions", {}),
                ("why", {"name": "a", "count": 50}),
                ("timeline", {"name": "a", "seconds": 600.0}),
                ("history", {"name": "a"}),
                ("notes", {"name": "a"}),
                ("config", {"name": "a"}),
                ("prompt", {"name": "a"}),
                ("notices", {}),
                ("metrics", {}),
            )
        }
        assert [verb for verb, said in told.items() if not clean(said)] == []
        assert "xxxx" in json.dumps(told["notes"])
        assert "xxxx" in json.dumps(told["questions"])
        assert "xxxx" in json.dumps(told["picture"])

        page = tmp_path / "report.html"
        said = [koboshi.say("why", "a"), koboshi.say("why", "a", "--json"), koboshi.say("report")]
        koboshi.say("report", "--html", str(page))
        said += [koboshi.say("report", "--json"), page.read_text()]
        assert [clean(each) for each in said] == [True] * 5
        assert all("xxxx" in each for each in said[:2])

        [question] = told["questions"]
        with pytest.raises(Refused) as late:
            ask(koboshi, "answer", id=question["id"], text="neither", wait=1.0)
        assert clean([str(late.value), late.value.hint])
        shown = question["options"][0]["text"]
        answered = ask(koboshi, "answer", id=question["id"], text=shown, wait=20.0)
        assert (answered["outcome"], clean(answered)) == ("done", True)
        deadline = time.monotonic() + PATIENCE
        while ask(koboshi, "questions"):
            assert time.monotonic() < deadline
