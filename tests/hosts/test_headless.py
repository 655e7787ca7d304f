"""Runs without a terminal: the promises about their lives, and that they are found again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import recorder
from koboshi.hosts.base import Host, Key, Launch, Place
from koboshi.hosts.headless import UNSEEN, Finished, HeadlessHost, Running, Task
from koboshi.hosts.runs import RunFolder
from tests.hosts.lives import LifeContract
from tests.hosts.waiting import kept, number_after, program, runs, until, until_ended, until_text


async def sweep(host: HeadlessHost) -> None:
    """End whatever a test has left."""
    for path in host._root.glob("*"):  # noqa: SLF001
        await host.stop(path.name)


class TestHeadless(LifeContract):
    """The contract, as far as it needs no terminal."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Host]:
        """A host in a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            host = HeadlessHost(state_dir=Path(folder))
            try:
                yield host
            finally:
                await sweep(host)


def launch(name: str, *args: object, run: int = 1) -> Launch:
    """A program of ours as an agent."""
    argv = program(name, *args)
    env = {"TOKEN": "secret-value"}
    return Launch(agent="doll", run=run, argv=argv, cwd=tempfile.gettempdir(), env=env, rows=5)


def touching(path: Path) -> Launch:
    """A program that leaves a trace as soon as it runs."""
    return Launch(agent="doll", run=1, argv=("touch", str(path)), cwd=tempfile.gettempdir())


def told(folder: Path, story: Callable[[HeadlessHost], Awaitable[None]]) -> None:
    """Tell a story with a host in that folder."""

    async def run() -> None:
        host = HeadlessHost(state_dir=folder)
        try:
            await story(host)
        finally:
            await sweep(host)

    asyncio.run(run())


async def finished(host: HeadlessHost, place: Place) -> Finished:
    """Wait for the end."""
    await until_ended(host, place)
    state = await host.check(place.id)
    assert isinstance(state, Finished)
    return state


@pytest.mark.parametrize(("number", "code"), [(0, 0), (7, 7)])
def test_an_end_is_judged_with_the_last_lines(number: int, code: int, tmp_path: Path) -> None:
    """Exit code, time, and what it printed; without a terminal, in a session that is not ours."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("printer", 9000, number))
        state = await finished(host, place)
        assert (state.code, state.signal, state.error) == (code, None, "")
        assert state.lines == tuple(f"line {n} 日本" for n in range(8996, 9001))
        assert state.seconds is not None
        assert 0 <= state.seconds < 60
        seen = await host.look(place)
        assert (seen.text, seen.alive, seen.code) == ("\n".join(state.lines), False, code)
        assert (await host.output(place.id)).count("\n") == 9000
        words = await host.output(place.id, "stderr")
        assert number_after("tty", words) == 0
        assert number_after("session", words) != os.getsid(0)

    told(tmp_path, story)


def test_a_signal_is_not_an_exit_code(tmp_path: Path) -> None:
    """Whoever sent it."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("leave", -9))
        state = await finished(host, place)
        assert (state.code, state.signal) == (None, signal.SIGKILL)

    told(tmp_path, story)


def test_a_run_can_be_asked_while_it_runs_and_stopped(tmp_path: Path) -> None:
    """By its id alone; one that is deaf is ended by force, with all it started."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("leavers"))
        seen = await until_text(host, place, "all")
        state = await host.check(place.id)
        assert isinstance(state, Running)
        assert (state.pid, state.lines) == (place.pid, (seen.text,))
        away = [number_after(name, seen.text) for name in ("daemon", "orphan", "bare")]
        with pytest.raises(HostError, match="nothing can be typed"):
            await host.type(place, (Key(name="x"),))
        stopped = await host.stop(place.id)
        assert (stopped.code, stopped.signal) == (None, signal.SIGTERM)
        await until(lambda: not any(map(runs, away)))
        assert await host.stop(place.id) == stopped

    told(tmp_path, story)


def test_a_run_survives_the_kill_of_its_supervisor(tmp_path: Path) -> None:
    """A new host sees it, its output and its end, and lets it end."""

    async def story(host: HeadlessHost) -> None:
        with kept("headless", tmp_path, *program("show", "unharmed")) as keeper:
            keeper.kill()
            keeper.wait()
        (place,) = await host.find("kept")
        seen = await until_text(host, place, "pid=")
        assert (seen.alive, seen.pid) == (True, number_after("pid", seen.text))
        assert isinstance(await host.check(place.id), Running)
        assert psutil.Process(place.pid).terminal() is None
        assert (await host.stop(place.id)).signal == signal.SIGTERM

    told(tmp_path, story)


def test_an_end_that_nobody_was_there_to_see_is_known(tmp_path: Path) -> None:
    """The recorder wrote it down."""

    async def story(host: HeadlessHost) -> None:
        with kept("headless", tmp_path, *program("leave", 5)) as keeper:
            keeper.kill()
            keeper.wait()
        (place,) = await host.find("kept")
        assert (await finished(host, place)).code == 5

    told(tmp_path, story)


def test_its_pid_is_known_before_it_begins(tmp_path: Path) -> None:
    """Whoever wants to write it down can; only then the program runs."""
    begun, seen = tmp_path / "begun", []

    def ready(pid: int) -> None:
        seen.append((pid, psutil.pid_exists(pid), begun.exists()))

    async def story(host: HeadlessHost) -> None:
        place = await host.start(touching(begun), ready)
        assert seen == [(place.pid, True, False)]
        assert (await finished(host, place)).code == 0
        assert begun.exists()

    told(tmp_path, story)


