"""A pane of the user's: looked at, typed into, given back as it was."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.errors import HostError, HostMissing, PlaceGone
from koboshi.hosts.adopted import AdoptedHost
from koboshi.hosts.base import Key, Keystroke, Launch, Place, Text
from koboshi.hosts.pty import PtyHost
from tests.hosts.samples import KEYS, TEXTS, pasted, texts
from tests.hosts.waiting import content, number_after, program, runs, until, until_seen, until_text

pytestmark = pytest.mark.tmux

SHELL = "PS1='me$ ' exec bash --norc --noprofile"

#: What tmux does when somebody attaches, each in a job of its own.
HOOKS = ("client-attached", "client-session-changed", "window-resized")


class User:
    """A person's tmux server, with options, keys and hooks of their own."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "user.sock"
        self.hooks = folder / "hooks"
        self.say("-f", "/dev/null", "new-session", "-d", "-s", "cc", "-x", "100", "-y", "30", SHELL)
        self.say("set-option", "-g", "mode-keys", "vi")
        self.say("set-option", "-g", "buffer-limit", "3")
        self.say("bind-key", "-n", "F5", "display-message hi")
        for hook in HOOKS:
            self.say("set-hook", "-g", hook, f"run-shell -b 'echo {hook} >> {self.hooks}'")
        self.say("set-buffer", "-b", "mine", "the person's own")

    def say(self, *words: str) -> str:
        """What the person says to tmux."""
        env = {k: v for k, v in os.environ.items() if k != "TMUX"}
        command = ["tmux", "-u", "-S", str(self.socket), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def state(self) -> dict[str, str]:
        """All that a person could notice."""
        shows = {
            "options": ("show-options", "-g"),
            "server options": ("show-options", "-s"),
            "window options": ("show-options", "-gw"),
            "session options": ("show-options", "-t", "cc"),
            "pane options": ("show-options", "-p", "-t", "cc:0.0"),
            "hooks": ("show-hooks", "-g"),
            "keys": ("list-keys",),
            "buffers": ("list-buffers",),
            "environment": ("show-environment", "-t", "cc"),
            "sessions": ("list-sessions", "-F", "#{session_name} #{session_attached}/#{E:x}"),
            "attached": ("list-sessions", "-F", "#{session_last_attached} #{session_alerts}"),
            "windows": ("list-windows", "-a", "-F", "#{window_id} #{window_layout} #{window_name}"),
            "panes": ("list-panes", "-a", "-F", "#{pane_id} #{pane_width}x#{pane_height}"),
            "clients": ("list-clients", "-F", "#{client_name} #{client_flags} #{client_width}"),
            "messages": ("display-message", "-p", "-t", "cc", "#{client_last_session}"),
        }
        said = {name: self.say(*words) for name, words in shows.items()}
        return {**said, "fired": content(self.hooks).decode()}

    def run(self, *argv: str, target: str = "cc:0.0") -> None:
        """Type a command into the pane's shell."""
        self.say("send-keys", "-t", target, "-l", shlex.join(argv))
        self.say("send-keys", "-t", target, "Enter")


@contextmanager
def at_home() -> Iterator[tuple[User, AdoptedHost]]:
    """A person's server and a host that knows nothing yet."""
    with tempfile.TemporaryDirectory() as name:
        user = User(Path(name))
        try:
            yield user, AdoptedHost(state_dir=Path(name) / "state")
        finally:
            subprocess.run(
                ["tmux", "-S", str(user.socket), "kill-server"], check=False, capture_output=True
            )


Story = Callable[[User, AdoptedHost, Place], Awaitable[None]]


def adopted(story: Story, *argv: str) -> None:
    """Tell a story about the pane `cc:0.0`, in which `argv` runs."""

    async def run() -> None:
        with at_home() as (user, host):
            if argv:
                user.run(*argv)
            place = await host.adopt("doll", "cc:0.0", socket=user.socket)
            await story(user, host, place)

    asyncio.run(run())


def test_a_pane_of_the_users_is_looked_at_by_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is hung up there; what changes is seen all the same."""

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        assert await host.stirred(place, 60) is True
        await until_text(host, place, "pid=")
        now = time.monotonic()
        with monkeypatch.context() as held:  # else the next look may be due before we ask
            held.setattr(host._pace(place), "_clock", lambda: now)  # noqa: SLF001
            await host.look(place)
            assert await host.stirred(place, 0.01) is False
        await host.type(place, (Key(name="y"), Key(name="o")))
        while "yo" not in (await host.look(place)).text:
            assert await host.stirred(place, 60) is True
        assert user.say("display-message", "-p", "-t", place.id, "#{pane_pipe}").strip() == "0"

    adopted(story, *program("show"))


def test_a_look_shows_the_screen_and_what_runs_in_front() -> None:
    """The program while it runs, the shell once it has ended; the pane is alive all the time."""

    async def story(_: User, host: AdoptedHost, place: Place) -> None:
        seen = await until_text(host, place, "pid=")
        pid = number_after("pid", seen.text)
        assert (place.own, place.id, place.run) == (False, "%0", 1)
        assert (seen.alive, seen.pid, seen.title) == (True, pid, "a title ✳")
        assert seen.command.startswith("python")
        assert (seen.cols, seen.rows, seen.run) == (100, 30, 1)
        assert seen.text.count("\n") == 29
        assert "日本 red" in seen.text
        assert "\x1b[" in (seen.ansi or "")
        os.kill(pid, signal.SIGKILL)
        seen = await until_seen(host, place, lambda s: s.command == "bash")
        assert (seen.alive, seen.code, seen.signal) == (True, None, None)
        assert seen.pid not in (None, pid)

    adopted(story, *program("show", "\\e]2;a title ✳\\a日本", "\\e[31mred\\e[0m"))


def test_nothing_of_the_users_changes(tmp_path: Path) -> None:
    """Before and after every verb: options, keys, hooks, sizes, buffers, sessions, clients."""

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        await until_text(host, place, "ready")
        person = PtyHost()
        argv = ("tmux", "-S", str(user.socket), "attach", "-t", "cc")
        launch = Launch(agent="me", run=1, argv=argv, cwd=str(tmp_path), cols=80, rows=24)
        screen = await person.start(launch)
        try:
            await until_text(person, screen, "[cc]")
            await until(lambda: "80x23" in user.say("list-panes", "-a", "-F", "#{window_layout}"))
            await until(lambda: set(HOOKS) <= set(content(user.hooks).decode().split()))
            # tmux names a window after its program up to half a second late.
            same = "#{==:#{window_name},#{pane_current_command}}"
            await until(lambda: user.say("display-message", "-pt", place.id, same) == "1\n")
            before = user.state()
            again = await host.adopt("doll", "cc:0.0", socket=user.socket)
            assert again.id == place.id
            assert await host.find("doll") == (again,)
            seen = await host.look(place)
            assert (seen.cols, seen.rows) == (80, 23)
            await host.type(place, (Text(text="long text\n" * 3000), Key(name="x")))
            user.say("copy-mode", "-t", "cc:0.0")
            with pytest.raises(HostError, match="copy mode"):
                await host.type(place, (Text(text="text"),))
            user.say("copy-mode", "-q", "-t", "cc:0.0")
            await host.forget(place)
            await host.close()
            # tmux named the window after the copy mode, which was the person's.
            await until(lambda: user.state()["windows"] == before["windows"])
            assert user.state() == before
            assert before["clients"].count("\n") == 1
        finally:
            await person.close()

    adopted(story, *program("record", tmp_path / "typed"))


def typed(*strokes: Keystroke, expected: bytes, modes: str = "") -> bytes:
    """What a program in the user's pane reads for these strokes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "typed"

        async def story(_: User, host: AdoptedHost, place: Place) -> None:
            await until_text(host, place, "ready")
            await host.type(place, strokes)
            await until(lambda: len(content(out)) >= len(expected), 20)

        adopted(story, *program("record", out, modes))
        return content(out)


@pytest.mark.parametrize("text", TEXTS)
def test_text_arrives_exactly(text: str) -> None:
    """Whatever it means to a shell or to tmux."""
    assert typed(Text(text=text), expected=pasted(text)) == pasted(text)


@settings(max_examples=8)
@given(st.lists(texts, min_size=1, max_size=4))
def test_any_text_arrives_exactly(samples: list[str]) -> None:
    """Piece by piece, in order, with nothing added."""
    expected = b"".join(map(pasted, samples))

    strokes = [Text(text=sample) for sample in samples]

    assert typed(*strokes, expected=expected) == expected


def test_keys_and_text_arrive_in_order() -> None:
    """More of them than one call takes, and a bracketed paste where it was asked for."""
    keys = tuple(Key(name=name) for name in KEYS) * 12
    text = "long; line\n" * 30_000
    expected = b"".join(KEYS.values()) * 12 + b"\x1b[200~" + pasted(text) + b"\x1b[201~\r"
    strokes: list[Keystroke] = [*keys, Text(text=""), Text(text=text), Key(name="Enter")]

    assert typed(*strokes, expected=expected, modes="\\e[?2004h") == expected


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("copy-mode", "-t", "cc:0.0"), "in copy mode"),
        (("clock-mode", "-t", "cc:0.0"), "in clock mode"),
        (("set-option", "-w", "-t", "cc:0", "synchronize-panes", "on"), "other panes too"),
    ],
)
def test_a_person_in_the_pane_is_not_disturbed(
    words: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    """Nothing is typed, nothing is left in tmux's buffers, and the person stays where they are."""
    out = tmp_path / "typed"

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        await until_text(host, place, "ready")
        user.say(*words)
        mode = user.say("display-message", "-p", "-t", "cc:0.0", "#{pane_mode}")
        buffers = user.say("list-buffers")
        with pytest.raises(HostError, match=why):
            await host.type(place, (Key(name="x"), Text(text="text")))
        assert user.say("display-message", "-p", "-t", "cc:0.0", "#{pane_mode}") == mode
        assert user.say("list-buffers") == buffers
        assert "ready" in (await host.look(place)).text
        assert content(out) == b""

    adopted(story, *program("record", out))


def test_tmux_looks_again_in_the_moment_it_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who begins to scroll after our look, and before the keys, is not disturbed."""
    out = tmp_path / "typed"

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        await until_text(host, place, "ready")
        looked = host._pane  # noqa: SLF001

        async def scrolls(record: object) -> object:
            pane = await looked(record)  # type: ignore[arg-type]
            user.say("copy-mode", "-t", "cc:0.0")
            return pane

        monkeypatch.setattr(host, "_pane", scrolls)
        buffers = user.say("list-buffers")
        with pytest.raises(HostError, match="copy mode"):
            await host.type(place, (Text(text="text"), Key(name="Enter")))
        assert user.say("list-buffers") == buffers
        assert content(out) == b""

    adopted(story, *program("record", out))


@pytest.mark.parametrize("stroke", [Key(name="Entr"), Text(text="a\x1b[201~b")])
def test_what_is_no_text_and_no_key_is_refused_whole(stroke: Keystroke, tmp_path: Path) -> None:
    """Nothing of it is typed, nor of what stood before it."""
    out = tmp_path / "typed"

    async def story(_: User, host: AdoptedHost, place: Place) -> None:
        await until_text(host, place, "ready")
        with pytest.raises(HostError, match="expected"):
            await host.type(place, (Key(name="x"), stroke))
        await host.type(place, (Key(name="z"),))
        await until(lambda: b"z" in content(out))
        assert content(out) == b"z"

    adopted(story, *program("record", out))


@pytest.mark.parametrize("force", [False, True])
def test_an_end_reaches_the_agent_and_its_tools_and_never_the_shell(*, force: bool) -> None:
    """The shell is left, with its history; a second end finds nothing to do."""

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        seen = await until_text(host, place, "all")
        pids = [number_after(name, seen.text) for name in ("agent", "near", "far")]
        shell = int(user.say("display-message", "-p", "-t", "%0", "#{pane_pid}"))
        assert all(map(runs, pids))
        await host.end(place, force=force)
        await until_seen(host, place, lambda s: s.command == "bash")
        await until(lambda: not any(map(runs, pids)))
        await host.end(place, force=force)
        await host.end(place, force=True)
        assert runs(shell)
        user.run("echo", "still", "here")
        await until_text(host, place, "\nstill here")

    adopted(story, *program("toolbox"))


def test_an_agent_inside_a_script_ends_without_the_script() -> None:
    """A shell without job control shares the agent's group."""

    async def story(_: User, host: AdoptedHost, place: Place) -> None:
        seen = await until_text(host, place, "all")
        pids = [number_after(name, seen.text) for name in ("agent", "near", "far")]
        await host.end(place, force=True)
        await until_text(host, place, "script goes on")
        await until(lambda: not any(map(runs, pids)))

    code = f"{shlex.join(program('toolbox'))}; printf 'script goes %s' on; sleep 1000"
    adopted(story, "sh", "-c", code)


def test_a_pane_is_found_again_by_the_next_supervisor() -> None:
    """Under its name, wherever it was moved meanwhile; the run is the supervisor's own count."""

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        await until_text(host, place, "pid=")
        user.say("new-window", "-d", "-t", "cc:", SHELL)
        user.say("swap-window", "-d", "-s", "cc:0", "-t", "cc:1")
        user.say("rename-session", "-t", "cc", "other")
        again = AdoptedHost(state_dir=user.socket.parent / "state")
        (found,) = await again.find("doll")
        assert (found.id, found.own, found.run) == (place.id, False, 1)
        assert "unharmed" in (await again.look(found)).text
        paths = [user.socket.parent / "state" / "adopted", again._folder / "doll.json"]  # noqa: SLF001
        assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o700, 0o600]
        await again.forget(found)
        assert await host.find("doll") == ()
        with pytest.raises(PlaceGone, match="doll"):
            await host.look(place)

    adopted(story, *program("show", "unharmed"))


