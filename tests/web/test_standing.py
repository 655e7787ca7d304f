"""One page per state folder, whoever starts it and however it ended."""

from __future__ import annotations

import fcntl
import http.client
import os
import pty
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import psutil
import pytest

from koboshi.web import standing as standing_
from koboshi.web.standing import Standing, Taken, alone, standing
from tests.browser.serving import Served
from tests.daemon.trials import PATIENCE, Trial, trial

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n'


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own, its page ended with it."""
    with trial(tmp_path) as made:
        try:
            yield made
        finally:
            made.say("serve", "--stop")


def healthy(base: str) -> bool:
    """Whether a page is served there."""
    with urllib.request.urlopen(f"{base}healthz", timeout=PATIENCE) as answer:  # noqa: S310
        return bool(answer.status == 200)


def test_only_one_serves_and_others_are_told_where(tmp_path: Path) -> None:
    """The kernel's lock tells; what is left in the file of a dead one does not."""
    assert standing(tmp_path) is None
    with alone(tmp_path) as claim:
        claim.tell("http://127.0.0.1:1")
        known = standing(tmp_path)
        assert known is not None
        assert (known.pid, known.base) == (os.getpid(), "http://127.0.0.1:1")
        with (
            pytest.raises(Taken, match=r"at http://127.0.0.1:1 already") as refused,
            alone(tmp_path),
        ):
            raise AssertionError
        assert "--link" in refused.value.hint
    assert standing(tmp_path) is None
    with alone(tmp_path):
        pass


def test_who_only_looks_keeps_nobody_from_serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the look takes: who stands in the file is dead, or has ended."""
    (tmp_path / "web").mkdir()
    path = tmp_path / "web" / "server.lock"
    path.write_bytes(msgspec.json.encode(Standing(pid=os.getpid(), birth=1.0)))
    monkeypatch.setattr(standing_, "TRIES", 0.0)
    looks = 0

    def sleep(seconds: float) -> None:
        nonlocal looks
        del seconds
        looks += 1
        if looks == 50:
            fcntl.flock(looking, fcntl.LOCK_UN)

    monkeypatch.setattr(time, "sleep", sleep)
    with path.open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        with alone(tmp_path):
            known = standing(tmp_path)

    assert looks == 50
    assert known is not None
    assert abs(known.birth - psutil.Process().create_time()) < 1.0


def test_a_process_that_does_not_tell_is_not_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's has the pid now: who stands in the file is named, and nothing breaks."""

    def refuse(pid: int) -> psutil.Process:
        raise psutil.AccessDenied(pid)

    (tmp_path / "web").mkdir()
    path = tmp_path / "web" / "server.lock"
    path.write_bytes(msgspec.json.encode(Standing(pid=os.getpid(), base="http://127.0.0.1:1")))
    monkeypatch.setattr(standing_, "TRIES", 0.0)
    monkeypatch.setattr(standing_, "LOOKS", 0.0)
    monkeypatch.setattr(psutil, "Process", refuse)
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Taken, match=r"at http://127.0.0.1:1 already"), alone(tmp_path):
            raise AssertionError


def test_who_waits_when_the_server_ends_is_no_mistake(koboshi: Trial) -> None:
    """The daemon has no answer yet; the server ends, and says nothing."""
    koboshi.say("daemon", "start")
    served = Served(koboshi)
    token = koboshi.say("serve", "--token").strip()
    daemon = koboshi.daemon()
    assert daemon is not None
    page = http.client.HTTPConnection(urlsplit(served.base).netloc, timeout=PATIENCE)
    daemon.suspend()
    try:
        page.request("GET", "/api/rules", headers={"Authorization": f"Bearer {token}"})
        assert healthy(served.base)  # who came after us was heard: so were we
        said = served.end()
    finally:
        daemon.resume()
        page.close()

    assert said == ""


@pytest.mark.tmux
def test_a_run_brings_its_page(koboshi: Trial) -> None:
    """The link is printed once; the second run says where the page is; the page outlives both."""
    argv = koboshi.script(IDLE)
    first = koboshi.say("run", "-d", "--web", "--name", "a", "--as", "scripted", "--", *argv)
    again = koboshi.say("run", "-d", "--web", "--name", "b", "--as", "scripted", "--", *argv)

    known = standing(koboshi.state)
    assert known is not None
    assert first.count("#login=") == 1
    assert f"the page is at {known.base}/ until 'koboshi serve --stop'" in first
    assert f"the page is at {known.base}/ already" in again
    assert "#login=" not in again
    assert healthy(f"{known.base}/")
    refused = koboshi.type("serve")
    assert (refused.returncode, known.base in refused.stderr) == (1, True)
    assert f"{known.base}/#login=" in koboshi.say("serve", "--link")
    assert "login" not in (koboshi.state / "web" / "server.log").read_text()


def test_a_killed_page_is_served_again(koboshi: Trial) -> None:
    """Nothing of the dead one is in the way."""
    koboshi.say("serve", "-d", "--port", "0")
    first = standing(koboshi.state)
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    said = koboshi.say("serve", "-d", "--port", "0")
    second = standing(koboshi.state)

    assert second is not None
    assert "#login=" in said
    assert second.pid != first.pid
    assert healthy(f"{second.base}/")
    assert second.base in koboshi.say("serve", "--stop")
    assert standing(koboshi.state) is None
    assert koboshi.say("serve", "--stop") == "no page was served\n"


def test_what_is_wrong_with_the_page_is_told_before_an_agent_is_started(koboshi: Trial) -> None:
    """In a terminal of its own an agent is nobody's but that terminal's."""
    ran = koboshi.type("run", "--web", "--host", "pty", "--", "true")

    assert ran.returncode == 2
    assert "--host pty" in ran.stderr


@pytest.mark.tmux
def test_on_a_terminal_the_picture_is_shown_before_the_agent_covers_it(koboshi: Trial) -> None:
    """A phone needs a moment; Enter goes on."""
    argv = koboshi.script(IDLE)
    here, there = pty.openpty()
    words = ["run", "--web", "--name", "a", "--as", "scripted", "--", *argv]
    client = subprocess.Popen(
        [sys.executable, "-m", "koboshi", *words],
        env={**koboshi.environment, "TERM": "xterm-256color"},
        stdin=there,
        stdout=there,
        stderr=there,
        start_new_session=True,
    )
    os.close(there)

    def until(words: bytes) -> bytes:
        shown = b""
        while words not in shown:
            assert select.select([here], [], [], PATIENCE)[0], shown
            shown += os.read(here, 65536)
        return shown

    try:
        shown = until(b"Enter shows the agent")
        assert "▀".encode() in shown
        assert b"C-b d leaves" not in shown
        os.write(here, b"\r")
        until(b"C-b d leaves")
    finally:
        client.kill()
        client.wait(PATIENCE)
        os.close(here)
