"""`koboshi loop show [FILE]`: what a plan file says; nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.plans import Plan

_EPILOG = """\b
Examples:
  koboshi loop show
  koboshi loop show plans/M1.md
  koboshi loop show --json | jq -r .status

\b
Exit codes: 0 fine · 2 no such file, or it is damaged
"""
#: Where a plan is, unless somebody says otherwise.
DEFAULT = "M1.md"
_COLOURS = {"DONE": "green", "RUNNING": "cyan", "FAILED": "red", "WAITING": "yellow"}


@click.command(epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path), default=DEFAULT)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(*, file: Path, as_json: bool) -> None:
    """Show what the plan FILE says, or what is wrong with it; M1.md unless another is named."""
    from koboshi.cli.printing import say, to_json
    from koboshi.daemon.loop.facts import plan_facts
    from koboshi.errors import PlanDamaged
    from koboshi.store.paths import plans_dir, state_dir
    from koboshi.store.planfile import PlanFile

    found = PlanFile(file, plans_dir(state_dir()))
    plan = found.read()
    if as_json:
        say(to_json({"path": str(found.path), **plan_facts(plan)}))
    else:
        _tell(plan)
    if plan.faults:
        raise PlanDamaged(str(file), tuple(str(fault) for fault in plan.faults))


def _tell(plan: Plan) -> None:
    """For people: the status, the steps with what came of them, and what comes next."""
    from koboshi.cli.printing import columns, labelled, paint, plain, say

    room = columns() or 100
    done = sum(step.state.value in ("DONE", "SKIPPED") for step in plan.steps)
    status = paint(plan.status.value, _COLOURS.get(plan.status.value, "bold"))
    say(f"{status}, {done} of {len(plan.steps)} steps done")
    rows = [("goal", plan.goal), ("but", plan.constraints)]
    for label, text in rows:
        if text:
            say(labelled(label, _clean(text), room, indent=2))
    for step in plan.steps:
        result = plan.results.get(step.number)
        said = f"{step.state.value.lower()}: {_clean(step.text)}"
        if result is not None and (result.summary or result.commit):
            said += "\n" + plain(" ".join(filter(None, (result.commit, result.summary))))
        if result is not None and result.verified is False:
            said += "\n" + plain(f"not verified: {result.evidence or 'no reason was written'}")
        if result is not None and result.tried:
            said += "\n" + plain(f"tried: {result.tried}")
        say(labelled(f"step {step.number}", said, room, indent=2))
    for label, text in (("last", plan.last_action), ("next", plan.next_action)):
        if text:
            say(labelled(label, _clean(text), room, indent=2))


def _clean(text: str) -> str:
    from koboshi.cli.printing import plain

    return "\n".join(plain(row) for row in text.split("\n"))
