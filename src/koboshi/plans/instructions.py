"""What an agent is told to do: the goal, its step, the bounds, and what went wrong before."""

from __future__ import annotations

import re

from koboshi.wording import many

from .values import Plan, Step, StepState

#: Of a step's commit, unless somebody says otherwise.
MESSAGE = "{step}\n\nStep {number} of {total}: {goal}"
#: Characters of what one attempt came to, in a line that tells of all of them.
TRIED = 300
_BETWEEN = " | "
#: Before the words of an attempt that went with the machine: it says nothing about the step.
CUT_OFF = "(cut off, does not count) "

#: The word in TOUCH for a step that changes nothing.
NOTHING = "none"
HEAD = (
    "You work unattended on {where} of a plan. Nobody can answer questions."
    " Do this step completely, and nothing of the others."
)

#: Around the words of the step: what an agent was told is compared with what the file says.
YOURS, AND_BOUNDS = "Your step:\n", "\n\nBounds of your step:"


def instruction(plan: Plan, step: Step, *, wrong: str = "", file: str = "") -> str:
    """The whole instruction for one attempt at a step."""
    where = f"step {step.number} of {len(plan.steps)}"
    parts = [HEAD.format(where=where), f"Goal of the plan:\n{plan.goal}"]
    if plan.constraints:
        parts.append(f"Constraints, without exception:\n{plan.constraints}")
    done = [_line(plan, each) for each in plan.steps if each.state is StepState.DONE]
    if done:
        parts.append("Done before:\n" + "\n".join(done))
    parts.append(f"{YOURS}{step.text}{AND_BOUNDS}")
    parts += _bounds(step, file)
    result = plan.results.get(step.number)
    if result is not None and result.answer:
        parts.append(f"A person was asked about this step and answered:\n{result.answer}")
    if wrong:
        parts.append(
            "The attempt before this one was not accepted. Look at what is there, and mend it:\n"
            + wrong
        )
    parts.append("When you are done, say in one or two sentences what you changed.")
    return "\n\n".join(parts) + "\n"


def step_told(told: str) -> str:
    """The words of the step in an instruction; empty where there are none."""
    return told.partition(YOURS)[2].partition(AND_BOUNDS)[0] if AND_BOUNDS in told else ""


def commit_message(template: str, plan: Plan, step: Step) -> str:
    """The words for a step's commit: a person's own, with these names in braces, or ours."""
    facts = {
        "step": step.text.splitlines()[0],
        "number": str(step.number),
        "total": str(len(plan.steps)),
        "goal": plan.goal,
    }
    # In one pass: what a plan says is no template.
    words = template.replace("\\n", "\n") or MESSAGE
    return re.sub(r"\{(\w+)\}", lambda found: facts.get(found[1], found[0]), words)


def with_attempt(tried: str, attempt: int, came: str) -> str:
    """What was tried so far, with that attempt; told of again after a death, it is told once."""
    known = [each for each in tried.split(_BETWEEN) if each]
    head = f"attempt {attempt}: "
    said = " ".join(came.split())
    short = said if len(said) <= TRIED else said[:TRIED] + "…"
    before = [each for each in known if not each.startswith(head)]
    return _BETWEEN.join((*before, head + short.replace(_BETWEEN, "; ")))


def cut_off(tried: str) -> int:
    """How many of these attempts were cut off, and are nobody's failure."""
    return sum(CUT_OFF in each for each in tried.split(_BETWEEN))


def report_of(plan: Plan) -> str:
    """What came of a plan, as Markdown."""
    rows = [
        f"# {' '.join(plan.goal.split())}",
        "",
        f"{plan.status.value}, {many(len(plan.steps), 'step')}.",
    ]
    for step in plan.steps:
        result = plan.results.get(step.number)
        rows += ["", f"## {step.number}. {' '.join(step.text.split())}", "", step.state.value]
        if result is not None:
            facts = {"commit": result.commit, "attempts": result.attempts}
            facts |= {"said": result.summary, "tried before": result.tried}
            rows += [f"- {name}: {fact}" for name, fact in facts.items() if fact]
    return "\n".join(rows) + "\n"


def _line(plan: Plan, step: Step) -> str:
    result = plan.results.get(step.number)
    said = f": {result.summary}" if result and result.summary else ""
    return f"- step {step.number}, {step.text}{said}"


def _bounds(step: Step, file: str) -> list[str]:
    bounds = []
    if step.touch == (NOTHING,):
        bounds.append("Change no file.")
    elif step.touch:
        bounds.append("Change only files that match:\n" + "\n".join(f"- {g}" for g in step.touch))
    if step.verify:
        commands = "\n".join(f"- {command}" for command in step.verify)
        bounds.append(
            f"It is verified afterwards by these commands, which must succeed:\n{commands}"
        )
    keep = f" Leave {file} alone: it is the plan." if file else ""
    bounds.append(f"Do not commit: verified work is committed for you.{keep}")
    return bounds
