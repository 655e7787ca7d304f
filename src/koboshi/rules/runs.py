"""RUN: the process itself."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from koboshi.core.actions import Notify, Send, Start, Stop
from koboshi.core.events import Order, Origin, Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule
from koboshi.wording import many

from .asking import ask

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


_AT_PROMPT = (Status.IDLE, Status.FAILED)


def _crashed(view: View) -> bool:
    """Gone, not on purpose, and not in the middle of a planned restart."""
    run = view.run
    meant = run.exit is not None and run.exit.meant
    return (
        view.status is Status.GONE
        and run.number > 0
        and not (meant or view.wanted or view.restarting or view.halted)
    )


def not_gone_on_with(view: View) -> str:
    """Why the session of a crashed run is left behind; empty: it goes on."""
    exit_, use, most = view.run.exit, view.sight.context, view.settings.context_max
    if exit_ is None or not _crashed(view):
        return ""
    if exit_.lost:
        return "its session was not found"
    if use is not None and 0 < most <= use.used and not exit_.plain:
        return f"it ended with {use.used:g}% of its context used"
    return ""


def new_session(view: View, now: Moment) -> str:
    """A session id for the next run, in the form of a UUID.

    It is part of the decision, so the journal has it before the run exists: a run that nobody saw
    start can still be resumed.
    """
    seed = f"{view.context.agent}\n{view.run.number + 1}\n{now.utc!r}\n{now.at!r}"
    h = hashlib.blake2b(seed.encode(), digest_size=16).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


@rule("RUN005", "run-wanted", Severity.P2)
def run_wanted(view: View, now: Moment) -> Proposal | None:
    """A person asked for a run and there is none.

    ## Why
    The first start goes the same way as every other: decided, written down, done, seen.

    ## Example
    `koboshi demo` starts the scripted agent.

    ## Safety
    Safe. A person asked for it; it does not count against the restart budget.
    """
    if not view.wanted:
        return None
    start = Start(
        run=view.run.number + 1,
        origin=Origin.FIRST,
        session=new_session(view, now),
        nth=view.tally.starts,
    )
    return Proposal(message="a run is wanted", actions=(start,))


@rule("RUN007", "run-unwanted", Severity.P2)
def run_unwanted(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A person wants no run and there is one.

    ## Why
    An order to stop goes the way of everything else: decided, written down, done, seen. A
    supervisor that dies in between finds the order in the journal and carries it out.

    ## Example
    `koboshi stop NAME`: the agent gets its own exit command where it waits at its prompt, SIGTERM
    where it does not, SIGKILL in the end; whatever it started is ended, too.

    ## Safety
    Safe. A person asked for it; whatever its exit code, it counts as meant.
    """
    if view.halted is None or view.run.number == 0 or view.run.exit is not None:
        return None
    stop = Stop(
        run=view.run.number,
        about=f"order{view.tally.orders}",
        ordered=True,
        force=view.halted is Order.KILL,
    )
    return Proposal(message="a person said stop", actions=(stop,))


@rule("RUN001", "run-ended-badly", Severity.P0, Status.GONE)
def run_ended_badly(view: View, now: Moment) -> Proposal | None:
    """The process ended and nobody meant it to.

    ## Why
    A crashed CLI leaves a shell prompt, or a last frame that still shows a spinner; no work is
    done until somebody starts it again.

    ## Example
    Claude Code is killed by the kernel for want of memory: `run 3 ended: signal 9`. After 2 s
    run 4 resumes its session.

    ## Safety
    Safe. Only a process that is proven to have ended is started again, after a backoff that
    doubles with each crash in a row, within the one restart budget.
    """
    left = not_gone_on_with(view)
    plain = view.run.exit is not None and view.run.exit.plain
    if not _crashed(view) or view.given_up or (left and not plain):
        return None
    known = "" if left else view.run.session
    start = Start(
        run=view.run.number + 1,
        origin=Origin.RESUMED if known else Origin.FRESH,
        session=known or new_session(view, now),
        nth=view.tally.starts,
    )
    return Proposal(
        message=f"run {view.run.number} is gone", actions=(start,), evidence=view.belief.evidence
    )


@rule("RUN008", "call-left-open", Severity.P1, Status.IDLE, Status.FAILED, Status.LIMITED)
def call_left_open(view: View, now: Moment) -> Proposal | None:
    """The run before crashed in the middle of a tool call, and this one does not know of it.

    ## Why
    A CLI that goes on with a session drops a call that has no result. The model never learns that
    its command may have run: it makes the payment, the migration, the push a second time.

    ## Example
    Claude Code was killed during `make deploy`: run 4 is told that it may have run, and to look
    before it does it again.

    ## Safety
    Safe. One message per run, at an empty prompt; in doubt it is looked for first.
    """
    run, tally = view.run, view.tally
    if not run.open or run.exit is not None or view.restarting:
        return None
    limited = view.status is Status.LIMITED and view.window is not None
    waiting = limited and view.limit_over(now)
    if (view.status not in _AT_PROMPT and not waiting) or tally.nudges >= view.settings.nudges_max:
        return None
    calls = "; ".join(run.open)
    still = f"Still running: {'; '.join(run.left)}\n" if run.left else ""
    text = (
        f"You were ended in the middle of a tool call, and are back: run #{run.number}.\n"
        f"It has no result, and may have run in part or in full: {calls}\n{still}"
        "Look at what it did before you do it again. Then go on with the work."
    )
    about = f"open-call{tally.turns}.{tally.settled}.{tally.nudges}"
    send = Send(run=run.number, text=text, about=about)
    return Proposal(message=f"a tool call was left open: {calls}", actions=(send,))


