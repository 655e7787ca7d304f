"""What every host promises. Inherit `HostContract` and say how the host is opened.

A host that starts no real programs overrides `argv` too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts.base import Host, Key, Keystroke, Launch, Place, Text
from tests.hosts.samples import ENDS, KEYS, TEXTS, pasted, texts
from tests.hosts.waiting import (
    bystander,
    content,
    number_after,
    program,
    runs,
    until,
    until_ended,
    until_seen,
    until_text,
)


class HostContract:
    """The promises; every test opens its own host."""

    def opened(self) -> AbstractAsyncContextManager[Host]:
        """A host, ready, that leaves nothing behind."""
        raise NotImplementedError

    def argv(self, name: str, *args: object) -> tuple[str, ...]:
        """How a program of tests/hosts/programs is started."""
        return program(name, *args)

    async def started(
        self, host: Host, name: str, *args: object, agent: str = "doll", run: int = 1
    ) -> Place:
        """Start a program under a name that hardly matters."""
        argv = self.argv(name, *args)
        launch = Launch(
            agent=agent, run=run, argv=argv, cwd=tempfile.gettempdir(), cols=90, rows=25
        )
        return await host.start(launch)

    # -- start and look ------------------------------------------------------------------------

    def test_a_look_shows_screen_and_process(self) -> None:
        """Text, title, size, cursor, name and pid, as of now."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show", "\\e]2;a title ✳\\ahello")
                before = time.monotonic()
                seen = await until_text(host, place, "pid=")

                assert seen.text.startswith("hello\n")
                assert seen.text.count("\n") == 24
                assert (seen.cols, seen.rows, seen.cursor) == (90, 25, (0, 2))
                assert (seen.title, seen.command) == ("a title ✳", Path(sys.executable).name)
                assert seen.pid == place.pid == number_after("pid", seen.text)
                assert (seen.alive, seen.code, seen.signal, seen.run) == (True, None, None, 1)
                assert before <= seen.at <= time.monotonic()
                assert abs((seen.utc or 0) - time.time()) < 60

        asyncio.run(run())

    def test_wide_characters_come_out_right(self) -> None:
        """One cell or two, the text is the text."""

        async def run() -> None:
            async with self.opened() as host:
                words = "日本語 ✳ ❯ 🎉 é … 全角"
                place = await self.started(host, "show", words, "\\e[31mred\\e[0m")
                seen = await until_text(host, place, "pid=")

                assert seen.text.splitlines()[0] == f"{words} red"
                assert seen.ansi is not None
                assert seen.ansi.count("\n") == 24
                assert "\x1b[" in seen.ansi.splitlines()[0].partition("red")[0]

        asyncio.run(run())

    def test_an_agent_finds_a_utf_8_terminal_and_its_own_variables(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever koboshi itself was started in."""
        for name, value in {"LC_ALL": "C", "TMUX": "/x,1,1", "COLUMNS": "7", "OURS": "1"}.items():
            monkeypatch.setenv(name, value)
        out = tmp_path / "environ"

        async def run() -> None:
            async with self.opened() as host:
                argv = self.argv("environ", out)
                env = {"SECRET": "it's; $HOME\n#{x}"}
                await host.start(Launch(agent="doll", run=1, argv=argv, cwd=str(tmp_path), env=env))
                await until(out.exists)

        asyncio.run(run())
        found = json.loads(out.read_text())
        assert (found["SECRET"], found["OURS"]) == ("it's; $HOME\n#{x}", "1")
        assert "UTF-8" in found["LC_CTYPE"]
        assert "LC_ALL" not in found
        assert "COLUMNS" not in found
        assert "256color" in found["TERM"]
        assert found.get("TMUX", "") != "/x,1,1"

    def test_the_same_run_is_started_once(self) -> None:
        """Also while it is ended; a new run may stand beside an old one, and be found after it."""

        async def run() -> None:
            async with self.opened() as host:
                second = await self.started(host, "show", "new", run=2)
                first = await self.started(host, "leave", 0, run=1)
                other = await self.started(host, "show", agent="other")
                await until_ended(host, first)
                for number in (1, 2):
                    with pytest.raises(HostError, match=f"run {number} of 'doll' already"):
                        await self.started(host, "show", run=number)

                assert await host.find("doll") == (first, second)
                assert await host.find("other") == (other,)
                assert await host.find("nobody") == ()

        asyncio.run(run())

    @pytest.mark.parametrize("argv", [("/no/such/program",), ("no-such-program",), ()])
    def test_a_program_that_cannot_start_leaves_nothing(self, argv: tuple[str, ...]) -> None:
        """The error says so, and the run is free again."""

        async def run() -> None:
            async with self.opened() as host:
                with pytest.raises(HostError, match=r"No such file|nothing to start"):
                    await host.start(
                        Launch(agent="doll", run=1, argv=argv, cwd=tempfile.gettempdir())
                    )
                assert await host.find("doll") == ()
                await self.started(host, "show")

        asyncio.run(run())

    def test_a_folder_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        """Never somewhere else instead."""

        async def run() -> None:
            async with self.opened() as host:
                argv = self.argv("show")
                with pytest.raises(HostError, match="nowhere"):
                    await host.start(
                        Launch(agent="doll", run=1, argv=argv, cwd=str(tmp_path / "nowhere"))
                    )

        asyncio.run(run())

    # -- type ----------------------------------------------------------------------------------

    async def typed(self, *strokes: Keystroke, expected: bytes, modes: str = "") -> bytes:
        """What a program in raw mode reads for these strokes."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "typed"
            async with self.opened() as host:
                place = await self.started(host, "record", out, modes)
                await until_text(host, place, "ready")
                await host.type(place, strokes)
                await until(lambda: len(content(out)) >= len(expected), 20)
                return content(out)

    @pytest.mark.parametrize("text", TEXTS)
    def test_text_arrives_exactly(self, text: str) -> None:
        """Whatever it means to a shell or to tmux."""
        expected = pasted(text)

        assert asyncio.run(self.typed(Text(text=text), expected=expected)) == expected

    # One method, several hosts: that the executors differ is the point.
    @settings(max_examples=12, suppress_health_check=[HealthCheck.differing_executors])
    @given(st.lists(texts, min_size=1, max_size=6))
    def test_any_text_arrives_exactly(self, samples: list[str]) -> None:
        """Piece by piece, in order, with nothing added."""
        expected = b"".join(map(pasted, samples))
        strokes = tuple(Text(text=sample) for sample in samples)

        assert asyncio.run(self.typed(*strokes, expected=expected)) == expected

    @pytest.mark.parametrize(
        "text", ["short", "one\ntwo\n\nthree", "日本\n🎉", "long; line\n" * 30_000]
    )
    def test_a_program_that_asks_for_it_gets_a_bracketed_paste(self, text: str) -> None:
        """Else each line would be taken for a message of its own."""
        expected = b"\x1b[200~" + pasted(text) + b"\x1b[201~\r"
        strokes = (Text(text=text), Key(name="Enter"))

        got = asyncio.run(self.typed(*strokes, expected=expected, modes="\\e[?2004h"))

        assert got == expected

    def test_keys_arrive_as_a_terminal_sends_them(self) -> None:
        """All in one go, in order."""
        expected = b"".join(KEYS.values())
        strokes = tuple(Key(name=name) for name in KEYS)

        assert asyncio.run(self.typed(*strokes, expected=expected)) == expected

    def test_cursor_keys_follow_the_mode_the_program_has_set(self) -> None:
        """Editors and pagers ask for application mode."""
        strokes = (Key(name="Up"), Key(name="Left"))
        got = asyncio.run(self.typed(*strokes, expected=b"\x1bOA\x1bOD", modes="\\e[?1h"))

        assert got == b"\x1bOA\x1bOD"

    @pytest.mark.parametrize(
        "stroke",
        [Key(name="Entr"), Key(name=""), Key(name="C-"), Text(text="a\x1b[201~b"), Text(text="\0")],
    )
    def test_what_is_no_text_and_no_key_is_refused_whole(self, stroke: Keystroke) -> None:
        """Nothing of it is typed, nor of what stood before it."""

        async def run() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "typed"
                async with self.opened() as host:
                    place = await self.started(host, "record", out)
                    await until_text(host, place, "ready")
                    with pytest.raises(HostError, match="expected"):
                        await host.type(place, (Key(name="x"), stroke))
                    await host.type(place, (Key(name="z"),))
                    await until(lambda: b"z" in content(out))
                    return content(out)

        assert asyncio.run(run()) == b"z"

    def test_a_ctrl_z_does_not_freeze_the_program(self) -> None:
        """There is no shell that could bring it back."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                await until_text(host, place, "pid=")
                await host.type(place, (Key(name="C-z"),))
                await until_text(host, place, "^Z")
                await host.type(place, (Key(name="C-c"),))
                seen = await until_ended(host, place)

                assert "KeyboardInterrupt" in seen.text

        asyncio.run(run())

    # -- the end -------------------------------------------------------------------------------

    @pytest.mark.parametrize(("number", "code", "killer"), ENDS)
    def test_an_end_is_recorded_with_the_last_screen(
        self, number: int, code: int | None, killer: int | None
    ) -> None:
        """Exit code or signal, never a guess from one to the other."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leave", number)
                seen = await until_ended(host, place)

                assert (seen.alive, seen.code, seen.signal) == (False, code, killer)
                assert seen.text == "line\nline\nline\ngoodbye" + "\n" * 21
                assert (seen.title, seen.command, seen.pid) == ("last title", "", place.pid)
                assert await host.look(place) is not None
                await host.end(place, force=True)  # an ended one is left as it is
                with pytest.raises(HostError, match="has ended"):
                    await host.type(place, (Key(name="x"),))

        asyncio.run(run())

    def test_a_program_may_refuse_to_end_until_it_is_forced(self) -> None:
        """SIGTERM first, SIGKILL when it is meant."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "stubborn")
                await until_text(host, place, "ready")
                await host.end(place, force=False)
                seen = await until_text(host, place, "refused")
                assert seen.alive
                await host.end(place, force=True)
                seen = await until_ended(host, place)
                assert (seen.code, seen.signal) == (None, signal.SIGKILL)

        asyncio.run(run())

    def test_an_end_reaches_the_whole_process_group(self) -> None:
        """What the program started goes with it."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "family")
                seen = await until_text(host, place, ".")
                child = psutil.Process(number_after("child", seen.text))
                await host.end(place, force=False)
                seen = await until_ended(host, place)

                assert seen.signal == signal.SIGTERM
                await until(lambda: not child.is_running() or child.status() == "zombie")

        asyncio.run(run())

    def test_nothing_of_a_run_outlives_a_forced_end(self) -> None:
        """Wherever it went: another session, another parent, an empty environment."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leavers")
                seen = await until_text(host, place, "all")
                away = [number_after(name, seen.text) for name in ("daemon", "orphan", "bare")]
                assert all(map(runs, away))
                with bystander() as stranger:
                    await host.end(place, force=True)
                    await until_ended(host, place)
                    await until(lambda: not any(map(runs, away)))
                    assert runs(stranger)

        asyncio.run(run())

    def test_what_outlived_its_program_can_still_be_ended(self) -> None:
        """A daemon that the agent left behind, and that nobody asked for."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leavers", "leave")
                seen = await until_ended(host, place)
                away = [number_after(name, seen.text) for name in ("daemon", "orphan")]
                bare = number_after("bare", seen.text)
                try:
                    assert (seen.code, all(map(runs, away))) == (3, True)
                    await host.end(place, force=False)
                    assert all(map(runs, away))  # deaf
                    await host.end(place, force=True)
                    await until(lambda: not any(map(runs, away)))
                finally:  # no parent, no session, no mark: nobody could know whose it was
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(bare, signal.SIGKILL)

        asyncio.run(run())

    @pytest.mark.parametrize("force", [False, True])
    def test_a_pair_of_processes_ends_together(self, *, force: bool) -> None:
        """The outer one alone would not listen, and the inner one would draw on without it."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "pair")
                inner = number_after("inner", (await until_text(host, place, ".")).text)
                await host.end(place, force=force)
                await until_ended(host, place)
                await until(lambda: not runs(inner))

        asyncio.run(run())

    def test_a_forgotten_place_is_gone(self) -> None:
        """For every verb; a running one cannot be forgotten."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                with pytest.raises(HostError, match="still runs"):
                    await host.forget(place)
                await host.end(place, force=False)
                await until_ended(host, place)
                await host.forget(place)

                assert await host.find("doll") == ()
                for verb in (
                    host.look(place),
                    host.type(place, (Key(name="x"),)),
                    host.end(place, force=True),
                    host.forget(place),
                ):
                    with pytest.raises(PlaceGone, match="doll"):
                        await verb
                await self.started(host, "show")  # the run is free again

        asyncio.run(run())

    # -- under load ----------------------------------------------------------------------------

    def test_a_flood_blocks_nobody(self) -> None:
        """50 MB of output: the program gets through, and we can look meanwhile."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "flood", 50)
                looks: list[float] = []
                deadline = time.monotonic() + 90
                while True:
                    began = time.monotonic()
                    seen = await host.look(place)
                    looks.append(time.monotonic() - began)
                    if "flood done" in seen.text:
                        break
                    assert time.monotonic() < deadline, "the flood did not end"
                    await asyncio.sleep(0)

                assert max(looks) < 5

        asyncio.run(run())

    def test_many_agents_are_looked_at_together(self) -> None:
        """Each look is about its own agent."""

        async def run() -> None:
            async with self.opened() as host:
                names = [f"agent {i}" for i in range(8)]
                places = await asyncio.gather(
                    *(self.started(host, "show", f"I am {name}", agent=name) for name in names)
                )
                await asyncio.gather(*(until_text(host, place, "pid=") for place in places))
                looks = await asyncio.gather(*(host.look(place) for place in places * 10))

                for place, seen in zip(places * 10, looks, strict=True):
                    assert seen.text.startswith(f"I am {place.agent}\n")
                    assert seen.pid == place.pid

        asyncio.run(run())

    def test_a_stopped_program_is_alive(self) -> None:
        """SIGSTOP is somebody's wish: it stays stopped, and can be ended by force."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                await until_text(host, place, "pid=")
                assert place.pid is not None
                os.kill(place.pid, signal.SIGSTOP)
                await until(lambda: psutil.Process(place.pid).status() == psutil.STATUS_STOPPED)
                assert (await host.look(place)).alive
                await host.end(place, force=True)
                assert (await until_seen(host, place, lambda s: not s.alive)).signal == 9

        asyncio.run(run())
