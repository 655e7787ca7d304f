"""The parts of the pass-through: what is remembered, what is typed, one terminal for another."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from koboshi.errors import HostError
from koboshi.hosts.base import Key, Launch, Place, Text
from koboshi.hosts.console import guardian, passthrough
from koboshi.hosts.console.device import Console
from koboshi.hosts.console.modes import Modes
from koboshi.hosts.console.passthrough import PassThrough
from koboshi.hosts.console.typed import Typed
from koboshi.hosts.pty import PtyHost
from koboshi.hosts.screens import AvtScreen, GhosttyScreen
from koboshi.hosts.sweep import sign, sweep
from tests.hosts.waiting import content, program, runs, until, until_text

EVERYTHING = (
    b"\x1b[?1049h\x1b[?1h\x1b=\x1b[?1000;1002;1003;1006h\x1b[?1004h\x1b[?2004h\x1b[>1u\x1b[>4;2m"
    b"\x1b[?25l\x1b[?7l\x1b[2;20r\x1b[4 q\x1b]9;4;3\x07\x1b[31m"
)
OFF = (
    *(b"\x1b[?1049l", b"\x1b[?1l", b"\x1b>", b"\x1b[?1000l", b"\x1b[?1002l", b"\x1b[?1003l"),
    *(b"\x1b[?1006l", b"\x1b[?1004l", b"\x1b[?2004l", b"\x1b[<1u", b"\x1b[>4m", b"\x1b[?25h"),
    *(b"\x1b[?7h", b"\x1b[r", b"\x1b[0 q", b"\x1b]9;4;0\x07", b"\x1b[m", b"\x1b(B"),
)


# --- what a program has switched on ------------------------------------------------------------


def test_all_that_was_switched_on_is_switched_off() -> None:
    """Each of them, the keyboard before the screen it belongs to."""
    modes = Modes()
    modes.feed(EVERYTHING)
    undo = modes.undo()

    for off in OFF:
        assert off in undo, off
    assert undo.index(b"\x1b[<1u") < undo.index(b"\x1b[?1049l")


def test_what_was_not_on_is_not_switched_off() -> None:
    """Leaving an alternate screen that was not entered moves the cursor."""
    modes = Modes()
    modes.feed(b"plain text \x1b[1mbold\x1b[m \x1b[?1049h\x1b[?1049l \x1b[>1u\x1b[<u")

    assert modes.undo() == b"\x18\x1b\\\x1b[?2026l\x1b[?25h\x1b[m\x0f\x1b(B"
    assert modes.redo() == b""


def test_a_full_reset_leaves_nothing_on() -> None:
    """RIS."""
    modes = Modes()
    modes.feed(EVERYTHING + b"\x1bc")

    assert modes.undo() == Modes().undo()


@given(st.lists(st.integers(0, len(EVERYTHING)), max_size=6))
def test_the_pieces_in_which_it_comes_do_not_matter(cuts: list[int]) -> None:
    """A read ends anywhere."""
    whole, pieces = Modes(), Modes()
    whole.feed(EVERYTHING)
    marks = [0, *sorted(cuts), len(EVERYTHING)]
    for start, stop in itertools.pairwise(marks):
        pieces.feed(EVERYTHING[start:stop])

    assert (pieces.undo(), pieces.redo()) == (whole.undo(), whole.redo())


@pytest.mark.parametrize("engine", [GhosttyScreen, AvtScreen])
def test_undo_and_redo_bring_a_terminal_to_rest_and_back(
    engine: type[GhosttyScreen | AvtScreen],
) -> None:
    """Seen by a terminal, not by us."""
    modes, screen = Modes(), engine(80, 24)
    for data in (EVERYTHING,):
        modes.feed(data)
        screen.feed(data)
    numbers = (1, 1000, 1002, 1003, 1004, 1006, 1049, 2004)

    assert all(map(screen.mode, numbers))
    screen.feed(modes.undo())
    assert not any(map(screen.mode, numbers))
    screen.feed(modes.redo())
    assert all(map(screen.mode, numbers))


@given(st.binary(max_size=200))
def test_no_output_can_break_it(data: bytes) -> None:
    """Whatever a program prints."""
    modes = Modes()
    modes.feed(data)
    modes.feed(data)

    assert modes.undo().endswith(b"\x1b(B")


# --- who typed it ------------------------------------------------------------------------------

PERSON = (
    *(b"a", b"\x03", b"\r", b"\x1b", b"\x1b[A", b"\x1bOA", b"\x1b[1;5C", b"\x1b[3~", "日".encode()),
    *(b"\x1b[200~pasted\x1b[201~", b"\x1b[99;5u", b"\x1b[<0;10;10M", b"\x1b[<64;1;1M", b"\x1bb"),
    b"\x1b[M !!",
)
TERMINAL = (
    *(b"\x1b[?62;22c", b"\x1b[>1;10;0c", b"\x1b[12;40R", b"\x1b[0n", b"\x1b[?2026;2$y"),
    *(b"\x1b[?1u", b"\x1b[I", b"\x1b[O", b"\x1b[<35;10;10M", b"\x1b[<0;3;3m", b"\x1b[8;24;80t"),
    *(b"\x1b]11;rgb:0000/0000/0000\x1b\\", b"\x1b]52;c;aGk=\x07", b"\x1bP>|xterm(390)\x1b\\"),
    *(b"\x1b_Gi=1;OK\x1b\\", b"\x1b[?997;1n", b"\x1b[48;24;80;480;640t", b"\x1b[MC!!"),
)


@pytest.mark.parametrize("data", PERSON)
def test_keys_are_a_person(data: bytes) -> None:
    """Also pasted, and clicked."""
    assert Typed().feed(data)


@pytest.mark.parametrize("data", TERMINAL)
def test_what_a_terminal_says_by_itself_is_no_person(data: bytes) -> None:
    """Not even with a key before or after it, apart from that key."""
    assert not Typed().feed(data)
    assert Typed().feed(b"x" + data)
    assert Typed().feed(data + b"x")


@given(st.lists(st.sampled_from(TERMINAL), min_size=1), st.data())
def test_a_terminals_words_in_pieces_are_no_person(words: list[bytes], data: st.DataObject) -> None:
    """Cut anywhere but right behind an ESC, which is a key."""
    whole = b"".join(words)
    cut = data.draw(st.integers(0, len(whole)).filter(lambda n: whole[n - 1 : n] != b"\x1b"))
    typed = Typed()

    assert not typed.feed(whole[:cut])
    assert not typed.feed(whole[cut:])


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_what_is_kept_for_later_has_a_limit(pieces: list[bytes]) -> None:
    """A string that never ends does not fill the memory."""
    typed = Typed()
    typed.feed(b"\x1b]52;c;" + b"A" * 5000)
    for piece in pieces:
        typed.feed(piece)

    assert len(typed._cut) <= 4096  # noqa: SLF001


# --- one terminal for another ------------------------------------------------------------------


class Person:
    """The far end of the terminal that koboshi believes to be its own."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.before = termios.tcgetattr(self.slave)
        self.shown = bytearray()
        self.read(on=True)

    def read(self, *, on: bool) -> None:
        """Read whatever comes, or let it stand."""
        loop = asyncio.get_running_loop()
        if on:
            loop.add_reader(self.master, self._take)
        else:
            loop.remove_reader(self.master)

    def _take(self) -> None:
        with contextlib.suppress(OSError):
            self.shown += os.read(self.master, 1 << 16)

    async def type(self, data: bytes) -> None:
        """Type all of it."""
        deadline = time.monotonic() + 60
        while data:
            assert time.monotonic() < deadline
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self.master, data[:4096]) :]
            await asyncio.sleep(0)

    async def until_shown(self, text: bytes, seconds: float = 30) -> None:
        """Read until that came."""
        await until(lambda: text in self.shown, seconds)