@pytest.mark.parametrize("how", ["kill-pane", "kill-session", "kill-server", "respawn-pane"])
def test_a_pane_that_is_gone_is_gone_for_every_verb(how: str) -> None:
    """Also when its number is there again, with something else in it."""

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        target = () if how == "kill-server" else ("-t", "%0" if "pane" in how else "cc")
        user.say(how, *target, *(("-k", "cat") if how == "respawn-pane" else ()))
        for verb in (
            host.look(place),
            host.type(place, (Key(name="x"), Text(text="y"))),
            host.end(place, force=True),
        ):
            with pytest.raises(PlaceGone):
                await verb
        assert await host.find("doll") == ()
        await host.forget(place)

    adopted(story)


def test_a_new_server_on_the_old_socket_is_another() -> None:
    """Its first pane has the number that we remember."""

    async def story(user: User, host: AdoptedHost, place: Place) -> None:
        user.say("kill-server")
        deadline = time.monotonic() + 20
        while True:  # the old server may still be leaving
            try:
                user.say("-f", "/dev/null", "new-session", "-d", "-s", "new", "exec cat")
                break
            except subprocess.CalledProcessError:
                assert time.monotonic() < deadline
        assert user.say("list-panes", "-a", "-F", "#{pane_id}").strip() == place.id
        with pytest.raises(PlaceGone):
            await host.type(place, (Key(name="x"),))
        assert await host.find("doll") == ()
        moved = await host.adopt("doll", "new", socket=user.socket)
        await until_seen(host, moved, lambda seen: seen.command == "cat")

    adopted(story)


