"""TSK: the tasks file says that everything is done. SAV: what was done is noted down in between.

An empty or missing tasks file is not done, and an agent that did nothing in this run is not ended.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from koboshi.core.actions import Checkpoint, Notify, Stop
from koboshi.core.events import Origin, Severity, Source
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .asking import ask
from .context import MUTE

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


def _at_rest(view: View, now: Moment) -> bool:
    """At a turn boundary, and nobody waits for it."""
    busy = view.refresh is not None or bool(view.outbox)
    quiet = view.still_for(now) >= view.settings.quiet
    return view.status is Status.IDLE and quiet and not busy


def _unsaved(view: View) -> bool:
    """Whether the screen shows something else than when it was last noted down."""
    known = view.saved is None or view.saved == view.sight.work
    return not known and view.context.agent_type not in MUTE


def _has_worked(view: View) -> bool:
    """Whether a turn was seen in this run, by whomever; a run that goes on has a past."""
    told = view.clue(Source.HOOK) is not None
    return view.run.origin is not Origin.FIRST or view.tally.turns > 0 or told


def _finished(view: View, now: Moment) -> bool:
    """Nothing is left to do; whoever starts an agent anew has something in mind."""
    hook, tally = view.clue(Source.HOOK), view.tally
    rested = hook is not None and hook.status is Status.IDLE
    idle = view.run.origin is Origin.FIRST and not (tally.turns or tally.nudges or rested)
    return view.tasks.complete and not idle and _at_rest(view, now)


def _about(view: View, what: str) -> str:
    """One per try: a turn may be too short to be seen, and be counted by nobody."""
    return f"{what}{view.tally.turns}.{view.tally.settled}.{view.tally.notes}"


def _note(view: View, about: str, now: Moment) -> Checkpoint:
    """The note that koboshi writes from what is written down: no tokens, nothing is asked.

    Where the owner has a command for it that one goes in, and the last try is koboshi's.
    """
    stamp = datetime.fromtimestamp(now.utc, tz=UTC).strftime("%Y%m%d-%H%M%S")
    run, last = view.run.number, view.tally.misses >= view.settings.tries_max - 1
    return Checkpoint(
        run=run,
        name=f"ckpt-{stamp}-r{run}",
        about=_about(view, about),
        last=last or not view.settings.save_text,
    )


@rule("SAV001", "note-too-old", Severity.P2, Status.IDLE)
def note_too_old(view: View, now: Moment) -> Proposal | None:
    """Something was done, and it was long not noted down.

    ## Why
    A machine that dies takes the context along; a note from a quarter of an hour ago stays.

    ## Example
    15 minutes and two turns since the last note: another one.

    ## Safety
    Safe. At a turn boundary. With `save_text` that goes in; else agents that hand over in words are
    not asked: koboshi makes the note from their transcript. Three failures, and it is left until
    `acknowledge`.
    """
    every, tally = view.settings.save_every, view.tally
    if every <= 0 or not _at_rest(view, now) or not _unsaved(view) or view.tasks.complete:
        return None
    if not _has_worked(view) or view.run.open:
        return None  # a line in its box makes another screen, too; and RUN008 comes first
    if now.at - view.saved_at < every or tally.misses >= view.settings.tries_max:
        return None
    return Proposal(
        message="work was done since the last note", actions=(_note(view, "note", now),)
    )


@rule("TSK001", "finished-work-not-saved", Severity.P2, Status.IDLE)
def finished_work_not_saved(view: View, now: Moment) -> Proposal | None:
    """All tasks are done and the last of it is not noted down.

    ## Why
    The agent is about to be ended; whoever comes next wants to know what it did.

    ## Example
    Every box in `TASKS.md` is ticked and the turn has ended: the last note.

    ## Safety
    Safe. At a turn boundary; three failures, and a person is told.
    """
    if not _finished(view, now) or not _unsaved(view):
        return None
    if view.tally.misses < view.settings.tries_max:
        return Proposal(message="all tasks are done", actions=(_note(view, "done", now),))
    text = f"{view.context.agent} is done, and its last note could not be written"
    about = f"{view.run.number}.done{view.tally.turns}.{view.tally.settled}"
    needed = f"see what it did, then 'koboshi stop {view.context.agent}'"
    return Proposal(message=text, actions=(ask(about, text, needed),))


@rule("TSK002", "finished-run-still-up", Severity.P2, Status.IDLE)
def finished_run_still_up(view: View, now: Moment) -> Proposal | None:
    """All tasks are done and noted down, and the agent is still there.

    ## Why
    An agent with nothing to do finds something to do: it is ended before it does.

    ## Example
    `progress: 100%`, the turn has ended, the note is written: `/exit`.

    ## Safety
    Safe. At a turn boundary, after the last note; a person's message goes first. Three failures,
    and a person is told.
    """
    if not _finished(view, now) or _unsaved(view):
        return None
    if view.tally.misses >= view.settings.tries_max:
        text = f"{view.context.agent} is done, and does not end"
        about = f"{view.run.number}.up{view.tally.turns}.{view.tally.settled}"
        needed = f"end it: 'koboshi stop {view.context.agent}'"
        return Proposal(message=text, actions=(ask(about, text, needed),))
    stop = Stop(run=view.run.number, about=_about(view, "done"))
    return Proposal(message="all tasks are done, and noted down", actions=(stop,))


@rule("TSK003", "all-tasks-done", Severity.P1, Status.GONE)
def all_tasks_done(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """All tasks are done and the agent has ended.

    ## Why
    This is what one wants to hear in the morning. It is not started again.

    ## Example
    `a1: all 12 tasks are done; it has ended`.

    ## Safety
    Safe. It only tells.
    """
    if view.status is not Status.GONE or not view.tasks.complete or view.wanted:
        return None
    text = f"{view.context.agent}: all {view.tasks.done} tasks are done; it has ended"
    note = Notify(about=f"{view.run.number}.finished", text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)
