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
        # At once: what nobody has zoomed grows by itself.
        click = "document.querySelector('[aria-label=\"zoom in\"]').click()"
        before, near = tab.run(f"[{length}, ({click}, {length})]")
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


#: What is asked for with these words in its address is answered when `go()` is called.
HOLD = """(() => {{
  const real = window.fetch;
  const late = new Promise((go) => {{ window.go = go; }});
  window.asked = [];
  window.fetch = async (...words) => {{
    const came = await real(...words);
    window.asked.push(words[0]);
    if (words[0].includes({words!r})) await late;
    return came;
  }};
}})()"""
ASKED = "window.asked.filter((e) => e.includes({words!r})).length"


def test_what_comes_late_takes_nothing_away(served: Served, chrome: Browser) -> None:
    """A zoom stays while the past is asked for again; an outcome is told where it is awaited."""
    koboshi = served.koboshi
    started(koboshi, "calm", IDLE)
    koboshi.until_status("calm", "idle")
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/calm'")
        tab.until("document.querySelectorAll('.marks li').length > 0")
        length = "Number(document.querySelector('.timeline').dataset.length)"
        tab.run(HOLD.format(words="timeline"))
        tab.click("6 h", ".past")
        tab.until(ASKED.format(words="timeline"))
        tab.run("document.querySelector('[aria-label=\"zoom out\"]').click()")
        far = tab.run(length)
        tab.run("(document.querySelector('.marks').replaceChildren(), window.go())")
        tab.until("document.querySelectorAll('.marks li').length > 0")
        assert tab.run(length) == far

        tab.run(HOLD.format(words="/bundle"))
        tab.click("Collect a bundle now", ".papers-view")
        tab.until_shown("collecting", ".papers-view")
        koboshi.say("pause", "calm")
        tab.until(ASKED.format(words="/history"))  # what is below was asked for again
        tab.run("window.go()")
        tab.until_shown("collected", ".papers-view")
        tab.until("document.querySelectorAll('.papers .download').length === 1")


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
