"""The contract for `TmuxHost`, and what only tmux can promise: agents outlive us."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from koboshi.errors import HostError, HostMissing, PlaceGone
from koboshi.hosts.base import Host, Key, Launch, Text
from koboshi.hosts.pty import PtyHost
from koboshi.hosts.recorder import OWN_SLACK, SLACK, USUAL_SLACK
from koboshi.hosts.tmux import TmuxHost
from tests.hosts.contract import HostContract
from tests.hosts.waiting import content, kept, program, until, until_ended, until_text

pytestmark = pytest.mark.tmux

SLACK_FILE = Path(OWN_SLACK)


@asynccontextmanager
async def opened(state_dir: Path, socket: str = "") -> AsyncIterator[TmuxHost]:
    """A host on a server of its own, which is gone afterwards."""
    host = TmuxHost(socket=socket or f"test-{secrets.token_hex(4)}", state_dir=state_dir)
    try:
        yield host
    finally:
        await host.shutdown()


def launch(name: str, *args: object, agent: str = "doll", run: int = 1) -> Launch:
    """A program of ours as an agent."""
    return Launch(agent=agent, run=run, argv=program(name, *args), cwd=tempfile.gettempdir())


def tmux(host: TmuxHost, *args: str) -> str:
    """What a person could say to our server."""
    command = ["tmux", *host._server, *args]  # noqa: SLF001
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def lives(process: psutil.Process) -> bool:
    """Whether it is there and no zombie."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class TestTmux(HostContract):
    """The contract."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Host]:
        """A host on a server of its own."""
        with tempfile.TemporaryDirectory() as folder:
            async with opened(Path(folder) / "state") as host:
                yield host


def test_without_tmux_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    """Also that there is another host."""
    host = TmuxHost(tmux="no-such-tmux", state_dir=tmp_path)
    with pytest.raises(HostMissing, match="no-such-tmux") as caught:
        asyncio.run(host.find("doll"))

    assert "install tmux" in caught.value.hint


def test_an_agent_is_found_again_by_a_new_host(tmp_path: Path) -> None:
    """Its end too, when nobody was there to see it."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            lives = await host.start(launch("show", "still here"))
            ends = await host.start(launch("leave", 7, run=2))
            await until_text(host, lives, "pid=")
            await until_ended(host, ends)
            await host.close()

            again = TmuxHost(socket=host._server[1], state_dir=tmp_path)  # noqa: SLF001
            assert await again.find("doll") == (lives, ends)
            assert (await again.look(lives)).text.startswith("still here\n")
            assert (await again.look(ends)).code == 7
            await again.close()

    asyncio.run(run())


def test_agents_whose_names_look_alike_to_tmux_stay_apart(tmp_path: Path) -> None:
    """A session's name may hold neither dots nor colons."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            names = ["a.b", "a:b", "a b", "koboshi-hub", "日本", "-x", "#{pane_id}"]
            places = [await host.start(launch("show", name, agent=name)) for name in names]
            for name, place in zip(names, places, strict=True):
                assert await host.find(name) == (place,)
                assert (await until_text(host, place, "pid=")).text.startswith(f"{name}\n")

    asyncio.run(run())


def test_a_dead_server_means_gone_places_and_a_new_server(tmp_path: Path) -> None:
    """An id of the old server never reaches a pane of the new one."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            old = await host.start(launch("show"))
            server = psutil.Process(int(tmux(host, "display-message", "-p", "#{pid}")))
            server.kill()
            await until(lambda: not lives(server))
            with pytest.raises(PlaceGone):
                await host.look(old)
            new = await host.start(launch("show", "other", agent="other"))
            assert new.id == old.id
            with pytest.raises(PlaceGone):
                await host.type(old, (Key(name="x"),))

    asyncio.run(run())


