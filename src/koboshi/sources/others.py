"""Processes beside a run: who else has its session open, and what an earlier run left running.

Rule 1: a number alone names nobody: a process is known by its words, its environment or its birth.
Rule 2: koboshi and its tmux are never among them, also when an agent was the one to start them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from koboshi.adapters.claude.equip import config_folder
from koboshi.hosts.trees import living

from .envelopes import object_of
from .processes import Being
from .registry import MOST, tells_of

#: Programs of ours, by how their first words end.
_OURS = ("tmux", "dd", "recorder.py", "koboshi", "koboshi.daemon.service")
#: Words looked at for those, and characters of a line that is shown.
_FIRST, _SHOWN = 6, 80


def users_of(session: str, around: Mapping[str, str]) -> tuple[str, ...]:
    """The living processes that have that session open, as `pid words`; nearly always none."""
    found = {pid: words for pid, words in _words() if _names(words, session)}
    found |= {pid: ["claude"] for pid in _registered(session, around) if pid not in found}
    return tuple(_shown(pid, words) for pid, words in sorted(found.items()))


def left_by(agent: str, state: Path, before: int) -> tuple[str, ...]:
    """The living processes that runs of that agent before that one have left, as `pid words`."""
    found = []
    for pid, words in _words():
        with contextlib.suppress(psutil.Error, OSError, ValueError):
            env = psutil.Process(pid).environ()
            mine = env.get("KOBOSHI_AGENT") == agent and env.get("KOBOSHI_STATE") == str(state)
            if mine and int(env.get("KOBOSHI_RUN_NUMBER", "")) < before:
                found.append(_shown(pid, words))
    return tuple(found)


def _words() -> Iterator[tuple[int, list[str]]]:
    """The command lines of our user's processes, but for koboshi's own."""
    uid, us = os.getuid(), os.getpid()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid == us or process.uids().real != uid:
                continue
            words = process.cmdline()
            if words and not _is_ours(words) and living(process.pid):
                yield process.pid, words


def _is_ours(words: list[str]) -> bool:
    return any(word.rpartition("/")[2].rstrip(":") in _OURS for word in words[:_FIRST])


def _names(words: list[str], session: str) -> bool:
    """Whether it was started with that session; a file that is named so is another word."""
    return any(word == session or word.endswith(f"={session}") for word in words[1:])


def _registered(session: str, around: Mapping[str, str]) -> Iterator[int]:
    """Who says of itself that it is in that session."""
    folder = config_folder(around)
    if not folder:
        return
    for path in Path(folder).glob("sessions/*.json"):
        with contextlib.suppress(OSError, ValueError):
            if path.stat().st_size > MOST:
                continue
            record, being = object_of(path.read_bytes()) or {}, Being(int(path.stem))
            if record.get("sessionId") == session and being.lives() and tells_of(record, being):
                yield being.pid


def _shown(pid: int, words: list[str]) -> str:
    return f"{pid} {' '.join(words)}"[:_SHOWN]
