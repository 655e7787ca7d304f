"""What people see when something was away, and how they come in: in a real browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from koboshi.daemon.control.client import call
from tests.browser.browsers import Browser, browser
from tests.browser.serving import IDLE, Served, entered, started
from tests.daemon.trials import PATIENCE, Trial
from tests.web.certificates import issued

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

KEY = "sk-ant-api03-0123456789abcdef"
LEAKS = IDLE.replace("Ready.", f"the key is {KEY}")
ASKS = f'[[act]]\ndo = "ask"\ncommand = "deploy --token {KEY}"\n\n[[act]]\ndo = "end_turn"\n'


@contextlib.contextmanager
def serving(koboshi: Trial, *words: str, port: int = 0) -> Iterator[Served]:
    """The page, until the end of the block."""
    made = Served(koboshi, *words, port=port)
    try:
        yield made
    finally:
        made.end()


def test_the_page_comes_back_after_its_server_did(koboshi: Trial, chrome: Browser) -> None:
    """It says that it is old, keeps what it shows, is still in, and steers again."""
    started(koboshi, "calm", IDLE)
    with serving(koboshi) as served:
        port = urlsplit(served.link).port or 0
        tab = entered(chrome, served.link)
        tab.run("location.hash = '#/agent/calm'")
        tab.until_shown("Ready.", ".terminal")
    tab.until("document.querySelector('#link.stale') !== null", patience=10)
    assert "this may be old" in tab.text("#link")
    assert tab.run("document.body.classList.contains('old')")
    assert "Ready." in tab.text(".terminal")
    tab.run("document.querySelector('textarea').value = 'nobody hears this'")
    tab.click("Send")
    tab.until_shown("the server cannot be reached", ".outcome")
    tab.picture("server-away-phone")

    with serving(koboshi, port=port):
        tab.until("document.querySelector('#link.live') !== null")
        assert not tab.run("document.body.classList.contains('old')")
        tab.run("document.querySelector('textarea').value = 'hello again'")
        tab.click("Send")
        tab.until_shown("Send: done", ".outcome")
        tab.until_shown("hello again", ".terminal")


def test_the_terminal_comes_back_after_the_daemon_did(koboshi: Trial, chrome: Browser) -> None:
    """On the agent's own page: it says who is away, and shows what is new afterwards."""
    started(koboshi, "calm", IDLE)
    with serving(koboshi) as served:
        tab = entered(chrome, served.link)
        tab.run("location.hash = '#/agent/calm'")
        tab.until_shown("Ready.", ".terminal")
        koboshi.say("daemon", "stop")
        tab.until_shown("away", "#link")
        assert tab.run("document.body.classList.contains('old')")
        koboshi.say("daemon", "start")
        tab.until("document.querySelector('#link.live') !== null")
        koboshi.say("send", "calm", "hello again")
        tab.until_shown("hello again", ".terminal")


def test_who_was_shown_the_door_is_told(koboshi: Trial, chrome: Browser) -> None:
    """`--forget` while a page is open: nothing of any agent stays on it."""
    started(koboshi, "calm", IDLE)
    with serving(koboshi) as served:
        tab = entered(chrome, served.link)
        tab.until_shown("calm", ".card")
        koboshi.say("serve", "--forget")
        tab.until_shown("Not logged in")
        assert "calm" not in tab.text()


def test_the_page_is_shown_over_tls(koboshi: Trial, chromium: Path, tmp_path: Path) -> None:
    """The cookie is for TLS alone; the stream and orders work there, too."""
    papers = issued(tmp_path / "papers")
    started(koboshi, "calm", IDLE)
    trusted = f"--ignore-certificate-errors-spki-list={papers.fingerprint}"
    tls = ("--cert", str(papers.cert), "--key", str(papers.key))
    with (
        browser(chromium, tmp_path / "tls", trusted) as chrome,
        serving(koboshi, *tls) as served,
    ):
        tab = entered(chrome, served.link)
        assert tab.run("location.protocol + isSecureContext") == "https:true"
        cookies = tab.call("Network.getAllCookies")["cookies"]
        [ours] = [each for each in cookies if each["name"] == "koboshi"]
        assert (ours["secure"], ours["httpOnly"], ours["sameSite"]) == (True, True, "Strict")
        tab.run("location.hash = '#/agent/calm'")
        tab.until_shown("Ready.", ".terminal")
        tab.click("Pause")
        tab.until_shown("paused", ".facts")
        assert chrome.complaints == []


def test_an_unknown_certificate_stops_the_browser(
    koboshi: Trial, chrome: Browser, tmp_path: Path
) -> None:
    """Nothing of ours tells it to look away."""
    papers = issued(tmp_path / "papers")
    with serving(koboshi, "--cert", str(papers.cert), "--key", str(papers.key)) as served:
        tab = chrome.tab()
        tab.open(served.link)
        tab.until("document.body !== null")
        assert "koboshi" not in tab.run("document.title")


def test_who_only_looks_sees_no_secret(koboshi: Trial, chrome: Browser) -> None:
    """Neither on the board nor on any part of the agent's page."""
    started(koboshi, "leaky", LEAKS + ASKS)
    koboshi.say("send", "leaky", f"use {KEY}")
    with serving(koboshi) as served:
        tab = entered(chrome, served.another_link("--read-only"))
        tab.until_shown("leaky", ".card")
        assert KEY not in tab.text()
        tab.run("location.hash = '#/agent/leaky'")
        tab.until_shown("the key is xxxx", ".terminal")
        tab.until("document.querySelectorAll('.chains .chain').length > 0")
        tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert KEY not in str(tab.run("document.documentElement.textContent"))
        tab.picture("masked-phone")


def test_what_an_agent_asks_by_its_tool_is_answered(koboshi: Trial, chrome: Browser) -> None:
    """It is on top of the board while the agent works on; a tap, or words, and the call ends."""
    started(koboshi, "asker", IDLE)
    answers: list[Any] = []

    def asks(ticket: str, options: list[str]) -> threading.Thread:
        args = {"name": "asker", "run": 1, "ticket": ticket, "wait": PATIENCE}
        asked = {"question": "Which port?", "options": options}

        def wait() -> None:
            answers.append(call(koboshi.state, "ask", patience=2 * PATIENCE, **args, **asked))

        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    with serving(koboshi) as served:
        tab = entered(chrome, served.link)
        waiting = asks("t1", ["80", "81"])
        tab.until_shown("Which port?", "section:first-of-type .card")
        tab.run("location.hash = '#/agent/asker'")
        tab.until_shown("Which port?", ".question")
        tab.picture("tool-asks-phone")
        tab.click("81", ".question")
        waiting.join(PATIENCE)
        tab.until("!document.querySelector('.question')")
        waiting = asks("t2", [])
        tab.until_shown("Which port?", ".question")
        tab.run("document.querySelector('.question textarea').value = 'the usual one'")
        tab.click("Answer", ".question")
        waiting.join(PATIENCE)

    assert [each["answer"] for each in answers] == ["81", "the usual one"]
