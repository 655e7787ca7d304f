"""What a phone, a keyboard, a screen reader and tired eyes need of the page."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from koboshi.store.progress import Progress, Start
from tests.browser.browsers import Browser, Tab
from tests.browser.serving import ASKS, DESKTOP, PHONE, Served, started
from tests.conftest import need
from tests.daemon.loop.stages import Theatre
from tests.daemon.trials import Trial, trial

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

#: Roles that somebody has to be able to call by name.
CALLED = ("button", "link", "textbox", "meter", "DisclosureTriangle", "dialog", "image")
#: Pixels: narrow phones, and what a thumb hits.
NARROW, THUMB = 320, 34
SIZES = ((NARROW, 640), PHONE, DESKTOP)
FAINT = Path(__file__).with_name("faint.js").read_text(encoding="utf-8")
SMALL = f"""
[...document.querySelectorAll("button, .card a, textarea, .home")]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < {THUMB})
  .map((each) => each.textContent.slice(0, 20))
"""

#: Rules whose mode does not stand beside their code.
FALLEN = """
[...document.querySelectorAll(".rules .headline")].filter((each) =>
  each.querySelector(".mode").getBoundingClientRect().top
    > each.querySelector("code").getBoundingClientRect().bottom).map((each) => each.textContent)
"""


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi with a plan whose second step does not succeed."""
    need("tmux")
    theatre = Theatre(tmp_path)
    theatre.play({"2": [{"write": {"b.txt": "wrong\n"}, "says": {"result": "I tried."}}]})
    theatre.edit("STATUS: IDLE", "STATUS: RUNNING")
    start = Start(
        path=str(theatre.path), cwd=str(theatre.path.parent), stop_file=str(tmp_path / "s")
    )
    Progress(theatre.state, theatre.path).keep_start(start, theatre.env)
    with trial(tmp_path) as made:
        made.say("daemon", "start")
        yield made


@pytest.fixture
def tab(koboshi: Trial, chrome: Browser) -> Iterator[Tab]:
    """The page over an agent that asks."""
    started(koboshi, "asker", ASKS)
    koboshi.until_status("asker", "asking")
    served = Served(koboshi)
    try:
        yield entered(chrome, served)
    finally:
        served.end()


def entered(chrome: Browser, served: Served) -> Tab:
    """A narrow phone that has come in."""
    made = chrome.tab()
    made.size(NARROW, 640, phone=True)
    made.open(served.link)
    made.until_shown("asker", ".card")
    return made


def views(tab: Tab) -> Iterator[str]:
    """The board, a plan, an agent with its question, incidents, rules, and one of those."""
    tab.until_shown("What shall be different?", ".plans")
    yield "board"
    tab.run("document.querySelector('.plan-card a').click()")
    tab.until_shown("Not verified: ", ".steps")
    tab.until_shown("PLN007", ".chains")
    tab.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    tab.click("Edit", ".orders")
    tab.until("document.querySelector('.sheet').checkVisibility()")
    assert tab.run("document.querySelector('.sheet').selectionStart") == 0  # its beginning is seen
    yield "plan"
    tab.run("location.hash = '#/agent/asker'")
    tab.until_shown("npm test", ".question")
    tab.until("document.querySelectorAll('.chains .chain').length > 0")
    yield "agent"
    tab.run("location.hash = '#/incidents'")
    tab.click("all", ".choices")
    tab.until("document.querySelectorAll('.incident').length > 1")
    tab.run("document.querySelectorAll('.incident').forEach((e) => { e.open = true; })")
    yield "incidents"
    tab.run("location.hash = '#/rules'")
    tab.until("document.querySelectorAll('.rules > li').length > 50")
    yield "rules"
    tab.run("location.hash = '#/rules/PRM002'")
    tab.until_shown("found", ".rule-recent")
    yield "rule"


def nameless(tab: Tab) -> list[Any]:
    """What a screen reader could not call by a name."""
    tab.call("Accessibility.enable")
    nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    return [
        node["role"]["value"]
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in CALLED
        and not node.get("name", {}).get("value", "").strip()
    ]


def test_every_part_has_a_name_and_fits_every_screen(tab: Tab) -> None:
    """Nothing has to be scrolled sideways; a thumb hits each button; one h1, no level left out."""
    for view in views(tab):
        assert nameless(tab) == [], view
        for size in SIZES:
            tab.size(*size, phone=size != DESKTOP)
            assert tab.run("document.documentElement.scrollWidth") <= size[0], (view, size)
            assert tab.run(SMALL) == [], (view, size)
            assert tab.run(FALLEN) == [], (view, size)
        levels = tab.run("[...document.querySelectorAll('h1,h2,h3')].map((e) => +e.tagName[1])")
        assert levels.count(1) == 1
        assert all(b - a <= 1 for a, b in itertools.pairwise(levels)), levels
        assert tab.run("document.documentElement.lang") == "en"


def test_words_can_be_read_in_light_and_dark(tab: Tab) -> None:
    """Contrast of every word against its ground."""
    for view in views(tab):
        for size, dark in itertools.product(SIZES, (False, True)):
            tab.size(*size, phone=size != DESKTOP, dark=dark)
            tab.until("document.querySelector('#link.live') !== null")
            assert tab.run(FAINT) == [], (view, size, dark)
            tab.run("scrollTo(0, 0)")
            tab.picture(f"view-{view}-{size[0]}-{'dark' if dark else 'light'}")


def press(tab: Tab, key: str, code: int, text: str = "") -> None:
    """One key of a keyboard."""
    for kind in ("rawKeyDown", "char", "keyUp"):
        if kind != "char" or text:
            tab.call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, text=text
            )


def test_a_keyboard_is_enough(tab: Tab) -> None:
    """From the top of the page to an answered question, by Tab and Enter, with a ring to see."""
    tab.size(1280, 800, phone=False)
    focus = "document.activeElement"
    seen = []
    for _ in range(6):
        press(tab, "Tab", 9)
        seen.append(tab.run(f"{focus}.textContent.trim().slice(0, 20)"))
        if tab.run(f"{focus}.closest('.card') !== null"):
            break
    assert seen[0] == "Skip to the agents"
    assert tab.run(f"getComputedStyle({focus}).outlineStyle") == "solid"
    press(tab, "Enter", 13, "\r")
    tab.until_shown("npm test", ".question")
    tab.until(f"{focus}.id === 'main'")
    for _ in range(8):
        press(tab, "Tab", 9)
        if tab.run(f"{focus}.classList.contains('meaning-once')"):
            break
    press(tab, "Enter", 13, "\r")
    tab.until_shown("done", ".outcome")
    tab.until("!document.querySelector('.question')")