def test_what_cannot_be_written_down_never_begins(tmp_path: Path) -> None:
    """The program is not started, and nothing is left of it."""
    begun, seen = tmp_path / "begun", []

    def ready(pid: int) -> None:
        seen.append(pid)
        raise OSError("no space")

    async def story(host: HeadlessHost) -> None:
        with pytest.raises(OSError, match="no space"):
            await host.start(touching(begun), ready)
        await until(lambda: not psutil.pid_exists(seen[0]))
        assert not begun.exists()
        assert await host.find("doll") == ()

    told(tmp_path, story)


def test_what_nobody_lets_begin_never_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever started it was killed before it could say so: its recorder gives up, and says why."""
    monkeypatch.setattr(recorder, "GO_PATIENCE", 0.0)
    begun = tmp_path / "begun"
    launch = {"argv": ["touch", str(begun)], "cwd": "/", "env": {}, "keep": [], "waits": True}

    pid, error = recorder.spawn(launch, str(tmp_path))

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 127
    assert error == recorder.UNLEASHED
    assert json.loads((tmp_path / "child.json").read_text())["pid"] == pid
    assert not begun.exists()


def test_what_waits_is_over_with_its_recorder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All was killed before it was let begin: nothing begins by itself later."""
    begun = tmp_path / "begun"

    async def story(host: HeadlessHost) -> None:
        async def killed(_: RunFolder) -> None:
            """Says nothing."""

        monkeypatch.setattr(RunFolder, "let_go", killed)
        place = await host.start(touching(begun), lambda _: None)
        (child,) = [c for c in [Task(host._root / place.id).folder.child()] if c]  # noqa: SLF001
        os.kill(child.recorder, signal.SIGKILL)
        assert (await finished(host, place)).error == UNSEEN
        assert not begun.exists()

    told(tmp_path, story)


def test_a_hang_up_of_the_recorder_is_no_end(tmp_path: Path) -> None:
    """There is no terminal that could have been lost."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("show"))
        parent = psutil.Process(place.pid).parent()
        assert parent is not None
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            os.kill(parent.pid, number)
        await host.end(place, force=False)
        assert (await finished(host, place)).signal == signal.SIGTERM

    told(tmp_path, story)


def test_a_killed_recorder_leaves_an_end_without_a_reason(tmp_path: Path) -> None:
    """The program runs on as long as it likes; how it ended is not made up."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("show"))
        parent = psutil.Process(place.pid).parent()
        assert parent is not None
        parent.kill()
        await until(lambda: not runs(parent.pid))
        assert isinstance(await host.check(place.id), Running)
        state = await host.stop(place.id)
        assert (state.code, state.signal, state.seconds) == (None, None, None)
        assert "nobody saw" in state.error

    told(tmp_path, story)


def test_a_run_that_was_never_started_is_over(tmp_path: Path) -> None:
    """The supervisor died between the folder and the recorder."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("leave", 0))
        await until_ended(host, place)
        folder = tmp_path / "headless" / place.id
        spec = json.loads((folder / "spec.json").read_bytes())
        for name in ("child.json", "status.json"):
            (folder / name).unlink()
        assert isinstance(await HeadlessHost(state_dir=tmp_path).check(place.id), Running)
        recorder.write(str(folder), "spec.json", {**spec, "created": spec["created"] - 3600})
        state = await HeadlessHost(state_dir=tmp_path).check(place.id)
        assert isinstance(state, Finished)
        assert (state.code, state.error) == (None, "it was never started")

    told(tmp_path, story)


def test_nothing_of_ours_can_be_read_by_others(tmp_path: Path) -> None:
    """Folders 0700, files 0600, and no value of an environment on disk."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("show"))
        await until_text(host, place, "pid=")
        folder = tmp_path / "headless" / place.id
        assert {p.name for p in folder.iterdir()} == {
            *("spec.json", "child.json", "stdout", "stderr")
        }
        for path in (folder.parent, folder, *folder.iterdir()):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path
            assert path.is_dir() or b"secret-value" not in path.read_bytes()
        assert json.loads((folder / "spec.json").read_bytes())["env"] == ["TOKEN"]

    told(tmp_path, story)


@pytest.mark.parametrize(
    "task", ["", ".", "..", "nobody", "../headless", "../headless/{id}", "/etc"]
)
def test_an_unknown_id_is_gone(task: str, tmp_path: Path) -> None:
    """And no id leads out of the folder."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("leave", 0))
        wrong = task.format(id=place.id)
        for verb in (host.check(wrong), host.stop(wrong), host.output(wrong)):
            with pytest.raises(PlaceGone, match="no run"):
                await verb

    told(tmp_path, story)


def test_a_torn_folder_hides_nobody_else(tmp_path: Path) -> None:
    """A spec that cannot be read is no run; the others are found."""

    async def story(host: HeadlessHost) -> None:
        place = await host.start(launch("leave", 0))
        await until_ended(host, place)
        torn = tmp_path / "headless" / "torn"
        torn.mkdir()
        (torn / "spec.json").write_text('{"agent": "doll", "ru')
        assert await host.find("doll") == (place,)
        (torn / "spec.json").unlink()
        torn.rmdir()

    told(tmp_path, story)
