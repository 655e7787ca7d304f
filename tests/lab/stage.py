"""A real agent CLI in a real tmux, and what koboshi makes of its screen.

Rule 1: a wait has a deadline, and shows the screen when it passes.
Rule 2: whatever was started is ended, found by the HOME that only this stage has.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

from koboshi.adapters.base import Adapter
from koboshi.adapters.registry import adapter
from koboshi.core.readings import ApiError, Meaning, Prompt, Status
from koboshi.hosts.base import Key, Launch, Place, Text
from koboshi.hosts.tmux import TmuxHost
from tests.lab.homes import Home
from tests.lab.leftovers import LEFT, PAUSE
from tests.lab.looks import Look, bare, save, shown
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn

#: Seconds that anything may take. Only a failing test waits that long; a loaded machine needs it.
PATIENCE = 90.0
#: Seconds from the text in the box to Enter: Gemini and Codex take an Enter that comes at once for
#: a part of the paste. Swallowed all the same, it is pressed again; an empty box ignores it.
SETTLE = 0.3
AGAIN = 2.0
#: Seconds a question must stand unchanged before it is answered. Claude Code 2.1.325 draws its
#: first dialog twice (a key in between is lost, or moves a selection that is then reset) and takes
#: no Enter in the first moments of any dialog.
STANDS = 0.5
#: Seconds the first screen must stand still. Gemini CLI draws its box before it can be typed at.
STILL = 0.3
STILL_OF = {"gemini": 1.0}
#: Seconds from a typed exit to the end; Gemini may lose the first one.
LEAVES = 8.0
#: Statuses in which the box takes text.
AT_PROMPT = (Status.IDLE, Status.FAILED, Status.LIMITED)


class Stage:
    """One agent CLI on show. Every verb is synchronous; the terminal's loop runs inside it."""

    def __init__(self, home: Home, model: Model) -> None:
        self.home = home
        self.model = model
        self.adapter: Adapter = adapter(home.cli)
        self._loop = asyncio.Runner()
        # A path of its own, not a name: the end of the session looks whether it is gone.
        socket = Path(os.environ["TMUX_TMPDIR"]) / f"lab-{secrets.token_hex(4)}"
        LEFT.sockets.add(socket)
        self._host = TmuxHost(socket=socket, state_dir=home.folder / "state")
        self._place: Place | None = None
        self._runs = 0

    # -- starting and ending -------------------------------------------------------------------

    def start(
        self, *args: str, until: Status | None = Status.IDLE, seconds: float = PATIENCE
    ) -> Look:
        """Start the CLI and wait for that status; None: do not wait."""
        return self._begin(self.home.command(*args), until, seconds)

    def start_in_shell(self, *, seconds: float = PATIENCE) -> Look:
        """Start the CLI as a person does: from a shell that stays when it is gone."""
        shell = (
            "env",
            "-i",
            "TERM=tmux-256color",
            "LANG=C.UTF-8",
            "PS1=$ ",
            f"HOME={self.home.path}",
        )
        self._begin((*shell, "bash", "--norc", "--noprofile"), None, seconds)
        self.wait(lambda look: look.seen.text.rstrip().endswith("$"), "a shell prompt")
        (script,) = self.home.command()
        self._type(Text(text=f"exec_once() {{ {script}; }}; exec_once"), Key(name="Enter"))
        return self._still(Status.IDLE)

    def leave(self) -> Look:
        """Type the exit and wait for the end."""
        deadline = time.monotonic() + PATIENCE
        while self.look().seen.alive and time.monotonic() < deadline:
            self.say(self.adapter.exit_text())
            again = time.monotonic() + LEAVES
            while self.look().seen.alive and time.monotonic() < again:
                time.sleep(PAUSE)
        return self.ended()

    def ended(self) -> Look:
        """The look at an agent whose process is over."""
        return self.wait(lambda look: not look.seen.alive, "the end")

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the CLI's own processes, not the shell or the recorder around them."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def processes(self) -> list[psutil.Process]:
        """All processes of the CLI: those of this stage's HOME; shells around it are none."""
        found = []
        for process in LEFT.note(self.home.path):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.name() not in ("sh", "bash"):
                    found.append(process)
        return found

    def close(self) -> None:
        """End everything that was started here."""
        LEFT.note(self.home.path)
        try:
            self._loop.run(self._host.shutdown())
        finally:
            LEFT.end(self.home.path)
            self._loop.close()

    def _begin(self, argv: tuple[str, ...], until: Status | None, seconds: float) -> Look:
        self._runs += 1
        cwd = str(self.home.cwd)
        launch = Launch(agent=self.home.cli, run=self._runs, argv=argv, cwd=cwd)
        self._place = self._loop.run(self._host.start(launch))
        if until is None:
            return self.look()
        self.wait_status(until, seconds)
        return self._still(until)

    @property
    def host(self) -> TmuxHost:
        """The terminal, for a test that starts the CLI through a supervisor."""
        return self._host

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Let that run in the terminal's loop."""
        self._loop.run(work)

    # -- looking -------------------------------------------------------------------------------

    def look(self) -> Look:
        """The screen now, and its reading."""
        return self._loop.run(self._look())

    def wait(self, wanted: Callable[[Look], bool], what: str, seconds: float = PATIENCE) -> Look:
        """Look until it is as wanted; fails with the last screen."""
        return self._loop.run(self._wait(wanted, seconds, what))

    def wait_status(
        self,
        status: Status,
        seconds: float = PATIENCE,
        *,
        never: Collection[Status] = (),
        lull: float = 0.0,
    ) -> Look:
        """Look until koboshi says that status; fails when it says one of `never` beyond a lull."""
        since: list[float] = []

        def wanted(look: Look) -> bool:
            if look.reading.status in never:
                since.append(time.monotonic())
                if since[-1] - since[0] >= lull:
                    self._fail(look, f"never {look.reading.status.value}")
            else:
                since.clear()
            return look.reading.status is status

        return self.wait(wanted, f"status {status.value}", seconds)

    def wait_text(self, text: str, seconds: float = PATIENCE) -> Look:
        """Look until the screen shows the text."""
        return self.wait(lambda look: text in look.seen.text, f"text {text!r}", seconds)

    def stays(self, status: Status, seconds: float) -> Look:
        """Every look for that long says the same status."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            look = self.look()
            if look.reading.status is not status:
                self._fail(look, f"status {status.value} throughout {seconds} s")
            time.sleep(PAUSE)
        return look

    def stays_until(self, status: Status, after: Status) -> Look:
        """Every look says the same status, until one says the other."""
        return self.wait_status(after, never=set(Status) - {status, after})

    def _still(self, status: Status) -> Look:
        """The screen of that status, once it has stood unchanged for a while."""
        long = STILL_OF.get(self.home.cli, STILL)
        look, since = self.wait_status(status), time.monotonic()
        while time.monotonic() - since < long:
            now = self.wait_status(status)
            if now.seen.text != look.seen.text:
                look, since = now, time.monotonic()
            time.sleep(PAUSE)
        return look

    async def _look(self) -> Look:
        assert self._place is not None, "nothing was started"
        seen = await self._host.look(self._place)
        return Look(seen=seen, reading=self.adapter.read(seen))

    async def _wait(self, wanted: Callable[[Look], bool], seconds: float, what: str) -> Look:
        deadline = time.monotonic() + seconds
        while not wanted(look := await self._look()):
            if time.monotonic() > deadline:
                self._fail(look, f"{what} within {seconds} s")
            await asyncio.sleep(PAUSE)
        return look

    def _fail(self, look: Look, expected: str) -> NoReturn:
        asked = "\n".join(f"  {r.number} {r.path} {r.told[-100:]!r}" for r in self.model.requests)
        if folder := os.environ.get("KOBOSHI_LAB_SAVE"):
            save(look, Path(folder) / f"{self.home.cli}-{secrets.token_hex(3)}")
        pytest.fail(f"expected {expected}\n{shown(look)}\nthe model was asked:\n{asked}")

    # -- typing --------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Type at the prompt: seen in the box, submitted, seen above it, heard by the model.

        A command (`/exit`) is neither shown nor heard by all CLIs.
        """
        before = len(self.model.asked)
        self.submit(text)
        if text.startswith("/"):
            return
        self.wait(lambda look: bare(text) in bare(look.seen.text), f"message {text!r}")
        self.wait(lambda _: len(self.model.asked) > before, "a request to the model")

    def submit(self, text: str) -> None:
        """Type at the prompt and submit; what becomes of it is not looked at."""
        ready = self.look()
        if ready.reading.status not in AT_PROMPT or ready.reading.prompt or ready.reading.draft:
            self._fail(ready, "an empty prompt to type at")
        self._type(Text(text=text))
        self.wait(
            lambda look: (
                bare(look.reading.draft) == bare(text)
                and look.reading.reason not in ("menu_differs", "menu_not_seen")
            ),
            f"draft {text!r}",
        )
        time.sleep(SETTLE)
        self._enter(text)

    def _enter(self, text: str) -> None:
        """Press Enter until the text has left the box."""
        deadline, pressed = time.monotonic() + PATIENCE, -AGAIN
        while bare((look := self.look()).reading.draft) == bare(text) and look.seen.alive:
            if time.monotonic() > deadline:
                self._fail(look, "the draft to leave")
            if time.monotonic() - pressed >= AGAIN:
                self.key("Enter")
                pressed = time.monotonic()
            time.sleep(PAUSE)

    def key(self, *names: str) -> None:
        """Press keys by their tmux names."""
        self._type(*(Key(name=name) for name in names))

    def interrupt(self) -> None:
        """Press Escape until the turn is over; OpenCode wants it twice, seen apart."""
        again = "again to interrupt"
        self.key("Escape")
        look = self.wait(
            lambda look: look.reading.status is not Status.WORKING or again in look.seen.text,
            "an interruption",
        )
        if again in look.seen.text:
            self.key("Escape")

    def answer(self, choice: Meaning, seconds: float = PATIENCE) -> None:
        """Answer the open question as koboshi does: move, see that it moved, press."""
        prompt = self.settled()
        keys = self.adapter.keys_for(prompt, choice)
        assert keys is not None, f"no keys for {choice.value} in {prompt}"
        if len(keys) > 1:
            self.key(*keys[:-1])
            index = prompt.index_of(choice)
            self.wait(
                lambda look: (
                    look.reading.prompt is not None and look.reading.prompt.selected == index
                ),
                f"option {index} selected",
            )
        self.key(keys[-1])
        self.wait(
            lambda look: (
                look.reading.prompt is None or look.reading.prompt.fingerprint != prompt.fingerprint
            ),
            "the question to be gone",
            seconds,
        )

    def choose(self, index: int) -> None:
        """Pick an option of a question whose first one is selected, as a person does."""
        prompt = self.settled()
        assert prompt.selected == 0
        self.key(*["Down"] * index)
        self.wait(lambda look: look.prompt.selected == index, f"option {index} selected")
        self.key("Enter")

    def settled(self) -> Prompt:
        """The open question, once it has stood unchanged for a while."""
        prompt, since = self.wait_status(Status.ASKING).prompt, time.monotonic()
        while time.monotonic() - since < STANDS:
            now = self.wait_status(Status.ASKING).prompt
            if now != prompt:
                prompt, since = now, time.monotonic()
            time.sleep(PAUSE)
        return prompt

    def _type(self, *strokes: Text | Key) -> None:
        assert self._place is not None, "nothing was started"
        self._loop.run(self._host.type(self._place, strokes))


def failures(
    stage: Stage, troubles: Mapping[str, Turn], *, lull: float = 0.0
) -> dict[str, ApiError | None]:
    """Let each of these happen in one session: what is read when the turn has failed.

    It never reads idle before that, but for a lull: Codex takes its spinner away and draws the
    error in the next frame.
    """
    read = {}
    for name, turn in troubles.items():
        stage.model.forget()
        stage.model.expect(turn)
        stage.say(f"Try {name}.")
        failed = stage.wait_status(Status.FAILED, never=[Status.IDLE], lull=lull)
        read[name] = failed.reading.error
    return read


def plan_mode(stage: Stage) -> None:
    """Bring Codex into the mode in which it asks its user and plans."""
    stage.key("BTab")
    stage.wait_text("for Plan mode.")