def test_a_number_that_another_process_has_now_is_not_taken() -> None:
    """Same server, same pane, same pid on paper; not the same birth."""

    async def story(_: User, host: AdoptedHost, place: Place) -> None:
        path = host._folder / "doll.json"  # noqa: SLF001
        record = json.loads(path.read_bytes())
        path.write_text(json.dumps({**record, "born": record["born"] - 1}))
        with pytest.raises(PlaceGone):
            await host.look(place)
        path.write_text("{torn")
        assert await host.find("doll") == ()

    adopted(story)


def test_one_pane_one_agent() -> None:
    """Neither two names for a pane nor two panes for a name; nor a pane that koboshi made."""

    async def story(user: User, host: AdoptedHost, _: Place) -> None:
        user.say("split-window", "-d", "-t", "cc:0", SHELL)
        with pytest.raises(HostError, match="already watched as 'doll'"):
            await host.adopt("other", "%0", socket=user.socket)
        with pytest.raises(HostError, match="'doll' is already in pane %0"):
            await host.adopt("doll", "%1", socket=user.socket)
        names = {await name_of(host, user, odd) for odd in ("a.b", "a:b", "../a")}
        assert len(names) == 3
        user.say("set-option", "-p", "-t", "%1", "@koboshi_agent", "kept")
        with pytest.raises(HostError, match="koboshi's own"):
            await host.adopt("third", "%1", socket=user.socket)
        with pytest.raises(HostError, match="nothing is started"):
            await host.start(Launch(agent="doll", run=2, argv=("x",), cwd="/"))

    async def name_of(host: AdoptedHost, user: User, agent: str) -> str:
        place = await host.adopt(agent, "%1", socket=user.socket)
        (path,) = {p.name for p in host._folder.iterdir()} - {"doll.json"}  # noqa: SLF001
        assert await host.find(agent) == (place,)
        await host.forget(place)
        return path

    adopted(story)