class Stage:
    """A person, the pass-through and a host."""

    def __init__(self, person: Person, through: PassThrough, host: PtyHost) -> None:
        self.person, self.through, self.host = person, through, host

    async def start(self, *words: object, run: int = 1, **more: str) -> Place:
        """Start one of our small programs there."""
        name, *args = words
        argv = program(str(name), *args)
        launch = Launch(agent="doll", run=run, argv=argv, cwd=tempfile.gettempdir(), env=more)
        return await self.host.start(launch)

    async def over(self, place: Place, seconds: float = 30) -> None:
        """Read until the program has ended."""
        deadline = time.monotonic() + seconds
        while (await self.host.look(place)).alive:
            assert time.monotonic() < deadline, "it did not end"
            await asyncio.sleep(0.02)


@asynccontextmanager
async def shown(*, hold: float = 0.0) -> AsyncIterator[Stage]:
    """A person looks on."""
    person = Person()
    through = PassThrough(Console.open(person.slave, person.slave), hold=hold)
    through.begin()
    host = PtyHost(audience=through)
    try:
        yield Stage(person, through, host)
    finally:
        person.read(on=True)
        for place in await host.find("doll"):
            await host.end(place, force=True)
        await host.close()
        await until(lambda: not through._console.pending)  # noqa: SLF001 - the end lets nobody read
        through.end()
        await until(lambda: b"\x1b(B" in person.shown[-8:] or not person.shown)
        person.read(on=False)
        assert termios.tcgetattr(person.slave) == person.before
        os.close(person.slave)
        os.close(person.master)


