"""A real agent CLI in a real tmux, and what koboshi makes of its screen.

Rule 1: a wait has a deadline, and shows the screen when it passes.
Rule 2: whatever was started is ended, found by the HOME that only this stage has.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import time
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

from koboshi.adapters.base import Adapter
from koboshi.adapters.registry import adapter
from koboshi.core.observations import ScreenSeen
from koboshi.core.readings import Meaning, Prompt, Reading, Status
from koboshi.hosts.base import Key, Launch, Place, Text
from koboshi.hosts.tmux import TmuxHost
from tests.lab.homes import Home
from tests.lab.model.server import Model

#: Seconds between looks.
PAUSE = 0.05
#: Seconds from a paste to Enter: Gemini swallows an Enter that comes at once.
SETTLE = 0.3
#: Seconds a question must stand unchanged before it is answered. Claude Code 2.1.325 draws its
#: first dialog twice (a key in between is lost, or moves a selection that is then reset) and takes
#: no Enter in the first moments of any dialog.
STANDS = 0.5
#: Seconds the first screen must stand still: Gemini CLI draws its box before it can be typed at.
STILL = 1.0
#: Seconds from a typed exit to the end.
LEAVES = 8.0
#: Statuses in which the box takes text.
AT_PROMPT = (Status.IDLE, Status.FAILED, Status.LIMITED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look, and what the adapter read in it."""

    seen: ScreenSeen
    reading: Reading

    @property
    def prompt(self) -> Prompt:
        """The question; there must be one."""
        assert self.reading.prompt is not None, shown(self)
        return self.reading.prompt

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """What the options of the question mean, in order."""
        return tuple(option.meaning for option in self.prompt.options)


class Stage:
    """One agent CLI on show. Every verb is synchronous; the terminal's loop runs inside it."""

    def __init__(self, home: Home, model: Model) -> None:
        self.home = home
        self.model = model
        self.adapter: Adapter = adapter(home.cli)
        self._loop = asyncio.Runner()
        self._host = TmuxHost(socket=f"lab-{secrets.token_hex(4)}", state_dir=home.folder / "state")
        self._place: Place | None = None
        self._runs = 0

    # -- starting and ending -------------------------------------------------------------------

    def start(self, *args: str, until: Status | None = Status.IDLE, seconds: float = 30) -> Look:
        """Start the CLI and wait for that status; None: do not wait."""
        return self._begin(self.home.command(*args), until, seconds)

    def start_in_shell(self, *, seconds: float = 30) -> Look:
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
        self.wait(lambda look: look.seen.text.rstrip().endswith("$"), seconds, "a shell prompt")
        (script,) = self.home.command()
        self._type(Text(text=f"exec_once() {{ {script}; }}; exec_once"), Key(name="Enter"))
        return self.wait_status(Status.IDLE, seconds)

    def leave(self) -> Look:
        """Type the exit and wait for the end; said again once, as Gemini may lose the first."""
        self.say(self.adapter.exit_text())
        deadline = time.monotonic() + LEAVES
        while (alive := self.look().seen.alive) and time.monotonic() < deadline:
            time.sleep(PAUSE)
        if alive:
            self.say(self.adapter.exit_text())
        return self.wait(lambda look: not look.seen.alive, LEAVES, "the end")

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the CLI's own processes, not the shell or the recorder around them."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def processes(self) -> list[psutil.Process]:
        """All processes of the CLI: those whose HOME is this stage's; shells around it are none."""
        return [p for p in self._mine() if p.name() not in ("sh", "bash")]

    def close(self) -> None:
        """End everything that was started here."""
        try:
            self._loop.run(self._host.shutdown())
        finally:
            for process in self._mine():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
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

    def _mine(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("HOME") == str(self.home.path):
                    found.append(process)
        return found

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

    def wait(self, wanted: Callable[[Look], bool], seconds: float, what: str) -> Look:
        """Look until it is as wanted; fails with the last screen."""
        return self._loop.run(self._wait(wanted, seconds, what))

    def wait_status(
        self, status: Status, seconds: float = 15, *, never: Collection[Status] = ()
    ) -> Look:
        """Look until koboshi says that status; fails at once when it says one of `never`."""

        def wanted(look: Look) -> bool:
            if look.reading.status in never:
                self._fail(look, f"never {look.reading.status.value}")
            return look.reading.status is status

        return self.wait(wanted, seconds, f"status {status.value}")

    def wait_text(self, text: str, seconds: float = 15) -> Look:
        """Look until the screen shows the text."""
        return self.wait(lambda look: text in look.seen.text, seconds, f"text {text!r}")

    def stays(self, status: Status, seconds: float) -> Look:
        """Every look for that long says the same status."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            look = self.look()
            if look.reading.status is not status:
                self._fail(look, f"status {status.value} throughout {seconds} s")
            time.sleep(PAUSE)
        return look

    def _still(self, status: Status) -> Look:
        """The screen of that status, once it has stood unchanged for a while."""
        look, since = self.wait_status(status), time.monotonic()
        while time.monotonic() - since < STILL:
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
        """Type at the prompt: seen in the box, submitted, seen to leave, and heard by the model.

        A command (`/exit`) is not heard by the model.
        """
        before = len(self.model.asked)
        ready = self.look()
        if ready.reading.status not in AT_PROMPT or ready.reading.prompt or ready.reading.draft:
            self._fail(ready, "an empty prompt to type at")
        self._type(Text(text=text))
        time.sleep(SETTLE)
        self.wait(
            lambda look: (
                bare(look.reading.draft) == bare(text) and look.reading.reason != "menu_differs"
            ),
            5,
            f"draft {text!r}",
        )
        self.key("Enter")
        self.wait(lambda look: bare(look.reading.draft) != bare(text), 5, "the draft to leave")
        if not text.startswith("/"):
            self.wait(lambda _: len(self.model.asked) > before, 15, "a request to the model")

    def key(self, *names: str) -> None:
        """Press keys by their tmux names."""
        self._type(*(Key(name=name) for name in names))

    def answer(self, choice: Meaning) -> None:
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
                5,
                f"option {index} selected",
            )
        self.key(keys[-1])
        self.wait(
            lambda look: (
                look.reading.prompt is None or look.reading.prompt.fingerprint != prompt.fingerprint
            ),
            5,
            "the question to be gone",
        )

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


def bare(text: str) -> str:
    """Text as compared: boxes wrap and indent, so white space does not count."""
    return "".join(text.split())


def shown(look: Look) -> str:
    """A look for a person's eyes."""
    seen = look.seen
    facts = f"command={seen.command!r} title={seen.title!r} cursor={seen.cursor}"
    end = f"alive={seen.alive} code={seen.code} signal={seen.signal}"
    return f"{look.reading}\n{facts} {end}\n{'-' * 100}\n{seen.text.rstrip()}\n{'-' * 100}"


def save(look: Look, folder: Path) -> None:
    """Keep a look as a case: what was seen, and what was read in it."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = look.seen
    (folder / "screen.txt").write_text(seen.text, encoding="utf-8")
    (folder / "screen.ansi").write_text(seen.ansi or "", encoding="utf-8")
    facts = {
        "title": seen.title,
        "command": seen.command,
        "cols": seen.cols,
        "rows": seen.rows,
        "cursor": seen.cursor,
        "alive": seen.alive,
        "utc": seen.utc,
        "read": look.reading.status.value,
    }
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / "seen.json").write_text(text + "\n", encoding="utf-8")
