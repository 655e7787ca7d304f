"""A writer of plan files that is killed: `planner.py FILE LOCKS`.

Goes on from what the one before it left, saves the next number, and says so, until it is killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from koboshi.plans import Current, StepState, set_actions, set_current, set_state
from koboshi.store.planfile import PlanFile


def main() -> None:
    """Save for ever."""
    file = PlanFile(Path(sys.argv[1]), Path(sys.argv[2]))
    while True:
        plan = file.sound()
        count = (plan.current.pid or 0) + 1
        ours = set_current(
            plan, Current(task_id=f"t{count}", pid=count, command="x" * (count % 97))
        )
        ours = set_state(ours, 3, StepState.PENDING if count % 2 else StepState.SKIPPED)
        file.save(plan, set_actions(ours, last=f"saved {count}"))
        sys.stdout.write(f"{count}\n")
        sys.stdout.flush()


main()
