"""Rules on the page: what is on, what each would have done, and a switch that outlives a daemon."""

from __future__ import annotations

import pytest

from tests.browser.browsers import Browser
from tests.browser.serving import DESKTOP, IDLE, PHONE, Served, logged_in, started
from tests.daemon.trials import Trial

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

FILE = """
send_cooldown = "1s"
[[rule]]
code = "OWN001"
name = "ready-was-said"
severity = "P1"
when = 'count("log", "Ready <b>", "1h") >= 1'
match = ["Ready <b>"]
actions = [{send = "and now the next one"}]
mode = "observe"
"""
#: Said once: each time would be one more time that the rule acts.
READY = IDLE.replace("Ready.", "Ready <b>now</b>.", 1)


@pytest.fixture
def own_file() -> str:
    """A rule of the owner's, which observes."""
    return FILE


def sent(koboshi: Trial) -> bool:
    """Whether the rule's message was typed."""
    return any("and now the next one" in row for row in koboshi.status("ready")["lines"])


def test_a_rule_is_let_act_from_the_page(served: Served, chrome: Browser) -> None:
    """What it would have done is shown; then it does it; and a daemon that comes later knows."""
    koboshi = served.koboshi
    started(koboshi, "ready", READY)
    with logged_in(chrome, served, refused="503") as tab:  # a daemon ends, and another begins
        koboshi.until_said(") (observe)", "rules")
        koboshi.until_said("held back 1", "rules", "OWN001")
        tab.click("Rules", ".views")
        tab.until_shown("OWN001", ".rules > li:first-child")  # what observes is on top
        tab.picture("rules-phone")
        tab.click("yours")
        tab.until("document.querySelectorAll('.rules > li').length === 1")
        tab.until_shown("would have", ".rules")
        tab.size(*DESKTOP, phone=False, dark=True)
        tab.click("all")
        tab.picture("rules-desktop-dark")
        tab.size(*PHONE, phone=True)
        tab.run("location.hash = '#/rules/OWN001'")
        tab.until_shown("would have", ".rule-recent")
        tab.picture("rule-phone")
        assert not sent(koboshi)
        tab.click("Let it act")
        tab.until_shown("Let OWN001 act?", "dialog")
        tab.click("Let it act", "dialog")
        tab.until_shown("OWN001: acts from now on", ".outcome")
        koboshi.until("ready", lambda _: sent(koboshi))
        tab.until_shown("1 done", ".rule-recent")
        assert (koboshi.folder / "own" / "koboshi.toml").read_text() == FILE

        koboshi.say("daemon", "stop")
        koboshi.say("daemon", "start")
        tab.until("document.querySelector('#link.live') !== null")
        tab.run("location.hash = '#/rules'")
        tab.run("location.hash = '#/rules/OWN001'")
        tab.until_shown("by you", ".rule-mode")
        assert "Asks for: send. By its file it only observes." in tab.text(".rule-page")
        tab.picture("rule-switched-phone")
        tab.click("As it is by itself (observe)")
        tab.until_shown("OWN001: observes from now on", ".outcome")
        assert tab.run("document.querySelectorAll('main b b').length") == 0
        tab.size(*DESKTOP, phone=False)
        tab.run("location.hash = '#/rules/RUN001'")
        tab.until_shown("Safety".upper(), ".rule-page")
        tab.picture("rule-desktop")


MODE = "document.querySelector('.rules a[href$={code}] .mode')?.innerText"


def test_what_is_switched_and_written_elsewhere_shows(served: Served, chrome: Browser) -> None:
    """By the command, without any agent; and a rule that is added to the file."""
    koboshi = served.koboshi
    with logged_in(chrome, served) as tab:
        tab.click("Rules", ".views")
        tab.until(f"{MODE.format(code='RUN001')} === 'act'")
        koboshi.say("rules", "RUN001", "--set", "observe")
        tab.until(f"{MODE.format(code='RUN001')} === 'observe by you'", patience=10)
        started(koboshi, "ready", READY)
        tab.until(
            "document.querySelector('.rules a[href$=OWN001] .tallied').innerText"
            ".includes('held back')",
            patience=10,
        )
        koboshi.configure(
            FILE
            + FILE.partition("[[rule]]")[2]
            .join(("[[rule]]", ""))
            .replace("OWN001", "OWN002")
            .replace("ready-was", "done-was")
        )
        tab.until_shown("OWN002", ".rules")


def test_who_may_only_look_switches_nothing(served: Served, chrome: Browser) -> None:
    """No button, and the address alone does nothing."""
    tab = chrome.tab()
    tab.open(served.another_link("--read-only"))
    tab.until("document.querySelector('#link.live') !== null")
    tab.run("location.hash = '#/rules/RUN001'")
    tab.until_shown("What it asks for is done", ".rule-mode")
    assert tab.run("document.querySelectorAll('.rule-mode button').length") == 0
    asked = (
        "fetch('/api/session').then((r) => r.json()).then((s) => fetch('/api/rules/RUN001', "
        "{method: 'POST', body: '{\"mode\": \"observe\"}', headers: {'Content-Type': "
        "'application/json', 'X-Koboshi-CSRF': s.csrf}})).then((r) => r.status)"
    )
    assert tab.run(asked) == 403
    assert "(observe)" not in served.koboshi.say("rules").split("RUN002")[0].split("RUN001")[1]
