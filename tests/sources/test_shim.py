"""The hook shim, run as agents run it."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from koboshi import _hook
from koboshi.observations import HookFired, StatusLineSeen
from koboshi.sources import hooksocket
from koboshi.sources.envelopes import unpack
from koboshi.sources.hookhttp import hook_http, reserve
from koboshi.sources.hooksocket import hook_socket
from koboshi.sources.spool import Spool

SHIM = (sys.executable, "-I", "-S", _hook.__file__)
#: The same with time for a listener that is held up: what is handed over is not a matter of haste.
PATIENT = """
import runpy, sys
main = runpy.run_path(sys.argv.pop(1))["main"]
main.__globals__.update(INPUT=30, PATIENCE=30.0, SILENCE=30.0)
main(sys.argv)
"""
PATIENT_SHIM = (sys.executable, "-I", "-S", "-c", PATIENT, _hook.__file__)
STOP = {"hook_event_name": "Stop", "session_id": "s1"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short one: the path of a socket must be."""
    with tempfile.TemporaryDirectory(prefix="kb-") as made:
        yield Path(made)


@pytest.fixture(autouse=True)
def _listener_in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooksocket, "PATIENCE", 30.0)


def shim(
    folder: Path,
    payload: bytes,
    *words: str,
    run: str = "3",
    agent: str = "a1",
    program: tuple[str, ...] = SHIM,
) -> bytes:
    """Call the shim; what it printed. It always succeeds and is silent about itself."""
    env = {
        "KOBOSHI_AGENT": agent,
        "KOBOSHI_RUN_NUMBER": run,
        "KOBOSHI_HOOK_SOCKET": str(folder / "s"),
        "KOBOSHI_HOOK_SPOOL": str(folder / "spool"),
        "PATH": os.defpath,
    }
    done = subprocess.run(
        [*program, *words], input=payload, env=env, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def patient_shim(folder: Path, payload: bytes, *words: str) -> bytes:
    """The same, where there is somebody who will listen."""
    return shim(folder, payload, *words, program=PATIENT_SHIM)


def heard(folder: Path, payload: bytes, *words: str) -> tuple[list[object], bytes]:
    """What a listener takes of one call, and what the shim printed."""
    taken: list[object] = []

    async def listen() -> bytes:
        async with hook_socket(folder / "s", "a1", taken.append) as there:
            assert there
            assert stat.S_IMODE((folder / "s").stat().st_mode) == 0o600
            return await asyncio.to_thread(patient_shim, folder, payload, *words)

    printed = asyncio.run(listen())
    assert not (folder / "s").exists()
    return taken, printed


def test_a_hook_is_handed_to_who_listens(folder: Path) -> None:
    """With the run that it was told to speak for; nothing is printed, nothing spooled."""
    [seen], printed = heard(folder, json.dumps(STOP, indent=2).encode())

    assert isinstance(seen, HookFired)
    assert (seen.payload, seen.run, printed) == (STOP, 3, b"")
    assert seen.age < 60.0
    assert not (folder / "spool").exists()


def test_a_hook_waits_in_the_spool_where_nobody_listens(folder: Path) -> None:
    """Each once, private, as old as it is; what a shim adds late is not lost."""
    shim(folder, json.dumps(STOP).encode())
    assert stat.S_IMODE((folder / "spool").stat().st_mode) == 0o600
    spool = Spool(folder / "spool", "a1")
    with (folder / "spool").open("ab") as late:
        [first] = spool.read()
        late.write(b'{"kind":"hook","agent":"a1","run":3,"utc":1.0,"payload":{}}\n')
    [second] = spool.read()

    assert isinstance(first, HookFired)
    assert first.payload == STOP
    assert isinstance(second, HookFired)
    assert second.age > 1e6
    assert spool.read() == []
    assert list(folder.iterdir()) == []


def test_a_spool_is_read_each_time_there_is_one_and_what_another_supervisor_had_taken(
    folder: Path,
) -> None:
    """That nothing was left a moment ago says nothing about now."""
    shim(folder, json.dumps(STOP).encode())
    (folder / "spool").rename(folder / "spool.taken")
    spool = Spool(folder / "spool", "a1")

    assert len(spool.read()) == 1
    assert spool.read() == []
    for _ in range(2):
        shim(folder, json.dumps(STOP).encode())
        assert len(spool.read()) == 1
        assert spool.read() == spool.read() == []
    assert list(folder.iterdir()) == []


def test_a_status_line_is_printed_and_handed_on(folder: Path) -> None:
    """Short: which model, how full."""
    window = {"used_percentage": 12, "context_window_size": 200_000}
    payload = {"model": {"display_name": "Opus"}, "context_window": window}
    [seen], printed = heard(folder, json.dumps(payload).encode(), "statusline")

    assert printed.decode() == "Opus · context 12% used"
    assert seen == StatusLineSeen(run=3, payload=payload)


def test_the_users_status_line_gets_the_same_input(folder: Path) -> None:
    """Byte for byte, and its output is what is shown; an old one is not spooled."""
    assert shim(folder, b'{"a": 1}', "statusline", "cat; echo \\ mine") == b'{"a": 1} mine\n'
    assert not (folder / "spool").exists()


def test_a_brief_is_printed_once_and_only_at_a_start(folder: Path) -> None:
    """A `/clear` or a compaction asks again; by then it is an old story."""
    path = folder / "brief.json"
    path.write_text('{"a": "ü"}', encoding="utf-8")

    for source in ("clear", "compact", "resume"):
        payload = json.dumps({**STOP, "source": source}).encode()
        assert shim(folder, payload, "brief", str(path)) == b""
    payload = json.dumps({**STOP, "source": "startup"}).encode()
    assert shim(folder, payload, "brief", str(path)).decode() == '{"a": "ü"}'
    assert shim(folder, payload, "brief", str(path)) == b""
    assert [each.name for each in folder.iterdir()] == ["brief.json.told"]


def test_a_long_payload_is_cut_to_its_facts(folder: Path) -> None:
    """A tool may be given a whole file."""
    [seen], _ = heard(folder, json.dumps({**STOP, "tool_input": "x" * 3_000_000}).encode())

    assert isinstance(seen, HookFired)
    assert seen.payload == STOP


@pytest.mark.parametrize("payload", [b"", b"not json", b'{"a"', b"\xff\xfe\n\n", b"[1,2]\r\n{}"])
def test_what_is_no_hook_is_dropped_by_the_reader(folder: Path, payload: bytes) -> None:
    """The shim does not look; it costs the agent nothing."""
    for words in ((), ("statusline",), ("brief", str(folder / "b")), ("brief",)):
        shim(folder, payload, *words)
    shim(folder, json.dumps(STOP).encode(), run="x", agent='a"1\n𝄞')

    assert Spool(folder / "spool", "a1").read() == []


def test_odd_names_arrive_as_they_are(folder: Path) -> None:
    """Quoted without a JSON library."""
    shim(folder, json.dumps(STOP).encode(), run="x", agent='a"1\\ 𝄞')
    [seen] = Spool(folder / "spool", 'a"1\\ 𝄞').read()

    assert isinstance(seen, HookFired)
    assert seen.run is None


@pytest.mark.parametrize("asks", [True, False], ids=["question", "word"])
def test_a_busy_listener_is_given_more_time_for_a_question(
    monkeypatch: pytest.MonkeyPatch,
    asks: bool,  # noqa: FBT001
) -> None:
    """Without its line, keys must do; for a mere word no agent is held up."""

    class Busy:
        """Takes what it is sent after two seconds."""

        def settimeout(self, seconds: float) -> None:
            self.timeout = seconds

        def recv(self, count: int) -> bytes:
            if self.timeout < 2.0:
                raise TimeoutError
            return b"+"[:count]

        def nothing(self, *_: object) -> None:
            """As on a real one."""

        connect = sendall = shutdown = close = nothing

    monkeypatch.setenv("KOBOSHI_HOOK_SOCKET", "/x")
    monkeypatch.setattr("koboshi._hook.socket.socket", lambda *_: Busy())

    assert _hook.sent(b"{}\n", asks=asks) is asks


def test_a_listener_that_does_not_answer_is_not_waited_for(folder: Path) -> None:
    """The line goes to the spool instead."""

    async def listen() -> float:
        writers: list[asyncio.StreamWriter] = []
        stuck = await asyncio.start_unix_server(
            lambda _, writer: writers.append(writer), str(folder / "s")
        )
        began = time.monotonic()
        await asyncio.to_thread(shim, folder, json.dumps(STOP).encode())
        took = time.monotonic() - began
        stuck.close()
        for writer in writers:
            writer.close()
        return took

    assert asyncio.run(listen()) < 10.0
    assert len(Spool(folder / "spool", "a1").read()) == 1


def test_nothing_of_ours_is_imported() -> None:
    """It runs outside our environment, and is started for every tool call."""
    code = (
        "import sys, runpy; sys.argv = ['x']; sys.stdin.close(); import atexit, os; "
        "os._exit = lambda _: None; runpy.run_path(%r, run_name='__main__'); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'json', 'socket', 'koboshi'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code % _hook.__file__],
        capture_output=True, check=True, text=True, timeout=20,
    )  # fmt: skip

    assert done.stdout.strip() == "[]"


# -- hostile input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [b"", b"x" * 2_000_000, b"x" * 2_000_000 + b"\n", b"\xff\n", b"[]\n", b"[" * 50_000 + b"\n"],
)
def test_no_one_at_the_socket_breaks_the_listener(folder: Path, sent: bytes) -> None:
    """Too much, too little, no JSON: the next one is heard all the same."""
    taken: list[object] = []

    async def talk() -> None:
        async with hook_socket(folder / "s", "a1", taken.append):
            reader, writer = await asyncio.open_unix_connection(str(folder / "s"))
            try:
                writer.write(sent)
                writer.write_eof()
                await asyncio.wait_for(reader.read(), 10)
            except ConnectionError:
                pass
            finally:
                writer.close()
            await asyncio.to_thread(patient_shim, folder, json.dumps(STOP).encode())

    asyncio.run(talk())

    assert [type(seen) for seen in taken] == [HookFired]