pieces = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=20).map(str.encode),
    st.sampled_from(
        [EVERYTHING, *OFF, *PERSON, *TERMINAL, "日本🎉".encode()[:5], b"\x1b", b"\x9b"]
    ),
)


@settings(max_examples=15)
@given(st.lists(pieces, min_size=1, max_size=30).map(b"".join).filter(bool))
@example(bytes(range(256)))
def test_what_a_program_writes_arrives_exactly(data: bytes) -> None:
    """Every byte, in order; the terminal is put back behind the last one."""

    async def run() -> bytes:
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            async with shown() as stage:
                await stage.over(await stage.start("pour", "out", file.name))
                person = stage.person
            return bytes(person.shown)

    before, found, after = asyncio.run(run()).partition(b"begin:")
    assert (before, found) == (b"", b"begin:")
    assert after.startswith(data + b"\x18\x1b\\")


@settings(max_examples=15)
@given(st.lists(pieces, min_size=1, max_size=30).map(b"".join).filter(bool))
@example(bytes(range(256)))
@example(EVERYTHING * 10_000)
def test_what_is_typed_arrives_exactly(data: bytes) -> None:
    """Every byte, in order: a paste of a megabyte too, and one program's every key."""

    async def run() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "typed"
            async with shown() as stage:
                await stage.start("pour", "in", out, len(data))
                await stage.person.until_shown(b"ready:")
                await stage.person.type(data)
                await until(lambda: len(content(out)) >= len(data))
            return content(out)

    assert asyncio.run(run()) == data


def test_what_is_typed_before_the_program_is_there_waits_for_it() -> None:
    """As in a terminal without us: koboshi takes a second to begin, and people do not wait."""

    async def run() -> None:
        async with shown() as stage:
            await stage.person.type(b"early ")
            await until(lambda: stage.through._typed_at > 0)  # noqa: SLF001
            await stage.person.type(b"bird\r")
            argv = ("sh", "-c", 'read -r line; echo "got=<$line>"; exec sleep 1000')
            await stage.host.start(
                Launch(agent="doll", run=1, argv=argv, cwd=tempfile.gettempdir())
            )
            await stage.person.until_shown(b"got=<early bird>")

    asyncio.run(run())


def test_a_program_that_does_not_read_makes_the_keyboard_wait() -> None:
    """What waits for it has a limit, and all of it arrives when it reads again."""
    data = EVERYTHING * 3000

    async def run() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "typed"
            async with shown() as stage:
                place = await stage.start("pour", "in", out, len(data))
                await stage.person.until_shown(b"ready:")
                agent = psutil.Process(place.pid)
                agent.suspend()
                typing = asyncio.ensure_future(stage.person.type(data))
                terminal = stage.through._terminal  # noqa: SLF001
                assert terminal is not None
                await until(lambda: terminal.backlog > passthrough.TYPED_HIGH)
                assert terminal.backlog < 2 * passthrough.TYPED_HIGH + (1 << 16)
                assert not typing.done()
                agent.resume()
                await typing
                await until(lambda: len(content(out)) >= len(data))
            return content(out)

    assert asyncio.run(run()) == data


def test_a_program_that_ends_before_a_slow_terminal_has_shown_it_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rest of its output is in the kernel while we wait for the person's terminal."""
    monkeypatch.setattr(passthrough, "HIGH", 1024)
    monkeypatch.setattr(passthrough, "LOW", 512)
    lines = b"".join(b"%07d\n" % number for number in range(2300))  # more than one kernel queue

    async def run() -> bytes:
        with tempfile.NamedTemporaryFile() as file:
            file.write(lines)
            file.flush()
            async with shown() as stage:
                stage.person.read(on=False)
                place = await stage.start("pour", "out", file.name)
                await until(lambda: not runs(place.pid or 0))
                await until(lambda: stage.through._paused)  # noqa: SLF001
                closing = asyncio.ensure_future(stage.host.close())
                await asyncio.sleep(0)
                stage.person.read(on=True)
                await closing
                person = stage.person
            return bytes(person.shown)

    assert asyncio.run(run()).partition(b"begin:")[2].startswith(lines)


def test_a_flood_comes_through_whole() -> None:
    """20 MB, each line known."""
    lines = b"".join(b"%015d\n" % number for number in range(1_310_720))

    async def run() -> bytes:
        with tempfile.NamedTemporaryFile() as file:
            file.write(lines)
            file.flush()
            async with shown() as stage:
                await stage.over(await stage.start("pour", "out", file.name), 90)
                person = stage.person
            return bytes(person.shown)

    got = asyncio.run(run()).partition(b"begin:")[2]
    assert got[: len(lines)] == lines


def test_a_slow_terminal_slows_the_program_and_nothing_grows() -> None:
    """What waits for the terminal has a limit."""

    async def run() -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 5_000_000)
            file.flush()
            async with shown() as stage:
                stage.person.read(on=False)
                await stage.start("pour", "out", file.name)
                console = stage.through._console  # noqa: SLF001
                most = 0

                def stopped() -> bool:
                    nonlocal most
                    most = max(most, console.pending)
                    return stage.through._paused  # noqa: SLF001

                await until(stopped)
                assert most < passthrough.HIGH + (1 << 18)
                stage.person.read(on=True)
                await stage.person.until_shown(b"\x1b(B", 60)
                assert stage.person.shown.count(b"x") == 5_000_000

    asyncio.run(run())


def test_a_terminal_that_takes_nothing_does_not_hold_up_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After some seconds it misses what comes, and is painted anew when it is back."""
    monkeypatch.setattr(passthrough, "STALL", 0.2)

    async def run() -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(
                b"\x1b[?2004h" + b"long line of no interest\r\n" * 200_000 + b"the last word"
            )
            file.flush()
            async with shown() as stage:
                stage.person.read(on=False)
                place = await stage.start("toil", file.name)
                await until_text(stage.host, place, "the last word")
                stage.person.read(on=True)
                await stage.person.until_shown(b"the last word")
                assert len(stage.person.shown) < 2_000_000
                painted = bytes(stage.person.shown).rpartition(b"\x1b[H\x1b[2J")
                assert b"\x1b[?2004h" in painted[0][-200:]
                assert painted[2].count(b"no interest") == 23

    asyncio.run(run())


def test_a_program_asks_its_terminal_and_is_answered_once() -> None:
    """By the person's terminal; the computed screen keeps silent."""

    async def run() -> None:
        async with shown() as stage:
            await stage.start("modes", "\\e[c\\e[6n")
            await stage.person.until_shown(b"size=")
            await stage.person.type(b"z")
            await stage.person.until_shown(b"<7a>")
            assert stage.person.shown.count(b"<") == 1

    asyncio.run(run())


