"""A plan file after accidents: cut, doubled, shuffled, mistyped, overwritten."""

from __future__ import annotations

from random import Random

from koboshi.plans import PlanStatus, StepState, parse, render, set_state, set_status
from tests.plans.texts import M1

_SCRAPS = (
    *(
        "STATUS: ",
        "[DONE",
        "]",
        ":",
        "：",
        "\t",
        "  ",
        "\r",
        "\r\n",
        "\0",
        "\ufeff",
        "\u3000",
        "#",
        '"',
    ),
    *("1: ", "TOTAL_STEPS: 99999999999999999999", "VERIFY:", "- x", "(pending)", "\u2028", "日本"),
    *(
        "STATUS: DONE\n",
        "PLAN:\n",
        "    2: [DONE] twice\n",
        "RESULTS:\n  STEP_9:\n",
        "\ud800",
        "\x1b[2J",
    ),
)


def damaged(random: Random) -> str:
    """The documented file after some of them."""
    text = M1
    for _ in range(random.randint(1, 6)):
        text = random.choice(_ACCIDENTS)(random, text)
    return text


def _cut(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    return text[:at] if random.random() < 0.5 else text[at:]


def _put(random: Random, text: str) -> str:
    at = random.randint(0, len(text))
    over = random.choice((0, 0, 1, 5))
    return text[:at] + random.choice(_SCRAPS) + text[at + over :]


def _moved(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = lines.pop(random.randrange(len(lines)))
    for _ in range(random.choice((0, 1, 1, 2))):
        lines.insert(random.randint(0, len(lines)), random.choice(("", "  ", "\t")) + line)
    return "".join(lines)


_ACCIDENTS = (_cut, _put, _put, _put, _moved, _moved)


def wrong(text: str) -> str:
    """What does not hold of that text; empty: nothing."""
    plan = parse(text)
    if render(plan) != text:
        return "it is not kept as it is"
    rows = len(text.splitlines(keepends=True)) + 1
    if any(not 0 <= fault.line <= rows or not fault.reason for fault in plan.faults):
        return f"a fault without a place: {plan.faults}"
    if plan.faults:
        return ""
    after = set_status(plan, PlanStatus.WAITING)
    for step in plan.steps[:1]:
        after = set_state(after, step.number, StepState.FAILED)
    again = parse(render(after))
    if again.faults or again.status is not PlanStatus.WAITING:
        return f"an edit damaged it: {again.faults}"
    if [each.text for each in again.steps] != [each.text for each in plan.steps]:
        return "an edit changed what steps say"
    return ""
