"""Judge: ask the owner's policy, and whoever may be stricter, about a question.

Rule 1: it always comes to something; what cannot be told is a person's (`ask`).
Rule 2: nothing is typed here, and nothing of what an agent wrote is run or expanded.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from koboshi.core.events import Advice, Ending, Outcome, Stance

from .advising import Matter, second_opinion, stricter
from .hands import Skipped

if TYPE_CHECKING:
    from koboshi.adapters.story import Written
    from koboshi.core.actions import Judge

    from .hands import Hands

log = logging.getLogger(__name__)


async def judge(action: Judge, hands: Hands) -> Outcome:
    """What the policy says about the question, if it is still the one that was decided about."""
    try:
        advice = await _advice(_matter(action, hands), hands)
    except Skipped as gone:
        advice = Advice(stance=Stance.ASK, rule="gone", why=str(gone))
    except Exception as error:  # noqa: BLE001 - rule 1: a policy that breaks must not answer
        log.warning("policy failed", extra={"action": "judge", "reason": repr(error)})
        why = f"the policy could not be asked: {type(error).__name__}"
        advice = Advice(stance=Stance.ASK, rule="failed", why=why)
    return Outcome(ending=Ending.DONE, advice=advice)


def _matter(action: Judge, hands: Hands) -> Matter:
    view, cwd = hands.view(), hands.program.cwd
    allow = view.settings.allow
    if action.ticket:
        held = hands.held(action.ticket)
        shown = next((q for q in view.held if q.ticket == action.ticket), None)
        if held is None or shown is None:
            raise Skipped("nobody waits for an answer any more")
        return Matter(prompt=shown.prompt, payload=held.payload, cwd=cwd, allow=allow)
    question = view.question
    if question is None or question.prompt.fingerprint != action.fingerprint:
        raise Skipped("the question is not there any more")

    async def columns() -> int:
        return (await hands.look()).seen.cols

    def calls() -> tuple[Written, ...] | None:
        lines = hands.transcript()
        return hands.adapter.story(lines).pending if lines else None

    return Matter(
        prompt=question.prompt,
        cwd=cwd,
        allow=allow,
        columns=columns,
        calls=calls,
        pause=hands.sleep,
    )


async def _advice(matter: Matter, hands: Hands) -> Advice:
    if matter.payload is not None and not isinstance(matter.payload.get("tool_input"), dict):
        why = "what it asks for is too long to be judged"  # the shim has cut it
        return Advice(stance=Stance.ASK, rule="cut", why=why)
    first = await hands.advise(matter)
    settings = hands.view().settings
    if not settings.second_opinion or first.stance is Stance.DENY:
        return first
    command, seconds = settings.second_opinion, settings.second_opinion_wait
    return stricter(first, await second_opinion(command, seconds, matter, first))
