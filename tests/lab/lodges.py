"""A real CLI in koboshi's care: the commands as a person types them, from a clean environment.

Rule 1: koboshi runs with exactly the environment that the CLI shall have, because it hands it on.
Rule 2: who answers a dialog or types at a pane is a person, and reaches it through tmux as one.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from koboshi.daemon.control.client import call_running
from koboshi.store.paths import socket_dir
from tests.daemon.trials import Trial
from tests.lab.homes import Home
from tests.lab.leftovers import LEFT, PAUSE
from tests.lab.model.server import Model

#: Seconds that anything may take. Only a failing test waits that long; a loaded machine needs it.
PATIENCE = 90.0


class Lodge(Trial):
    """One koboshi and one CLI."""

    def __init__(self, home: Home, model: Model, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(home.folder)
        self.settings = dict(settings or {})  #: variables for koboshi alone
        self.home = home
        self.model = model
        self.seen: list[str] = []  #: statuses in the order in which `until` met them

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the machine's."""
        return {**self.home.env, "KOBOSHI_STATE": str(self.state), **self.settings}

    def run(self, *args: str) -> dict[str, Any]:
        """`koboshi run` of the CLI as `a`, until it stands at its prompt."""
        words = (str(self.home.program), *self.home.args, *args)
        said = self.say("run", "-d", "--name", "a", "--cwd", str(self.home.cwd), "--", *words)
        assert said.startswith("a is running")
        return self.until_status("a", "idle")

    def until(self, name: str, so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until that is so of an agent."""
        deadline = time.monotonic() + PATIENCE
        while True:
            known = call_running(self.state, "status", name=name) or {}
            if known and known["status"] not in self.seen[-1:]:
                self.seen.append(known["status"])
            if known and so(known):
                return known
            assert time.monotonic() < deadline, f"not so within {PATIENCE} s: {self.told(known)}"
            time.sleep(PAUSE)

    def told(self, known: dict[str, Any]) -> str:
        """All that helps to understand a failure."""
        why = self.type("why", "a", "--all").stdout[-3000:]
        daemon = self.daemon()
        if daemon is not None:
            daemon.send_signal(signal.SIGUSR1)
            self.daemon()  # answers after it has told what it waits for
        log = (self.state / "daemon.log").read_text(encoding="utf-8")[-9000:]
        return f"{json.dumps(known, indent=1)}\n{why}\n{log}\n{self.asked()}"

    def asked(self) -> list[str]:
        """What the model was told, in short."""
        return [request.told[-120:] for request in self.model.asked]

    def heard(self, text: str) -> int:
        """How often the model was told that, as the newest thing."""
        return sum(request.told.count(text) for request in self.model.asked)

    def until_heard(self, text: str) -> str:
        """Wait until the model was told that; everything it was told with it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for request in self.model.asked:
                if text in request.told:
                    return json.dumps(request.body, ensure_ascii=False)
            assert time.monotonic() < deadline, f"never heard: {text!r}; {self.told({})}"
            time.sleep(PAUSE)

    def until_results(self, count: int) -> None:
        """Wait until the model was told of so many calls; words may be those of an earlier one."""
        deadline = time.monotonic() + PATIENCE
        while len(self.model.results) < count:
            assert time.monotonic() < deadline, f"never {count} results; {self.told({})}"
            time.sleep(PAUSE)

    def until_written(self, text: str) -> None:
        """Wait until the CLI has that in its session: a killed one knows only what is on disk."""
        deadline = time.monotonic() + PATIENCE
        # OpenCode has a database, whose pages and journal hold text as it is.
        kept = ("*.json*", "opencode.db*")
        while not any(text in read(path) for each in kept for path in self.home.path.rglob(each)):
            assert time.monotonic() < deadline, f"never written: {text!r}; {self.told({})}"
            time.sleep(PAUSE)

    def press(self, *keys: str) -> None:
        """A person's keys in the agent's own terminal."""
        self.press_at(self.status("a")["run"]["place"], *keys)

    def press_at(self, place: str, *keys: str) -> None:
        """A person's keys in that terminal, whoever is there to tell where it is."""
        tmux = ["tmux", "-S", str(socket_dir(self.state) / "tmux")]
        subprocess.run([*tmux, "send-keys", "-t", place, *keys], check=True)

    def shown(self, place: str) -> str:
        """What stands in that terminal of ours; no daemon is asked, nor started by it."""
        tmux = ["tmux", "-S", str(socket_dir(self.state) / "tmux")]
        words = [*tmux, "capture-pane", "-p", "-t", place]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def until_shown(self, place: str, text: str) -> str:
        """Wait until that stands there; all that does."""
        deadline = time.monotonic() + PATIENCE
        while text not in (shown := self.shown(place)):
            assert time.monotonic() < deadline, f"never shown: {text!r}; {shown}"
            time.sleep(PAUSE)
        return shown

    def processes(self) -> list[psutil.Process]:
        """Everything of this HOME that is not koboshi or its tmux."""
        return [each for each in LEFT.note(self.home.path) if not is_ours(cmdline(each))]

    def kill(self) -> None:
        """Kill the CLI with all that it started; a child may be gone with its parent."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def until_process(self, words: str) -> None:
        """Wait until something runs there whose command line has these words."""
        deadline = time.monotonic() + PATIENCE
        while not any(words in " ".join(cmdline(each)) for each in self.processes()):
            assert time.monotonic() < deadline, f"nothing runs {words!r}; {self.told({})}"
            time.sleep(PAUSE)

    def end(self) -> None:
        """End everything with this HOME."""
        try:
            super().end()
        finally:
            LEFT.end(self.home.path)


def read(path: Path) -> str:
    """What is in that file; nothing when it has just gone."""
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""


def is_ours(words: list[str]) -> bool:
    """Whether that is koboshi: its daemon, its tmux, a recorder or a bell."""
    named = {word.rpartition("/")[2] for word in words[:6]}
    return bool(named & {"dd", "tmux", "koboshi.daemon.service", "recorder.py"} or not words)


def cmdline(process: psutil.Process) -> list[str]:
    """Its words; none when it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []
