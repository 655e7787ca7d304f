"""Observation → event bodies: the first pure step. No memory (law 3)."""

from __future__ import annotations

import functools
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from koboshi.core.events import HookRead, PersonTyped, RunExited, ScreenRead, TasksRead
from koboshi.observations import (
    HookFired,
    PersonSeen,
    ProcessGone,
    RegistryRead,
    ScreenSeen,
    StatusLineSeen,
    TasksSeen,
    TranscriptGrew,
)

from .asking import ABOUT_QUESTIONS, PERMISSION, asked
from .hooks import read_hook
from .tasks import count_tasks

if TYPE_CHECKING:
    from koboshi.core.events import Body
    from koboshi.observations import Observation

    from .base import Adapter


#: Seconds that count up or down, times of the day, and everything that is no letter or number.
_IDLE_MOTION = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|m|h)\b|\b\d{1,2}:\d\d(?::\d\d)?|[^\w%]+")


def decode(adapter: Adapter, observation: Observation) -> Body | None:
    """The fact in that look; None when there is none in it."""
    match observation:
        case ScreenSeen():
            return _screen(adapter, observation)
        case ProcessGone(run=run, code=code, signal=signal):
            return _exited(adapter, run, code, signal)
        case HookFired():
            return _hook(observation)
        case RegistryRead() | TranscriptGrew() | StatusLineSeen():
            return adapter.signal(observation)
        case TasksSeen(text=text):
            done, left = count_tasks(text)
            return TasksRead(done=done, left=left)
        case PersonSeen():
            return PersonTyped()
        case _:
            assert_never(observation)


def _screen(adapter: Adapter, seen: ScreenSeen) -> Body:
    run = seen.run or 0
    if not seen.alive:
        lost = adapter.lost_session(seen)
        return replace(_exited(adapter, run, seen.code, seen.signal), lost=lost)
    try:
        text = seen.text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which the journal could not hold
        text = seen.text.encode(errors="replace")
        seen = replace(seen, text=text.decode())
    reading = adapter.read(seen)
    # In a pane of a person's nobody knows the exit code; who was told to leave says goodbye.
    # So does one that did not find its session, and was told to come back.
    if reading.reason == "shell_prompt" and adapter.lost_session(seen):
        return RunExited(run=run, lost=True)
    if reading.reason == "shell_prompt" and adapter.said_goodbye(seen):
        return RunExited(run=run, meant=True)
    # Its `work` is left to who tells of it: most looks are not told of.
    return ScreenRead(run=run, reading=reading, digest=digest(seen, text), seen_at=seen.at)


def _exited(adapter: Adapter, run: int, code: int | None, signal: int | None) -> RunExited:
    meant = adapter.clean_exit(code, signal)
    return RunExited(run=run, code=code, signal=signal, meant=meant)


def _hook(fired: HookFired) -> HookRead | None:
    hook = read_hook(fired.payload)
    if hook is None:
        return None
    return HookRead(
        word=hook.event,
        status=hook.status,
        session=hook.session,
        tool=hook.tool,
        subject=hook.command,
        call=hook.tool_use_id,
        run=fired.run,
        began=hook.began,
        age=fired.age,
        prompt=asked(fired.payload) if hook.event in ABOUT_QUESTIONS else None,
        ticket=fired.ticket if hook.event == PERMISSION else "",
    )


def work(seen: ScreenSeen) -> str:
    """Tells two screens apart but for what moves by itself: running clocks, spinners, frames."""
    shown = " ".join(filter(None, map(_still, seen.text.split("\n"))))
    return f"{zlib.crc32(shown.encode(errors='surrogatepass')):08x}"


@functools.lru_cache(maxsize=4096)
def _still(row: str) -> str:
    """What of a row does not move by itself; most rows were there at the last look."""
    return _IDLE_MOTION.sub(" ", row).strip()


def digest(seen: ScreenSeen, text: bytes | None = None) -> str:
    """Tells two screens apart; the title counts, for it may be the only thing that moves.

    `text` is the screen's, where it is encoded already.
    """
    if text is None:
        text = seen.text.encode(errors="surrogatepass")
    title = f"{seen.title}\n".encode(errors="surrogatepass")
    return f"{zlib.crc32(text, zlib.crc32(title)):08x}"
