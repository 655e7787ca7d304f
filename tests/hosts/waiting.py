"""Waiting for what a test claims, with a deadline and never a blind sleep."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

import koboshi.errors
from koboshi.hosts.base import Host, Place
from koboshi.observations import ScreenSeen

PROGRAMS = Path(__file__).parent / "programs"


def program(name: str, *args: object) -> tuple[str, ...]:
    """The argv of one of our small programs."""
    return (sys.executable, str(PROGRAMS / f"{name}.py"), *map(str, args))


async def until(predicate: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        await asyncio.sleep(0.01)


async def until_seen(
    host: Host, place: Place, predicate: Callable[[ScreenSeen], bool], seconds: float = 30
) -> ScreenSeen:
    """Look until the look is as wanted."""
    deadline = time.monotonic() + seconds
    while not predicate(seen := await host.look(place)):
        assert time.monotonic() < deadline, f"not seen within {seconds} s, last: {seen}"
        await asyncio.sleep(0.01)
    return seen


async def until_text(host: Host, place: Place, text: str, seconds: float = 30) -> ScreenSeen:
    """Look until the screen shows `text`."""
    return await until_seen(host, place, lambda seen: text in seen.text, seconds)


async def until_ended(host: Host, place: Place, seconds: float = 30) -> ScreenSeen:
    """Look until the program has ended."""
    return await until_seen(host, place, lambda seen: not seen.alive, seconds)


def number_after(word: str, text: str) -> int:
    """The number in `word=N.` on a screen."""
    found = re.search(rf"{word}=(\d+)\.", text)
    assert found, text
    return int(found[1])


def content(path: Path) -> bytes:
    """What is in the file, nothing while it is not there."""
    return path.read_bytes() if path.exists() else b""


def runs(pid: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def bystander() -> Iterator[int]:
    """A process that looks like one of a run, and is none: its pid."""
    command = program("show", "bystander")
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


@contextmanager
def kept(socket: str, state_dir: Path, *argv: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that keeps an agent in tmux (or by the host the socket names), looking."""
    source = Path(koboshi.errors.__file__).parent.parent
    env = {**os.environ, "PYTHONPATH": str(source)}
    command = [*program("keeper", socket, state_dir), *argv]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as keeper:
        try:
            assert keeper.stdout is not None
            assert json.loads(keeper.stdout.readline())["pid"]
            yield keeper
        finally:
            keeper.kill()
