"""RFR: the stages of a refresh. Each rule moves it on by one: save → exit → start → load.

The sequence is state in the view, not a loop in a performer: a supervisor that dies at any point
folds the journal and the same rules go on from there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from koboshi.core.actions import Checkpoint, Load, Refresh, Start, Stop
from koboshi.core.events import Origin, Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule
from koboshi.core.view import Stage

from .asking import ask
from .outages import passing, patience
from .runs import new_session, not_gone_on_with

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import Refreshing, View

_AT_PROMPT = (Status.IDLE, Status.FAILED)


def _at(view: View, stage: Stage) -> Refreshing | None:
    """The refresh, if it has come to that stage and has tries left there."""
    refresh = view.refresh
    if refresh is None or refresh.stage is not stage or refresh.tries >= view.settings.tries_max:
        return None
    return refresh


def _name(view: View, now: Moment) -> str:
    """Of a checkpoint: its time and its run."""
    stamp = datetime.fromtimestamp(now.utc, tz=UTC).strftime("%Y%m%d-%H%M%S")
    return f"ckpt-{stamp}-r{view.run.number}"


@rule("RFR006", "session-left-behind", Severity.P0, Status.GONE)
def session_left_behind(view: View, now: Moment) -> Proposal | None:
    """The run crashed, and its session is full or cannot be found.

    ## Why
    Resumed, a full session would be full again: it ends the same way, again and again. One that the
    CLI does not find cannot be resumed at all.

    ## Example
    Claude Code ends at 96 % of its context. koboshi writes a note from its transcript, and run 4
    starts fresh with it.

    ## Safety
    Safe. Uncommitted work is kept first. Where no note can be written, a full session is resumed
    all the same. It waits and counts like every restart after a crash.
    """
    why = not_gone_on_with(view)
    exit_ = view.run.exit
    if not why or view.given_up or (exit_ is not None and exit_.plain):
        return None
    nth = view.tally.refreshes + 1
    begin = Refresh(run=view.run.number, nth=nth, why=why, note=_name(view, now))
    return Proposal(message=f"run {view.run.number} is gone: {why}", actions=(begin,))


@rule("RFR001", "work-not-saved", Severity.P1, Status.IDLE, Status.FAILED)
def work_not_saved(view: View, now: Moment) -> Proposal | None:
    """A refresh has begun and the work is not saved yet.

    ## Why
    An agent that is restarted without a note to its successor has forgotten everything.

    ## Example
    Context at 72 %: `/save ckpt-20261115-031502-r3` goes in, and the confirmation is looked for.

    ## Safety
    Safe. Nothing ends before the save has been seen; after three tries the refresh is called off.
    """
    refresh = _at(view, Stage.SAVING)
    if refresh is None or view.status not in _AT_PROMPT:
        return None
    save = Checkpoint(
        run=view.run.number,
        name=_name(view, now),
        about=f"refresh{refresh.nth}.{refresh.tries}",
        # Who is restarted because the API fails cannot answer; a session that goes on needs none.
        last=refresh.back or refresh.tries + 1 >= view.settings.tries_max,
    )
    return Proposal(message=f"refresh ({refresh.why}): not saved yet", actions=(save,))


@rule("RFR002", "old-run-still-up", Severity.P1)
def old_run_still_up(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The work is saved and the old run is still there.

    ## Why
    The new run can only start when the old one has ended: never two processes on one session.

    ## Example
    `/exit` goes in; after its time SIGTERM; after that SIGKILL.

    ## Safety
    Safe. The save was seen before; a question that opened meanwhile is left alone until answered.
    """
    refresh = _at(view, Stage.EXITING)
    if refresh is None or view.status is Status.GONE:
        return None
    stop = Stop(run=view.run.number, about=f"refresh{refresh.nth}.{refresh.tries}")
    return Proposal(message=f"refresh ({refresh.why}): saved as {refresh.note}", actions=(stop,))


@rule("RFR003", "new-run-missing", Severity.P1, Status.GONE)
def new_run_missing(view: View, now: Moment) -> Proposal | None:
    """The old run has ended and the new one is not there.

    ## Why
    Between exit and start the agent does nothing.

    ## Example
    Run 3 exited with code 0 as asked; run 4 starts fresh.

    ## Safety
    Safe. Counts against the restart budget like every other start.
    """
    refresh = view.refresh
    if refresh is None or refresh.stage is not Stage.STARTING or view.given_up:
        return None
    if view.status is not Status.GONE:
        return None
    start = Start(
        run=view.run.number + 1,
        origin=Origin.RESUMED if refresh.back else Origin.FRESH,
        session=refresh.session if refresh.back else new_session(view, now),
        nth=view.tally.starts,
    )
    return Proposal(message=f"refresh ({refresh.why}): the old run ended", actions=(start,))


@rule("RFR004", "note-not-loaded", Severity.P1, Status.IDLE, Status.FAILED, Status.LIMITED)
def note_not_loaded(view: View, now: Moment) -> Proposal | None:
    """The new run is up and does not know yet what the old one did.

    ## Why
    Without the note it would begin from nothing.

    ## Example
    `/load ckpt-20261115-031502-r3` goes in, and the confirmation is looked for.

    ## Safety
    Safe. The text is typed at an empty prompt only. While turn after turn fails by something that
    passes, it is tried again at growing intervals, and uses up none of its three tries.
    """
    refresh = _at(view, Stage.LOADING)
    waiting = view.status is Status.LIMITED and view.limit_over(now)
    if refresh is None or (view.status not in _AT_PROMPT and not waiting):
        return None
    if passing(view) and view.age(now) < patience(view):
        return None  # nobody would answer
    load = Load(run=view.run.number, name=refresh.note, nth=refresh.tries)
    return Proposal(message=f"refresh ({refresh.why}): {refresh.note} waits", actions=(load,))


@rule("RFR005", "refresh-stuck", Severity.P0)
def refresh_stuck(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A refresh could not be carried through.

    ## Why
    Work that cannot be saved, or a note that does not arrive, needs a person before more is lost.

    ## Example
    Three `/save` without a confirmation: the refresh is called off, the old run goes on.

    ## Safety
    Safe. It tells a person.
    """
    refresh, tally = view.refresh, view.tally
    if refresh is not None and refresh.tries >= view.settings.tries_max:
        text = f"{view.context.agent}: refresh is stuck while {refresh.stage.value}"
        about = f"{view.run.number}.refresh{refresh.nth}.{refresh.stage.value}{tally.settled}"
        needed = f"look at its terminal, then 'koboshi ack {view.context.agent}'"
    elif tally.unsaved:
        text = f"{view.context.agent}: its work could not be saved; it goes on without a refresh"
        about = f"{view.run.number}.unsaved{tally.refreshes}"
        needed = f"see what keeps it from saving, then 'koboshi refresh {view.context.agent}'"
    else:
        return None
    return Proposal(message=text, actions=(ask(about, text, needed),))
