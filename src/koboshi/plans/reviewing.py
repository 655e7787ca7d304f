"""A second pair of eyes: what a reviewer is told, in which shape it answers, what comes of that."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .lines import one_line
from .values import Plan, Step

#: Characters of a reason, and reasons that are kept.
LONGEST, MOST = 400, 8

PROMPT = """\
You review the work of another agent on one step of a plan. Look at it as closely as you need to;
change nothing, and ask nobody.

Goal of the plan:
{goal}
{constraints}
The step:
{step}

What it changed, not committed yet (`git diff` and `git status` show it):
{changed}

Its commands and limits have been checked already. Accept it if the step is done completely and
rightly; else reject it, and say exactly what has to be different. Be strict about what is wrong,
not about taste.

Answer with JSON of this shape and nothing else: {{"verdict": "accept" or "reject",
"reasons": ["…"]}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a reviewer said."""

    accepted: bool
    reasons: tuple[str, ...] = ()

    @property
    def evidence(self) -> str:
        """For RESULTS, and for the next attempt."""
        word = "accepted" if self.accepted else "rejected"
        said = f": {' '.join(self.reasons)}" if self.reasons else ""
        return f"A reviewer {word} it{said}" + ("" if said.endswith(".") else ".")


def review_shape() -> str:
    """The shape of an answer, as JSON Schema."""
    whole = {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": ["accept", "reject"]},
            "reasons": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["verdict", "reasons"],
        "additionalProperties": False,
    }
    return json.dumps(whole)


def reviewer_told(plan: Plan, step: Step, changed: tuple[str, ...]) -> str:
    """The whole instruction for a reviewer."""
    bounds = f"\nConstraints, without exception:\n{plan.constraints}\n" if plan.constraints else ""
    rows = "\n".join(f"- {path}" for path in changed[:50]) or "- nothing"
    return PROMPT.format(goal=plan.goal, constraints=bounds, step=step.text, changed=rows)


def review_of(answer: object) -> Review | str:
    """The verdict in a reviewer's answer, or why there is none: it is what an agent said."""
    said = answer.get("verdict") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or said not in ("accept", "reject"):
        return "expected a verdict, accept or reject, and the reviewer gave none"
    given = answer.get("reasons")
    rows = given if isinstance(given, list) else []
    reasons = tuple(one_line(row)[:LONGEST] for row in rows if isinstance(row, str) and row.strip())
    return Review(accepted=said == "accept", reasons=reasons[:MOST])


def review_task(task: str) -> str:
    """The id of the review of that run: always the same, so that no death makes a second one."""
    return f"{task}00"
