"""House: all agents of one user, and the terminals they live in.

One World per agent, one supervisor per World: the house only knows who is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.core.events import Order, OrderGiven, PeersCounted
from koboshi.errors import HostError, InputError, KoboshiError, UnknownAgent
from koboshi.hosts.adopted import AdoptedHost
from koboshi.hosts.tmux import TmuxHost
from koboshi.store.manifests import config_dir
from koboshi.store.paths import is_default, journal_dir, socket_dir
from koboshi.store.roster import Roster
from koboshi.store.shelves import make_private

from .logins import peers
from .loop.keepers import Keepers
from .mornings import mornings
from .news import News
from .pulses import Pulse
from .reach import Reach
from .scribe.pen import Pen
from .settling import settled
from .versions import Versions
from .wards import Ward

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.hosts.base import Host
    from koboshi.store.roster import Entry

    from .supervisor import Supervisor

log = logging.getLogger(__name__)

#: Seconds an agent's journal may take to be read.
TAKEN_UP = 30.0


class House:
    """Everybody in the daemon's care."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.roster = Roster(state)
        self.wards: dict[str, Ward] = {}
        # A trial beside the real thing gets a server of its own.
        own = "koboshi" if is_default(state) else socket_dir(state) / "tmux"
        self.tmux = TmuxHost(own, state_dir=state)
        self.adopted = AdoptedHost(state_dir=state)
        self.pen: Pen | None = None
        self.reach: Reach | None = None
        self._mornings: asyncio.Task[None] | None = None
        self.changes, self.looks = Pulse(), Pulse()
        self.news = News(self.changes)
        self.plan_changes = Pulse()
        self.plans = Keepers(state, changed=self.plan_changes.beat, jobs=self._plans_at_a_time)
        self._versions = Versions(state)
        self._changing = asyncio.Lock()

    def open(self) -> None:
        """Take up everybody on the roster."""
        make_private(socket_dir(self.state))
        self.pen = Pen()
        self.reach = Reach(
            self.state,
            config_dir(),
            who=self._supervisor,
            pen=self.pen,
            logs=self.state / "logs",
        )
        self.reach.open()
        self._mornings = asyncio.get_running_loop().create_task(self._tell_mornings(self.reach))
        for trouble in self.roster.troubles():
            log.error("an agent was passed over", extra={"reason": trouble})
        for entry in self.roster.entries():
            if entry.watched:
                self._tend(entry)
        self._count_peers()
        self.plans.open()

    async def close(self) -> None:
        """Let go of everybody; the agents live on."""
        await self.plans.close()
        await asyncio.gather(*(ward.end() for ward in self.wards.values()))
        if self._mornings is not None:
            self._mornings.cancel()
        if self.reach is not None:
            await self.reach.close()
        if self.pen is not None:
            await self.pen.close()
        await self.tmux.close()
        await self.adopted.close()

    async def _tell_mornings(self, reach: Reach) -> None:
        await mornings(self.state, lambda: reach.owned.file.notify.report, reach.desk.take)

    def ward(self, agent: str) -> Ward:
        """The one who looks after that agent."""
        ward = self.wards.get(agent)
        if ward is not None:
            return ward
        entry = self.roster.entry(agent)  # or an error that names the known ones
        raise UnknownAgent(
            f"{entry.agent} was released and is not looked after",
            hint=f"'koboshi watch TARGET --name {entry.agent}' or 'koboshi start {entry.agent}'",
        )

    async def run(self, entry: Entry, environment: dict[str, str]) -> Ward:
        """Start an agent on our own server."""
        async with self._changing:
            old = self.wards.get(entry.agent)
            if old is not None:
                self._refuse_living(old)
                await old.end()
            known = journal_dir(self.state, entry.agent).exists()
            self.roster.keep(entry, environment)
            ward = self._tend(entry)
            self._count_peers()
        try:
            await self._start(ward)
        except KoboshiError:
            if not known:
                await self._undo(ward)
            raise
        return ward

    async def start(self, agent: str) -> Ward:
        """Start an agent again that was stopped or released, as it was started before."""
        async with self._changing:
            entry = replace(self.roster.entry(agent), watched=True)
            self.roster.keep(entry)
            ward = self.wards.get(agent) or self._tend(entry)
            self._count_peers()
        await self._start(ward)
        return ward

    async def watch(self, entry: Entry, target: str, socket: str | None) -> Ward:
        """Look after a pane the user has."""
        async with self._changing:
            old = self.wards.get(entry.agent)
            if old is not None and old.entry.host != "adopted":
                raise InputError(
                    f"{entry.agent!r} is the name of an agent that koboshi started",
                    hint="choose another with --name",
                )
            if old is not None:
                await old.end()
                self.wards.pop(entry.agent)
            run = 1
            await self.adopted.adopt(entry.agent, target, socket=socket, run=run)
            self.roster.keep(entry)
            ward = self._tend(entry)
            self._count_peers()
            return ward

    async def mode(self, agent: str, mode: str) -> Ward:
        """From now on koboshi may do that much to the agent."""
        async with self._changing:
            ward = self.ward(agent)
            await ward.taken_up(TAKEN_UP)
            ward.entry = replace(ward.entry, mode=mode)
            self.roster.keep(ward.entry)
            ward.order(OrderGiven(order=Order.MODE, by="person", text=mode))
            return ward

    async def release(self, agent: str) -> None:
        """Look after it no more; it lives on."""
        async with self._changing:
            ward = self.ward(agent)
            ward.order(OrderGiven(order=Order.RELEASE, by="person"))
            await ward.end()
            self.wards.pop(agent)
            self.news.forget(agent)
            self._count_peers()
            self.roster.keep(replace(ward.entry, watched=False))
            self.changes.beat(agent)
            if ward.entry.host == "adopted":
                await self._forget(ward)

    async def remove(self, agent: str) -> None:
        """Strike an agent that has ended from the roster; its journal stays."""
        async with self._changing:
            ward = self.wards.get(agent)
            if ward is None:
                self.roster.entry(agent)
            else:
                self._refuse_living(ward)
                # What still waits for it, a message, is not for the next one of that name.
                ward.order(OrderGiven(order=Order.STOP, by="person"))
                await ward.end()
                await self._forget(ward)
                self.wards.pop(agent)
                self._count_peers()
            self.roster.drop(agent)
            self.news.forget(agent)
            self.changes.beat(agent)

    # -- parts ---------------------------------------------------------------------------------

    def _plans_at_a_time(self) -> int:
        return self.reach.owned.file.loop.plans if self.reach else 0

    def _supervisor(self, agent: str) -> Supervisor | None:
        ward = self.wards.get(agent)
        return ward.supervisor if ward else None

    def _tend(self, entry: Entry) -> Ward:
        host: Host = self.adopted if entry.host == "adopted" else self.tmux
        environment = self.roster.environment(entry.agent)
        ward = Ward(
            entry,
            state=self.state,
            host=host,
            environment=environment,
            pen=self.pen,
            reach=self.reach,
            versions=self._versions,
            pulses=(self.changes, self.looks, self.news),
        )
        self.wards[entry.agent] = ward
        self.changes.beat(entry.agent)
        ward.begin()
        return ward

    def _count_peers(self) -> None:
        """Tell each how many others share its login; who knows that already is not told again."""
        logins = {agent: ward.login for agent, ward in self.wards.items()}
        for agent, count in peers(logins).items():
            self.wards[agent].order(PeersCounted(count=count))

    async def _undo(self, ward: Ward) -> None:
        """Forget an agent that could not even be begun: there is nothing to look after."""
        await ward.end()
        self.wards.pop(ward.entry.agent, None)
        self._count_peers()
        self.roster.drop(ward.entry.agent)
        self.changes.beat(ward.entry.agent)

    async def _start(self, ward: Ward) -> None:
        supervisor = await ward.taken_up(TAKEN_UP)
        view = supervisor.world.view
        if view.run.number and view.run.exit is None:
            raise InputError(f"{ward.entry.agent} is running already (run {view.run.number})")
        mode = (await settled(ward.entry)).mode
        if view.settings.mode is not mode:
            # The journal may hold an older order about it.
            ward.order(OrderGiven(order=Order.MODE, by="person", text=mode.name.lower()))
        ward.order(OrderGiven(order=Order.START, by="person"))

    @staticmethod
    def _refuse_living(ward: Ward) -> None:
        world = ward.world
        if world is None:
            raise KoboshiError(f"{ward.entry.agent} is not looked after: {ward.trouble}")
        if world.view.run.number and world.view.run.exit is None:
            agent = ward.entry.agent
            raise InputError(
                f"{agent!r} is running already",
                hint=f"'koboshi stop {agent}' first, or choose another name with --name",
            )

    async def _forget(self, ward: Ward) -> None:
        with contextlib.suppress(HostError):  # gone already
            for place in await ward.host.find(ward.entry.agent):
                await ward.host.forget(place)