def test_a_server_by_name_and_the_one_we_are_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-L name` below TMUX_TMPDIR; the path is remembered, not the variable."""

    async def story(host: AdoptedHost) -> None:
        place = await host.adopt("doll", "%0", socket="mine")
        socket = host._record("doll").socket  # noqa: SLF001
        monkeypatch.delenv("TMUX_TMPDIR")
        await until_seen(host, place, lambda seen: seen.command == "cat")
        monkeypatch.setenv("TMUX", f"{socket},1,0")
        assert await host.adopt("doll", "%0") == place

    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setenv("TMUX_TMPDIR", name)
        monkeypatch.delenv("TMUX", raising=False)
        say = ["tmux", "-L", "mine"]
        env = dict(os.environ)
        start = ["-f", "/dev/null", "new-session", "-d", "exec cat"]
        subprocess.run([*say, *start], check=True, env=env)
        try:
            asyncio.run(story(AdoptedHost(state_dir=Path(name) / "state")))
        finally:
            subprocess.run([*say, "kill-server"], check=True, env=env)


def test_no_server_and_no_tmux_are_named(tmp_path: Path) -> None:
    """And no server is started by asking."""
    host = AdoptedHost(state_dir=tmp_path)
    with pytest.raises(PlaceGone, match=r"none\.sock"):
        asyncio.run(host.adopt("doll", "cc:1.0", socket=tmp_path / "none.sock"))
    assert not (tmp_path / "none.sock").exists()
    host = AdoptedHost(state_dir=tmp_path, tmux="no-such-tmux")
    with pytest.raises(HostMissing, match="no-such-tmux"):
        asyncio.run(host.adopt("doll", "cc:1.0", socket=tmp_path / "none.sock"))
