"""fold(view, event) → view: what a fact adds to what we know.

Rule 1: a fold never decides and never forgets a number that a key is made of.
Rule 2: facts about another run than the current one are history, not news; they change nothing.
Rule 3: looks that are older than the newest look, or than our own last keystroke, are ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from .arbiter import resolve
from .events import (
    ActionFinished,
    HookOver,
    HookRead,
    LinesHeard,
    OrderGiven,
    Origin,
    PeersCounted,
    PersonTyped,
    RunExited,
    RunStarted,
    ScreenRead,
    ScreenSame,
    SignalRead,
    Source,
    SupervisorStarted,
    TasksRead,
    Ticked,
)
from .orders import ordered
from .outcomes import charged, finished
from .readings import Status, added, ran_between, unmarked
from .signals import all_let_go, told, with_clue, with_context, without
from .status import settle
from .view import (
    Belief,
    Clue,
    Exit,
    Fault,
    Question,
    Run,
    Sight,
    Stage,
    Tally,
    Window,
    evolve,
)

if TYPE_CHECKING:
    from .events import Event, Moment
    from .readings import Reading
    from .view import View


_GOING_ON = (Status.WORKING, Status.IDLE)
_NOT_ASKING = (*_GOING_ON, Status.FAILED, Status.LIMITED)
#: Looks in a row without a question before one that may have been answered is over.
_CLEAR_LOOKS = 3
#: What a signal beside the screen says of a turn that ended well.
_ENDED = ("hook Stop", "transcript: the turn ended")
#: Whatever they change: that they happened counts.
_ALWAYS_NEW = (HookRead, ActionFinished, PersonTyped, OrderGiven, SupervisorStarted)
_DOUBT = "a question with these words may have been answered already"


def fold(view: View, event: Event) -> View:
    """What is known after that event."""
    body, now = event.body, event.now
    match body:
        case Ticked():
            return _believe(view, now)
        case ScreenSame():
            return _believe(_same(view, body), now)
        case ScreenRead():
            after = _believe(_read(view, body), now)
        case HookRead() | HookOver() | SignalRead() | TasksRead() | PeersCounted() | LinesHeard():
            after = _believe(told(view, body, now), now)
        case RunStarted():
            after = _started(view, body, now)
        case RunExited():
            after = _believe(_exited(view, body, now), now)
        case ActionFinished():
            after = finished(view, body, now)
        case PersonTyped():
            after = evolve(view, person_at=now.at)
        case OrderGiven():
            after = ordered(view, body)
        case SupervisorStarted():
            # What was seen before the supervisor died may be old by now: look again first.
            # Nobody watched until now: whatever stands there may have moved meanwhile.
            sight = evolve(view.sight, worked_at=now.at)
            fresh = evolve(all_let_go(view, now.at), acted_at=now.at, sight=sight)
            after = without(fresh, Source.REGISTRY, Source.TRANSCRIPT)
        case _:
            assert_never(body)
    if after is view and not isinstance(body, _ALWAYS_NEW):
        return view  # an old story
    return after.after(event)


# -- belief -----------------------------------------------------------------------------------


def _believe(view: View, now: Moment) -> View:
    """Let the arbiter speak, and let the table have the last word."""
    claimed, reason, evidence = resolve(view, now)
    old = view.belief
    status, objection = settle(old.status, claimed)
    reason = objection or reason
    if view.tally.failures and status is Status.IDLE and _ended_unseen(view):
        view = evolve(view, tally=evolve(view.tally, failures=0, cures=0, hangs=0))
    if status is old.status and not _failed_anew(view, status):
        if reason == old.reason and evidence == old.evidence:
            return view
        return evolve(view, belief=evolve(old, reason=reason, evidence=evidence))
    belief = Belief(status=status, since=now.at, reason=reason, evidence=evidence)
    after = evolve(view, belief=belief, said=False, tally=_entered(view, status, reason, now))
    if status is Status.WORKING:
        # What it does now was not noted down, whatever the screen shows when it is at rest.
        unsaved = "" if view.saved is None else view.saved
        return evolve(after, hung=False, saved=unsaved)
    # An error that stands there before the first turn is one of the run before.
    return _faulted(after, reason, now) if status is Status.FAILED and after.tally.turns else after


def _failed_anew(view: View, status: Status) -> bool:
    """Whether another turn has failed, too quickly to be seen at work: said, and answered so.

    Over a line that is typed the old error stands, and in a look from before it was submitted.
    """
    if status is not Status.FAILED or not view.said or view.refresh is not None:
        return False
    return not view.sight.draft and view.sight.seen_at > view.acted_at


def _ended_unseen(view: View) -> bool:
    """Whether another signal tells that a turn has ended well since the last one that failed."""
    if view.refresh is not None or view.hung or not view.faults:
        return False
    failed_at = view.faults[-1].at
    return any(c.reason in _ENDED and c.at > failed_at for c in view.clues)


def _faulted(view: View, reason: str, now: Moment) -> View:
    error = view.sight.error
    code = error.code if error is not None else reason.rpartition("API error ")[2]
    start = now.at - view.settings.errors_window
    recent = sum(1 for fault in view.faults if fault.at > start)
    # A CLI's own retries stretch one error over minutes: a row of them may outlast the window.
    kept = view.faults[-max(recent, view.settings.errors_max, 1) :]
    return evolve(view, faults=(*kept, Fault(at=now.at, code=code)))


def _entered(view: View, status: Status, reason: str, now: Moment) -> Tally:
    """Counters that change when a status begins."""
    tally, before = view.tally, view.belief.status
    if status is Status.WORKING:
        return evolve(tally, turns=tally.turns + 1, nudges=0, interrupts=0)
    unseen = before is Status.FAILED or (view.said and tally.turns == 0)
    if status is Status.FAILED and (unseen or tally.turns):
        rows, failures = tally.rows + (tally.failures == 0), tally.failures + 1
        tally = evolve(tally, rows=rows, failures=failures)
        return evolve(tally, turns=tally.turns + 1, nudges=0) if unseen else tally
    # To save or to load is no turn of the work; an interrupted one did not end well.
    ended = status is Status.IDLE and before is Status.WORKING and view.refresh is None
    if ended and reason != "interrupted" and not view.hung:
        return evolve(tally, failures=0, cures=0, hangs=0)
    if status is Status.GONE and not (view.run.exit and view.run.exit.meant):
        healthy = now.at - view.run.since >= view.settings.healthy_after
        return evolve(tally, crashes=1 if healthy else tally.crashes + 1)
    return tally


# -- looks ------------------------------------------------------------------------------------


def _old(view: View, body: ScreenRead | ScreenSame) -> bool:
    stale = body.seen_at < view.sight.seen_at or body.seen_at < view.acted_at
    return stale or body.run != view.run.number


def _same(view: View, body: ScreenSame) -> View:
    if _old(view, body):
        return view
    moved_at = view.sight.moved_at if body.digest == view.sight.digest else body.seen_at
    sight = evolve(view.sight, digest=body.digest, seen_at=body.seen_at, moved_at=moved_at)
    if body.work != sight.work:
        sight = evolve(sight, work=body.work, worked_at=body.seen_at)
    if view.saved is None and view.status is Status.IDLE:
        view = evolve(view, saved=body.work)
    question = view.question
    if question is not None:
        question = evolve(question, looks=question.looks + 1)
    after = evolve(view, sight=sight, question=question)
    return _clear(after) if view.doubted and view.status in _NOT_ASKING else after


def _read(view: View, body: ScreenRead) -> View:
    if _old(view, body):
        return view
    reading = body.reading
    if view.saved is None and reading.status is Status.IDLE:
        view = evolve(view, saved=body.work)
    moved = body.digest != view.sight.digest
    sight = Sight(
        digest=body.digest,
        seen_at=body.seen_at,
        moved_at=body.seen_at if moved else view.sight.moved_at,
        draft=reading.draft,
        unended=reading.unended,
        # The notice slot rotates: not seen does not mean not low. A value stays for its session.
        context=view.sight.context,
        context_at=view.sight.context_at,
        full_at=view.sight.full_at,
        window=view.sight.window,
        error=reading.error,
        work=body.work,
        worked_at=view.sight.worked_at if body.work == view.sight.work else body.seen_at,
    )
    sight = with_context(sight, reading.context, body.seen_at, view.settings.context_max)
    clue = Clue(
        source=Source.SCREEN,
        status=reading.status,
        at=body.seen_at,
        reason=reading.reason,
        evidence=reading.evidence,
    )
    lines = reading.lines[-10:] or view.context.lines
    context = view.context if lines == view.context.lines else evolve(view.context, lines=lines)
    after = evolve(view, context=context, sight=sight, clues=with_clue(view, clue))
    return _asked(_limited(_shell(after, body), reading, body.seen_at), reading, body.seen_at)


def _shell(view: View, body: ScreenRead) -> View:
    """Only a shell is left: in a pane that the user had before, that is all the exit there is."""
    if body.reading.status is not Status.GONE or view.run.exit is not None:
        return view
    clue = evolve(view.clues[-1], source=Source.PROCESS)
    exited = Exit(meant=_was_ended(view) or view.tasks.complete)
    after = evolve(view, run=evolve(view.run, exit=exited), clues=with_clue(view, clue))
    return _restart_after_exit(after)


def _asked(view: View, reading: Reading, at: float) -> View:
    prompt, question, tally = reading.prompt, view.question, view.tally
    if prompt is None:
        # An unknown screen hides a question, it does not close it: the number must not move on.
        if reading.status is Status.UNKNOWN:
            return view
        return _clear(view if question is None else evolve(view, question=None))
    if question is not None and question.prompt.fingerprint == prompt.fingerprint:
        # The same words are another question if what was asked about has run in between. Where the
        # screen was rebuilt nothing tells; a question that we have not answered may be told twice.
        above, lines = unmarked(question.above), unmarked(reading.lines)
        rebuilt = added(above, lines) is None
        if not rebuilt and not ran_between(above, lines, prompt.subject):
            return evolve(view, question=evolve(question, prompt=prompt, looks=question.looks + 1))
    doubt = _DOUBT if prompt.fingerprint in view.doubted else ""
    fresh = Question(
        prompt=prompt, nth=tally.prompts + 1, since=at, above=reading.lines, left_to_person=doubt
    )
    freed, about = view.freed, (prompt.kind, prompt.subject)
    young = freed is not None and at - freed.since < view.settings.grace
    if freed is not None and young and about == (freed.prompt.kind, freed.prompt.subject):
        fresh = fresh.after(freed)
    loop = view.loop
    if loop is not None and prompt.subject and not loop.what.endswith(f" {prompt.subject}"):
        loop = evolve(loop, what="", nth=loop.nth + 1, times=0)  # its hooks may all be lost
    after = evolve(view, question=fresh, freed=None, clear=0, loop=loop)
    return evolve(after, tally=evolve(tally, prompts=max(tally.prompts, fresh.nth)))


def _clear(view: View) -> View:
    """No question on the screen, once more; one such look may be an old frame, several are not."""
    if not view.doubted:
        return view
    clear = view.clear + 1
    return evolve(view, clear=clear, doubted=() if clear >= _CLEAR_LOOKS else view.doubted)


def _limited(view: View, reading: Reading, at: float) -> View:
    limit, window = reading.limit, view.window
    if reading.status is not Status.LIMITED or limit is None:
        # The instant of the reset names the window; one without it ends when the agent goes on.
        if window is not None and window.limit.resets_at is None and reading.status in _GOING_ON:
            return evolve(view, window=None)
        return view
    if view.refresh is not None and view.refresh.stage is Stage.SAVING:
        view = evolve(view, refresh=None)  # a limited agent cannot save; nothing is lost by waiting
    if window is not None and window.limit == limit:
        return view
    nth = view.tally.limits + 1
    after = evolve(view, tally=evolve(view.tally, limits=nth))
    return evolve(after, window=Window(limit=limit, nth=nth, since=at))


# -- runs -------------------------------------------------------------------------------------


def _started(view: View, body: RunStarted, now: Moment) -> View:
    if body.run <= view.run.number:
        return view  # told twice: by the performer, and again by a supervisor that took over
    run = Run(
        number=body.run,
        origin=body.origin,
        place=body.place,
        pid=body.pid,
        session=body.session,
        since=now.at,
        open=body.open,
        left=body.left,
    )
    refresh = view.refresh
    if refresh is not None and refresh.stage is Stage.STARTING:
        refresh = None if refresh.back else evolve(refresh, stage=Stage.LOADING, tries=0)
    tally = evolve(
        view.tally, prompts=0, turns=0, nudges=0, interrupts=0, starts=0, held=0, probed=0
    )
    return evolve(
        evolve(view, question=None, held=(), freed=None, refused="", doubted=()),
        context=evolve(view.context, run=body.run),
        run=run,
        belief=Belief(status=Status.STARTING, since=now.at, reason=f"run {body.run} started"),
        clues=(),
        sight=Sight(moved_at=now.at, worked_at=now.at),
        window=None,
        refresh=refresh,
        tally=tally,
        said=False,
        hung=False,
        saved_at=now.at,
        # What the run before did and did not note down is in a session that goes on.
        saved="" if body.origin is Origin.RESUMED else None,
        wanted=False,
        halted=None if body.origin is Origin.FIRST else view.halted,
        restarts=charged(view, now) if body.origin is not Origin.FIRST else view.restarts,
    )


def _exited(view: View, body: RunExited, now: Moment) -> View:
    if body.run != view.run.number or not tells_more(view.run.exit, body):
        return view
    status = f"signal {body.signal}" if body.signal is not None else f"exit code {body.code}"
    if body.code is None and body.signal is None:
        status = "exit code not known"
    clue = Clue(
        source=Source.PROCESS,
        status=Status.GONE,
        at=now.at,
        reason="process_gone",
        evidence=(f"run {body.run} ended: {status}",),
    )
    # Who has nothing left to do may end, however it does.
    meant = body.meant or _was_ended(view) or view.tasks.complete
    # A run that has worked had its session, whatever stands on its screen.
    lost = body.lost and view.run.origin is Origin.RESUMED and view.tally.turns == 0
    exited = Exit(code=body.code, signal=body.signal, meant=meant, lost=lost)
    if exited.by_key and view.person_about(now):
        exited = evolve(exited, meant=True)  # pressed by who sits there
    after = evolve(
        view,
        run=evolve(view.run, exit=exited),
        clues=with_clue(view, clue),
        question=None,
        held=(),
        window=None,
    )
    return _restart_after_exit(after)


def _was_ended(view: View) -> bool:
    """Whether somebody ordered the end of this run, whatever its exit code."""
    reload = view.reload
    return view.halted is not None or (reload is not None and reload.run == view.run.number)


def tells_more(known: Exit | None, body: RunExited) -> bool:
    """Whether that is news: a CLI's goodbye is read before its process has ended, and how."""
    if known is None:
        return True
    told = body.code is not None or body.signal is not None
    return told and known.code is None and known.signal is None


def _restart_after_exit(view: View) -> View:
    """Where a restart stands once the run is gone: saved work goes on, unsaved work starts over."""
    refresh, reload = view.refresh, view.reload
    if reload is not None:
        ended = view.run.exit is not None and view.run.exit.meant and view.run.number > reload.run
        return evolve(view, reload=None if ended else evolve(reload, tries=0))
    if refresh is None:
        return view
    meant = view.run.exit is not None and view.run.exit.meant
    over = refresh.stage is Stage.SAVING or view.tasks.complete
    if over or (refresh.stage is Stage.LOADING and meant):
        return evolve(view, refresh=None)
    return evolve(view, refresh=evolve(refresh, stage=Stage.STARTING, tries=0))
