"""The door: private, and nobody who knocks can hold it up."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.daemon.control import server
from koboshi.daemon.control.client import call, call_running, door
from koboshi.daemon.control.server import Door, check_private
from koboshi.errors import DaemonError, InputError, KoboshiError
from koboshi.store.paths import socket_dir
from tests.hosts.waiting import until


async def _echo(args: dict[str, Any]) -> dict[str, Any]:
    return args


async def _refuse(args: dict[str, Any]) -> None:
    raise InputError(f"no {args}", hint="try yes")


async def _break(args: dict[str, Any]) -> float:  # noqa: ARG001
    return 1 / 0


VERBS = {"echo": _echo, "refuse": _refuse, "break": _break}


async def answered(path: Path, content: bytes) -> dict[str, Any]:
    """What the door says to that."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(content)
    if b"\n" not in content:
        writer.write_eof()
    reply: dict[str, Any] = json.loads(await reader.readline())
    writer.close()
    return reply


def talk(path: Path, *contents: bytes) -> list[dict[str, Any]]:
    """Open a door, say these things to it, close it."""

    async def go() -> list[dict[str, Any]]:
        entrance = Door(path, VERBS)
        await entrance.open()
        try:
            return [await answered(path, content) for content in contents]
        finally:
            await entrance.close()

    return asyncio.run(go())


def test_a_verb_is_answered_and_an_error_is_an_answer(tmp_path: Path) -> None:
    """With words, hint and exit code."""
    path = tmp_path / "run" / "c"

    good, bad, broken, unknown = talk(
        path,
        b'{"verb": "echo", "args": {"a": 1}}\n',
        b'{"verb": "refuse", "args": {}}\n',
        b'{"verb": "break"}\n',
        b'{"verb": "dance"}\n',
    )

    assert good["ok"] == {"a": 1}
    assert bad["error"] == {"message": "no {}", "hint": "try yes", "code": 2}
    assert broken["error"]["message"] == "the daemon failed: ZeroDivisionError: division by zero"
    assert unknown["error"]["message"] == "expected one of break, echo, refuse, not 'dance'"
    assert not path.exists()


@given(st.binary(max_size=300))
def test_whatever_is_said_is_answered(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes
) -> None:
    """Garbage, half a request, nothing at all."""
    path = tmp_path_factory.mktemp("d") / "c"
    path.parent.chmod(0o700)

    junk_said, good = talk(path, junk.replace(b"\n", b"") + b"\n", b'{"verb": "echo"}\n')

    assert set(junk_said) <= {"ok", "error", "version"}
    assert good["ok"] == {}


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is bounded."""
    monkeypatch.setattr(server, "LONGEST", 1000)

    [reply] = talk(
        tmp_path / "r" / "c", b'{"verb": "echo", "args": {"a": "' + b"x" * 5000 + b'"}}\n'
    )

    assert reply["error"]["code"] == 2


def test_who_says_nothing_is_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are served meanwhile."""
    monkeypatch.setattr(server, "ARRIVES", 0.05)
    path = tmp_path / "r" / "c"

    async def go() -> tuple[bytes, dict[str, Any]]:
        entrance = Door(path, VERBS)
        await entrance.open()
        reader, writer = await asyncio.open_unix_connection(path)
        served = await answered(path, b'{"verb": "echo"}\n')
        said = await reader.readline()
        writer.close()
        await entrance.close()
        return said, served

    said, served = asyncio.run(go())

    assert b"expected a request" in said
    assert served["ok"] == {}


def test_a_socket_that_was_cleared_away_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cleaner of old files may take it; the daemon must stay reachable."""
    monkeypatch.setattr(server, "STILL_THERE", 0.01)
    path = tmp_path / "r" / "c"

    async def go() -> dict[str, Any]:
        entrance = Door(path, VERBS)
        await entrance.open()
        keeper = asyncio.get_running_loop().create_task(entrance.keep_open())
        path.unlink()
        await until(path.exists)
        reply = await answered(path, b'{"verb": "echo"}\n')
        keeper.cancel()
        await entrance.close()
        return reply

    assert asyncio.run(go())["ok"] == {}


def test_a_stale_socket_is_taken_over_and_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    """The lock's holder may remove the first; the second may be a trap."""
    path = tmp_path / "r" / "c"
    path.parent.mkdir(mode=0o700)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()

    assert talk(path, b'{"verb": "echo"}\n')[0]["ok"] == {}
    path.parent.chmod(0o755)
    with pytest.raises(KoboshiError, match="only its owner"):
        check_private(path.parent)


def test_nobody_at_home(tmp_path: Path) -> None:
    """No socket, a stale one, a file in its place: nobody answers, and nothing is started."""
    assert call_running(tmp_path, "ping") is None
    path = door(tmp_path)
    path.parent.mkdir()
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    assert call_running(tmp_path, "ping") is None


def test_a_frozen_daemon_is_said_to_be_one(tmp_path: Path) -> None:
    """It took the call and says nothing."""
    path = door(tmp_path)
    path.parent.mkdir()
    frozen = socket.socket(socket.AF_UNIX)
    frozen.bind(str(path))
    frozen.listen()

    with pytest.raises(DaemonError, match=r"did not answer within 0\.05 seconds"):
        call(tmp_path, "ping", patience=0.05)
    frozen.close()


def test_a_long_state_folder_has_its_sockets_elsewhere(tmp_path: Path) -> None:
    """A socket's path has a hundred bytes."""
    deep = tmp_path / ("x" * 60) / ("y" * 60)

    assert len(str(door(deep))) < 100
    assert socket_dir(deep) != socket_dir(deep / "z")
    assert socket_dir(Path("/home/me/.local/state/koboshi")).name == "run"
