"""What agents ask of us through their tools, and people on their behalf.

Each is an order in the agent's journal; who asks for itself is checked by the number of its run: a
late word of an old run changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.actions import Load, Mode
from koboshi.core.events import ActionFinished, Order, OrderGiven
from koboshi.errors import InputError, KoboshiError
from koboshi.performers import handover
from koboshi.rules.context import MUTE
from koboshi.wording import many

from .following import LONGEST_WAIT, brief, watched

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Event
    from koboshi.core.view import View
    from koboshi.daemon.house import House
    from koboshi.daemon.wards import Ward

    Up = Callable[[str], Awaitable[tuple[Ward, World]]]
    #: What a person means who saw the options with their secrets masked.
    Meant = Callable[[str, str, tuple[str, ...]], str]

#: Characters of a question, of an option, of an answer, of a word about progress.
QUESTION, OPTION, ANSWER, PROGRESS = 4000, 200, 8000, 500
#: Options of a question.
OPTIONS = 12


class RefreshArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`refresh`."""

    name: str
    reason: str = ""
    note: str = ""  #: for the next run; empty: the agent is asked for one
    run: int = 0  #: that asks; 0: a person
    wait: float = 0.0


class AskArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`ask`: the same ticket is the same question, however often it is asked."""

    name: str
    run: int
    ticket: str
    question: str
    options: list[str] = []
    wait: float = 0.0


class ProgressArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`progress`."""

    name: str
    run: int
    text: str


class Errands:
    """The verbs."""

    def __init__(self, house: House, up: Up) -> None:
        self._house = house
        self._up = up

    def table(self) -> dict[str, Callable[[dict[str, Any]], Awaitable[Any]]]:
        """Name → verb."""
        return {
            "refresh": self.refresh,
            "ask": self.ask,
            "progress": self.progress,
        }

    async def refresh(self, args: dict[str, Any]) -> dict[str, Any]:
        """Hand over to a fresh run at the end of the turn; with a note, the agent wrote it."""
        asked = msgspec.convert(args, type=RefreshArgs)
        ward, world = await self._up(asked.name)
        supervisor = await ward.taken_up(5.0)
        view, now = world.view, supervisor.runtime.now()
        _same_run(view, asked.run)
        if view.restarting:
            raise KoboshiError(f"{asked.name} is being restarted already")
        _may_refresh(view)
        if view.budget_spent(now):
            used = many(view.restarts_in_period(now), "restart")
            used += f" in {view.settings.period / 60:g} min"
            hint = f"a person forgives them with 'koboshi ack {asked.name}'"
            raise KoboshiError(f"{asked.name} is not restarted: {used}", hint=hint)
        name, by = "", "agent" if asked.run else "person"
        if asked.note:
            stamp = datetime.fromtimestamp(now.utc, tz=UTC).strftime("%Y%m%d-%H%M%S")
            name = f"ckpt-{stamp}-r{view.run.number}"
            if not handover.keep(supervisor.hands, name, _fits(asked.note, handover.LONGEST)):
                raise KoboshiError("the note could not be written", hint="'koboshi doctor' looks")
        reason = asked.reason or f"{'the agent' if asked.run else 'a person'} asked for it"
        order = OrderGiven(order=Order.REFRESH, by=by, text=reason, note=name)
        return {**await watched(ward, order, _loaded, asked.wait), "note": name}

    async def ask(self, args: dict[str, Any]) -> dict[str, Any]:
        """Ask a person on behalf of the agent, and wait for that long; asked again: wait on."""
        asked = msgspec.convert(args, type=AskArgs)
        ward, world = await self._up(asked.name)
        _same_run(world.view, asked.run)
        question = _fits(asked.question, QUESTION)
        options = tuple(_fits(option, OPTION) for option in asked.options)
        if len(options) > OPTIONS or not asked.ticket:
            raise InputError(f"expected a ticket, and at most {OPTIONS} options")
        if ward.asks.take(asked.ticket, asked.run, question, options):
            shown = f"{question} [{' | '.join(options)}]" if options else question
            ward.order(OrderGiven(order=Order.ASK, by="agent", text=shown))
        answer = await ward.asks.wait(asked.ticket, min(asked.wait, LONGEST_WAIT))
        return {"agent": asked.name, "answer": answer or None}

    async def reply(self, name: str, text: str, meant: Meant) -> dict[str, Any]:
        """A person's answer to that question; the first one counts."""
        ward, world = await self._up(name.partition(":")[0])
        offered = ward.asks.options(name)
        text = _fits(meant(ward.entry.agent, text, offered), ANSWER)
        ask = ward.asks.reply(name, world.view.run.number, text)
        if ask is None:
            raise KoboshiError(
                f"{name} is not open any more", hint="'koboshi questions' lists what waits"
            )
        ward.order(OrderGiven(order=Order.REPLY, by="person", text=text))
        return {**brief(ward), "outcome": "done", "why": f"told: {text}"}

    async def progress(self, args: dict[str, Any]) -> dict[str, Any]:
        """What the agent says of how far it has come."""
        asked = msgspec.convert(args, type=ProgressArgs)
        ward, world = await self._up(asked.name)
        _same_run(world.view, asked.run)
        text = _fits(" ".join(asked.text.split()), PROGRESS)
        ward.asks.progress = {"text": text, "at": time.time()}
        ward.order(OrderGiven(order=Order.TELL, by="agent", text=text))
        return {"agent": asked.name}


def _loaded(event: Event) -> str | None:
    """How the hand-over ended: with the note in the next run."""
    body = event.body
    mine = isinstance(body, ActionFinished) and isinstance(body.action, Load)
    return body.outcome.ending.value if mine else None  # type: ignore[union-attr]


def _same_run(view: View, run: int) -> None:
    if run not in (0, view.run.number):
        agent, number = view.context.agent, view.run.number
        raise InputError(f"run {run} of {agent} is over: run {number} is up")


def _may_refresh(view: View) -> None:
    """Whether anything would come of it: an order that waits for ever helps nobody."""
    agent = view.context.agent
    if view.context.agent_type in MUTE:
        raise InputError(f"{agent} is {view.context.agent_type}: it has no way to be handed over")
    if view.settings.mode < Mode.KEEP or view.paused:
        why = "it is paused" if view.paused else "its mode is 'observe'"
        raise KoboshiError(f"{agent} is not touched: {why}", hint=f"'koboshi mode {agent} keep'")


def _fits(text: str, longest: int) -> str:
    """The text, without what a terminal would obey; too long, or empty, is an error."""
    kept = "".join(c for c in text if c in "\n\t" or c.isprintable()).strip()
    if not kept:
        raise InputError("expected some words, and there are none")
    if len(kept) > longest:
        raise InputError(f"expected at most {longest} characters, not {len(kept)}")
    return kept