def test_a_path_that_is_too_long_is_said_so(tmp_path: Path) -> None:
    """Hooks then go to the spool."""

    async def listen() -> bool:
        async with hook_socket(tmp_path / ("x" * 120), "a1", print) as there:
            return there

    assert asyncio.run(listen()) is False


def test_a_port_and_its_secret_are_had_again(folder: Path) -> None:
    """Runs that go on know no others; a port that is taken, or a torn note, is no end."""
    note = folder / "hooks.url"
    first = reserve(note)
    first.door.listen()
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    while_taken = reserve(note)
    first.door.close()
    again = reserve(note)
    while_taken.door.close()
    again.door.close()
    note.write_bytes(b"\xff 12")
    torn = reserve(note)
    torn.door.close()

    assert while_taken.of(1) != first.of(1)
    assert while_taken.token == again.token == first.token
    assert first.of(3).endswith(f"/{first.token}/3")
    assert torn.token != first.token


def test_http_takes_hooks_from_who_knows_the_token(folder: Path) -> None:
    """Anything else gets a refusal, and nothing is taken."""
    taken: list[HookFired] = []
    body = json.dumps(STOP).encode()

    async def post(port: int, raw: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw)
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        return answer.split(b" ")[1] if answer else b""

    async def talk() -> list[bytes]:
        url = reserve(folder / "hooks.url")
        async with hook_http(url, taken.append):
            path = url.of(7).partition(str(url.port))[2].encode()
            size = b"Content-Length: %d\r\n" % len(body)
            requests = [
                b"POST %s HTTP/1.1\r\n%s\r\n%s" % (path, size, body),
                b"POST /wrong/7 HTTP/1.1\r\n%s\r\n%s" % (size, body),
                b"GET %s HTTP/1.1\r\n\r\n" % path,
                b"POST %s HTTP/1.1\r\n\r\n" % path,
                b"POST %s HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n" % path,
                b"POST %s HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]" % path,
                b"POST %s HTTP/1.1\r\nX: %s\r\n\r\n" % (path, b"y" * 100_000),
            ]
            return [await post(url.port, each) for each in requests]

    answers = asyncio.run(talk())

    assert answers[:6] == [b"200", b"404", b"404", b"413", b"413", b"400"]
    assert answers[6] in (b"431", b"")
    assert taken == [HookFired(payload=STOP, run=7)]


@given(st.binary(max_size=300), st.floats())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_line_breaks_unpack(line: bytes, utc: float) -> None:
    """Garbage is nothing."""
    assert unpack(line, agent="a1", utc=utc) is None


def test_another_agents_hook_is_not_ours() -> None:
    """Names are compared, whole."""
    line = b'{"kind":"hook","agent":"a2","run":1,"utc":0,"payload":{}}'

    assert unpack(line, agent="a1", utc=1.0) is None
    assert unpack(line, agent="a2", utc=1.0) == HookFired(payload={}, run=1, age=1.0)