def test_a_place_that_was_looked_at_is_known_from_its_id_on_another_server(tmp_path: Path) -> None:
    """Looks ask for less than other verbs, and tell runs apart all the same."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            old = await host.start(launch("show", "first"))
            await until_text(host, old, "first")
            server = psutil.Process(int(tmux(host, "display-message", "-p", "#{pid}")))
            server.kill()
            await until(lambda: not lives(server))
            new = await host.start(launch("show", "other"))
            assert replace(new, pid=None) == replace(old, pid=None)
            assert (await until_text(host, new, "other")).pid == new.pid
            tmux(host, "set-option", "-p", "-t", new.id, "@koboshi_agent", "somebody")
            tmux(host, "set-option", "-p", "-t", new.id, "@koboshi_folder", "elsewhere")
            with pytest.raises(PlaceGone):
                await host.look(new)

    asyncio.run(run())


def test_nobody_is_gone_because_an_option_is(tmp_path: Path) -> None:
    """What looks ask for is kept in tmux, where a person or an agent may change it."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show", "here"))
            known = await until_text(host, place, "pid=")
            for words in (("-u", "@koboshi_look"), ("@koboshi_look", "nothing of use")):
                tmux(host, "set-option", "-s", *words)
                for _ in range(2):
                    seen = await host.look(place)
                    assert (seen.text, seen.cols, seen.rows, seen.command, seen.pid) == (
                        *(known.text, known.cols, known.rows, known.command, known.pid),
                    )

    asyncio.run(run())


def test_several_who_look_at_once_find_the_option_gone(tmp_path: Path) -> None:
    """Eyes and hands look at the same terminal, and neither may trip over the other."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show", "here"))
            known = await until_text(host, place, "pid=")
            tmux(host, "set-option", "-s", "-u", "@koboshi_look")
            seen = await asyncio.gather(*(host.look(place) for _ in range(5)))
            assert {each.text for each in seen} == {known.text}

    asyncio.run(run())


@pytest.mark.parametrize("title", ["#{pid} #(id) %H:%M", "a ␞ b ␞␞ c", "#{E:@koboshi_look}"])
def test_a_title_is_what_the_program_wrote(title: str, tmp_path: Path) -> None:
    """It is told by a format, and may look like one."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show", f"\x1b]0;{title}\x07titled"))
            await until_text(host, place, "titled")
            assert (await host.look(place)).title == title
            assert (await host.glance(place)).title == title

    asyncio.run(run())


def test_folders_of_runs_whose_server_died_go_with_the_next_start(tmp_path: Path) -> None:
    """Not those of other agents and of later runs, nor what is named otherwise."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            first = await host.start(launch("show"))
            other = await host.start(launch("show", agent="other"))
            await until_text(host, first, "pid=")
            left = next((tmp_path / "runs").glob("doll-1-*"))
            for name in ("doll-9-0123abcd", "doll-1", "doll-x-0123abcd"):
                (tmp_path / "runs" / name).mkdir()
            server = psutil.Process(int(tmux(host, "display-message", "-p", "#{pid}")))
            recorders = psutil.Process(first.pid).parents()[:1]
            server.kill()
            await until(lambda: not lives(server))
            pids = [place.pid for place in (first, other)]
            await until(lambda: not any(psutil.pid_exists(pid) for pid in pids if pid))
            await until(lambda: any(left.glob("status.json")))
            await until(lambda: not any(map(lives, recorders)))  # it writes that, then it goes
            await host.start(launch("show", run=2))
            names = sorted(path.name[:-8] for path in (tmp_path / "runs").iterdir())
            assert names == sorted(["", "doll-2-", "doll-9-", "doll-x-", "other-1-"])

    asyncio.run(run())


def test_a_look_at_the_moment_of_the_end_has_the_whole_screen(tmp_path: Path) -> None:
    """What the program wrote last is often the reason why it ended."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            for number in range(1, 11):
                place = await host.start(launch("leave", 1, 20_000, run=number))
                (status,) = (tmp_path / "runs").glob(f"doll-{number}-*")
                deadline = time.monotonic() + 30
                while not (status / "status.json").exists():  # no pause: that moment is the point
                    assert time.monotonic() < deadline
                seen = await host.look(place)
                assert seen.text.endswith("line\ngoodbye")

    asyncio.run(run())


