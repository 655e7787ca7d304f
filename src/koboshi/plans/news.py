"""News of a plan: what people are told of it, found in its file alone.

What was told is remembered beside the plan, so that whoever takes over after a death tells the
rest, and nothing twice.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from koboshi.wording import many

from .lines import one_line
from .values import Plan, PlanStatus, StepState

#: Which news people want.
EACH_STEP, END, NONE = "steps", "end", "none"
#: Characters of what an agent said about its step.
LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One thing to be told."""

    key: str  #: one per occasion
    text: str
    asks: bool = False  #: a person has to act before it goes on


def news(plan: Plan, wanted: str = EACH_STEP, *, stopped: bool = False) -> tuple[News, ...]:
    """All there is to tell of the plan as it stands; `stopped`: a person said so, and knows."""
    steps = _steps(plan) if wanted == EACH_STEP else ()
    return (*steps, *(_end(plan, stopped=stopped) if wanted != NONE else ()))


def _steps(plan: Plan) -> tuple[News, ...]:
    found = []
    for step in plan.steps:
        result = plan.results.get(step.number)
        if step.state is not StepState.DONE or result is None or not result.verified:
            continue
        said = _short(result.summary)
        text = f"step {step.number} of {len(plan.steps)} is done: {_short(step.text)}"
        key = f"step.{step.number}.{_digest(step.text, result.commit)}"
        found.append(News(key=key, text=f"{text}. {said}" if said else text))
    return tuple(found)


def _end(plan: Plan, *, stopped: bool) -> tuple[News, ...]:
    if plan.status in (PlanStatus.RUNNING, PlanStatus.IDLE):
        return ()
    word = plan.status.value
    key = f"{word}.{_digest(plan.last_action, plan.next_action)}"
    if plan.status is PlanStatus.DONE:
        return (News(key=key, text=f"DONE, {many(len(plan.steps), 'step')}: {_short(plan.goal)}"),)
    text = f"{word}: {one_line(plan.last_action)}. {one_line(plan.next_action)}"
    return (News(key=key, text=text, asks=not stopped),)


def _short(text: str) -> str:
    said = one_line(text)
    return said if len(said) <= LONGEST else said[:LONGEST] + "…"


def _digest(*words: str) -> str:
    joined = "\x1f".join(words).encode(errors="surrogatepass")
    return hashlib.blake2s(joined, digest_size=4).hexdigest()
