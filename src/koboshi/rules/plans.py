"""PLN: the autonomous loop. What a plan calls for next, found in its course; not a `while`.

The first rule that finds something makes the one move: a plan has one pair of hands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.events import Severity
from koboshi.core.rules import Rule
from koboshi.plans.course import Course
from koboshi.plans.moves import (
    Advice,
    CommitStep,
    Finish,
    GiveUp,
    Halt,
    MakePlan,
    RevisePlan,
    StartStep,
    TakePlan,
    VerifyStep,
)
from koboshi.plans.values import PlanStatus, StepState
from koboshi.wording import times

from .courses import plan_rule
from .purses import budget_used_up, spending_not_known
from .revisions import other_steps_proposed, plan_does_not_hold

if TYPE_CHECKING:
    from koboshi.core.events import Moment


@plan_rule("PLN001", "halt-wanted", Severity.P2)
def halt_wanted(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """Somebody said stop, or took the plan out of RUNNING by hand.

    ## Why
    A person who says stop means now: the agent at work is ended, too.

    ## Example
    `touch /tmp/koboshi-stop` while step 2 runs: its agent is ended, the plan is WAITING.

    ## Safety
    Safe. What was done stays; the attempt does not count.
    """
    if view.stopped and view.plan.status is PlanStatus.RUNNING:
        return Advice(message=f"stopped: {view.stopped}", move=Halt(why=view.stopped))
    alive = view.task is not None and view.task.state == "running"
    if alive and view.running is not None and view.plan.status is not PlanStatus.RUNNING:
        why = f"the plan says {view.plan.status.value}"
        return Advice(message=why, move=Halt(why=why))
    return None


@plan_rule("PLN010", "step-reworded-at-work", Severity.P1)
def step_reworded_at_work(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """The step that an agent works on says something else now than the agent was told.

    ## Why
    What the agent does would be taken for what the step asks for. Whoever reworded it decides.

    ## Example
    `2: [RUNNING] write a.txt` becomes `write b.txt`: the agent is ended, the plan shows both and
    waits; `koboshi loop resume` starts the step with the new words.

    ## Safety
    Safe. It only ends and waits; what was done stays.
    """
    step, task = view.running, view.task
    if view.plan.status is not PlanStatus.RUNNING or step is None or task is None:
        return None
    if task.state == "absent" or not task.told or task.told == step.text:
        return None
    why = f"step {step.number} was reworded while an agent worked on it"
    both = f"the agent was told {task.told!r}, the file says {step.text!r}"
    again = f"{both}; 'koboshi loop resume' starts it as the file says"
    return Advice(message=why, move=Halt(why=why, again=again), evidence=(both,))


@plan_rule("PLN003", "run-never-began", Severity.P2)
def run_never_began(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """The file names a run that nobody ever started.

    ## Why
    Whoever wrote the name died before the start. The attempt is made now; it is the same one.

    ## Example
    koboshi is killed between writing TASK_ID and starting the agent.

    ## Safety
    Safe. The name is unique, and no run of that name is there.
    """
    step = view.running
    if view.plan.status is not PlanStatus.RUNNING or step is None or view.task is None:
        return None
    if view.task.state != "absent":
        return None
    move = StartStep(step=step.number, attempt=max(1, view.tried(step)), wrong=_wrong(view))
    return Advice(message=f"run {view.task.task} never began", move=move)


@plan_rule("PLN004", "limit-of-use-reached", Severity.P1)
def limit_of_use_reached(view: Course, now: Moment) -> Advice | None:
    """The agent ended at a usage limit.

    ## Why
    It passes by itself. The attempt is made again when it has reset and does not count; where
    nobody says when that is, after 15 minutes, then 30, then every hour.

    ## Example
    `You've hit your session limit · resets 9:58am (UTC)` in step 2: begun again at 9:58 and some
    seconds.

    ## Safety
    Safe. Nothing is begun before the wait is over.
    """
    if view.plan.status is not PlanStatus.RUNNING or not view.limited:
        return None
    if now.utc < view.limited_until:
        return None
    if view.planning:
        return Advice(message="the usage limit may have passed", move=MakePlan())
    if view.revising is not None:
        move = RevisePlan(step=view.revising.number)
        return Advice(message="the usage limit may have passed", move=move)
    step = view.running
    if step is None:
        return None
    again = StartStep(step=step.number, attempt=max(1, view.tried(step)), wrong=_wrong(view))
    return Advice(message="the usage limit may have passed", move=again)


@plan_rule("PLN005", "run-not-verified-yet", Severity.P2)
def run_not_verified_yet(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """The agent of a step has ended, and nobody has looked at what it did.

    ## Why
    An agent that says that it is done may be wrong, or lie.

    ## Example
    Exit 0 and "All done!": its changes, denials and verify commands are looked at.

    ## Safety
    Safe. Only the plan's own verify commands are run.
    """
    step, task = view.running, view.task
    if view.plan.status is not PlanStatus.RUNNING or step is None or task is None:
        return None
    if task.state not in ("finished", "failed") or view.judged or view.limited:
        return None
    move = VerifyStep(step=step.number, task=task.task)
    return Advice(message=f"the run of step {step.number} has ended", move=move)


@plan_rule("PLN006", "step-verified", Severity.P2)
def step_verified(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """What a step was asked for is there.

    ## Why
    It is committed, so that the next step begins from something known.

    ## Example
    Tests are green and only allowed files changed: DONE, with the commit's hash.

    ## Safety
    Safe. A commit on the current branch, of the files that the step changed, and of no others.
    """
    step, judged = view.running, view.judged
    if step is None or judged is None or not judged.verified:
        return None
    if view.plan.status is not PlanStatus.RUNNING:
        return None
    move = CommitStep(
        step=step.number, task=judged.task, changed=judged.changed, evidence=judged.evidence
    )
    return Advice(message=f"step {step.number} is verified", move=move, evidence=(judged.evidence,))


@plan_rule("PLN007", "step-not-verified", Severity.P1)
def step_not_verified(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """What a step was asked for is not there, or more was done than allowed.

    ## Why
    The agent is told what was wrong, and tries again; when all attempts are used up, a person is
    asked, because more of the same would end the same way.

    ## Example
    The tests fail after attempt 1: attempt 2 is told which. After attempt 3: FAILED, a question.

    ## Safety
    Safe. Attempts are counted in the plan itself.
    """
    step, judged = view.running, view.judged
    if step is None or judged is None or judged.verified:
        return None
    if view.plan.status is not PlanStatus.RUNNING:
        return None
    tried, allowed = view.tried(step), view.allowed(step)
    if tried < allowed:
        move = StartStep(step=step.number, attempt=tried + 1, wrong=judged.evidence)
        return Advice(
            message=f"step {step.number} is not verified, attempt {tried} of {allowed}",
            move=move,
            evidence=(judged.evidence,),
        )
    question = (
        f"Step {step.number} failed {times(tried)}: {judged.evidence} What shall be different?"
    )
    return Advice(
        message=f"step {step.number} failed {times(tried)}",
        move=GiveUp(step=step.number, question=question),
        evidence=(judged.evidence,),
    )


@plan_rule("PLN008", "step-not-begun", Severity.P2)
def step_not_begun(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """No step is at work, and one is still to do.

    ## Why
    A plan goes on by itself.

    ## Example
    Step 1 is DONE: step 2 is started.

    ## Safety
    Safe. One step at a time, in the order of the plan.
    """
    if view.plan.status is not PlanStatus.RUNNING or view.running is not None:
        return None
    step = view.next
    if step is None or step.state is not StepState.PENDING:
        return None
    move = StartStep(
        step=step.number, attempt=view.tried(step) + 1, wrong=_wrong(view, step.number)
    )
    return Advice(message=f"step {step.number} is next", move=move)


@plan_rule("PLN011", "goal-without-steps", Severity.P2)
def goal_without_steps(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """There is a goal, and nobody has said yet how to get there.

    ## Why
    One line is enough to begin with: an agent that may change nothing makes the steps.

    ## Example
    `koboshi loop "fix the SIGTERM bug"`: a planner is started.

    ## Safety
    Safe. The planner may read; what it answers is checked before it is written.
    """
    if view.plan.status is not PlanStatus.RUNNING or not view.planning:
        return None
    if view.task is None and view.plan.current.task_id:
        return None  # a planner was named, and nobody has looked at it yet
    if view.task is not None and view.task.state != "absent":
        return None
    return Advice(message="the goal has no steps yet", move=MakePlan())


@plan_rule("PLN012", "steps-proposed", Severity.P2)
def steps_proposed(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """The planner has ended.

    ## Why
    Its steps go into the file, where a person can read and change them.

    ## Example
    Three steps, each with commands that verify it: written, and step 1 begins.

    ## Safety
    Safe. With `--review` nothing is begun before a person says so.
    """
    task = view.task
    if view.plan.status is not PlanStatus.RUNNING or not view.planning or task is None:
        return None
    if task.state not in ("finished", "failed") or view.limited:
        return None
    return Advice(message="the planner has ended", move=TakePlan(task=task.task))


@plan_rule("PLN009", "nothing-left-to-do", Severity.P2)
def nothing_left_to_do(view: Course, now: Moment) -> Advice | None:  # noqa: ARG001
    """Every step is done or was skipped.

    ## Why
    DONE is said once everything is.

    ## Example
    The last step is committed: DONE.

    ## Safety
    Safe. It only tells.
    """
    if view.plan.status is not PlanStatus.RUNNING or view.next is not None or not view.plan.steps:
        return None
    return Advice(message="every step is settled", move=Finish())


def _wrong(view: Course, number: int = 0) -> str:
    """What the attempt before did wrong, as the file remembers it."""
    step = view.running
    result = view.plan.results.get(number or (step.number if step else 0))
    return result.evidence if result and result.verified is False else ""


#: In the order in which they look.
PLANS: tuple[Rule, ...] = (
    halt_wanted,
    budget_used_up,
    spending_not_known,
    step_reworded_at_work,
    run_never_began,
    limit_of_use_reached,
    run_not_verified_yet,
    step_verified,
    plan_does_not_hold,
    other_steps_proposed,
    step_not_verified,
    step_not_begun,
    goal_without_steps,
    steps_proposed,
    nothing_left_to_do,
)
