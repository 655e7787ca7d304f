"""Terminals in a tmux server of our own; agents in it outlive koboshi.

One control-mode client is attached to a hub session with `no-output`, so that a frozen supervisor
can never block an agent; that something was printed a bell tells (bells.py). Panes carry the
agent's name and run as user options: after a restart `find` reads them back. Panes are named by
their `%id` and checked against those options in every verb, because a new server counts its ids
from zero again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from koboshi.errors import HostError, HostMissing
from koboshi.hosts import bells, panes
from koboshi.hosts.base import Place
from koboshi.hosts.bells import Belfry
from koboshi.hosts.control import ConnectionLost, ControlClient
from koboshi.hosts.ears import Ear
from koboshi.hosts.panes import Pane, done
from koboshi.hosts.runs import RunFolder, agent_env, slug, with_utf8
from koboshi.hosts.slack import lenient_children
from koboshi.hosts.sweep import sweep_runs
from koboshi.hosts.trees import MARK
from koboshi.observations import ScreenSeen

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from koboshi.hosts.base import Keystroke, Launch
    from koboshi.hosts.control import Command, Reply
    from koboshi.hosts.panes import Shown

#: What the agent's environment takes from tmux and not from us.
OF_TMUX = ("TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE")
#: Seconds tmux gets to read the rest of a dead program's output.
LAST_OUTPUT = 1.0
#: Seconds our server gets to leave when it is shut down.
SERVER_PATIENCE = 10.0


class TmuxHost:
    """Host over tmux: `socket` is a name for `-L`, or a path for `-S` when it holds a slash."""

    name = "tmux"

    def __init__(
        self, socket: str | Path = "koboshi", tmux: str = "tmux", *, state_dir: Path
    ) -> None:
        path = isinstance(socket, Path) or "/" in socket
        self._server = ("-S" if path else "-L", str(socket))
        self._tmux = tmux
        self._state_dir = Path(state_dir).absolute()  # the recorder runs in another directory
        self._client: ControlClient | None = None
        self._connecting = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._ears: dict[tuple[str, str, int], Ear] = {}
        self._belfry = Belfry()
        self._folders: dict[str, RunFolder] = {}
        #: The folder that a place was last known by: it tells runs apart, also on another server.
        self._marks: dict[tuple[str, str, int], str] = {}

    # -- verbs ---------------------------------------------------------------------------------

    async def start(self, launch: Launch) -> Place:
        """Start a program in a window of the agent's session."""
        panes.check(launch)
        async with self._starting:
            known = await self._panes()
            mine = [pane for pane in known if pane.agent == launch.agent]
            if any(pane.run == launch.run for pane in mine):
                message = f"run {launch.run} of {launch.agent!r} already has a terminal"
                raise HostError(message)
            folder = RunFolder.create(self._runs, launch)
            try:
                place = await self._start(launch, folder, mine)
            except BaseException:
                folder.remove()  # the recorder gives up without it
                raise
            await asyncio.to_thread(sweep_runs, self._runs, launch, {pane.folder for pane in known})
            return place

    async def find(self, agent: str) -> tuple[Place, ...]:
        """All terminals of that agent on this server, oldest run first."""
        mine = [pane for pane in await self._panes() if pane.agent == agent]
        return tuple(self._place(pane) for pane in sorted(mine, key=lambda pane: pane.run))

    async def look(self, place: Place) -> ScreenSeen:
        """The screen and the process now; the screen of an ended program is complete."""
        return await self._look(place, plain=False)

    async def glance(self, place: Place) -> ScreenSeen:
        """The same without styles, for a third of what it costs tmux."""
        return await self._look(place, plain=True)

    async def _look(self, place: Place, *, plain: bool) -> ScreenSeen:
        deadline = time.monotonic() + LAST_OUTPUT
        while True:
            at, utc = time.monotonic(), time.time()
            shown, text, ansi = await self._capture(place, plain=plain)
            folder = self._folder(shown.folder)
            ended = folder.ended()
            if ended is None or shown.dead or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.01)  # ended, but tmux has not read all that it wrote
        if ear := self._ears.get(_key(place)):
            ear.pace.saw((text, shown.title, shown.command))
        child = folder.child()
        alive = ended is None and (not shown.dead or (child is not None and child.running()))
        return ScreenSeen(
            text=text,
            run=place.run,
            at=at,
            utc=utc,
            ansi=ansi,
            title=shown.title,
            command=shown.command if alive else "",
            cols=shown.cols,
            rows=shown.rows,
            cursor=shown.cursor,
            pid=child.pid if child else None,
            alive=alive,
            code=ended.code if ended else None,
            signal=ended.signal if ended else None,
            plain=plain,
            typed_at=shown.typed_at,
        )

    def stirred(self, place: Place, patience: float) -> Coroutine[Any, Any, bool]:
        """Wait until the pane prints, ends or goes; where it cannot ring, until a look is due."""
        ear = self._ears.get(_key(place))
        if ear is None:
            return self._first_stir(place, patience)
        return ear.stirred(patience, lambda: self._attach(ear, place))

    async def _first_stir(self, place: Place, patience: float) -> bool:
        _, pane = await self._reach(place)
        self._ears[_key(place)] = Ear(self._folder(pane.folder).path, self._belfry)
        return await self.stirred(place, patience)

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """Send keystrokes in order; text is a bracketed paste where the program asked for such."""
        commands = panes.press(place.id, strokes)
        client, pane = await self._reach(place)
        if self._folder(pane.folder).ended():
            message = f"run {place.run} of {place.agent!r} has ended, nothing can be typed"
            raise HostError(message)
        done(await client.ask(*commands))
        if ear := self._ears.get(_key(place)):
            ear.typed()

    async def end(self, place: Place, *, force: bool) -> None:
        """Signal all processes of the run; a pid that now belongs to another is never hit."""
        _, pane = await self._reach(place)
        await asyncio.to_thread(self._folder(pane.folder).end, force=force)

    async def forget(self, place: Place) -> None:
        """Remove the pane of an ended program, and its record."""
        if (await self.look(place)).alive:
            message = f"run {place.run} of {place.agent!r} still runs"
            raise HostError(message, hint="end it first")
        client, pane = await self._reach(place)
        done(await client.ask(("kill-pane", "-t", place.id)))
        if ear := self._ears.pop(_key(place), None):
            ear.close()
        self._marks.pop(_key(place), None)
        self._folder(pane.folder).remove()
        del self._folders[pane.folder]

    async def attach_argv(self, place: Place) -> tuple[str, ...]:
        """The command that brings a person to the agent."""
        await self._reach(place)
        return (self._tmux, "-u", *self._server, "attach-session", "-t", place.id)

    async def detach(self, place: Place) -> int:
        """Take every person's terminal off the agent's session; how many there were."""
        client, pane = await self._reach(place)
        session = ("-t", pane.tmux_session)
        (reply,) = done(await client.ask(("list-clients", *session, "-F", "#{client_name}")))
        done(await client.ask(("detach-client", "-s", pane.tmux_session)))
        return len([line for line in reply.lines if line])

    async def close(self) -> None:
        """Detach; the agents live on in tmux."""
        while self._ears:
            self._ears.popitem()[1].close()
        self._belfry.close()
        self._belfry = Belfry()
        await self._disconnect()

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client:
            await client.close()

    async def shutdown(self) -> None:
        """Kill our server with every agent in it and remove its socket: for tests, uninstalling."""
        folders = [self._folder(pane.folder) for pane in await self._panes()]
        for folder in folders:
            await asyncio.to_thread(folder.end, force=True)
        client = await self._connect()
        (reply,) = await client.ask(("display-message", "-p", panes.SERVER_FORMAT))
        pid, _, socket = reply.text.partition(panes.SEPARATOR)
        await self.close()  # first: a server that ends with an unread control client may wedge
        await stop_server(int(pid))
        await asyncio.to_thread(Path(socket).unlink, missing_ok=True)
        for folder in folders:
            folder.remove()

    # -- parts of the verbs --------------------------------------------------------------------

    async def _start(self, launch: Launch, folder: RunFolder, mine: list[Pane]) -> Place:
        """Open a pane, mark it, and only then let its recorder start the program."""
        client = await self._connect()
        pane = await self._open(client, launch, folder, mine)
        try:
            done(await client.ask(*panes.mark(pane, launch, folder.path.name)))
            folder.release(launch, agent_env(os.environ, launch), keep=OF_TMUX)
            child = await folder.started()
        except BaseException:
            with contextlib.suppress(HostError):
                await client.ask(("kill-pane", "-t", pane))
            raise
        return Place(id=pane, agent=launch.agent, run=launch.run, pid=child.pid)

    async def _open(
        self, client: ControlClient, launch: Launch, folder: RunFolder, mine: list[Pane]
    ) -> str:
        """A new pane in which the recorder waits: in the agent's session, or in a new one."""
        tail = ("-d", "-P", "-F", "#{pane_id}", "-n", f"run-{launch.run}", *folder.command())
        if mine:
            window = ("new-window", "-t", f"{mine[-1].tmux_session}:", *tail)
            return done(await client.ask(window))[0].text
        size = ("-x", str(launch.cols), "-y", str(launch.rows))
        name = slug(launch.agent)
        (reply,) = await client.ask(("new-session", "-s", name, *size, *tail))
        if reply.failed and "duplicate session" in reply.text:  # another agent's name, sanitised
            name = f"{name}-{secrets.token_hex(3)}"
            (reply,) = await client.ask(("new-session", "-s", name, *size, *tail))
        return done([reply])[0].text

    async def _panes(self) -> list[Pane]:
        _, (reply,) = await self._read(("list-panes", "-a", "-F", panes.FORMAT))
        return [pane for line in done([reply])[0].lines if (pane := Pane.parse(line))]

    async def _reach(self, place: Place) -> tuple[ControlClient, Pane]:
        """The pane, and the connection on which it is that pane: ids mean nothing on another."""
        client, (reply,) = await self._read(panes.describe(place.id))
        return client, panes.checked(reply, place)

    async def _attach(self, ear: Ear, place: Place) -> None:
        """Hang up the bell, unless the run has ended or a person does something with its output."""
        client, (facts, piped) = await self._read(panes.describe(place.id), bells.piped(place.id))
        pane = panes.checked(facts, place)
        taken, _, device = piped.text.partition(" ")
        if ear.fifo is None or pane.shown.dead or ear.listen(device):
            return
        if taken != "1":
            done(await client.ask(bells.attach(place.id, ear.fifo)))

    async def _capture(self, place: Place, *, plain: bool) -> tuple[Shown, str, str]:
        """Facts and both forms of the screen in one round trip; or only the plain one."""
        wanted = panes.capture(place.id)[: 1 if plain else 2]
        mark = self._marks.get(_key(place))
        asked = panes.describe(place.id) if mark is None else panes.look_at(place.id)
        _, (facts, *screens) = await self._read(asked, *wanted)
        if mark is None:
            shown = panes.checked(facts, place).shown
            self._marks[_key(place)] = shown.folder
        else:
            short = panes.looked(facts.text)
            if short is None or short.folder != mark:
                # Nobody is gone by a short answer: it is asked again in full.
                self._marks.pop(_key(place), None)  # another look may have done so
                return await self._capture(place, plain=plain)
            shown = short
        done(screens)
        return shown, screens[0].text, "" if plain else screens[1].text

    @property
    def _runs(self) -> Path:
        return self._state_dir / "runs"

    def _folder(self, name: str) -> RunFolder:
        folder = self._folders.get(name)
        if folder is None:  # kept: it remembers who the program is, and looks are many
            folder = self._folders[name] = RunFolder(self._runs / name)
        return folder

    def _place(self, pane: Pane) -> Place:
        child = self._folder(pane.folder).child()
        return Place(id=pane.id, agent=pane.agent, run=pane.run, pid=child.pid if child else None)

    # -- the connection ------------------------------------------------------------------------

    async def _read(self, *commands: Command) -> tuple[ControlClient, list[Reply]]:
        """Ask what may be asked twice: a connection that died unnoticed is opened anew, once."""
        client = self._client
        if client is None or not client.alive:
            client = await self._connect()
        try:
            return client, await client.ask(*commands)
        except ConnectionLost:
            client = await self._connect()
            return client, await client.ask(*commands)

    async def _connect(self) -> ControlClient:
        """The open connection, or a new one; starts our server where there is none."""
        async with self._connecting:
            if self._client and self._client.alive:
                return self._client
            await self._disconnect()
            with lenient_children():
                client = await ControlClient.open(self._argv(), client_env())
            self._client = client
            # Said again to a server that an older koboshi may have started.
            done(await client.ask(*(("set-option", *option) for option in panes.OPTIONS)))
            return client

    def _argv(self) -> Command:
        program = shutil.which(self._tmux)
        if program is None:
            message = f"{self._tmux!r} was not found"
            hint = "install tmux 3.2 or newer (apt install tmux, brew install tmux) or use host pty"
            raise HostMissing(message, hint=hint)
        return (program, "-u", *self._server, "-f", str(self._config()), "-C", *panes.ATTACH)

    def _config(self) -> Path:
        """Our options as a file: the hub's own pane needs them before we can say them."""
        self._state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._state_dir / "tmux.conf"
        lines = (" ".join(("set-option", *(f"'{word}'" for word in o))) for o in panes.OPTIONS)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path


def _key(place: Place) -> tuple[str, str, int]:
    """Without the pid, which a place may not have yet."""
    return place.id, place.agent, place.run


def client_env() -> dict[str, str]:
    """Our environment for the tmux client, which refuses to attach from inside another tmux.

    Without the mark of a run: a server started from inside an agent must not end with that agent.
    """
    unwanted = ("TMUX", "TMUX_PANE", MARK)
    return with_utf8({k: v for k, v in os.environ.items() if k not in unwanted})


async def stop_server(pid: int) -> None:
    """End the tmux server `pid`, by force when it does not listen."""
    with contextlib.suppress(psutil.NoSuchProcess):
        server = psutil.Process(pid)
        server.terminate()
        deadline = time.monotonic() + SERVER_PATIENCE
        # Not server.wait(): nobody may be in a hurry to reap what is no child of ours.
        while server.is_running() and server.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                server.kill()
            await asyncio.sleep(0.01)
