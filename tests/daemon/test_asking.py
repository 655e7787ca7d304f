"""What waits for a person, and which answers a question takes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from koboshi.core.actions import Mode
from koboshi.core.events import Ending, HookRead, Moment, Order, OrderGiven, Stance
from koboshi.core.readings import Option, PromptKind, Status
from koboshi.core.settings import Settings
from koboshi.core.view import Question
from koboshi.daemon.control.asking import _fate, _word, facts_of, open_in, parsed, shown_by_hook
from koboshi.daemon.control.questions import Questions
from koboshi.errors import InputError, KoboshiError
from tests.core.worlds import Driver, asking, blank, permission, reading

QUESTION = Question(prompt=permission(), nth=2, since=1.0)
CHOICE = replace(
    QUESTION,
    prompt=permission(kind=PromptKind.QUESTION, options=(Option(text="Red"), Option(text="Blue"))),
)


def asked(mode: Mode = Mode.KEEP) -> Driver:
    """An agent with an open question."""
    driver = Driver(blank(Settings(mode=mode)))
    driver.start()
    driver.see(asking())
    driver.see_same()
    driver.judge(Stance.ASK, "nobody allowed it")
    return driver


@pytest.mark.parametrize("wrong", ["", "a1", "a1:1", "a1:1.2.3", "a1:x.y", ":1.2", "a1:1.٢"])
def test_what_is_no_id_is_refused(wrong: str) -> None:
    """With what one looks like."""
    assert parsed("a.b-c:12.3") == ("a.b-c", "12.3")
    with pytest.raises(InputError, match="expected an id such as"):
        parsed(wrong)


@pytest.mark.parametrize(
    ("question", "said", "taken"),
    [
        (QUESTION, " YES ", "yes"),
        (QUESTION, "no", "no"),
        (QUESTION, "No:  use pnpm ", "no: use pnpm"),
        (replace(QUESTION, ticket="t"), "no: use pnpm", "no: use pnpm"),
        (CHOICE, "blue", "blue"),
        (replace(CHOICE, ticket="t"), "Green, please", "Green, please"),
        (replace(CHOICE, ticket="t"), "no", "no"),
        (replace(QUESTION, ticket="t"), "always", "always"),
        (replace(CHOICE, prompt=replace(CHOICE.prompt, dismiss="Escape")), "no", "no"),
        (replace(CHOICE, prompt=replace(CHOICE.prompt, dismiss="Escape")), "no: no", "no: no"),
    ],
)
def test_an_answer_that_a_question_takes(question: Question, said: str, taken: str) -> None:
    """A meaning that it offers, or the words of an option; a hook takes more."""
    assert _word(question, said) == taken


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (QUESTION, "always"),
        (QUESTION, "whatever"),
        (QUESTION, ""),
        (CHOICE, "yes"),
        (CHOICE, "no"),
        (CHOICE, "Green"),
        (CHOICE, "no: neither"),
        (QUESTION, "yes: all of it"),
        (replace(QUESTION, prompt=permission(kind=PromptKind.PICKER)), "yes"),
    ],
)
def test_an_answer_that_it_does_not_take_is_refused(question: Question, said: str) -> None:
    """Before anything is typed."""
    with pytest.raises(InputError):
        _word(question, said)


def test_what_is_open_is_told_with_what_the_policy_says() -> None:
    """Under an id that an answer can name."""
    driver = asked()
    [question] = open_in(driver.view)
    told = facts_of(driver.view, question, driver.now)

    assert (told["id"], told["subject"], told["through"]) == ("a1:1.1", "npm test", "keys")
    assert told["policy"] == {"verdict": "ask", "rule": "", "why": "nobody allowed it"}
    assert told["since"] == driver.now.utc - 1.0

    driver.see(reading(Status.WORKING))
    assert open_in(driver.view) == ()


async def nowhere(ward: object) -> Any:  # noqa: ANN401
    """Where no terminal can be looked at."""
    raise KoboshiError(f"{ward} has none")


def test_the_oldest_question_is_listed_first() -> None:
    """Whoever's it is, and in whatever order the agents were taken up."""
    wards = {}
    for name, since in (("young", 90.0), ("old", 10.0), ("middle", 50.0)):
        driver = asked()
        [question] = open_in(driver.view)
        context = replace(driver.view.context, agent=name)
        view = replace(driver.view, context=context, question=replace(question, since=since))
        wards[name] = SimpleNamespace(
            supervisor=SimpleNamespace(
                world=SimpleNamespace(view=view),
                runtime=SimpleNamespace(now=lambda: Moment(at=100.0, utc=5_000.0)),
            ),
            asks=SimpleNamespace(questions=lambda _: []),
            host=SimpleNamespace(look=None),
        )
    house: Any = SimpleNamespace(wards=wards)
    none: Any = None
    verbs = Questions(house=house, masks=none, errands=none, up=none, place_of=nowhere)

    listed = asyncio.run(verbs.questions({}))
    assert [each["id"].partition(":")[0] for each in listed] == ["old", "middle", "young"]


def test_what_a_hook_waits_with_is_told_once() -> None:
    """Its dialog is on the screen, too."""
    driver = asked(Mode.AUTO)
    hook = HookRead(
        word="PermissionRequest", status=Status.ASKING, prompt=permission("x"), ticket="t"
    )
    driver.tell(hook)

    assert [question.prompt.subject for question in open_in(driver.view)] == ["x"]


def test_who_comes_late_is_told_what_became_of_it() -> None:
    """By whom it was answered, and how."""
    driver = asked()
    order = OrderGiven(order=Order.ANSWER, by="person", text="yes", question="1.1")
    [decision] = driver.tell(order)
    driver.finish(decision.action, Ending.DONE)

    assert _fate(driver.world, "1.1") == ": a person answered 'once' (done)"
    assert _fate(driver.world, "1.2") == ""


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ({"command": "a\nb"}, ["a", "b"]),
        (
            {"file_path": "/x", "old_string": "one\ntwo", "new_string": "three"},
            ["/x", "- one", "- two", "+ three"],
        ),
        ({"file_path": "/x", "content": "one\n"}, ["/x", "+ one"]),
        ({"url": "http://x"}, ["{", ' "url": "http://x"', "}"]),
        (None, []),
    ],
)
def test_what_a_call_would_do_is_shown_in_rows(given: Any, rows: list[str]) -> None:  # noqa: ANN401
    """A command, a change, or all that it was given."""
    assert shown_by_hook({"tool_input": given}) == rows
