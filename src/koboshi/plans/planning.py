"""From a goal to steps: what a planner is told, in which shape it answers, what comes of that."""

from __future__ import annotations

import json
from typing import Any

from koboshi.wording import many

from .lines import one_line
from .values import Plan, Step, StepState

#: Steps of a plan that a planner may make.
MAX_STEPS = 10
#: Characters of one step, one command and one glob; entries of a list.
LONGEST, MOST = 2000, 20

PROMPT = """\
You are asked for a plan, not for the work itself. Look at the project as far as you need to; change
nothing, and ask nobody.

Goal:
{goal}
{constraints}
Make at most {most} steps, as few as will do. Each is done by another agent that knows only the
goal, the constraints and its own step, and is then verified without it. For each step say:
- do: what to do, completely, in one or two sentences, with the names of the files;
- verify: shell commands that succeed only when the step is done; tests and linters of the project,
  where it has some; they must not ask for anything;
- touch: globs of the files it may change, relative to the project, or ["none"] if it changes none.

Answer with JSON of this shape and nothing else: {{"steps": [{{"do": "…", "verify": ["…"],
"touch": ["…"]}}]}}
"""


def schema(most: int = MAX_STEPS, least: int = 1) -> str:
    """The shape of an answer, as JSON Schema; a CLI that takes one is given it."""
    words = {"type": "array", "items": {"type": "string"}}
    step = {
        "type": "object",
        "properties": {"do": {"type": "string"}, "verify": words, "touch": words},
        "required": ["do", "verify", "touch"],
        "additionalProperties": False,
    }
    steps = {"type": "array", "minItems": least, "maxItems": most, "items": step}
    whole = {"type": "object", "properties": {"steps": steps}, "required": ["steps"]}
    return json.dumps({**whole, "additionalProperties": False})


def planner_told(plan: Plan, most: int = MAX_STEPS) -> str:
    """The whole instruction for a planner."""
    bounds = f"\nConstraints, without exception:\n{plan.constraints}\n" if plan.constraints else ""
    return PROMPT.format(goal=plan.goal, constraints=bounds, most=most)


AGAIN = """\
There is a plan, and it does not hold: a step could not be done. Say how to go on. You are asked for
a plan, not for the work itself. Look at the project as far as you need to (what the failed attempts
left is there, not committed); change nothing, and ask nobody.

Goal:
{goal}
{constraints}
Done, committed, and not to be done again:
{done}

Not done after {tried}:
{step}
What was wrong with the last one:
{wrong}

What was to come after it:
{rest}

Make at most {most} steps that go on from here, in the place of that step and all behind it. Each is
done by another agent that knows only the goal, the constraints and its own step, and is then
verified without it. For each say do (what to do, completely, in one or two sentences), verify
(shell commands that succeed only when it is done) and touch (globs of the files it may change, or
["none"]). If only a person can decide how to go on, make no steps.

Answer with JSON of this shape and nothing else: {{"steps": [{{"do": "…", "verify": ["…"],
"touch": ["…"]}}]}}
"""


def replanner_told(plan: Plan, step: Step, most: int) -> str:
    """The whole instruction for a planner when a step could not be done."""
    bounds = f"\nConstraints, without exception:\n{plan.constraints}\n" if plan.constraints else ""
    result = plan.results.get(step.number)
    return AGAIN.format(
        goal=plan.goal,
        constraints=bounds,
        done=_rows(plan.steps[: step.number - 1]),
        tried=many((result.attempts if result else None) or 0, "attempt"),
        step=step.text,
        wrong=(result.evidence if result else "") or "nobody says",
        rest=_rows(plan.steps[step.number :]),
        most=most,
    )


def _rows(steps: tuple[Step, ...]) -> str:
    return "\n".join(f"- {step.text}" for step in steps) or "- nothing"


def steps_of(answer: object, most: int = MAX_STEPS) -> tuple[Step, ...] | str:
    """The steps in a planner's answer, or why there are none: it is what an agent said."""
    steps = answer.get("steps") if isinstance(answer, dict) else None
    if not isinstance(steps, list) or not steps:
        return "expected a list of steps, and the planner gave none"
    if len(steps) > most:
        return f"expected at most {most} steps, and the planner made {len(steps)}"
    made: list[Step] = []
    for number, step in enumerate(steps, start=1):
        text = one_line(_text(step.get("do"))) if isinstance(step, dict) else ""
        if not text or len(text) > LONGEST:
            return f"step {number} of the planner does not say what to do"
        verify, touch = (_lines(step.get(key)) for key in ("verify", "touch"))
        if verify is None or touch is None:
            return f"step {number} of the planner: expected lists of lines to verify and to touch"
        state = StepState.PENDING
        made.append(Step(number=number, state=state, text=text, verify=verify, touch=touch))
    return tuple(made)


def json_in(words: str) -> object:
    """The JSON object in an agent's words; it may stand in a fence, or after a sentence."""
    decoder = json.JSONDecoder()
    at = words.find("{")
    while at >= 0:
        try:
            return decoder.raw_decode(words, at)[0]
        except (ValueError, RecursionError):
            at = words.find("{", at + 1)
    return None


def _lines(value: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - what an agent said
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST:
        return None
    lines = tuple(one_line(_text(each)) for each in value)
    return lines if all(0 < len(line) <= LONGEST for line in lines) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
