"""A koboshi of its own: commands as typed, a daemon, a tmux server; all gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from koboshi.daemon.control.client import call_running, door
from koboshi.store.paths import socket_dir

#: Seconds after which something that should happen has not.
PATIENCE = 30.0


class Trial:
    """One state folder and all that lives by it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"

    @property
    def environment(self) -> dict[str, str]:
        """What the commands run with."""
        kept = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE")}
        ours = {"KOBOSHI_STATE": str(self.state), "KOBOSHI_CONFIG": str(self.folder / "own")}
        return {**kept, **ours, "COLUMNS": "100", "NO_COLOR": "1"}

    def configure(self, text: str) -> None:
        """The owner's file."""
        (self.folder / "own").mkdir(exist_ok=True)
        (self.folder / "own" / "koboshi.toml").write_text(text, encoding="utf-8")

    def type(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """One command, as typed."""
        return subprocess.run(
            [sys.executable, "-m", "koboshi", *words],
            env=self.environment,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def say(self, *words: str, stdin: str = "") -> str:
        """One command that must succeed; what it printed."""
        ran = self.type(*words, stdin=stdin)
        assert ran.returncode == 0, f"{words}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def status(self, name: str) -> dict[str, Any]:
        """What is known of an agent."""
        known: dict[str, Any] = json.loads(self.say("status", name, "--json"))
        return known

    def until(self, name: str, so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until that is so of an agent."""
        deadline = time.monotonic() + PATIENCE
        while True:
            known: dict[str, Any] | None = call_running(self.state, "status", name=name)
            if known is not None and so(known):
                return known
            assert time.monotonic() < deadline, f"not so within {PATIENCE} s: {known}"
            time.sleep(0.05)

    def until_status(self, name: str, word: str) -> dict[str, Any]:
        """Wait until an agent does that."""
        return self.until(name, lambda known: known["status"] == word)

    def until_said(self, text: str, *words: str) -> str:
        """Wait until a command prints that, however it is wrapped; all it printed."""
        deadline = time.monotonic() + PATIENCE
        while text not in (shown := " ".join(self.say(*words).split())):
            assert time.monotonic() < deadline, f"not said within {PATIENCE} s: {shown}"
        return shown

    @contextlib.contextmanager
    def attached(self, name: str) -> Iterator[tuple[subprocess.Popen[bytes], int, bytes]]:
        """`koboshi attach` in a terminal: the client, the person's end, and what it has drawn."""
        here, there = pty.openpty()
        client = subprocess.Popen(
            [sys.executable, "-m", "koboshi", "attach", name],
            env={**self.environment, "TERM": "xterm-256color"},
            stdin=there,
            stdout=there,
            stderr=there,
            start_new_session=True,
        )
        os.close(there)
        try:
            shown = b""
            while b"C-b d leaves" not in shown:
                assert select.select([here], [], [], PATIENCE)[0], f"nothing more after {shown!r}"
                shown += os.read(here, 65536)
            yield client, here, shown
        finally:
            client.kill()
            client.wait(PATIENCE)
            os.close(here)

    def daemon(self) -> psutil.Process | None:
        """The daemon, if one answers."""
        found = call_running(self.state, "ping")
        return psutil.Process(found["pid"]) if found else None

    def script(self, text: str, name: str = "script.toml") -> tuple[str, ...]:
        """The argv of the bundled agent with that script."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        state = str(self.folder / f"{name}.state")
        words = ("--script", str(path), "--state", state)
        return (sys.executable, "-m", "koboshi.scripted", *words)

    def end(self) -> None:
        """End everything, by its pid."""
        daemon = None
        with contextlib.suppress(Exception):
            daemon = self.daemon()
        if daemon is not None:
            daemon.send_signal(signal.SIGCONT)
            daemon.terminate()
            daemon.wait(PATIENCE)
        for late in psutil.process_iter():
            # One that lost the race to be the first, and would be the next.
            with contextlib.suppress(psutil.Error, OSError):
                if late.environ().get("KOBOSHI_STATE") == str(self.state):
                    _end_daemon(late)
        tmux = socket_dir(self.state) / "tmux"
        if tmux.exists():
            subprocess.run(["tmux", "-S", tmux, "kill-server"], check=False, capture_output=True)
        for folder in self.state.glob("runs/*/child.json"):
            child = json.loads(folder.read_bytes())
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(child["pid"])
                if process.environ().get("KOBOSHI_RUN") == child["mark"]:
                    process.kill()


def _end_daemon(process: psutil.Process) -> None:
    if "koboshi.daemon.service" in process.cmdline():
        process.kill()
        process.wait(PATIENCE)


@contextlib.contextmanager
def trial(folder: Path) -> Iterator[Trial]:
    """A koboshi of its own, and nothing of it afterwards."""
    made = Trial(folder)
    try:
        yield made
    finally:
        made.end()
        door(made.state).unlink(missing_ok=True)
