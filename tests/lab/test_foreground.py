"""Claude Code in a person's own terminal, under the wrapper: work, exit, and a kill in between."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.readings import Reading, Status
from koboshi.hosts.screens import open_screen
from koboshi.observations import ScreenSeen
from tests.conftest import AgentCli, need
from tests.hosts.wrapping import Window, wrapped
from tests.lab.homes import Home, Room, furnish
from tests.lab.lodges import read
from tests.lab.model.server import Model
from tests.lab.model.turns import say

pytestmark = [pytest.mark.lab, pytest.mark.stage]

VERSIONS = ("2.1.197", "2.1.325")
COLS, ROWS = 110, 36
#: Seconds the screen must stand still before it is typed at.
STILL = 1.0


class Desk(Window):
    """A window with a screen of its own, which answers what it is asked, as a terminal does."""

    def __init__(self, home: Home, **more: Any) -> None:  # noqa: ANN401
        self.home = home
        self.screen = open_screen(COLS, ROWS)
        options = ("--agent", "doll", "--type", "claude", "--set", "backoff_base=0.5")
        command = wrapped(*home.command(), options=options)
        super().__init__(*command, size=(COLS, ROWS), cwd=str(home.cwd), **more)

    def read(self, seconds: float = 0.05) -> bytes:
        """What came, shown."""
        data = super().read(seconds)
        if data and (answer := self.screen.feed(data)):
            os.write(self.master, answer)
        return data

    def reading(self) -> Reading:
        """What koboshi would read there."""
        text, ansi = self.screen.text(), self.screen.ansi()
        return adapter("claude").read(ScreenSeen(text=text, ansi=ansi, title=self.screen.title))

    def until_idle(self) -> None:
        """Wait until it stands at its empty prompt, and the screen stands still."""
        last, since = "", time.monotonic()

        def still() -> bool:
            nonlocal last, since
            text = self.screen.text()
            idle = self.reading().status is Status.IDLE
            if text != last or not idle:
                last, since = text, time.monotonic()
            return time.monotonic() - since > STILL

        self.until(still, 60)

    def say(self, text: str) -> None:
        """Type it, see it in the box, press Enter."""
        self.type(text.encode())
        self.until(lambda: self.reading().draft.strip() == text)
        self.until_quiet()
        self.type(b"\r")

    def until_quiet(self) -> None:
        """Nothing comes for a moment: what was typed has been drawn."""
        while self.read(0.3):
            pass

    def written(self, text: str) -> bool:
        """Whether the session has that on the disk."""
        return any(text in read(path) for path in self.home.path.rglob("projects/*/*.jsonl"))

    def claude(self) -> psutil.Process:
        """The CLI's own process."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                home = process.environ().get("HOME") == str(self.home.path)
                if home and process.name() not in ("sh", "bash"):
                    found.append(process)
        return min(found, key=lambda process: process.create_time())


@pytest.fixture(params=VERSIONS)
def desk(
    request: pytest.FixtureRequest, model: Model, agent_cli: AgentCli, tmp_path: Path
) -> Iterator[Desk]:
    """Claude Code, about to be ready."""
    program = agent_cli("claude", request.param)
    path = os.pathsep.join([str(need("node").parent), "/usr/bin", "/bin"])
    room = Room(folder=tmp_path, program=program, path=path, url=model.url)
    opened = Desk(furnish("claude", room), state=tmp_path / "state")
    try:
        yield opened
    finally:
        opened.close()


def test_work_and_exit(desk: Desk, model: Model) -> None:
    """A turn, the exit, and the terminal as it was."""
    desk.until_idle()
    assert desk.raw
    model.expect(say("The answer is forty-two."))
    desk.say("What is the answer?")
    desk.until(lambda: "forty-two" in desk.screen.text())
    desk.until_idle()
    desk.say("exit")  # the word alone: a menu of commands opens at a slash

    assert desk.code() == 0
    assert desk.restored()
    assert b"koboshi: run 1 ended with code 0" in desk.shown
    assert not any(map(desk.screen.mode, (1, 1000, 1002, 1003, 1004, 1006, 1049, 2004)))


def test_a_kill_is_survived(desk: Desk, model: Model) -> None:
    """By SIGKILL: the session goes on in the same terminal, and that is in order in the end."""
    desk.until_idle()
    model.expect(say("The answer is forty-two."))
    desk.say("What is the answer?")
    desk.until(lambda: "forty-two" in desk.screen.text())
    desk.until_idle()
    desk.until(lambda: desk.written("forty-two"))  # else there is no session to go on with

    desk.claude().kill()
    notice = "run 1 was ended by SIGKILL; it will be started again"
    desk.until_shown(notice.encode())
    # The dead frame stands as still as a living one, until the next run takes the screen over.
    desk.until(lambda: notice not in desk.screen.text(), 60)
    desk.until(lambda: "forty-two" in desk.screen.text(), 60)  # resumed: the talk is there again
    desk.until_idle()
    desk.say("exit")  # the word alone: a menu of commands opens at a slash

    assert desk.code() == 0
    assert desk.restored()
    assert b"koboshi: run 2 ended with code 0; 1 action," in desk.shown
    assert not any(map(desk.screen.mode, (1, 1000, 1002, 1003, 1004, 1006, 1049, 2004)))
