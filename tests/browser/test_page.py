"""The page in a real browser, over a real daemon and agents in a real tmux."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser.browsers import Browser
from tests.browser.serving import ASKS, DESKTOP, IDLE, Served, logged_in, started

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_a_link_lets_one_browser_in_and_leaves_no_trace(served: Served, chrome: Browser) -> None:
    """The secret leaves the address at once; a second time the link is refused, in words."""
    with logged_in(chrome, served) as tab:
        assert tab.run("location.href") == served.base
        assert tab.run("document.cookie") == ""
        tab.until_shown("No agents yet")

    other = chrome.tab()
    other.call("Network.clearBrowserCookies")
    other.open(served.link)
    other.until_shown("the link is used up or too old")
    other.picture("login-refused")
    other.open("about:blank")
    other.open(served.another_link("--read-only"))
    other.until("document.querySelector('#link.live') !== null")


def test_the_board_follows_an_agent_without_a_reload(served: Served, chrome: Browser) -> None:
    """Started, at work, asking, gone: each shows by itself, and who asks is on top."""
    with logged_in(chrome, served) as tab:
        started(served.koboshi, "calm", IDLE)
        tab.until_shown("idle", ".card")
        started(served.koboshi, "asker", ASKS)
        tab.until_shown("asking", "section:first-of-type .card")
        assert "asker" in tab.text("section:first-of-type")
        assert "npm test" in tab.text("section:first-of-type")
        tab.picture("board-phone")
        tab.size(*DESKTOP, phone=False, dark=True)
        tab.picture("board-desktop-dark")
        served.koboshi.say("stop", "calm")
        tab.until_shown("stopped", "section:last-of-type")


def test_orders_are_given_and_their_outcome_is_shown(served: Served, chrome: Browser) -> None:
    """A message, a pause, and a stop that has to be confirmed."""
    started(served.koboshi, "calm", IDLE)
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/calm'")
        tab.until_shown("Ready.", ".terminal")
        tab.run("document.querySelector('textarea').value = 'hello from the page'")
        tab.click("Send")
        tab.until_shown("Send: done", ".outcome")
        tab.until_shown("hello from the page", ".terminal")
        tab.click("Pause")
        tab.until_shown("paused", ".facts")
        tab.click("Resume")
        tab.until(
            "![...document.querySelectorAll('.facts li')].some((e) => e.innerText === 'paused')"
        )
        tab.until("document.querySelectorAll('.timeline .span').length > 0")
        tab.until_shown("a person's message waits", ".chains")
        tab.picture("agent-phone")
        tab.size(*DESKTOP, phone=False)
        tab.picture("agent-desktop")
        tab.click("Stop")
        tab.until_shown("Stop calm?", "dialog")
        tab.picture("confirm-desktop")
        tab.click("Cancel", "dialog")
        assert served.koboshi.status("calm")["run"]["exit"] is None
        tab.click("Stop", ".orders")
        tab.click("Stop", "dialog")
        tab.until_shown("Stop: done", ".outcome")
        tab.until_shown("stopped", "header.agent")


def test_a_question_is_answered_from_the_page(served: Served, chrome: Browser) -> None:
    """A real dialog: the command is shown, one tap answers, and the agent goes on."""
    started(served.koboshi, "asker", ASKS + IDLE)
    served.koboshi.until_status("asker", "asking")
    with logged_in(chrome, served) as tab:
        tab.until_shown("npm test", ".card.is-asking")
        tab.run("location.hash = '#/agent/asker'")
        tab.until_shown("npm test", ".question .subject")
        assert "null" not in tab.text()
        tab.picture("question-phone")
        tab.size(*DESKTOP, phone=False, dark=True)
        tab.picture("question-desktop-dark")
        tab.run("document.querySelector('.question .meaning-once').click()")
        tab.until_shown("done", ".outcome")
        tab.until("!document.querySelector('.question')")
        served.koboshi.until("asker", lambda known: known["question"] is None)


def test_always_reaches_the_dialog_as_its_option_for_always(
    served: Served, chrome: Browser
) -> None:
    """Asked once more, because it lasts; then that option is chosen, as the agent itself says."""
    koboshi = served.koboshi
    started(koboshi, "asker", ASKS + IDLE)
    options = koboshi.until_status("asker", "asking")["question"]["options"]
    [lasting] = [option["text"] for option in options if option["meaning"] == "always"]
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/asker'")
        tab.click(lasting, ".question")
        tab.until_shown("Allow this always?", "dialog")
        assert lasting in tab.text("dialog")
        tab.picture("always-phone")
        tab.click("Cancel", "dialog")
        assert koboshi.status("asker")["question"]["options"] == options
        tab.click(lasting, ".question")
        tab.click("Allow always", "dialog")
        tab.until_shown(f"{lasting}: done", ".outcome")
        koboshi.until("asker", lambda known: known["question"] is None)
        tab.until_shown("npm commands are not asked about again", ".terminal")


HOSTILE = (
    "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
    "&lt;b&gt; \\u001b]0;owned\\u0007 \\u001b[31mred\\u001b[0m 日本語 end"
)
SPOOF = f'[[act]]\ndo = "work"\nseconds = 0.2\nsay = "{HOSTILE}"\n\n[[act]]\ndo = "end_turn"\n'


def test_what_an_agent_prints_stays_text(served: Served, chrome: Browser) -> None:
    """HTML and escape sequences change nothing but its own screen."""
    started(served.koboshi, "spoof", SPOOF)
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/spoof'")
        tab.until_shown("<script>document.title", ".terminal")
        tab.until_shown("日本語", ".terminal")
        assert tab.run("document.title") == "spoof – koboshi"
        assert tab.run("document.querySelectorAll('main img, main script').length") == 0
        assert "\x1b" not in tab.text()
        # One column wide and two columns wide: rows line up as in a terminal.
        wide = "[...document.querySelectorAll('.t-w')].map((e) => e.getBoundingClientRect().width)"
        single = tab.run("document.createElement('canvas') && 1") and tab.run(
            "(() => { const r = document.createRange(); const t = [...document.querySelectorAll("
            "'.row')].find((e) => e.firstChild?.nodeType === 3).firstChild; r.setStart(t, 0);"
            " r.setEnd(t, 1); return r.getBoundingClientRect().width; })()"
        )
        assert tab.run(wide) == pytest.approx([2 * single] * 3, rel=0.02)
        tab.picture("spoof-phone")


#: Words of the head that are broken, or reach over the edge.
BROKEN = (
    "[...document.querySelectorAll('.views a, #link')].filter((e) => e.scrollWidth > e.clientWidth"
    " || e.getBoundingClientRect().height > 50 || e.getBoundingClientRect().right > innerWidth)"
    ".map((e) => e.innerText)"
)


def test_the_page_says_when_it_is_old_and_comes_back(served: Served, chrome: Browser) -> None:
    """The daemon leaves and another one comes; nobody reloads anything."""
    started(served.koboshi, "calm", IDLE)
    with logged_in(chrome, served) as tab:
        tab.until_shown("idle", ".card")
        served.koboshi.say("daemon", "stop")
        tab.until_shown("away", "#link")
        assert tab.run("document.body.classList.contains('old')")
        for width in (320, 390):
            tab.size(width, 844, phone=True)
            assert tab.run(BROKEN) == [], width
        tab.picture("stale-phone")
        served.koboshi.say("daemon", "start")
        tab.until("document.querySelector('#link.live') !== null")
        tab.until_shown("idle", ".card")


def test_who_may_only_look_gets_no_buttons(served: Served, chrome: Browser) -> None:
    """And forgetting all keys ends what is open."""
    started(served.koboshi, "calm", IDLE)
    tab = chrome.tab()
    tab.open(served.another_link("--read-only"))
    tab.until_shown("idle", ".card")
    tab.run("location.hash = '#/agent/calm'")
    tab.until_shown("may only look", ".orders")
    assert tab.run("document.querySelectorAll('.orders button').length") == 0


def test_a_change_on_the_terminal_is_seen_at_once(served: Served, chrome: Browser) -> None:
    """Within a second here; `make bench` measures it."""
    started(served.koboshi, "calm", IDLE)
    with logged_in(chrome, served) as tab:
        tab.run("location.hash = '#/agent/calm'")
        tab.until_shown("Ready.", ".terminal")
        began = time.monotonic()
        served.koboshi.say("send", "calm", "--wait", "0", "marker-4711")
        tab.until_shown("marker-4711", ".terminal")
        assert time.monotonic() - began < 10
        assert re.search(r"calm", tab.text("header.agent"))
