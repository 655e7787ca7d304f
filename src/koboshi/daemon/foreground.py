"""One agent in the terminal koboshi was started in: looked after, and shown as if alone.

Rule 1: nothing of ours is drawn over the agent's screen. What we have to say goes to the journal
and to the log beside it; one line comes at the very end, and one when a run has crashed and the
next has not begun.
Rule 2: what the agent ended with is what we end with: its exit code, or 128 and its signal.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.adapters.registry import names
from koboshi.core.actions import Mode, Start, Telling
from koboshi.core.events import Ending, Order, OrderGiven, Origin
from koboshi.core.settings import Settings
from koboshi.errors import InputError, KoboshiError
from koboshi.hosts.console.device import Console
from koboshi.hosts.console.passthrough import PassThrough
from koboshi.hosts.pty import PtyHost
from koboshi.observations import PersonSeen
from koboshi.performers import Program
from koboshi.store.manifests import config_dir
from koboshi.store.paths import journal_dir, state_dir
from koboshi.store.shelves import make_private

from .reach import Reach
from .scribe.pen import Pen
from .solo import Post, start_first, watch_over

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.core.gate import Claim
    from koboshi.core.view import Exit, View

    from .supervisor import Supervisor

log = logging.getLogger(__name__)

#: Seconds between two looks at whether there is something to say between two runs.
NARRATE_EVERY = 0.25
#: Seconds from Ctrl-C to the end of a program that it ended.
INTERRUPTED = 3.0
INTERRUPTS = (signal.SIGINT, signal.SIGQUIT)
#: A program that could not be started, by a shell's convention.
NOT_STARTED = 127


def over(view: View) -> bool:
    """Whether the last run has ended and nobody will start another."""
    if view.wanted:
        return view.run.number == 0 and view.tally.starts > 0  # it cannot be started at all
    exit_ = view.run.exit
    if exit_ is None or view.restarting:
        return False
    return exit_.meant or view.given_up or view.settings.mode < Mode.KEEP


class Foreground:
    """One agent, its person, and the engine between them."""

    def __init__(self, post: Post, console: Console) -> None:
        self._post = post
        self._passthrough = PassThrough(console, hold=post.settings.person_hold)
        self._host = PtyHost(audience=self._passthrough)
        self.supervisor: Supervisor | None = None
        self._before: frozenset[str] = frozenset()
        self._signal = 0

    async def run(self) -> int:
        """Until the agent's end, or ours."""
        try:
            self._passthrough.begin()
            try:
                await self._live()
            finally:
                await self._host.close()
        finally:
            self._passthrough.end()
        return self._code()

    async def _live(self) -> None:
        watch = asyncio.ensure_future(
            watch_over(
                self._post,
                self._host,
                enough=self._enough,
                begun=self._begun,
            )
        )
        narrate = asyncio.ensure_future(self._narrate())
        ended = self._passthrough.ended
        try:
            await asyncio.wait((watch, narrate, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._signal = ended.result() if ended.done() else 0
            tasks = [task for task in (watch, narrate) if not task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in (watch, narrate):
            if task.done() and not task.cancelled():
                task.result()

    def _enough(self, supervisor: Supervisor) -> bool:
        """Over, and what was done about it is written down."""
        world = supervisor.world
        return self._over(world.view) and not world.ledger.in_flight()

    def _over(self, view: View) -> bool:
        """The same, and when a person at the keyboard has just interrupted it to death."""
        exit_ = view.run.exit
        interrupted = exit_ is not None and (
            exit_.signal in INTERRUPTS or (exit_.code or 0) - 128 in INTERRUPTS
        )
        recent = time.monotonic() - self._passthrough.interrupted_at < INTERRUPTED
        return over(view) or (interrupted and recent)

    def _begun(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self._before = frozenset(supervisor.world.ledger.claims)
        self._passthrough.person = lambda: supervisor.observe(PersonSeen())
        view = supervisor.world.view
        # Whoever calls us wants a run, also where the last one was not to be followed by another.
        if view.run.number and over(view):
            if view.given_up:
                supervisor.take(OrderGiven(order=Order.ACKNOWLEDGE, by="owner"))
            supervisor.take(OrderGiven(order=Order.START, by="owner"))
        start_first(supervisor)

    async def _narrate(self) -> None:
        """Say why there is no agent on the screen, once per run."""
        said = 0
        while True:
            await asyncio.sleep(NARRATE_EVERY)
            if self.supervisor is None:
                continue
            view = self.supervisor.world.view
            run = view.run
            if run.exit is not None and run.number != said and not self._over(view):
                said = run.number
                how = ended_words(run.exit)
                text = f"run {run.number} {how}; it will be started again. Ctrl-C to leave it."
                self._passthrough.notice(f"koboshi: {text}")

    def _code(self) -> int:
        if self._signal:
            return 128 + self._signal
        exit_ = self.supervisor.world.view.run.exit if self.supervisor else None
        if exit_ is None:
            return NOT_STARTED
        if exit_.code is not None:
            return exit_.code
        return 128 + exit_.signal if exit_.signal else 1

    def summary(self) -> str:
        """The one line at the end."""
        if self.supervisor is None:
            return "koboshi: the agent was not taken on"
        world, agent = self.supervisor.world, self._post.agent
        new = [claim for key, claim in world.ledger.claims.items() if key not in self._before]
        done = [claim for claim in new if counts(claim)]
        run = world.view.run
        if self._signal:
            how = f"{run.number} left by {signal.Signals(self._signal).name}"
        else:
            how = f"{run.number} {ended_words(run.exit)}" if run.number else "1 could not start"
        count = {0: "no actions", 1: "1 action"}.get(len(done), f"{len(done)} actions")
        return f"koboshi: run {how}; {count}, see `koboshi why {agent}`"


def counts(claim: Claim) -> bool:
    """Whether koboshi did something there: a start that was asked for and a word are nothing."""
    if claim.outcome is None or claim.outcome.ending is not Ending.DONE:
        return False
    asked = isinstance(claim.action, Start) and claim.action.origin is Origin.FIRST
    return not asked and not isinstance(claim.action, Telling)


def ended_words(exit_: Exit | None) -> str:
    """How a run ended, in words."""
    if exit_ is None:
        return "still ran"
    if exit_.signal:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(exit_.signal).name}"
        return f"was ended by signal {exit_.signal}"
    return "ended" if exit_.code is None else f"ended with code {exit_.code}"


async def run_foreground(post: Post, *, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> int:
    """Run and look after the agent in this terminal; returns what to exit with.

    Raises HostError where there is no terminal, InputError where there is no such program.
    """
    startable(post.program)
    folder = journal_dir(post.state, post.agent).parent
    make_private(folder)
    pen = Pen()
    reach = Reach(folder, config_dir(), who=lambda _: foreground.supervisor, pen=pen)
    foreground = Foreground(replace(post, pen=pen, reach=reach), Console.open(stdin, stdout))
    with aside(folder / "koboshi.log", stderr):
        reach.open()
        try:
            code = await foreground.run()
        finally:
            await reach.close()
            await pen.close()
    with contextlib.suppress(OSError):
        os.write(stderr, f"{foreground.summary()}\n".encode())
    return code


def startable(program: Program) -> None:
    """InputError when that certainly cannot be started: five tries would only hide it."""
    if not Path(program.cwd).is_dir():
        raise InputError(f"expected a folder to work in, not {program.cwd!r}")
    name = program.argv[0]
    found = Path(program.cwd, name) if "/" in name else shutil.which(name)
    if found is None or not os.access(found, os.X_OK) or Path(found).is_dir():
        raise InputError(
            f"expected a program that can be started, not {name!r}", hint="is it installed?"
        )


@contextlib.contextmanager
def aside(path: Path, stderr: int) -> Iterator[None]:
    """What anybody here writes to standard error goes to that file while an agent is shown.

    The descriptor itself: a library's warning in the middle of a screen is as bad as our own. One
    that is no terminal is the person's choice, and stays.
    """
    if not os.isatty(stderr):
        yield
        return
    kept, file = os.dup(stderr), os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, stderr)
    os.close(file)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, stderr)
        os.close(kept)


def post_from(words: list[str]) -> Post:
    """`[--agent NAME] [--type TYPE] [--set FIELD=NUMBER …] -- PROGRAM [ARGUMENT …]`."""
    parser = argparse.ArgumentParser(prog="python -m koboshi.daemon.foreground")
    parser.add_argument("--agent", default="")
    parser.add_argument("--type", choices=names(), default="")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=NUMBER")
    parser.add_argument("program", nargs="+")
    asked = parser.parse_args(words)
    base = Path(asked.program[0]).name
    pairs = (each.partition("=") for each in asked.set)
    numbers = {name: float(value) for name, _, value in pairs}
    mode = Mode(int(numbers.pop("mode", Mode.KEEP)))
    return Post(
        agent=asked.agent or base,
        agent_type=asked.type or (base if base in names() else "generic"),
        program=Program(argv=tuple(asked.program), cwd=str(Path.cwd())),
        state=state_dir(),
        settings=Settings(mode=mode, **numbers),  # type: ignore[arg-type]
    )


def main() -> int:
    """For trying it out; `koboshi run --host pty` is what people call."""
    try:
        return asyncio.run(run_foreground(post_from(sys.argv[1:])))
    except KoboshiError as error:
        sys.stderr.write(f"koboshi: {error}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
