"""What it costs to watch many terminals, and how soon a question is known of, in a real tmux."""

from __future__ import annotations

import asyncio
import subprocess
import time
from typing import TYPE_CHECKING

from .feeder import idle
from .figures import Figure, count, share
from .fleet import fed, fleet, percent_of_a_core

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event

PANES, SECONDS = 100, 25.0
DIALOGS, BUSY = 200, 20
#: Seconds until all agents have come to rest: past the time in which they are ticked often.
REST = 25.0
_AIMS = {"idle": "≤ 1", "lines": "≤ 10"}


def measure_watching(scale: float) -> tuple[Figure, ...]:
    """Percent of a core for us and tmux together, against a poll by processes; idle, and busy."""
    return asyncio.run(_watching(scale))


def measure_dialogs(scale: float) -> tuple[Figure, ...]:
    """From a dialog on a terminal to its event in the journal, and to what is decided about it."""
    alone = asyncio.run(_dialogs(count(DIALOGS, scale, least=2), 0))
    crowd = asyncio.run(_dialogs(count(DIALOGS, scale, least=2), count(BUSY, scale)))
    return (*_spread("alone", alone), *_spread("busy", crowd))


# -- the cost of watching ------------------------------------------------------------------------


async def _watching(scale: float) -> tuple[Figure, ...]:
    panes, seconds = count(PANES, scale, least=2), max(0.3, SECONDS * scale)
    used: dict[str, float] = {}
    async with fleet() as (crew, state):
        for number in range(panes):
            await crew.recruit(f"agent-{number}", state)
        ttys = await crew.ttys()
        await crew.draw(idle(0))
        await asyncio.sleep(REST * min(1.0, scale))
        used["idle"] = await percent_of_a_core(crew, seconds, asyncio.sleep)
        async with fed("lines", 10 * seconds + 60, *ttys):
            await asyncio.sleep(min(1.0, seconds))
            used["lines"] = await percent_of_a_core(crew, seconds, asyncio.sleep)
        await crew.dismiss()
        places = [s.place.id for s in crew.supervisors if s.place is not None]

        async def poll(seconds: float) -> None:
            await asyncio.to_thread(_poll, crew.socket, places, seconds)

        used["idle_polling"] = await percent_of_a_core(crew, seconds, poll)
        async with fed("lines", 10 * seconds + 60, *ttys):
            await asyncio.sleep(min(1.0, seconds))
            used["lines_unwatched"] = await percent_of_a_core(crew, seconds, asyncio.sleep)
            used["lines_polling"] = await percent_of_a_core(crew, seconds, poll)
    return (Figure(key="panes", value=panes, unit=""), *_costs(used))


def _poll(socket: str, places: list[str], seconds: float) -> None:
    """What is compared with: a `tmux capture-pane` process per pane and second, and no more."""
    end = time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        for place in places:
            words = ["tmux", "-u", "-S", socket, "capture-pane", "-p", "-t", place]
            subprocess.run(words, capture_output=True, check=True)
        time.sleep(max(0.0, min(end, begun + 1) - time.monotonic()))


def _costs(used: dict[str, float]) -> list[Figure]:
    figures = []
    for kind, aim in _AIMS.items():
        polling = used[f"{kind}_polling"]
        figures += [
            Figure(key=f"{kind}_koboshi", value=used[kind], unit="% of a core", aim=aim),
            Figure(key=f"{kind}_polling", value=polling, unit="% of a core"),
            Figure(key=f"{kind}_ratio", value=polling / used[kind], unit="×"),
        ]
    unwatched = used["lines_unwatched"]
    return [*figures, Figure(key="lines_unwatched", value=unwatched, unit="% of a core")]


# -- how soon ------------------------------------------------------------------------------------


async def _dialogs(dialogs: int, busy: int) -> dict[str, list[float]]:
    """Seconds from the terminal to the journaled event, and to the decision, for each dialog."""
    heard: dict[str, dict[str, float]] = {"event": {}, "decision": {}}

    def listen(_: Event, decisions: tuple[Decision, ...], world: World) -> None:
        question = world.view.question
        if question is None:
            return
        heard["event"].setdefault(question.prompt.subject, time.monotonic())
        if any(decision.finding.code.startswith("PRM") for decision in decisions):
            heard["decision"].setdefault(question.prompt.subject, time.monotonic())

    async with fleet() as (crew, state):
        await crew.recruit("asker", state, listen)
        for number in range(busy):
            await crew.recruit(f"busy-{number}", state)
        asker, *others = await crew.ttys()
        async with fed("lines", 3600, *(others or [asker])) as crowd:
            if not others:
                crowd.kill()
            async with fed("dialogs", dialogs, asker) as drawing:
                said, _ = await drawing.communicate()
        await asyncio.sleep(0.5)
    drawn = {f"make step-{n}": float(at) for n, at in map(str.split, said.decode().splitlines())}
    return {
        what: [times[name] - at for name, at in drawn.items() if name in times]
        + [float("inf")] * len(drawn.keys() - times.keys())
        for what, times in heard.items()
    }


def _spread(name: str, seconds: dict[str, list[float]]) -> list[Figure]:
    figures = []
    for what, taken in seconds.items():
        known = sorted(int(t * 1e6) for t in taken if t != float("inf"))
        figures.append(
            Figure(key=f"{name}_{what}_known", value=len(known), unit=f"of {len(taken)}")
        )
        for key, part in (("p50", 0.5), ("p95", 0.95), ("max", 1.0)):
            aim = "≤ 300" if key == "p95" else ""
            value = share(known, part) / 1e3 if known else 0.0
            figures.append(Figure(key=f"{name}_{what}_{key}", value=value, unit="ms", aim=aim))
    return figures
