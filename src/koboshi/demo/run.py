"""The demo's parent: starts the supervisor, follows its journal, kills it once, and checks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from koboshi.errors import HostError, JournalError
from koboshi.store.journal import Line, read
from koboshi.store.paths import journal_dir
from koboshi.store.shelves import DiskShelf

from .checks import CHECKS, SURVIVAL, Check, read_story
from .plan import CLAIM, Errand, possible
from .timeline import Entry, entries

#: Seconds after which the demo has failed, and between two looks at the journal.
LONGEST, LOOK_EVERY = 90.0, 0.2
#: Seconds the agent is left without a supervisor.
ORPHANED = 1.5
#: The finding after which the supervisor is killed.
KILL_AFTER = "LIM001"
#: The finding after which the plan begins: whoever waits for a limit has time.
PLAN_AFTER = "LIM001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One thing that should have happened, and whether it did."""

    text: str
    held: bool


class Demo:
    """One run of the demo."""

    def __init__(self, *, agent: str, state: Path, work: Path, host: str) -> None:
        self.agent, self.host = agent, host
        self._work = work
        self._shelf = DiskShelf(journal_dir(state, agent))
        self._spec: dict[str, Any] = {
            "agent": agent,
            "host": host,
            "socket": str(work / "tmux"),
            "parent": os.getpid(),
            "host_state": str(work / "host"),
            "state": str(state),
            "cwd": str(work),
            "hooks": str(work / "agent" / "hooks.jsonl"),
            "argv": [
                *(sys.executable, "-m", "koboshi.scripted"),
                *("--script", str(work / "night.toml"), "--state", str(work / "agent")),
            ],
        }
        self._errand = Errand(work, work / "state") if possible() else None
        self._thread: threading.Thread | None = None
        self._shown = 0
        self._killed = host != "tmux"
        self._begun = time.monotonic()

    def run(self, show: Callable[[float, Entry], None]) -> None:
        """Live through the night; HostError when the supervisor cannot."""
        self._prepare()
        deadline = self._begun + LONGEST
        with self._supervisor() as child:
            while child.poll() is None and time.monotonic() < deadline:
                self._look(show)
                if not self._killed and self._decided(KILL_AFTER):
                    break
            self._must_have_ended_well(child, deadline)
        if child.returncode != 0 and time.monotonic() < deadline:
            self._go_on(show, deadline)
        self._plan(show)
        if self._thread is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))

    def _go_on(self, show: Callable[[float, Entry], None], deadline: float) -> None:
        """The supervisor is dead, the agent is not: a new one takes over."""
        self._tell(show, Entry(at=0, mark="kill -9", text="the supervisor"))
        self._killed = True
        time.sleep(ORPHANED)
        with self._supervisor() as child:
            while child.poll() is None and time.monotonic() < deadline:
                self._look(show)
            self._must_have_ended_well(child, deadline)
        self._show(show)

    def results(self) -> list[Result]:
        """Each check, read back from the journal."""
        story = read_story(self._lines())
        wanted: list[tuple[str, Check]] = [*CHECKS]
        if self.host == "tmux":
            wanted.insert(-1, SURVIVAL)
        results = [Result(text=text, held=check(story)) for text, check in wanted]
        if self._errand is not None:
            results.append(Result(text=CLAIM, held=self._errand.held()))
        return results

    def seconds(self) -> float:
        """How long it took."""
        return time.monotonic() - self._begun

    # -- inside ---------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._work.mkdir(parents=True, exist_ok=True)
        script = files("koboshi.demo").joinpath("night.toml").read_text(encoding="utf-8")
        (self._work / "night.toml").write_text(script, encoding="utf-8")
        (self._work / "spec.json").write_bytes(msgspec.json.encode(self._spec))

    @contextmanager
    def _supervisor(self) -> Iterator[subprocess.Popen[bytes]]:
        """A supervisor in a process of its own, gone for good when the block ends."""
        argv = (sys.executable, "-m", "koboshi.demo.child", str(self._work / "spec.json"))
        with (self._work / "supervisor.log").open("ab") as log:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield child
        finally:
            child.kill()
            child.wait()

    def _must_have_ended_well(self, child: subprocess.Popen[bytes], deadline: float) -> None:
        if child.poll() in (None, 0) or time.monotonic() >= deadline:
            return
        said = (self._work / "supervisor.log").read_text(encoding="utf-8", errors="replace")
        last = said.strip().rpartition("\n")[2]
        raise HostError(f"expected the supervisor to go on, and it ended: {last or 'no word'}")

    def _lines(self) -> list[Line]:
        try:
            return list(read(self._shelf))
        except (JournalError, FileNotFoundError):
            return []  # a segment is being made this moment

    def _decided(self, rule: str) -> bool:
        return any(code == rule for code, _ in read_story(self._lines()).decided)

    def _look(self, show: Callable[[float, Entry], None]) -> None:
        time.sleep(LOOK_EVERY)
        self._show(show)
        if self._thread is None and self._decided(PLAN_AFTER):
            self._plan(show)

    def _plan(self, show: Callable[[float, Entry], None]) -> None:
        """Begin the plan, beside the rest of the night: most of that is waiting."""
        if self._errand is None or self._thread is not None:
            return
        left = self._begun + LONGEST - time.monotonic()
        args = (lambda entry: self._tell(show, entry), max(1.0, left))
        self._thread = threading.Thread(target=self._errand.run, args=args, daemon=True)
        self._thread.start()

    def _tell(self, show: Callable[[float, Entry], None], entry: Entry) -> None:
        show(time.monotonic() - self._begun, entry)

    def _show(self, show: Callable[[float, Entry], None]) -> None:
        told = list(entries(iter(self._lines())))
        start = told[0].at if told else 0.0
        for entry in told[self._shown :]:
            show(entry.at - start, entry)
        self._shown = max(self._shown, len(told))


def end_server(work: Path) -> None:
    """End the demo's own tmux server; its socket lies in the work folder and goes with it."""
    tmux = shutil.which("tmux")
    if tmux is not None:
        argv = (tmux, "-S", str(work / "tmux"), "kill-server")
        subprocess.run(argv, check=False, capture_output=True)