def test_a_person_who_types_is_told_of_and_keeps_our_hands_off() -> None:
    """At once and once a second; a terminal's own words are none of it (law 10)."""

    async def run() -> None:
        async with shown(hold=30.0) as stage:
            told: list[float] = []
            stage.through.person = lambda: told.append(time.monotonic())
            place = await stage.start("modes")
            await stage.person.until_shown(b"size=")
            await stage.person.type(b"\x1b[I\x1b[?62;22c")
            await stage.person.until_shown(b"<1b")
            assert not told
            await stage.host.type(place, (Key(name="x"),))
            await stage.person.until_shown(b"<78>")

            await stage.person.type(b"hello")
            await stage.person.until_shown(b"6f>")
            assert len(told) == 1
            with pytest.raises(HostError, match="a person is typing"):
                await stage.host.type(place, (Text(text="continue"),))
            await stage.person.type(b"!")
            await until(lambda: len(told) == 2)

    asyncio.run(run())


def test_a_new_size_reaches_screen_and_program() -> None:
    """Also what is asked of us while it changes."""

    async def run() -> None:
        async with shown() as stage:
            place = await stage.start("modes", "A")
            await stage.person.until_shown(b"Asize=80x24.")
            size = struct.pack("HHHH", 30, 111, 0, 0)
            fcntl.ioctl(stage.person.slave, termios.TIOCSWINSZ, size)
            os.kill(os.getpid(), signal.SIGWINCH)
            await stage.person.until_shown(b"size=111x30.")
            seen = await stage.host.look(place)
            assert (seen.cols, seen.rows, seen.text.count("\n")) == (111, 30, 29)

    asyncio.run(run())


def test_between_two_runs_the_terminal_is_at_rest() -> None:
    """What the killed one had on is off, and the next one begins on a clear screen."""

    async def run() -> None:
        async with shown() as stage:
            first = await stage.start("modes", EVERYTHING.decode("latin-1").replace("\x1b", "\\e"))
            await stage.person.until_shown(b"size=")
            await stage.host.end(first, force=True)
            await stage.person.until_shown(b"\x1b(B")
            for off in OFF:
                assert off in stage.person.shown, off
            stage.through.notice("koboshi: a word")
            await stage.start("modes", "SECOND", run=2)
            await stage.person.until_shown(b"SECOND")
            assert bytes(stage.person.shown).index(b"\x1b[H\x1b[2J") < stage.person.shown.index(
                b"SECOND"
            )
            stage.through.notice("not over an agent")
            await stage.person.type(b"z")
            await stage.person.until_shown(b"<7a>")
            assert b"not over" not in stage.person.shown

    asyncio.run(run())


def test_a_terminal_that_hangs_up_is_the_end() -> None:
    """EIO: it is told as SIGHUP, also where no signal comes."""

    async def run() -> int:
        master, slave = pty.openpty()
        through = PassThrough(Console.open(slave, slave), hold=0.0)
        through.begin()
        os.close(master)
        number = await asyncio.wait_for(through.ended, 20)
        through.end()
        os.close(slave)
        return number

    assert asyncio.run(run()) == signal.SIGHUP


def test_no_terminal_on_standard_output_is_refused_with_what_to_do() -> None:
    """A pipe shows nothing to anybody."""

    async def run() -> None:
        read, write = os.pipe()
        try:
            with pytest.raises(HostError, match="expected a terminal") as caught:
                Console.open(0, write)
            assert "tmux" in caught.value.hint
        finally:
            os.close(read)
            os.close(write)

    asyncio.run(run())