@rule("RUN009", "tools-outlived-crash", Severity.P1)
def tools_outlived_crash(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent crashed, and shells or tools that it had started run on.

    ## Why
    They still write to its files, hold its ports and its locks, and nobody reads what they print.

    ## Example
    Claude Code was killed during `make deploy`, which goes on under process 1.

    ## Safety
    Safe. It tells a person, and the agent together with an open call. With `leftovers = "end"` they
    are ended before the next run starts; then there is nothing to tell.
    """
    run = view.run
    if not run.left or run.exit is not None:
        return None
    text = f"{view.context.agent}: outlived its crash and still run: {'; '.join(run.left)}"
    note = Notify(about=f"{run.number}.left", text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,))


@rule("RUN002", "restart-budget-spent", Severity.P0, Status.GONE)
def restart_budget_spent(view: View, now: Moment) -> Proposal | None:
    """The agent is down and the restart budget is used up.

    ## Why
    What crashed five times in an hour will crash a sixth time. Nested supervisors that each
    allow five make it twenty-five (law 6).

    ## Example
    A CLI update broke the start-up: five runs, none lived for a minute. koboshi stops and asks.

    ## Safety
    Safe. It tells a person and ends automatic restarts until `acknowledge`.
    """
    down = _crashed(view) or (view.status is Status.GONE and view.restarting)
    if not down or view.given_up or not view.budget_spent(now):
        return None
    used = f"{many(view.restarts_in_period(now), 'restart')} in {view.settings.period:g} s"
    text = f"{view.context.agent} keeps ending ({used})"
    needed = f"see why, then 'koboshi ack {view.context.agent}'"
    about = f"{view.run.number}.spent{view.tally.settled}"
    return Proposal(
        message=f"no restarts left: {used}",
        actions=(ask(about, text, needed, gives_up=True),),
        evidence=view.belief.evidence,
    )


@rule("RUN003", "run-ended-as-meant", Severity.P2, Status.GONE)
def run_ended_as_meant(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The process ended because somebody wanted it to.

    ## Why
    An agent that was told to exit must stay down; whoever looks later wants to know why it is.

    ## Example
    A person types `/exit`: exit code 0, no restart. Nor is there one after Ctrl-C at its terminal.

    ## Safety
    Safe. It only tells.
    """
    exit_ = view.run.exit
    if (
        view.status is not Status.GONE
        or exit_ is None
        or not exit_.meant
        or view.restarting
        or view.wanted
        or view.tasks.complete
    ):
        return None
    text = f"{view.context.agent} exited; it was meant to"
    note = Notify(about=f"{view.run.number}.ended", text=text, severity=Severity.P2)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("RUN004", "status-unknown", Severity.P1, Status.UNKNOWN)
def status_unknown(view: View, now: Moment) -> Proposal | None:
    """For some time now the evidence has not said what the agent is doing.

    ## Why
    koboshi never acts on a guess (law 9), so an agent it cannot read is an agent without a
    supervisor. The owner should know.

    ## Example
    A CLI update draws a screen that no manifest knows.

    ## Safety
    Safe. No key is sent; a person is told, once per stretch.
    """
    if view.status is not Status.UNKNOWN or view.run.number == 0:
        return None
    if view.age(now) < view.settings.unknown_after:
        return None
    text = f"{view.context.agent}: {view.belief.reason or 'the screen is not known'}"
    about = f"{view.run.number}.unknown{view.belief.since:.3f}"
    note = Notify(about=about, text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("RUN006", "start-held-up", Severity.P0, Status.GONE)
def start_held_up(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The agent is down and something keeps it from being started.

    ## Why
    koboshi types a restart command only into a shell whose line is empty, and never starts a second
    process beside a living one. Whatever is in the way, only a person can take it away.

    ## Example
    In the pane of a crashed agent somebody left `git sta` on the shell's line.

    ## Safety
    Safe. It tells a person; the start is tried again, less and less often.
    """
    tally = view.tally
    if view.status is not Status.GONE or tally.held < view.settings.tries_max:
        return None
    text = f"{view.context.agent} is down and cannot be started"
    about = f"{view.run.number}.held{tally.settled}"
    asked = ask(about, text, "look at its terminal")
    return Proposal(message=text, actions=(asked,), evidence=view.belief.evidence)
