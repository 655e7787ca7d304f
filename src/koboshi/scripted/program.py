"""The scripted agent as a terminal program: `python -m koboshi.scripted --script FILE --state DIR`.

The behaviour decides; this module owns the clock, the terminal and the disk. Progress is on disk
before a crash act happens, so that a resumed run does not crash at the same place again.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
import time
import uuid
from pathlib import Path

from .acts import Script, ScriptError, load_script
from .behaviour import Behaviour, Exit
from .drawing import width
from .store import Session, Store, StoreError, is_session_name, leave_words
from .terminal import Ears, Terminal

_FRAME_SECONDS = 0.25  # between two frames of a spinner
_HUNG_UP = 128 + signal.SIGHUP
_ENDINGS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Program:
    """One run in a real terminal."""

    def __init__(self, agent: Behaviour, store: Store, terminal: Terminal) -> None:
        self._agent, self._store, self._terminal = agent, store, terminal
        self._ears = Ears()
        self._told, self._wake = os.pipe()
        self._signals: list[int] = []
        self._kept: Session | None = None
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in (*_ENDINGS, signal.SIGWINCH):
            signal.signal(number, lambda number, _: self._signals.append(number))

    def run(self) -> Exit:
        """Live until the behaviour ends or a signal ends it."""
        while True:
            self._agent.advance(time.monotonic(), time.time())
            if self._agent.last_words is not None:
                leave_words(self._agent.last_words)
            heeded = self._heed_signals()
            if isinstance(heeded, Exit):
                return heeded
            self._keep()
            self._show(anew=heeded)
            if self._agent.exit is not None:
                return self._agent.exit
            if not self._listen():
                return Exit(code=_HUNG_UP)

    def _show(self, *, anew: bool) -> None:
        frame = self._agent.screen()
        self._terminal.draw(frame, self._agent.title, cursor_of(frame), anew=anew)

    def _listen(self) -> bool:
        """Wait for keys, a signal or what happens next; False when the terminal is gone."""
        ready, _, _ = select.select([0, self._told], [], [], self._patience())
        if self._told in ready:
            os.read(self._told, 512)
        if 0 not in ready:
            return True
        try:
            chunk = os.read(0, 65_536)
        except OSError:
            return False
        for verb, what in self._ears.hear(chunk):
            {"key": self._agent.key, "type": self._agent.type, "paste": self._agent.paste}[verb](
                what, time.monotonic(), time.time()
            )
            self._keep()
        return bool(chunk)

    def _patience(self) -> float | None:
        due = self._agent.next_at()
        waits = [] if due is None else [max(due - time.monotonic(), 0.0)]
        if self._agent.status == "working":
            waits.append(_FRAME_SECONDS)
        return min(waits, default=None)

    def _heed_signals(self) -> Exit | bool:
        """An exit, or whether the size changed."""
        seen, self._signals = self._signals, []
        for number in _ENDINGS:
            if number in seen:
                return Exit(code=128 + number)
        if signal.SIGWINCH in seen:
            self._agent.resize(*self._terminal.size())
        return signal.SIGWINCH in seen

    def _keep(self) -> None:
        agent = self._agent
        now = Session(
            progress=agent.progress, context=agent.context, limited_until=agent.limited_until
        )
        if now != self._kept:
            self._store.save(agent.session, now)
            self._kept = now
        if agent.hooks:
            self._store.add_hooks(agent.hooks)
            agent.hooks.clear()


def cursor_of(frame: str) -> tuple[int, int]:
    """Where the real ones park the cursor: at the end of the draft, or on the selected option."""
    rows = frame.split("\n")
    for index in range(len(rows) - 1, -1, -1):
        if rows[index].lstrip().startswith("❯"):
            last = index
            while (
                rows[index].startswith("❯")
                and rows[last + 1 : last + 2]
                and not rows[last + 1].startswith("─")
            ):
                last += 1
            return max(width(rows[last]), 2), last
    return 0, max(len(rows) - 1, 0)


def main(argv: list[str] | None = None) -> int:
    """Run the program; the exit code, unless a crash act kills it by a signal."""
    given = _arguments(argv)
    try:
        script = _script(given.script)
        store = Store(given.state)
        session, kept = _session(store, given.session, given.resume)
    except (ScriptError, StoreError) as error:
        print(f"scripted agent: {error}", file=sys.stderr)  # noqa: T201 - a program of its own
        return 2
    if not (os.isatty(0) and os.isatty(1)):
        print("scripted agent: expected a terminal on stdin and stdout", file=sys.stderr)  # noqa: T201
        return 2
    terminal = Terminal(0, 1)
    crashed = False
    try:
        agent = _agent(script, session, kept, store, terminal)
        end = Program(agent, store, terminal).run()
        crashed = agent.exit is not None and agent.exit != Exit(code=0)
    except OSError:  # the terminal is gone
        end = Exit(code=_HUNG_UP)
    finally:
        if not crashed:  # a crash leaves its last frame and the raw terminal, as the real ones do
            terminal.restore()
    if end.signal is not None:
        os.kill(os.getpid(), end.signal)
        time.sleep(1)  # a signal that does not kill leaves a code as a shell would show it
        return 128 + end.signal
    return end.code or 0


def _agent(
    script: Script, session: str, kept: Session | None, store: Store, terminal: Terminal
) -> Behaviour:
    cols, rows = terminal.size()
    start = kept or Session()
    return Behaviour(
        script,
        session=session,
        progress=start.progress,
        context=start.context,
        limited_until=start.limited_until,
        resumed=kept is not None,
        now=time.monotonic(),
        utc=time.time(),
        notes=store.notes,
        cols=cols,
        rows=rows,
    )


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m koboshi.scripted",
        description="A small terminal program that behaves like a coding-agent CLI.",
        epilog="example: python -m koboshi.scripted --script night.toml --state state --session s1",
    )
    parser.add_argument(
        "--script", type=Path, required=True, help="TOML or JSON file with the acts"
    )
    parser.add_argument(
        "--state", type=Path, required=True, help="directory for sessions, notes and hooks"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", help="name of a new session (default: a random one)")
    which.add_argument("--resume", help="name of the session to go on with")
    return parser.parse_args(argv)


def _script(path: Path) -> Script:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: cannot be read: {error}") from error
    try:
        return load_script(text)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from error


def _session(store: Store, new: str | None, old: str | None) -> tuple[str, Session | None]:
    name = old or new or uuid.uuid4().hex[:12]
    if not is_session_name(name):
        raise StoreError(f"expected a session's name of letters, digits and '._-', not {name!r}")
    kept = store.load(name)
    if old is not None and kept is None:
        raise StoreError(f"no session found with the name {old!r}")
    if old is None and kept is not None:
        raise StoreError(f"session {name!r} is already in use; resume it with --resume")
    return name, kept
