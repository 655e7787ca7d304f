"""One agent's page: its timeline can be zoomed, and its context is shown small beside the facts."""

from __future__ import annotations

import pytest

from tests.browser.browsers import Browser
from tests.browser.serving import DESKTOP, IDLE, PHONE, Served, logged_in, started

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

TURN = '[[act]]\ndo = "work"\nseconds = 0.4\nsay = "{say}"\ncontext = {context}\n\n'
END = '[[act]]\ndo = "end_turn"\n\n'
#: Its context grows, it asks, its turn fails, it crashes.
NIGHT = (
    TURN.format(say="Read the plan.", context=62)
    + END
    + TURN.format(say="Fixed the parser.", context=9)
    + END
    + '[[act]]\ndo = "ask"\ncommand = "npm test"\n\n[[act]]\ndo = "crash"\nsignal = 9\n\n'
    + IDLE
)


@pytest.fixture
def own_file() -> str:
    """An agent is brought back quickly."""
    return 'backoff_base = "1s"\ncontext_max = 99\n'


#: Seconds that are always shown.
LEAST = 5.0
MARKS = "[...document.querySelectorAll('.timeline .mark')].map((e) => e.getAttribute('class'))"


def test_the_past_is_drawn_and_can_be_zoomed(served: Served, chrome: Browser) -> None:
    """Starts, ends, questions and restarts are on it; buttons and keys zoom."""
    koboshi = served.koboshi
    started(koboshi, "night", NIGHT)
    koboshi.until_status("night", "idle")
    for status in ("idle", "asking"):
        koboshi.say("send", "night", "go on")
        koboshi.until_status("night", status)
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/night'")
        tab.until("document.querySelector('.spark') !== null")
        assert "now" in tab.run("document.querySelector('.spark').getAttribute('aria-label')")
        question = koboshi.status("night")["question"]
        tab.click(question["options"][0]["text"], ".question")
        koboshi.until("night", lambda known: known["restarts"] == 1 and known["status"] == "idle")
        for kind in ("start", "end", "question"):
            tab.until(f"{MARKS}.some((e) => e.includes('mark-{kind}'))")
        tab.until(f"{MARKS}.filter((e) => e.includes('mark-start')).length === 2")
        length = "Number(document.querySelector('.timeline').dataset.length)"
        before = tab.run(length)
        tab.run("document.querySelector('[aria-label=\"zoom in\"]').click()")
        near = tab.run(length)
        assert near == pytest.approx(max(before * 0.6, LEAST))
        tab.picture("agent-zoomed-phone")
        tab.run("document.querySelector('[aria-label=\"zoom out\"]').click()")
        assert tab.run(length) == pytest.approx(near * 1.6)
        while tab.run(length) > LEAST:
            tab.run("document.querySelector('[aria-label=\"zoom in\"]').click()")
        # A few seconds have their times below them, too.
        assert tab.run("document.querySelectorAll('.timeline .when').length") >= 3
        tab.size(*DESKTOP, phone=False)
        inside = "document.querySelector('.terminal')"
        tab.until(f"{inside}.scrollWidth <= {inside}.clientWidth")  # a window that became wide
        tab.picture("agent-night-desktop")
        tab.size(*PHONE, phone=True)
        tab.until_shown("crashed", ".runs")


def test_its_work_is_saved_and_handed_over_from_the_page(served: Served, chrome: Browser) -> None:
    """Each with its outcome; then the note, the next run, the mark and its reasons are shown."""
    koboshi = served.koboshi
    started(koboshi, "calm", IDLE)
    koboshi.until_status("calm", "idle")
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/calm'")
        tab.until_shown("Ready.", ".terminal")
        notes = koboshi.state / "agents" / "calm" / "notes"
        notes.mkdir()
        (notes / "hand-over.md").write_text("Next: <b>the parser</b>.")  # by a CLI without /save
        tab.click("Save", ".orders")
        tab.until_shown("Save: done", ".outcome")
        tab.click("Refresh", ".orders")
        tab.until_shown("Refresh calm?", "dialog")
        tab.click("Refresh", "dialog")
        koboshi.until("calm", lambda known: known["run"]["number"] == 2)
        tab.until_shown("Refresh: ", ".outcome")
        tab.until("document.querySelectorAll('.runs tbody tr').length === 2")
        tab.until_shown("Next: <b>the parser</b>.", ".notes")
        for kind in ("checkpoint", "stop", "load"):
            tab.until(f"{MARKS}.some((e) => e.includes('mark-{kind}'))")
        tab.run("document.querySelector('.past details').open = true")
        tab.until("document.querySelectorAll('.marks button').length > 3")
        tab.run(
            "[...document.querySelectorAll('.marks button')]"
            ".find((e) => e.innerText.includes('load ')).click()"
        )
        tab.until_shown("WHY: E", ".why")
        tab.until("document.querySelectorAll('.chains .chain').length > 0")
        tab.click("All decisions", ".why")
        tab.until("document.querySelectorAll('.chains .chain').length > 3")
        tab.picture("agent-refreshed-phone")
