"""What a card of the board says, over a daemon that is made up: all that is known of an agent."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from koboshi.web.app import Premises, made
from koboshi.web.feed import Feed
from koboshi.web.keys import Keys, Kind, Scope
from koboshi.web.server import Server, listening
from tests.browser.browsers import Browser
from tests.browser.serving import DESKTOP, PHONE, entered
from tests.web.houses import MadeUpDaemon, agent

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


@contextlib.contextmanager
def shown(folder: Path, daemon: MadeUpDaemon) -> Iterator[str]:
    """The page over that daemon: a link that lets one browser in."""
    keys = Keys(folder, time.time)
    premises = Premises(daemon=daemon, keys=keys, clock=time.monotonic)
    listener, feed = listening("127.0.0.1", 0), Feed(daemon)
    server = Server(uvicorn.Config(made(premises, feed), log_level="error", ws="none"), feed)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        ticket = keys.make(Kind.TICKET, Scope.STEER)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/#login={ticket}"
    finally:
        server.should_exit = True
        thread.join()


def crew() -> list[dict[str, object]]:
    """One of each kind that a person could meet in the morning."""
    now = time.time()
    common = {"watched": True, "trouble": "", "mode": "keep", "evidence": [], "since": now - 90}
    run = {"number": 3, "started": now - 7_320, "exit": None}
    words = (
        {"agent": "api", "status": "working", "context": 63.4, "restarts": 2, "cost": 1.239},
        {
            "agent": "docs",
            "status": "limited",
            "limit": {"kind": "session", "resets_at": now + 110},
        },
        {"agent": "web", "status": "idle", "tasks": {"done": 3, "left": 4}, "mode": "auto"},
        {"agent": "ask", "status": "asking", "asked": [{"question": "Which colour?"}]},
        {"agent": "lost", "status": "gone", "given_up": True, "cwd": "/src"},
        {"agent": "told", "status": "working", "progress": {"text": "half of the tests"}},
        {"agent": "still", "status": "idle", "paused": True, "cwd": "/plan", "cost": None},
        {"agent": "old", "status": "unknown", "watched": False},
    )
    return [agent(str(each["agent"]), **{**common, "run": run, **each}) for each in words]


def card(name: str) -> str:
    """What a card says."""
    return (
        "[...document.querySelectorAll('.card')].find((e) => e.querySelector('.name')"
        f".innerText === '{name}')"
    )


def test_a_card_says_all_that_is_known(tmp_path: Path, chrome: Browser) -> None:
    """Gauge, countdown, plan step, tasks, uptime, restarts, cost; and who needs one is on top."""
    daemon = MadeUpDaemon(*crew())
    step = {"number": 2, "text": "x", "attempt": 1}
    plan = {"id": "p", "name": "M1.md", "status": "RUNNING", "cwd": "/plan", "steps": 5, "done": 1}
    daemon.plans = [{**plan, "step": step, "agent": "claude", "keeper": True, "goal": ""}]
    with shown(tmp_path, daemon) as link:
        tab = entered(chrome, link)
        tab.until("document.querySelectorAll('.card').length >= 8")
        tab.until_shown("M1.md: step 2 of 5")
        said = {name: tab.run(f"{card(name)}.innerText") for name in ("api", "docs", "web", "told")}
        for words in (
            "working",
            "for 1 min",
            "context 63 %",
            "up 2 h 2 min",
            "$1.24",
            "2 restarts",
        ):
            assert words in said["api"], words
        meter = tab.run(f"(({card('api')}).querySelector('meter')).value")
        assert meter == pytest.approx(63.4)
        assert "session limit: 1 min left" in said["docs"]
        tab.run("((real) => { Date.now = () => real.call(Date) + 60_000; })(Date.now)")
        tab.until(f"/session limit: [0-9]+ s left/.test({card('docs')}.innerText)")  # it counts
        assert "tasks 3 of 7" in said["web"]
        assert "auto" in said["web"]
        assert "half of the tests" in said["told"]
        assert "paused" in tab.run(f"{card('still')}.innerText")
        assert "$" not in tab.run(f"{card('still')}.innerText")
        assert "released" in tab.run(f"{card('old')}.innerText")
        shapes = tab.run(
            "[...document.querySelectorAll('.card:not(.plan-card)')].map((e) =>"
            " [e.querySelector('.word').innerText, e.querySelector('.shape').innerHTML])"
        )
        assert len(set(dict(shapes).values())) == len(dict(shapes))  # no two look alike
        top = tab.text("section:first-of-type")
        assert ("Which colour?" in top, "gave up" in top, "api" in top) == (True, True, False)
        assert tab.run("document.title") == "(2) koboshi"
        tab.run("location.hash = '#/rules'")
        tab.until("document.title === 'Rules – koboshi'")
        tab.run("location.hash = '#/'")
        tab.until("document.title === '(2) koboshi'")  # at once: nothing changed meanwhile
        for size, phone in (((320, 640), True), (PHONE, True), (DESKTOP, False)):
            for dark in (False, True):
                tab.size(*size, phone=phone, dark=dark)
                assert tab.run("document.documentElement.scrollWidth") <= size[0]
                tab.picture(f"board-{size[0]}-{'dark' if dark else 'light'}")
    assert [each for each in chrome.complaints if "api" not in each] == []


def test_a_browser_keeps_the_files_and_asks_for_what_is_new(
    tmp_path: Path, chrome: Browser
) -> None:
    """The second time nothing but the page itself comes over the wire."""
    loaded = (
        "performance.getEntriesByType('resource').filter((e) => e.name.includes('/static/'))"
        ".map((e) => e.transferSize)"
    )
    with shown(tmp_path, MadeUpDaemon(agent("a", watched=True))) as link:
        tab = entered(chrome, link)
        assert sum(tab.run(loaded)) > 10_000
        tab.open("about:blank")
        tab.until("location.href === 'about:blank'")
        tab.open(link.partition("#")[0])
        tab.until("document.querySelector('.card') !== null")
        again = tab.run(loaded)

    assert (len(again) > 10, sum(again)) == (True, 0)
