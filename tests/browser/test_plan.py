"""A plan on the page: seen while the daemon works on it, answered, edited, stopped and resumed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.plans import PlanStatus
from koboshi.store.progress import Progress, Start
from tests.browser.browsers import Browser, Tab
from tests.browser.serving import DESKTOP, PHONE, Served, entered
from tests.conftest import need
from tests.daemon.loop.stages import Theatre
from tests.daemon.loop.test_deaths import until
from tests.daemon.trials import Trial, trial
from tests.hosts.waiting import program

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.fixture
def theatre(tmp_path: Path) -> Theatre:
    """A plan whose second step does not succeed, and whose third one takes its time."""
    made = Theatre(tmp_path)
    os.mkfifo(tmp_path / "door")
    evil = {"result": "<img src=x onerror=\"document.title='owned'\"> I tried."}
    made.play(
        {
            "2": [{"write": {"b.txt": "<b>wrong</b>\n"}, "says": evil}],
            "3": [{"write": {"c.txt": "gamma\n"}, "sh": f"cat {tmp_path}/door"}],
        }
    )
    made.edit("STATUS: IDLE", "STATUS: RUNNING")
    start = Start(path=str(made.path), cwd=str(made.path.parent), stop_file=str(tmp_path / "s"))
    Progress(made.state, made.path).keep_start(start, made.env)
    return made


@pytest.fixture
def koboshi(theatre: Theatre) -> Iterator[Trial]:
    """A koboshi over the theatre's state, at work."""
    need("tmux")
    with trial(theatre.folder) as made:
        made.say("daemon", "start")
        yield made


@pytest.fixture
def tab(chrome: Browser, served: Served) -> Iterator[Tab]:
    """A browser that is in; nothing on its page may have failed."""
    yield entered(chrome, served.link)
    refused = [each for each in chrome.complaints if "409" not in each and "400" not in each]
    assert refused == []


def type_into(tab: Tab, selector: str, text: str) -> None:
    """Put that into a box."""
    tab.run(f"document.querySelector({selector!r}).value = {text!r}")


def edit_with_a_conflict(tab: Tab, theatre: Theatre) -> None:
    """Somebody else saves meanwhile: refused with both shown, then made in the file's text."""
    tab.click("Edit", ".orders")
    theatre.edit("CONSTRAINTS: keep it small", "CONSTRAINTS: 小さく")
    tab.run(
        "(() => { const box = document.querySelector('.sheet');"
        " box.value = box.value.replace('keep it small', 'keep it huge'); })()"
    )
    tab.click("Save", ".editor")
    tab.until_shown("the file was changed meanwhile", ".clash")
    tab.picture("plan-conflict-phone")
    assert theatre.plan().constraints == "小さく"
    tab.click("Begin again with the file's text", ".clash")
    tab.run(
        "(() => { const box = document.querySelector('.sheet');"
        " box.value = box.value.replace('小さく', 'とても小さく'); })()"
    )
    tab.click("Save", ".editor")
    tab.until_shown("Save: done", ".outcome")
    assert theatre.plan().constraints == "とても小さく"


def test_a_plan_is_seen_and_steered(tab: Tab, served: Served, theatre: Theatre) -> None:
    """From what it asks on the board to DONE, with every order's outcome shown."""
    tab.until_shown("What shall be different?", ".plans")
    tab.picture("board-plans-phone")
    tab.run("document.querySelector('.plan-card a').click()")
    tab.until_shown("It failed and asks", ".question")
    tab.until_shown("Not verified: ", ".steps")
    tab.until_shown("attempt 3", ".steps")
    tab.until_shown("PLN007", ".chains")
    assert tab.run("document.querySelector('.step code').textContent") == (
        theatre.plan().results[1].commit
    )
    assert tab.run("document.title") == "M1.md – koboshi"
    assert tab.run("document.querySelectorAll('main img').length") == 0
    tab.picture("plan-failed-phone")
    tab.size(*DESKTOP, phone=False)
    tab.picture("plan-failed-desktop")
    tab.size(*PHONE, phone=True)

    theatre.play(
        {
            "2": [{"write": {"b.txt": "beta\n"}}],
            "3": [{"write": {"c.txt": "gamma\n"}, "sh": f"cat {theatre.folder}/door"}],
        }
    )
    type_into(tab, ".question textarea", "write beta into it")
    tab.click("Answer", ".question")
    tab.until_shown("Answer: done", ".outcome")
    tab.until_shown("at work", ".steps")
    until(lambda: theatre.plan().steps[2].state.value == "RUNNING", 60)
    served.koboshi.say(
        "run", "-d", "--name", "beside", "--cwd", str(theatre.repo.top), "--", *program("printer")
    )
    tab.click("‹ All agents", ".agent")
    tab.until_shown("M1.md: step 3 of 3", ".card:not(.plan-card) .facts")
    tab.run("document.querySelector('.plan-card a').click()")
    assert any("write beta into it" in call["told"] for call in theatre.calls())

    tab.until("document.querySelector('.orders .danger') !== null")
    tab.click("Stop", ".orders")
    tab.until_shown("Stop M1.md?", "dialog")
    tab.picture("plan-stop-phone")
    tab.click("Stop", "dialog")
    tab.until_shown("Stop: done", ".outcome")
    assert theatre.plan().status is PlanStatus.WAITING

    edit_with_a_conflict(tab, theatre)

    theatre.play({"2": [{"write": {"b.txt": "beta\n"}}]})
    tab.click("Resume", ".orders")
    until(lambda: theatre.plan().status is PlanStatus.DONE, 60)
    tab.until("document.querySelector('.plan h1 .word').textContent === 'done'")
    tab.size(*DESKTOP, phone=False)
    tab.picture("plan-done-desktop")
    assert len(theatre.commits()) == 3
