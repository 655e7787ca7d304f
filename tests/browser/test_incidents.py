"""Incidents on the page: found, shown, taken away, acknowledged; over a real daemon and browser."""

from __future__ import annotations

import io
import tarfile
import time
from pathlib import Path

import pytest

from tests.browser.browsers import Browser, Tab
from tests.browser.serving import DESKTOP, IDLE, PHONE, Served, logged_in, started
from tests.daemon.trials import PATIENCE, Trial

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

#: Two crashes are one more than the budget allows.
CRASHES = (
    '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Error: <b>disk</b> is full"\n\n'
    '[[act]]\ndo = "crash"\ncode = 3\n\n'
) * 2
FATAL = (
    '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Unhandled rejection: pool is closed"\n\n'
    '[[act]]\ndo = "end_turn"\n\n'
)


@pytest.fixture
def own_file() -> str:
    """Agents may be restarted once."""
    return 'intensity = 1\nbackoff_base = "1s"\n'


def given_up(koboshi: Trial) -> None:
    """An agent that crashed, was brought back, and crashed again."""
    started(koboshi, "crasher", CRASHES + IDLE)
    koboshi.until("crasher", lambda known: known["restarts"] == 1 and known["status"] == "idle")
    koboshi.say("send", "--wait", "0", "crasher", "go on")
    koboshi.until("crasher", lambda known: bool(known["given_up"]))


def downloaded(folder: Path) -> bytes:
    """The one file in that folder, once it is whole."""
    deadline = time.monotonic() + PATIENCE
    while not (found := [p for p in folder.glob("*") if p.suffix == ".gz"]):
        assert time.monotonic() < deadline, list(folder.glob("*"))
        time.sleep(0.05)
    return found[0].read_bytes()


def unfold(tab: Tab, code: str) -> None:
    """Open the newest incident of that rule."""
    found = (
        "[...document.querySelectorAll('details.incident')]"
        f".find((e) => e.querySelector('code').textContent === '{code}')"
    )
    tab.until(f"Boolean({found})")
    tab.run(f"{found}.open = true")


def test_incidents_are_shown_taken_away_and_acknowledged(
    served: Served, chrome: Browser, tmp_path: Path
) -> None:
    """A crash loop that koboshi gave up on, and words that sound fatal."""
    koboshi = served.koboshi
    started(koboshi, "printer", FATAL + IDLE)
    given_up(koboshi)
    folder = tmp_path / "downloads"
    with logged_in(chrome, served) as tab:
        tab.click("Incidents", ".views")
        tab.until_shown("Acknowledge crasher", ".needs")
        tab.until_shown("RUN002", ".tally")
        tab.until_shown("TXT001", ".tally")
        assert tab.run("document.querySelectorAll('.incidents b').length") == 0
        tab.picture("incidents-phone")
        unfold(tab, "TXT005")
        tab.until_shown("Debug bundle", ".incident[open]")
        chrome.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        tab.run("document.querySelector('.incident[open] .download').click()")
        with tarfile.open(fileobj=io.BytesIO(downloaded(folder))) as bundle:
            assert any(name.endswith("/incident.json") for name in bundle.getnames())
        unfold(tab, "TXT001")
        tab.click("Fix prompt", ".incidents")
        tab.until_shown("What is wanted", ".incidents")
        tab.size(*DESKTOP, phone=False, dark=True)
        tab.picture("incidents-desktop-dark")
        tab.click("Acknowledge crasher", ".needs")
        tab.until_shown("crasher: acknowledged", ".outcome")
        tab.until("document.querySelector('.needs').hidden")
        koboshi.until("crasher", lambda known: not known["given_up"])
        tab.click("P0 TXT001 fatal-words-printed × 1", ".tally")
        tab.until("document.querySelectorAll('.incident').length === 1")
        tab.size(*PHONE, phone=True)
        tab.picture("incidents-rule-phone")
        tab.run("location.hash = '#/agent/crasher'")
        tab.click("Collect a bundle now")
        tab.until_shown("collected", ".papers-view")
        tab.until("document.querySelectorAll('.papers .download').length >= 2")
        tab.picture("agent-papers-phone")


def test_the_list_grows_while_one_looks_at_it(served: Served, chrome: Browser) -> None:
    """Nobody reloads anything: what is found, given up and seen to elsewhere shows at once."""
    with logged_in(chrome, served) as tab:
        tab.click("Incidents", ".views")
        tab.until_shown("Nothing was found", ".list-view")
        given_up(served.koboshi)
        tab.until("Boolean(document.querySelector('.incident'))", patience=10)
        tab.until_shown("Acknowledge crasher", ".needs")
        tab.run("document.querySelector('details.incident').open = true")
        served.koboshi.say("ack", "crasher")
        tab.until("document.querySelector('.needs').hidden", patience=10)
        assert tab.run("document.querySelectorAll('details.incident[open]').length") == 1


def test_who_may_only_look_takes_nothing_away(served: Served, chrome: Browser) -> None:
    """They see what was found; no button, no bundle, and the address alone gives none."""
    given_up(served.koboshi)
    tab = chrome.tab()
    tab.open(served.another_link("--read-only"))
    tab.until("document.querySelector('#link.live') !== null")
    tab.run("location.hash = '#/incidents'")
    unfold(tab, "TXT005")
    tab.until_shown("may only look", ".incident[open]")
    assert tab.run("document.querySelectorAll('main a.download').length") == 0
    assert tab.run("document.querySelectorAll('.needs button').length") == 0
    file = tab.run("fetch('/api/agents/crasher/bundles').then((r) => r.json())")[0]["name"]
    asked = f"fetch('/api/agents/crasher/bundles/{file}').then((r) => r.status)"
    assert tab.run(asked) == 403