# --- the guardian ------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["killed", "done", "quicker shell"])
def test_the_guardian_acts_only_when_its_writer_was_killed(ending: str) -> None:
    """And never on a line that a shell has set up for itself meanwhile."""
    master, slave = pty.openpty()
    cooked = termios.tcgetattr(slave)
    raw = [*cooked[:3], cooked[3] & ~(termios.ECHO | termios.ICANON), *cooked[4:]]
    termios.tcsetattr(slave, termios.TCSANOW, raw)
    told = {"cooked": guardian.freeze(cooked), "raw": guardian.freeze(raw), "undo": "\x1b[?1049l"}
    with subprocess.Popen(
        (sys.executable, "-I", "-S", guardian.__file__), stdin=subprocess.PIPE, stdout=slave
    ) as keeper:
        expected = cooked
        if ending == "quicker shell":
            expected = [*cooked[:3], cooked[3] & ~termios.ECHO, *cooked[4:]]
            termios.tcsetattr(slave, termios.TCSANOW, expected)
        lines = [told] + ([{"done": True}] if ending == "done" else [])
        text = "".join(json.dumps(line) + "\n" for line in lines) + '{"undo": "cut sh'
        keeper.communicate(text.encode(), timeout=20)
    os.set_blocking(master, False)
    if ending == "done":
        assert termios.tcgetattr(slave)[3] == raw[3]
        with pytest.raises(BlockingIOError):
            os.read(master, 100)
    else:
        assert termios.tcgetattr(slave)[3] == expected[3]
        assert os.read(master, 100) == b"\x1b[?1049l" + guardian.WORDS.replace(b"\n", b"\r\n")
    os.close(master)
    os.close(slave)


# --- what dead hosts left ----------------------------------------------------------------------


def leftover(root: Path, name: str, **owner: object) -> Path:
    """A folder as a host leaves it, with one run that has ended."""
    folder = root / name
    run = folder / "doll-1-abcd"
    run.mkdir(parents=True)
    (run / "child.json").write_text(
        '{"pid": 999999999, "born": 1, "started": 1.0, "mark": "doll/1/x"}'
    )
    (run / "status.json").write_text('{"code": 0, "signal": null}')
    if owner:
        (folder / "owner.json").write_text(json.dumps(owner))
    return folder


def test_only_what_the_dead_left_is_swept(tmp_path: Path) -> None:
    """Not what lives, not what names nobody and is young, not what holds more than we write."""
    dead = {"pid": os.getpid(), "born": 1, "started": 1.0}  # our number, another birth
    stale = leftover(tmp_path, "koboshi-pty-stale", **dead)
    alive = leftover(tmp_path, "koboshi-pty-alive")
    sign(alive)
    young = leftover(tmp_path, "koboshi-pty-young")
    foreign = leftover(tmp_path, "koboshi-pty-foreign", **dead)
    (foreign / "notes.txt").write_text("somebody's")
    other = leftover(tmp_path, "another-stale", **dead)
    link = tmp_path / "koboshi-pty-link"
    link.symlink_to(other)
    old = leftover(tmp_path, "koboshi-pty-old")
    os.utime(old, (1, 1))

    assert sorted(sweep(tmp_path, "koboshi-pty-")) == sorted([stale, old])
    assert all(path.exists() for path in (alive, young, foreign, other, link))
    assert not stale.exists()


def test_a_run_that_still_lives_keeps_its_folder(tmp_path: Path) -> None:
    """Its host is dead, its program is not."""
    folder = leftover(tmp_path, "koboshi-pty-x", pid=1, born=-1, started=1.0)
    mark = "doll/1/living"
    with subprocess.Popen(
        (*program("show"),), env={**os.environ, "KOBOSHI_RUN": mark}, stdout=subprocess.PIPE
    ) as living:
        try:
            assert living.stdout is not None
            living.stdout.readline()
            (folder / "doll-1-abcd" / "child.json").write_text(
                json.dumps({"pid": 999999999, "born": 1, "started": 1.0, "mark": mark})
            )
            assert sweep(tmp_path, "koboshi-pty-") == []
        finally:
            living.kill()
    assert sweep(tmp_path, "koboshi-pty-") == [folder]
