"""A koboshi with its page, and agents to show on it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.browser.browsers import Browser, Tab
from tests.daemon.trials import PATIENCE, Trial

IDLE = '[[act]]\ndo = "work"\nseconds = 0.2\nsay = "Ready."\n\n[[act]]\ndo = "end_turn"\n' * 6
ASKS = '[[act]]\ndo = "ask"\ncommand = "npm test"\n\n[[act]]\ndo = "end_turn"\n'
PHONE, DESKTOP = (390, 844), (1440, 900)


class Served:
    """A koboshi with its page."""

    def __init__(self, koboshi: Trial, *words: str, port: int = 0) -> None:
        self.koboshi = koboshi
        self._server = subprocess.Popen(
            [sys.executable, "-m", "koboshi", "serve", "--port", str(port), *words],
            env=koboshi.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._server.stdout is not None
        self.said = [self._server.stdout.readline() for _ in range(3)]
        self.link = self.said[2].strip()
        assert "#login=" in self.link, self.said

    @property
    def base(self) -> str:
        """The address without the secret."""
        parts = urlsplit(self.link)
        return f"{parts.scheme}://{parts.netloc}/"

    def another_link(self, *words: str) -> str:
        """A way in for one more browser."""
        port = str(urlsplit(self.link).port)
        return self.koboshi.say("serve", "--link", "--port", port, *words).splitlines()[-1]

    def end(self) -> str:
        """End the server; what else it said."""
        self._server.terminate()
        said, _ = self._server.communicate(timeout=PATIENCE)
        return said


def started(koboshi: Trial, name: str, script: str) -> None:
    """An agent that begins with that script."""
    argv = koboshi.script(script, f"{name}.toml")
    koboshi.say("run", "-d", "--name", name, "--as", "scripted", "--", *argv)
    koboshi.until_status(name, "idle")
    koboshi.say("send", name, "go")


def entered(chrome: Browser, link: str) -> Tab:
    """A phone that has come in by that link."""
    tab = chrome.tab()
    tab.size(*PHONE, phone=True)
    tab.open(link)
    tab.until("document.querySelector('#link.live') !== null")
    return tab


@contextlib.contextmanager
def logged_in(chrome: Browser, served: Served, refused: str = "") -> Iterator[Tab]:
    """A page that is in; nothing on it may have failed but what the API answered with `refused`."""
    yield entered(chrome, served.link)
    meant = f"status of {refused} "
    left = [
        each for each in chrome.complaints if not (refused and meant in each and "/api/" in each)
    ]
    assert left == []
