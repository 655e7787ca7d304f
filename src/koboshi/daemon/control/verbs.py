"""What can be asked at the door. A verb takes plain values and gives plain values back.

Orders go to the agent's supervisor as events; a verb waits to see what came of one, and changes
nothing by itself (one way for data to flow).
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import os
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi._version import __version__
from koboshi.adapters.registry import program_type
from koboshi.config.variables import relevant
from koboshi.core.actions import Send, Stop
from koboshi.core.events import ActionFinished, Order, OrderGiven
from koboshi.daemon.settling import checked, configured
from koboshi.errors import InputError, KoboshiError
from koboshi.store.paths import check_name
from koboshi.store.roster import Entry
from koboshi.wording import many

from . import bringing, planning, report
from .enrolling import RunArgs, WatchArgs, mode_of, type_of
from .errands import Errands
from .following import brief, raise_failed_start, runs, said, seen_ended, trouble, watched
from .keeping import Keeping
from .masking import Masks
from .questions import Questions
from .requests import ModeArgs, NameArgs, OrderArgs, ReloadArgs, SendArgs, StopArgs
from .showing import Showing

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event
    from koboshi.daemon.house import House
    from koboshi.daemon.wards import Ward
    from koboshi.hosts.base import Place

#: Seconds that `ls` waits for agents whose journals are still being read.
TAKEN_UP = 5.0
#: Seconds an agent may take to be started.
STARTS = 30.0
#: Orders that need no more than a word.
SIMPLE = {order.value: order for order in (Order.PAUSE, Order.RESUME, Order.ACKNOWLEDGE)}


class Verbs:
    """The table of verbs over one house."""

    def __init__(self, house: House, leave: Callable[[], None]) -> None:
        self._house = house
        self._leave = leave
        self._errands = Errands(house, self._up)
        self._masks = Masks(house.roster)
        self._showing = Showing(house, self._place, self._masks)
        self._questions = Questions(
            house=house,
            masks=self._masks,
            errands=self._errands,
            up=self._up,
            place_of=self._place,
        )
        self._since = time.time()

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb; what they say is masked."""
        return self._masks.over(self._table())

    def _table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        return {
            "ping": self.ping,
            "ls": self.ls,
            "config": self.config,
            "status": self.status,
            "run": self.run,
            "start": self.start,
            "watch": self.watch,
            "send": self.send,
            "stop": self.stop,
            "reload": self.reload,
            "order": self.order,
            **bringing.table(self._house),
            **planning.table(self._house),
            "mode": self.mode,
            "release": self.release,
            "remove": self.remove,
            "attach": self.attach,
            "detach": self.detach,
            "screen": self.screen,
            **self._questions.table(),
            **self._errands.table(),
            **self._showing.table(),
            **Keeping(self._up).table(),
            "leave": self.leave,
        }

    async def ping(self, args: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Who is there."""
        house = self._house
        return {
            "pid": os.getpid(),
            "version": __version__,
            "since": self._since,
            "agents": len(house.wards),
            "running": sum(map(runs, house.wards.values())),
            "state": str(house.state),
            "verbs": sorted(self._table()),
        }

    async def leave(self, args: dict[str, Any]) -> dict[str, Any]:
        """End the daemon; the agents live on."""
        self._leave()
        return await self.ping(args)

    # -- looking -------------------------------------------------------------------------------

    async def ls(self, args: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: ARG002
        """Everybody, briefly."""
        wards = self._house.wards
        # A daemon that has just begun still reads journals: better a moment later than "unknown".
        await asyncio.gather(
            *(ward.taken_up(TAKEN_UP) for ward in wards.values()), return_exceptions=True
        )
        found = []
        for entry in self._house.roster.entries():
            ward = wards.get(entry.agent)
            found.append(brief(ward) if ward else report.brief(entry, None, None, "released"))
        return found

    async def status(self, args: dict[str, Any]) -> dict[str, Any]:
        """One agent, with all that is known."""
        name = _as(NameArgs, args).name
        ward = self._house.wards.get(name)
        if ward is None:
            return report.full(self._house.roster.entry(name), None, None, "released")
        with contextlib.suppress(KoboshiError):
            await ward.taken_up(5.0)
        supervisor = ward.supervisor
        now = supervisor.runtime.now() if supervisor else None
        return {**report.full(ward.entry, ward.world, now, trouble(ward)), **said(ward)}

    async def screen(self, args: dict[str, Any]) -> dict[str, Any]:
        """One look at an agent's terminal, with secrets masked: it is meant to be shown."""
        ward = self._house.ward(_as(NameArgs, args).name)
        seen = await ward.host.look(await self._place(ward))
        facts: dict[str, Any] = msgspec.to_builtins(seen)
        for key in ("text", "ansi", "title"):
            names = (getpass.getuser(), socket.gethostname(), Path.home().name)
            text, agent = facts[key] or "", ward.entry.agent
            facts[key] = self._masks.text(agent, text, cols=seen.cols, names=names)
        return {**facts, "type": ward.entry.agent_type}

    # -- taking on and letting go --------------------------------------------------------------

    async def run(self, args: dict[str, Any]) -> dict[str, Any]:
        """Start an agent and look after it."""
        asked = _as(RunArgs, args)
        if not asked.argv:
            raise InputError("expected a command to run", hint="koboshi run -- claude")
        entry = Entry(
            agent=self._name(asked.name, asked.argv[0]),
            agent_type=type_of(asked.type),
            argv=tuple(asked.argv),
            cwd=asked.cwd,
            mode=mode_of(asked.mode),
            created=time.time(),
            variables=relevant(asked.variables),
        )
        notes = await checked(entry)
        ward = await self._house.run(entry, asked.environment)
        return {**await self._begun(ward), "notes": notes}

    async def start(self, args: dict[str, Any]) -> dict[str, Any]:
        """Start an agent again."""
        return await self._begun(await self._house.start(_as(NameArgs, args).name))

    async def watch(self, args: dict[str, Any]) -> dict[str, Any]:
        """Look after a pane the user has."""
        asked = _as(WatchArgs, args)
        host = self._house.adopted
        seen = await host.peek(asked.target, socket=asked.socket)
        argv = tuple(asked.argv) or seen.argv
        kind = type_of(asked.type) if asked.type else program_type(argv)
        entry = Entry(
            agent=self._name(asked.name, argv[0] if argv else kind),
            agent_type=kind,
            argv=argv,
            cwd=seen.cwd,
            host="adopted",
            mode=mode_of(asked.mode),
            created=time.time(),
            variables=relevant(asked.variables, plain=True),
        )
        notes = await checked(entry)
        ward = await self._house.watch(entry, asked.target, asked.socket)
        await ward.taken_up(30.0)
        return {**brief(ward), "notes": notes}

    async def config(self, args: dict[str, Any]) -> dict[str, Any]:
        """What is set for an agent, where each value comes from, and which are in force."""
        name = _as(NameArgs, args).name
        ward = self._house.wards.get(name)
        return await configured(self._house.roster.entry(name), ward.world if ward else None)

    async def release(self, args: dict[str, Any]) -> dict[str, Any]:
        """Look after it no more."""
        name = _as(NameArgs, args).name
        await self._house.release(name)
        return {"agent": name}

    async def remove(self, args: dict[str, Any]) -> dict[str, Any]:
        """Strike it from the roster."""
        name = _as(NameArgs, args).name
        await self._house.remove(name)
        return {"agent": name}

    # -- orders --------------------------------------------------------------------------------

    async def order(self, args: dict[str, Any]) -> dict[str, Any]:
        """Pause, resume, acknowledge."""
        asked = _as(OrderArgs, args)
        order = SIMPLE.get(asked.order)
        if order is None:
            raise InputError(f"expected one of {', '.join(SIMPLE)}, not {asked.order!r}")
        ward = self._house.ward(asked.name)
        await ward.taken_up(5.0)
        ward.order(OrderGiven(order=order, by="person"))
        return brief(ward)

    async def mode(self, args: dict[str, Any]) -> dict[str, Any]:
        """How much koboshi may do."""
        asked = _as(ModeArgs, args)
        return brief(await self._house.mode(asked.name, mode_of(asked.mode)))

    async def send(self, args: dict[str, Any]) -> dict[str, Any]:
        """Have a message typed; what came of it, or what it waits for."""
        asked = _as(SendArgs, args)
        if not asked.text.strip():
            raise InputError("expected a message, and it is empty")
        ward, world = await self._up(asked.name)
        if ward.entry.agent_type == "generic":
            raise InputError(
                f"nobody can tell when {asked.name} (generic) is at its prompt: nothing is typed",
                hint=f"type it there: 'koboshi attach {asked.name}'",
            )
        about = f"message{world.view.tally.messages + 1}"

        def sent(event: Event) -> str | None:
            body = event.body
            if not (isinstance(body, ActionFinished) and isinstance(body.action, Send)):
                return None
            return body.outcome.ending.value if body.action.about == about else None

        order = OrderGiven(order=Order.SEND, by="person", text=asked.text, at_once=asked.at_once)
        return await watched(ward, order, sent, asked.wait)

    async def stop(self, args: dict[str, Any]) -> dict[str, Any]:
        """End an agent and all it started."""
        asked = _as(StopArgs, args)
        ward = self._house.ward(asked.name)
        supervisor = await ward.taken_up(5.0)
        run = supervisor.world.view.run
        if run.number == 0 or run.exit is not None:
            ward.order(OrderGiven(order=Order.STOP, by="person"))
            return {**brief(ward), "outcome": "was-ended", "why": ""}

        def stopped(event: Event) -> str | None:
            body = event.body
            if not (isinstance(body, ActionFinished) and isinstance(body.action, Stop)):
                return None
            return body.outcome.ending.value if body.action.ordered else None

        order = Order.KILL if asked.force else Order.STOP
        said = await watched(ward, OrderGiven(order=order, by="person"), stopped, asked.wait)
        if said["outcome"] == "done":
            await seen_ended(ward)
        return said

    async def reload(self, args: dict[str, Any]) -> dict[str, Any]:
        """Restart an agent; nothing is waited for: who asks is mostly the agent itself."""
        asked = _as(ReloadArgs, args)
        ward, world = await self._up(asked.name)
        view, now = world.view, (await ward.taken_up(5.0)).runtime.now()
        if asked.run not in (0, view.run.number):
            raise InputError(
                f"run {asked.run} of {asked.name} is over: run {view.run.number} is up"
            )
        if view.budget_spent(now):
            used = many(view.restarts_in_period(now), "restart")
            used += f" in {view.settings.period / 60:g} min"
            hint = f"a person forgives them with 'koboshi ack {asked.name}'"
            raise KoboshiError(f"{asked.name} is not restarted: {used}", hint=hint)
        order = OrderGiven(
            order=Order.RELOAD,
            by="agent" if asked.run else "person",
            text=asked.reason,
            note=asked.context,
            fresh=asked.fresh,
        )
        ward.order(order)
        return brief(ward)

    # -- terminals -----------------------------------------------------------------------------

    async def attach(self, args: dict[str, Any]) -> dict[str, Any]:
        """The command that shows the agent's terminal."""
        ward = self._house.ward(_as(NameArgs, args).name)
        place = await self._place(ward)
        host = self._house.adopted if ward.entry.host == "adopted" else self._house.tmux
        return {"argv": list(await host.attach_argv(place)), "agent": ward.entry.agent}

    async def detach(self, args: dict[str, Any]) -> dict[str, Any]:
        """Take all terminals off the agent's."""
        ward = self._house.ward(_as(NameArgs, args).name)
        if ward.entry.host == "adopted":
            raise InputError(
                f"{ward.entry.agent} lives in a pane of your own tmux",
                hint="detach there (prefix d), or 'koboshi release' to let go of the agent",
            )
        place = await self._place(ward)
        return {"agent": ward.entry.agent, "detached": await self._house.tmux.detach(place)}

    # -- parts ---------------------------------------------------------------------------------

    async def _begun(self, ward: Ward) -> dict[str, Any]:
        """Wait until the run is there, or it is clear that it will not be."""
        async with ward.events() as queue:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STARTS):
                    while ward.world is not None and ward.world.view.wanted:
                        await queue.get()
        if ward.world is not None:
            raise_failed_start(ward.world.view)
        return brief(ward)

    async def _up(self, name: str) -> tuple[Ward, World]:
        ward = self._house.ward(name)
        world = (await ward.taken_up(5.0)).world
        run = world.view.run
        if run.number == 0 or run.exit is not None:
            raise InputError(f"{name} is not running", hint=f"'koboshi start {name}' starts it")
        return ward, world

    async def _place(self, ward: Ward) -> Place:
        supervisor = await ward.taken_up(5.0)
        if supervisor.place is not None:
            return supervisor.place
        for place in reversed(await ward.host.find(ward.entry.agent)):
            return place
        raise InputError(f"{ward.entry.agent} has no terminal")

    def _name(self, asked: str, program: str) -> str:
        """The name asked for, or the program's with the first free number."""
        if asked:
            return check_name(asked)
        word = os.path.basename(program).encode("ascii", "ignore").decode()  # noqa: PTH119
        plain = "".join(c if c.isalnum() or c in "._-" else "-" for c in word)
        stem = plain.strip("._-")[:40] or "agent"
        for number in range(1, 10_000):
            name = stem if number == 1 else f"{stem}-{number}"
            if self._free(name):
                return check_name(name)
        raise InputError("expected a --name")

    def _free(self, name: str) -> bool:
        ward = self._house.wards.get(name)
        if ward is None:
            return True
        world = ward.world
        return world is not None and world.view.run.exit is not None


def _as(kind: type[Any], args: dict[str, Any]) -> Any:  # noqa: ANN401 - the kind asked for
    return msgspec.convert(args, type=kind)
