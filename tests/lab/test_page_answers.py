"""A person answers a real Claude Code from the page in a real browser: once, by either way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser.browsers import Browser, Tab, browser
from tests.browser.serving import Served
from tests.lab.conftest import Lodges, Stages
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import call, say
from tests.lab.parts import CLAUDE
from tests.lab.test_answers import lodged, results, ways
from tests.lab.test_tools import equipped, tool, until
from tests.lab.test_tools import results as told

pytestmark = [pytest.mark.lab, pytest.mark.stage]

PHONE = (390, 844)


@pytest.fixture(params=("hook", "keys"))
def way(request: pytest.FixtureRequest) -> str:
    """By which way answers go."""
    return str(request.param)


@pytest.fixture
def chrome(chromium: Path, tmp_path: Path) -> Iterator[Browser]:
    """A browser of its own."""
    with browser(chromium, tmp_path / "chromium") as made:
        yield made


@pytest.fixture
def lodge(lodges: Lodges, way: str) -> Lodge:
    """Claude Code 2.1.325 at its prompt; what it asks is left to a person."""
    return lodged(lodges, CLAUDE[-1], way)


def entered(chrome: Browser, served: Served) -> Tab:
    """A phone that has come in."""
    page = chrome.tab()
    page.size(*PHONE, phone=True)
    page.open(served.link)
    page.until("document.querySelector('#link.live') !== null")
    return page


@pytest.fixture
def tab(lodge: Lodge, chrome: Browser) -> Iterator[Tab]:
    """The page of that agent on a phone."""
    served = Served(lodge)
    try:
        yield entered(chrome, served)
        assert chrome.complaints == []
    finally:
        served.end()


def asked(lodge: Lodge, model: Model, tab: Tab) -> None:
    """It wants to run a command, and the page shows which."""
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("I see."))
    lodge.say("send", "a", "Make it.")
    tab.until_shown("touch made.txt", ".card.is-asking")
    tab.run("location.hash = '#/agent/a'")
    tab.until_shown("touch made.txt", ".question .subject")


def test_yes_from_the_page_runs_it_once(lodge: Lodge, way: str, model: Model, tab: Tab) -> None:
    """One tap; the tool runs, the model is told of it once, and the question is gone."""
    asked(lodge, model, tab)
    tab.picture(f"claude-asks-{way}")
    tab.run("document.querySelector('.question .meaning-once').click()")
    tab.until_shown(": done", ".outcome")
    lodge.until_results(1)
    lodge.until_status("a", "idle")
    tab.until("!document.querySelector('.question')")

    assert (lodge.home.cwd / "made.txt").exists()
    assert len(results(model)) == 1
    assert ways(lodge) == [way]


def test_no_from_the_page_says_why(lodge: Lodge, way: str, model: Model, tab: Tab) -> None:
    """With words of the person's, which the model reads once; nothing ran."""
    asked(lodge, model, tab)
    tab.run("document.querySelector('.question textarea').value = 'made.txt is not wanted here'")
    tab.click("No, and say so", ".question")
    tab.until_shown("No: done", ".outcome")
    lodge.until_heard("made.txt is not wanted here")
    lodge.until_status("a", "idle")
    tab.until("!document.querySelector('.question')")

    assert not (lodge.home.cwd / "made.txt").exists()
    assert lodge.heard("made.txt is not wanted here") == 1
    assert len(results(model)) == 1
    assert ways(lodge) == [way]


def test_what_it_asks_by_its_tool_is_answered_from_the_page(
    stages: Stages, model: Model, chrome: Browser
) -> None:
    """`ask_human`: its call waits, a tap ends it, and the model reads the person's words once."""
    asks = tool("ask_human", question="Which port?", options=["80", "81"])
    with equipped(CLAUDE[-1], stages, model, replace(asks, match="Ask me")) as koboshi:
        served = Served(koboshi)
        try:
            page = entered(chrome, served)
            koboshi.say("send", "a1", "Ask me.")
            page.until_shown("Which port?", "section:first-of-type .card")
            page.run("location.hash = '#/agent/a1'")
            page.click("81", ".question")
            page.until_shown("81: done", ".outcome")
            until(lambda: told(model, "The person answered: 81"), koboshi)
            koboshi.until_status("a1", "idle")
        finally:
            served.end()

        assert told(model, "The person answered: 81") == 1
