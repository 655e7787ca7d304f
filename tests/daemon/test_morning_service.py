"""The report every morning, through a real daemon to a real webhook and a real mail server."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from tests.daemon.trials import Trial, trial
from tests.notices.servers import Webhook, dead_port

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(180)]

WORKS = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Done."\n\n[[act]]\ndo = "end_turn"\n'
PLAN = Path(__file__).parents[1] / "cases" / "plans" / "M1.md"
#: Seconds: the daemon looks at the clock every twenty.
PATIENCE = 90.0


class Box:
    """A mail server that keeps what comes."""

    def __init__(self) -> None:
        self.letters: list[bytes] = []
        self.came = threading.Event()
        self.controller = Controller(self, hostname="127.0.0.1", port=dead_port())

    async def handle_DATA(self, server: object, session: object, envelope: Any) -> str:  # noqa: ANN401, ARG002, N802
        """A letter."""
        self.letters.append(envelope.content)
        self.came.set()
        return "250 OK"


@pytest.fixture
def koboshi(tmp_path: Path) -> Iterator[Trial]:
    """A koboshi of its own."""
    with trial(tmp_path) as made:
        yield made


@pytest.fixture
def box() -> Iterator[Box]:
    """A mail server."""
    made = Box()
    made.controller.start()
    yield made
    made.controller.stop()


def commit(folder: Path, subject: str) -> None:
    """Work that is in git."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", subject)):
        subprocess.run(["git", "-C", str(folder), *words], check=True, timeout=60)


def noon() -> tuple[str, timezone]:
    """A time zone where it is about noon, as `TZ` names it and as Python does."""
    ahead = 12 - time.gmtime().tm_hour
    return f"TEST{-ahead:+}", timezone(timedelta(hours=ahead))


def test_the_night_is_told_on_every_channel(
    koboshi: Trial, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of the plan and commits are in it; a daemon that comes later does not tell it again."""
    name, zone = noon()  # no midnight between here and the daemon's look at the clock
    monkeypatch.setenv("TZ", name)
    (koboshi.folder / "M1.md").write_text(PLAN.read_text(encoding="utf-8"), encoding="utf-8")
    commit(koboshi.folder, "Mend the lexer")
    with Webhook().open() as hook:
        mail = f"mailto://localhost:{box.controller.port}?from=k@example.org&to=me@example.org"
        minute = f"{datetime.now(zone):%H:%M}"
        koboshi.configure(
            f'[notify]\ngroup = 0\nreport = "{minute}"\n'
            f'[notify.channels.hook]\nurl = "json://127.0.0.1:{hook.port}/"\n'
            f'[notify.channels.mail]\nurl = "{mail}"\n'
        )
        argv = koboshi.script(WORKS)
        koboshi.say("run", "-d", "--name", "night", "--as", "scripted", "--", *argv)
        koboshi.until_status("night", "idle")

        message = hook.wait(1, PATIENCE)[0]["message"]
        assert box.came.wait(PATIENCE)

        assert message.startswith("night: ")
        assert "1 commit" in message
        assert "plan 1 of " in message
        assert b"1 commit" in box.letters[0]
        koboshi.say("daemon", "restart")
        [account] = json.loads(koboshi.say("report", "--json"))["agents"]
        assert [each["subject"] for each in account["commits"]] == ["Mend the lexer"]
        assert account["plan"][1].startswith("1 done: ")
        assert (koboshi.state / "report.told").read_text().strip()
        assert len(hook.got) == 1
