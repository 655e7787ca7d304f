"""`koboshi loop ls`, `koboshi loop resume --all`: every plan that was ever started here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.plans.course import Course
    from koboshi.plans.moves import Advice
    from koboshi.store.progress import Start


@click.command("ls")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def listing(*, as_json: bool) -> None:
    """List the plans that were started here, and how each is doing."""
    from koboshi.cli.printing import clip, columns, plain, say, to_json

    rows = _rows()
    if as_json:
        say(to_json(rows))
        return
    for row in rows:
        kept = "" if row["keeper"] or row["status"] != "RUNNING" else ", nobody works on it"
        said = (
            f"{row['status']:<8} {row['done']}/{row['steps']}{kept}  {row['path']}  {row['goal']}"
        )
        room = columns()
        say(plain(said) if room is None else clip(plain(said), room))
    if not rows:
        say("no plans yet; 'koboshi loop GOAL' begins one")


def _rows() -> list[dict[str, Any]]:
    """What the daemon says, or what can be seen without one."""
    from koboshi.daemon.control.client import call_running
    from koboshi.daemon.loop.facts import brief
    from koboshi.daemon.loop.registry import Registry
    from koboshi.errors import KoboshiError
    from koboshi.store.paths import state_dir

    try:
        told = call_running(state_dir(), "plans")
    except KoboshiError:
        told = None  # it is older, or it does not answer
    if told is not None:
        return list(told)
    registry = Registry(state_dir())
    registry.survey()
    return [brief(known) for known in registry.plans()]


def resume_all(jobs: int) -> None:
    """Go on with every plan that is RUNNING and that nobody works on, at most so many at a time."""
    import asyncio

    from koboshi.cli.printing import say
    from koboshi.store.paths import state_dir
    from koboshi.store.progress import started_plans

    left = {row["path"] for row in _rows() if row["status"] == "RUNNING" and not row["keeper"]}
    waiting = [start for start in started_plans(state_dir()) if start.path in left]
    if not waiting:
        say("no plan waits for somebody to go on with it")
        return
    if not all(asyncio.run(_all(waiting, jobs))):
        raise SystemExit(1)


async def _all(starts: list[Start], jobs: int) -> list[bool]:
    import asyncio

    turn = asyncio.Semaphore(jobs)

    async def one(start: Start) -> bool:
        async with turn:
            return await _one(start)

    return await asyncio.gather(*(one(start) for start in starts))


async def _one(start: Start) -> bool:
    """One plan to its end; its troubles are its own."""
    from koboshi.cli.printing import complain, plain, say
    from koboshi.daemon.loop.keeper import Keeper
    from koboshi.errors import KoboshiError
    from koboshi.plans import PlanStatus
    from koboshi.store.paths import state_dir

    name = Path(start.path).name

    def tell(_: Course, rule: Rule | None, advice: Advice | None) -> None:
        if rule is not None and advice is not None:
            say(plain(f"{name}: {rule.code} {advice.message}"))

    try:
        plan = await Keeper(state_dir(), start, tell=tell).run()
    except KoboshiError as error:
        complain(f"{name}: {error}", error.hint)
        return False
    say(plain(f"{name}: {plan.status.value}, {plan.last_action}"))
    return plan.status is PlanStatus.DONE