def test_a_person_who_attaches_does_not_change_the_size(tmp_path: Path) -> None:
    """Screens are read by their layout; each run keeps the size it was started with."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            first = await host.start(replace(launch("show", "first"), cols=90, rows=25))
            second = await host.start(replace(launch("show", "second", run=2), cols=70, rows=20))
            await until_text(host, second, "pid=")
            person = PtyHost()
            attach = ("tmux", *host._server, "attach", "-t", "doll")  # noqa: SLF001
            screen = await person.start(
                Launch(agent="person", run=1, argv=attach, cwd=str(tmp_path), cols=40, rows=10)
            )
            try:
                await until_text(person, screen, "[koboshi doll]")
                sizes = [(s.cols, s.rows) for s in [await host.look(p) for p in (first, second)]]
                assert sizes == [(90, 25), (70, 20)]
            finally:
                await person.close()

    asyncio.run(run())


@pytest.mark.parametrize(("cols", "said"), [(40, "C-b d leaves"), (90, "the agent goes on")])
def test_a_person_who_attaches_is_told_how_to_leave(cols: int, said: str, tmp_path: Path) -> None:
    """Whole, also in a narrow terminal: "d leaves" would be typed to the agent."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show"))
            person = PtyHost()
            argv = await host.attach_argv(place)
            here = Launch(agent="me", run=1, argv=argv, cwd=str(tmp_path), cols=cols, rows=24)
            screen = await person.start(here)
            try:
                seen = await until_text(person, screen, said)
                assert "C-b d leaves" in seen.text
            finally:
                await person.close()

    asyncio.run(run())


def test_our_client_takes_no_output_and_has_no_size(tmp_path: Path) -> None:
    """A second belt: output comes only from the session one is attached to, and ours is the hub."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            await host.start(launch("show"))
            clients = tmux(host, "list-clients", "-F", "#{session_name} #{client_flags}")
            (line,) = clients.splitlines()
            name, _, flags = line.partition(" ")
            assert name == "koboshi-hub"
            assert {"control-mode", "no-output", "ignore-size", "UTF-8"} <= set(flags.split(","))

    asyncio.run(run())


@pytest.mark.skipif(not SLACK_FILE.exists(), reason="timers have no slack on this system")
def test_tmux_may_be_late_and_agents_are_not(tmp_path: Path) -> None:
    """A slack is inherited: by the server from us, and by an agent from nobody."""
    before, inherited = SLACK_FILE.read_text(encoding="ascii"), tmp_path / "slack"

    async def run() -> None:
        async with opened(tmp_path) as host:
            argv = ("sh", "-c", f"echo slack $(cat {SLACK_FILE}); exec sleep 1000")
            cwd = tempfile.gettempdir()
            place = await host.start(Launch(agent="doll", run=1, argv=argv, cwd=cwd))
            seen = await until_text(host, place, "slack")

            assert seen.text.split()[:2] == ["slack", str(USUAL_SLACK)]
            tmux(host, "run-shell", f"cat {SLACK_FILE} >{inherited}")
            assert inherited.read_text(encoding="ascii").strip() == str(SLACK)

    asyncio.run(run())
    assert SLACK_FILE.read_text(encoding="ascii") == before


def test_a_hub_that_somebody_closed_comes_back(tmp_path: Path) -> None:
    """People may press keys in our server."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show", "hello"))
            tmux(host, "kill-session", "-t", "koboshi-hub")
            assert (await until_text(host, place, "pid=")).alive

    asyncio.run(run())


def test_a_pane_left_in_copy_mode_still_takes_a_bracketed_paste(tmp_path: Path) -> None:
    """Else it would go without brackets, each line a message of its own."""
    out = tmp_path / "typed"
    expected = b"\x1b[200~one\rtwo\x1b[201~\r"

    async def run() -> None:
        async with opened(tmp_path / "state") as host:
            place = await host.start(launch("record", out, "\\e[?2004h"))
            await until_text(host, place, "ready")
            tmux(host, "copy-mode", "-t", place.id)
            await host.type(place, (Text(text="one\ntwo"), Key(name="Enter")))
            await until(lambda: len(content(out)) >= len(expected))

    asyncio.run(run())
    assert content(out) == expected


