"""Action kind → performer, and what is done about an action in doubt."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from koboshi.core.actions import Refresh, Send
from koboshi.core.events import Ending
from koboshi.errors import HostError, PlaceGone

from . import answer, handover, interrupting, judging, lifecycle, replacing, typing
from .hands import Skipped, done, failed, skipped

if TYPE_CHECKING:
    from koboshi.core.actions import Action, Bundle, Command, Escalate, FixPrompt, Notify
    from koboshi.core.events import Outcome

    from .hands import Hands


async def _refresh(action: Refresh, hands: Hands) -> Outcome:
    """Begins in the view; the stages are actions of their own. Uncommitted work is kept first."""
    place = hands.place
    if action.note and place is not None and place.own:
        with contextlib.suppress(PlaceGone):  # so has the run
            await lifecycle.check_ended(hands, place, badly=True)
    if action.forced:
        stopped = await interrupting.interrupted(hands, action.key)
        if stopped.ending is not Ending.DONE:
            return stopped
    stamp = datetime.fromtimestamp(hands.now().utc, tz=UTC).strftime("%Y%m%d-%H%M%S")
    said = await hands.snapshot(f"refresh-{stamp}-r{action.run}")
    if action.note:
        return handover.left_for(hands, action.note, said)
    begun = "begun, forced" if action.forced else "begun"
    return done(f"{begun}; {said}" if said else begun)


async def _tell(action: Notify | Escalate, hands: Hands) -> Outcome:
    hands.touch(action.key)
    hands.announce(action.text)
    return done(await hands.notice(action) or "told")


async def _outside(action: Bundle | FixPrompt | Command, hands: Hands) -> Outcome:
    hands.touch(action.key)
    return await hands.outside(action)


async def _settle_once(action: Command, hands: Hands) -> Outcome:  # noqa: ARG001
    """Nobody knows what a program does when it is run twice."""
    return failed("in doubt: it may have run")


async def _settle_safe(action: Action, hands: Hands) -> Outcome:  # noqa: ARG001
    """Telling twice is better than not telling."""
    return skipped("in doubt; done again")


Performer = Callable[[Any, "Hands"], Awaitable["Outcome"]]

#: kind → (perform, settle)
PERFORMERS: dict[str, tuple[Performer, Performer]] = {
    "judge": (judging.judge, _settle_safe),
    "answer": (answer.answer, answer.settle_answer),
    "send": (typing.send, typing.settle_typing),
    "interrupt": (interrupting.interrupt, interrupting.settle_interrupt),
    "checkpoint": (typing.checkpoint, typing.settle_typing),
    "load": (typing.load, typing.settle_typing),
    "stop": (lifecycle.stop, lifecycle.settle_stop),
    "start": (lifecycle.start, lifecycle.settle_start),
    "refresh": (_refresh, _refresh),
    "notify": (_tell, _settle_safe),
    "escalate": (_tell, _settle_safe),
    "bundle": (_outside, _settle_safe),
    "fix-prompt": (_outside, _settle_safe),
    "command": (_outside, _settle_once),
}


async def perform(action: Action, hands: Hands) -> Outcome:
    """Do it, or let the owner's program do it; every way it can go wrong is an outcome."""
    await hands.before(action)
    outcome = await _performed(action, hands)
    hands.after(action, outcome)
    return outcome


async def _performed(action: Action, hands: Hands) -> Outcome:
    try:
        if hands.replaced(action):
            return await replacing.by_program(action, hands)
        return await PERFORMERS[action.kind][0](action, hands)
    except Skipped as reason:
        return skipped(str(reason))
    except HostError as error:
        return failed(str(error))


async def settle(action: Action, hands: Hands, *, touched: bool) -> Outcome:
    """What became of an action whose outcome nobody wrote: look again first (law 5)."""
    # A refresh begins in the view: once decided it goes on. Decided anew it would be a second one,
    # and an error gets one (each of its stages looks again).
    if not touched and not isinstance(action, Refresh):
        return answer.not_begun()
    if isinstance(action, Send) and hands.replaced(action):
        return failed("in doubt: the program may have run")
    try:
        return await PERFORMERS[action.kind][1](action, hands)
    except Skipped as reason:
        return skipped(str(reason))
    except HostError as error:
        return failed(f"in doubt; {error}")