def test_nothing_of_ours_can_be_read_by_others(tmp_path: Path) -> None:
    """Folders 0700, files 0600, and no environment is left on disk."""

    async def run() -> None:
        async with opened(tmp_path / "state") as host:
            await host.start(launch("show"))
            paths = list((tmp_path / "state" / "runs").rglob("*"))
            for path in (tmp_path / "state", tmp_path / "state" / "runs", *paths):
                mode = stat.S_IMODE(path.stat().st_mode)
                assert mode == (0o700 if path.is_dir() else 0o600), path
            assert [path.name for path in paths if path.is_file()] == ["child.json"]

    asyncio.run(run())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_the_recorder_outlives_what_a_shutdown_sends(
    number: signal.Signals, tmp_path: Path
) -> None:
    """The program goes on, and its end is recorded."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show"))
            await until_text(host, place, "pid=")
            recorder = psutil.Process(place.pid).parent()
            assert recorder is not None
            os.kill(recorder.pid, number)
            assert (await host.look(place)).alive
            await host.end(place, force=False)
            assert (await until_ended(host, place)).signal == signal.SIGTERM

    asyncio.run(run())


def test_a_hang_up_reaches_the_program_and_is_recorded(tmp_path: Path) -> None:
    """The kernel tells the recorder alone; as long as the terminal is there, nothing follows."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show"))
            await until_text(host, place, "pid=")
            recorder = psutil.Process(place.pid).parent()
            assert recorder is not None
            os.kill(recorder.pid, signal.SIGHUP)
            seen = await until_ended(host, place)
            assert (seen.code, seen.signal) == (None, signal.SIGHUP)

    asyncio.run(run())


@pytest.mark.parametrize("name", ["show", "family"])
def test_a_program_does_not_outlive_its_terminal(name: str, tmp_path: Path) -> None:
    """Nobody could reach it any more; one that ignores the hang-up is ended with more force."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch(name))
            await until_text(host, place, ".")
            agent = psutil.Process(place.pid)
            family = [agent, *agent.children()]
            tmux(host, "kill-session", "-t", "doll")
            with pytest.raises(PlaceGone):
                await host.look(place)
            await until(lambda: not any(map(lives, family)))

    asyncio.run(run())


def test_a_killed_recorder_leaves_an_end_without_a_reason(tmp_path: Path) -> None:
    """Nobody could tell: neither code nor signal is made up."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            place = await host.start(launch("show"))
            await until_text(host, place, "pid=")
            recorder = psutil.Process(place.pid).parent()
            assert recorder is not None
            recorder.kill()
            seen = await until_ended(host, place)
            assert (seen.code, seen.signal) == (None, None)
            await host.forget(place)

    asyncio.run(run())


def test_an_agent_without_a_name_or_with_an_odd_one_is_refused(tmp_path: Path) -> None:
    """It could not be found again."""

    async def run() -> None:
        async with opened(tmp_path) as host:
            for name in ("", "two\nlines", "a␞b"):
                with pytest.raises(HostError, match="expected a name"):
                    await host.start(launch("show", agent=name))

    asyncio.run(run())


# -- a supervisor that freezes or dies ---------------------------------------------------------


def test_a_frozen_supervisor_does_not_block_its_agent(tmp_path: Path) -> None:
    """Neither the frozen process nor its frozen tmux client holds up a byte."""
    progress, socket = tmp_path / "progress", f"test-{secrets.token_hex(4)}"

    def taken() -> int:
        return int(content(progress) or b"0")

    async def run() -> None:
        async with opened(tmp_path, socket) as host:
            with kept(socket, tmp_path, *program("drip", progress)) as keeper:
                frozen = [psutil.Process(keeper.pid)]
                frozen += frozen[0].children()
                assert len(frozen) == 2
                for process in frozen:
                    process.suspend()
                before = taken()
                await until(lambda: taken() > before + 60, 60)
                for process in frozen:
                    process.resume()
            (place,) = await host.find("kept")
            assert (await host.look(place)).alive

    asyncio.run(run())


def test_an_agent_survives_the_kill_of_its_supervisor(tmp_path: Path) -> None:
    """It is found again, running, by whoever comes next, who also learns how it ends."""
    socket = f"test-{secrets.token_hex(4)}"

    async def run() -> None:
        async with opened(tmp_path, socket) as host:
            with kept(socket, tmp_path, *program("show", "unharmed")) as keeper:
                keeper.kill()
                keeper.wait()
            (place,) = await host.find("kept")
            seen = await until_text(host, place, "pid=")
            assert (seen.alive, seen.pid) == (True, place.pid)
            assert seen.text.startswith("unharmed\n")
            await host.end(place, force=False)
            assert (await until_ended(host, place)).signal == signal.SIGTERM

    asyncio.run(run())
