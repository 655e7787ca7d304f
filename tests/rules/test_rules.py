"""Each rule fires on its example and not on its neighbours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import (
    Action,
    Answer,
    Checkpoint,
    Escalate,
    Interrupt,
    Judge,
    Load,
    Mode,
    Notify,
    Refresh,
    Send,
    Start,
    Stop,
)
from koboshi.core.events import (
    Advice,
    Event,
    Moment,
    Order,
    OrderGiven,
    Origin,
    Severity,
    Source,
    Stance,
)
from koboshi.core.readings import (
    ApiError,
    ContextUse,
    Limit,
    Meaning,
    Option,
    PromptKind,
    Status,
)
from koboshi.core.settings import Settings
from koboshi.core.view import (
    Belief,
    Clue,
    Exit,
    Fault,
    Loop,
    Message,
    Question,
    Refreshing,
    Reloading,
    Run,
    Sight,
    Stage,
    Tally,
    Tasks,
    View,
    Window,
)
from koboshi.rules import BUILTIN, find
from koboshi.rules.probes import WORDS
from koboshi.rules.reload import words
from tests.core.worlds import CONTEXT, permission

#: 2026-10-26 08:00:00 UTC, 10,000 seconds into the supervision.
NOW = Moment(at=10_000.0, utc=1_793_001_600.0)


def told(order: Order, seq: int) -> Event:
    """What the agent said, or was told."""
    body = OrderGiven(order=order, by="agent", text="Which port?")
    return Event(seq=seq, now=NOW, body=body, context=CONTEXT)


RUN = Run(number=3, session="s", since=9_900.0)
DEAD = replace(RUN, exit=Exit(signal=9))
LEFT = replace(RUN, exit=Exit(code=0, meant=True))


def view(status: Status = Status.IDLE, *, since: float = 9_900.0, **parts: object) -> View:
    """An agent in its third run, a hundred seconds old."""
    start: dict[str, object] = {
        "context": CONTEXT,
        "run": RUN,
        "belief": Belief(status=status, since=since, reason="r", evidence=("e",)),
        "sight": Sight(moved_at=since),
        "settings": Settings(mode=Mode.AUTO, allow=("npm test",), limit_spread=0.0),
    }
    return View(**{**start, **parts})  # type: ignore[arg-type]


GONE = view(Status.GONE, run=DEAD)
ASKED = Reloading(nth=2, run=3, reason="new tools", note="at step 3", session="s3")
WAITING = permission(
    "",
    kind=PromptKind.LIMIT,
    options=(
        Option(text="Stop and wait for limit to reset", meaning=Meaning.WAIT, key="1"),
        Option(text="Upgrade your plan", meaning=Meaning.OTHER, key="2"),
    ),
)
MENU = Question(prompt=WAITING, nth=4, since=9_990.0, looks=2)
HELLO = Message(nth=7, text="hello")
SPENT = tuple(NOW.at - n for n in range(1, 6))
LONG_AGO = NOW.at - 700.0
ALLOWED = Advice(stance=Stance.ALLOW)
DENIED = Advice(stance=Stance.DENY, rule="builtin:data", why="it destroys data")
QUESTION = Question(prompt=permission(), nth=4, since=9_980.0, looks=2, advice=ALLOWED)
ASKING = view(Status.ASKING, question=QUESTION)
UNJUDGED = replace(QUESTION, advice=None)
FORBIDDEN = replace(QUESTION, prompt=permission("rm -rf build"), advice=Advice(stance=Stance.ASK))
REFUSED = replace(QUESTION, advice=DENIED)
HELD = replace(QUESTION, nth=5, ticket="t1", prompt=permission(options=()))
LOOK = "; look at its terminal, then 'koboshi ack a1'"
HOLDS = "; see what holds it up, then 'koboshi ack a1'"
HOW = "; koboshi answer a1:3.4 yes|no"
HOOK = (Clue(source=Source.HOOK, status=Status.ASKING, at=9_990.0),)
WINDOW = Window(limit=Limit(kind="session", resets_at=NOW.utc - 5.0), nth=2, since=9_000.0)
EARLY = replace(WINDOW, limit=Limit(kind="session", resets_at=NOW.utc - 4.0))
BLIND = replace(WINDOW, limit=Limit(kind="session"), since=NOW.at - 3_600.0)
LIMITED = view(Status.LIMITED, window=WINDOW)
FAILED = view(Status.FAILED, since=NOW.at - 30.0, tally=Tally(failures=1, turns=2))


HOOKED = Clue(source=Source.HOOK, status=Status.WORKING, at=9_950.0)
DENIES = Settings(mode=Mode.AUTO, ask_for=15.0, ask_then="deny")


def refreshing(stage: Stage, status: Status, *, tries: int = 0, **parts: object) -> View:
    """A refresh at that stage."""
    refresh = Refreshing(nth=5, why="old", stage=stage, note="note", tries=tries)
    return view(status, refresh=refresh, **parts)  # type: ignore[arg-type]


FULL = Sight(context=ContextUse(used=70.0), full_at=9_900.0)
OLD = replace(RUN, since=NOW.at - 1_300.0)
GEMINI = replace(CONTEXT, agent_type="gemini")
WORKED = view(run=OLD, tally=Tally(turns=2))
IDLE_LONG = view(since=LONG_AGO)
THRICE = Tally(failures=3, turns=3)


def failing(code: str, tally: Tally = THRICE, **parts: object) -> View:
    """A turn that ended in that error, long ago."""
    sight = Sight(error=ApiError(code=code))
    row = (Fault(at=0.0, code=code),) * min(tally.failures, 4)
    start: dict[str, object] = {"sight": sight, "faults": row}
    return view(Status.FAILED, since=LONG_AGO, tally=tally, **{**start, **parts})


#: A night of outages and, at its end, one request that is refused.
OUTAGE = (*(Fault(at=NOW.at - 10.0, code="529"),) * 8, Fault(at=NOW.at, code="400"))


def stalled(*, tally: Tally = Tally(turns=2), beside: object = (), **parts: object) -> View:  # noqa: B008
    """A turn in which nothing has moved for 20 minutes."""
    since = NOW.at - 1_200.0
    told = Clue(source=Source.HOOK, status=Status.WORKING, at=since, reason="hook PostToolUse")
    start: dict[str, object] = {"sight": Sight(worked_at=since), "clues": beside or (told,)}
    return view(Status.WORKING, since=since, tally=tally, **{**start, **parts})


TOOL = Clue(
    source=Source.TRANSCRIPT,
    status=Status.WORKING,
    at=0.0,
    evidence=("transcript: Bash has no result yet",),
)
LATE = replace(TOOL, evidence=(), at=NOW.at - 1_199.0)
HUNG = view(hung=True)
CIRCLE = view(Status.WORKING, loop=Loop(what="Bash npm test", call="c", nth=9, times=20))
DONE = view(tasks=Tasks(done=3), tally=Tally(turns=2), sight=Sight(moved_at=9_900.0, work="w"))
SAVED = replace(DONE, saved="w")
OLD_NOTE = replace(DONE, tasks=Tasks(), saved="v", saved_at=NOW.at - 900.0)
MUTE = replace(CONTEXT, agent_type="generic")
TOLD = (
    "You have made the same tool call 20 times in a row. If it cannot change anything, stop: find "
    "out why, try something else, or leave this task and say so."
)
SKIP = (
    "The API has refused this again and again (error 400). Leave this task: write the cause, and "
    "how to reproduce it, into the tasks file, and go on with the next task."
)
WARNED = (
    "Your context is 60% full; at 70% you will be restarted with a hand-over note. Bring what you "
    "are doing to a state that can be handed over, and begin nothing large."
)
SENT = Tally(nudges=5)

#: code → what it proposes on its example, and views on which it says nothing.
CASES: dict[str, tuple[View, Action | None, list[View]]] = {
    "RUN001": (
        GONE,
        Start(run=4, origin=Origin.RESUMED, session="s"),
        [
            view(),
            view(Status.GONE, run=LEFT),
            view(Status.GONE, run=Run()),
            replace(GONE, given_up=True),
            refreshing(Stage.STARTING, Status.GONE, run=DEAD),
        ],
    ),
    "RUN002": (
        replace(GONE, restarts=SPENT),
        Escalate(
            about="3.spent0",
            text="a1 keeps ending (5 restarts in 3600 s); see why, then 'koboshi ack a1'",
            gives_up=True,
        ),
        [
            GONE,
            replace(GONE, restarts=SPENT[:4]),
            replace(GONE, restarts=SPENT, given_up=True),
            view(restarts=SPENT),
            view(Status.GONE, run=LEFT, restarts=SPENT),
        ],
    ),
    "RUN003": (
        view(Status.GONE, run=LEFT),
        Notify(about="3.ended", text="a1 exited; it was meant to", severity=Severity.P2),
        [GONE, view(), refreshing(Stage.STARTING, Status.GONE, run=LEFT)],
    ),
    "RUN004": (
        view(Status.UNKNOWN, since=NOW.at - 120.0),
        Notify(about="3.unknown9880.000", text="a1: r", severity=Severity.P1),
        [
            view(Status.UNKNOWN, since=NOW.at - 119.0),
            view(Status.UNKNOWN, since=0.0, run=Run()),
            IDLE_LONG,
        ],
    ),
    "RUN006": (
        replace(GONE, tally=Tally(held=3)),
        Escalate(
            about="3.held0", text="a1 is down and cannot be started; look at its terminal"
        ),
        [GONE, replace(GONE, tally=Tally(held=2)), view(tally=Tally(held=3))],
    ),
    "PRM001": (
        ASKING,
        Answer(
            run=3, nth=4, fingerprint=permission().fingerprint, choice=Meaning.ONCE
        ),
        [
            view(),
            view(Status.UNKNOWN, question=QUESTION),
            replace(ASKING, question=replace(QUESTION, looks=1)),
            replace(ASKING, question=replace(QUESTION, left_to_person="failed")),
            replace(ASKING, question=FORBIDDEN),
            replace(ASKING, question=UNJUDGED),
            replace(ASKING, question=REFUSED),
            replace(ASKING, held=(UNJUDGED,)),
            replace(ASKING, question=replace(QUESTION, prompt=permission(options=()))),
            replace(
                ASKING, question=replace(QUESTION, prompt=permission(kind=PromptKind.QUESTION))
            ),
            replace(ASKING, sight=Sight(context=ContextUse(used=90.0))),
            replace(ASKING, tally=Tally(denied=5)),
            replace(ASKING, given_up=True),
            replace(ASKING, clues=(HOOKED,), question=replace(QUESTION, since=NOW.at - 1.0)),
        ],
    ),
    "PRM003": (
        replace(ASKING, question=REFUSED),
        Answer(
            run=3,
            nth=4,
            fingerprint=permission().fingerprint,
            choice=Meaning.NO,
            reason="it destroys data",
        ),
        [
            ASKING,
            replace(ASKING, question=FORBIDDEN),
            replace(ASKING, question=replace(REFUSED, left_to_person="failed")),
            replace(ASKING, question=replace(REFUSED, prompt=permission(options=()))),
            replace(ASKING, question=REFUSED, tally=Tally(denied=5)),
        ],
    ),
    "PRM004": (
        view(refused="it destroys data", tally=Tally(refusals=2)),
        Send(
            run=3,
            text="That was refused: it destroys data. Find another way, and go on.",
            about="refusal2",
        ),
        [view(), replace(ASKING, refused="x")],
    ),
    "PRM005": (
        replace(ASKING, question=replace(FORBIDDEN, order="yes", orders=1)),
        Answer(
            run=3,
            nth=4,
            fingerprint=permission("rm -rf build").fingerprint,
            choice=Meaning.ONCE,
            order=1,
        ),
        [view(), ASKING, view(Status.UNKNOWN, question=replace(QUESTION, order="yes"))],
    ),
    "PRM006": (
        replace(ASKING, question=UNJUDGED),
        Judge(run=3, nth=4, fingerprint=permission().fingerprint),
        [
            view(),
            ASKING,
            replace(ASKING, question=replace(UNJUDGED, looks=1)),
            replace(ASKING, question=replace(MENU, prompt=WAITING)),
            replace(ASKING, held=(HELD,), question=UNJUDGED),
        ],
    ),
    "PRM007": (
        replace(ASKING, question=FORBIDDEN, settings=DENIES),
        Answer(
            run=3,
            nth=4,
            fingerprint=permission("rm -rf build").fingerprint,
            choice=Meaning.NO,
            reason="nobody answered within 0.25 minutes",
        ),
        [
            replace(ASKING, settings=DENIES),
            replace(ASKING, question=FORBIDDEN),
            replace(ASKING, question=FORBIDDEN, settings=replace(DENIES, ask_then="leave")),
            replace(ASKING, question=FORBIDDEN, settings=replace(DENIES, ask_for=30.0)),
            replace(ASKING, question=replace(FORBIDDEN, order="yes"), settings=DENIES),
        ],
    ),
    "PRM002": (
        replace(ASKING, question=FORBIDDEN),
        Escalate(
            about="3.question4",
            text=f"a1 asks: Do you want to proceed? (rm -rf build) [Yes | No]{HOW}",
        ),
        [
            view(),
            ASKING,
            replace(ASKING, question=REFUSED),
            replace(ASKING, question=UNJUDGED),
            replace(ASKING, question=replace(FORBIDDEN, order="no")),
            replace(ASKING, question=FORBIDDEN, held=(HELD,)),
            view(Status.UNKNOWN, question=FORBIDDEN),
            replace(ASKING, question=replace(FORBIDDEN, looks=1)),
        ],
    ),
    "RFR001": (
        refreshing(Stage.SAVING, Status.IDLE, tries=1),
        Checkpoint(run=3, name="ckpt-20261026-080000-r3", about="refresh5.1"),
        [
            view(),
            refreshing(Stage.SAVING, Status.WORKING),
            refreshing(Stage.SAVING, Status.IDLE, tries=3),
            refreshing(Stage.EXITING, Status.IDLE),
        ],
    ),
    "RFR002": (
        refreshing(Stage.EXITING, Status.WORKING, tries=2),
        Stop(run=3, about="refresh5.2"),
        [
            view(),
            refreshing(Stage.EXITING, Status.GONE),
            refreshing(Stage.EXITING, Status.IDLE, tries=3),
            refreshing(Stage.SAVING, Status.IDLE),
        ],
    ),
    "RFR003": (
        refreshing(Stage.STARTING, Status.GONE, run=DEAD, tally=Tally(starts=2)),
        Start(run=4, origin=Origin.FRESH, nth=2),
        [
            GONE,
            refreshing(Stage.STARTING, Status.IDLE),
            refreshing(Stage.STARTING, Status.GONE, given_up=True),
            refreshing(Stage.LOADING, Status.GONE),
        ],
    ),
    "RFR004": (
        refreshing(Stage.LOADING, Status.IDLE, tries=1),
        Load(run=3, name="note", nth=1),
        [
            view(),
            refreshing(Stage.LOADING, Status.STARTING),
            refreshing(Stage.LOADING, Status.WORKING),
            refreshing(Stage.LOADING, Status.IDLE, tries=3),
            refreshing(Stage.LOADING, Status.LIMITED, window=EARLY),
            refreshing(Stage.LOADING, Status.FAILED, since=NOW.at - 29.0, tally=Tally(failures=1)),
        ],
    ),
    "RFR005": (
        refreshing(Stage.LOADING, Status.IDLE, tries=3),
        Escalate(about="3.refresh5.loading0", text=f"a1: refresh is stuck while loading{LOOK}"),
        [view(), refreshing(Stage.LOADING, Status.IDLE, tries=2)],
    ),
    "RFR006": (
        view(Status.GONE, run=DEAD, sight=FULL),
        Refresh(
            run=3,
            nth=1,
            why="it ended with 70% of its context used",
            note="ckpt-20261026-080000-r3",
        ),
        [
            GONE,
            view(sight=FULL),
            view(Status.GONE, run=LEFT, sight=FULL),
            view(Status.GONE, run=replace(DEAD, exit=Exit(signal=9, plain=True)), sight=FULL),
            view(Status.GONE, run=DEAD, sight=FULL, given_up=True),
            refreshing(Stage.STARTING, Status.GONE, run=DEAD, sight=FULL),
        ],
    ),
    "RFR007": (
        view(Status.WORKING, sight=FULL, settings=Settings(refresh_wait=100.0)),
        Refresh(
            run=3,
            nth=1,
            why="context 70% used; forced: no turn boundary for 100 s",
            forced=True,
        ),
        [
            view(Status.WORKING, sight=FULL),
            view(Status.WORKING, settings=Settings(refresh_wait=100.0)),
            view(sight=FULL, settings=Settings(refresh_wait=100.0)),
            view(Status.WORKING, sight=FULL, settings=Settings(refresh_wait=101.0)),
            view(
                Status.WORKING,
                sight=FULL,
                question=QUESTION,
                settings=Settings(refresh_wait=100.0),
            ),
            refreshing(
                Stage.SAVING, Status.WORKING, sight=FULL, settings=Settings(refresh_wait=100.0)
            ),
        ],
    ),
    "RUN008": (
        view(run=replace(RUN, open=("Bash make",))),
        Send(
            run=3,
            text="You were ended in the middle of a tool call, and are back: run #3.\n"
            "It has no result, and may have run in part or in full: Bash make\n"
            "Look at what it did before you do it again. Then go on with the work.",
            about="open-call0.0.0",
        ),
        [
            view(),
            view(Status.WORKING, run=replace(RUN, open=("Bash make",))),
            view(Status.GONE, run=replace(DEAD, open=("Bash make",))),
            refreshing(Stage.SAVING, Status.IDLE, run=replace(RUN, open=("Bash make",))),
        ],
    ),
    "RUN009": (
        view(run=replace(RUN, left=("12 make",))),
        Notify(
            about="3.left",
            text="a1: outlived its crash and still run: 12 make",
            severity=Severity.P1,
        ),
        [view(), view(Status.GONE, run=replace(DEAD, left=("12 make",)))],
    ),
    "CTX003": (
        replace(WORKED, context=GEMINI),
        Send(run=3, text=WORDS, about="probe2"),
        [
            WORKED,
            replace(WORKED, context=GEMINI, sight=Sight(context=ContextUse(used=3.0))),
            replace(WORKED, context=GEMINI, tally=Tally(turns=2, probed=2)),
            replace(view(Status.WORKING, run=OLD, tally=Tally(turns=2)), context=GEMINI),
            replace(view(tally=Tally(turns=2)), context=GEMINI),
        ],
    ),
    "LIM001": (
        LIMITED,
        Notify(
            about="limit2",
            text="a1 hit its session limit; waits until 07:59:55 UTC",
            severity=Severity.P1,
        ),
        [view(), view(window=WINDOW), refreshing(Stage.LOADING, Status.LIMITED, window=WINDOW)],
    ),
    "LIM002": (
        LIMITED,
        Send(run=3, text="continue", about="limit2.0.0"),
        [
            view(window=WINDOW),
            replace(LIMITED, window=EARLY),
            replace(LIMITED, window=replace(WINDOW, tries=3)),
            replace(LIMITED, window=replace(BLIND, since=NOW.at - 3_599.0)),
            replace(LIMITED, tally=Tally(continues=100)),
        ],
    ),
    "LIM003": (
        replace(LIMITED, window=replace(WINDOW, tries=3)),
        Escalate(about="limit2.outlived0", text=f"a1 is still limited after 3 messages{HOLDS}"),
        [
            LIMITED,
            view(window=replace(WINDOW, tries=3)),
            replace(LIMITED, tally=Tally(continues=99)),
            replace(LIMITED, tally=Tally(continues=100), window=EARLY),
        ],
    ),
    "CTX001": (
        view(sight=Sight(context=ContextUse(used=70.0)), tally=Tally(refreshes=6)),
        Refresh(run=3, nth=7, why="context 70% used"),
        [
            view(),
            view(sight=Sight(context=ContextUse(used=69.9))),
            view(
                sight=Sight(context=ContextUse(used=99.0)), settings=Settings(context_max=0.0)
            ),
            view(sight=Sight(context=ContextUse(used=99.0)), tally=Tally(unsaved=3)),
            view(Status.GONE, sight=Sight(context=ContextUse(used=99.0))),
            refreshing(Stage.SAVING, Status.IDLE, sight=Sight(context=ContextUse(used=99.0))),
        ],
    ),
    "TBX001": (
        view(run=replace(RUN, since=NOW.at - 2_700.0)),
        Refresh(run=3, nth=1, why="run is older than 2700 s"),
        [
            view(run=replace(RUN, since=NOW.at - 2_699.0)),
            view(run=replace(RUN, since=0.0), settings=Settings(run_max=0.0)),
            view(run=Run(since=0.0)),
            view(Status.GONE, run=replace(DEAD, since=0.0)),
            failing("529", run=replace(RUN, since=0.0)),
        ],
    ),
    "ERR001": (
        replace(FAILED, sight=Sight(error=ApiError(code="529"))),
        Send(run=3, text="continue", about="failed2.0.0"),
        [
            view(),
            view(Status.FAILED, since=NOW.at - 29.0, tally=Tally(failures=1)),
            view(Status.FAILED, since=NOW.at - 59.0, tally=Tally(failures=2)),
            view(Status.FAILED, since=NOW.at - 599.0, tally=Tally(failures=6)),
            view(Status.FAILED, since=NOW.at - 9_000.0, tally=Tally(failures=1, nudges=5)),
            failing("400", Tally(failures=6, turns=6, cures=1)),
            replace(FAILED, sight=Sight(error=ApiError(code="529", retrying=True))),
            refreshing(Stage.SAVING, Status.FAILED, since=0.0),
        ],
    ),
    "ERR002": (
        failing("400", Tally(failures=6, turns=6, cures=1)),
        Escalate(
            about="3.failing6.0",
            text="a1 failed 6 times in a row (400); mend the cause, then 'koboshi ack a1'",
        ),
        [
            FAILED,
            view(tally=Tally(failures=6, cures=1)),
            failing("400"),
            failing("529", Tally(failures=60, turns=60, cures=1)),
            failing("network", Tally(failures=60, turns=60)),
        ],
    ),
    "ERR003": (
        failing("400"),
        Send(run=3, text=SKIP, about="skip3.0"),
        [
            failing("529"),
            failing("401"),
            failing("400", Tally(failures=2, turns=2)),
            failing("400", Tally(failures=3, turns=3, cures=1)),
            failing("400", Tally(failures=3)),
            failing("400", Tally(failures=9, turns=9), faults=OUTAGE),
            failing("400", settings=Settings(on_error=())),
            view(tally=THRICE, sight=Sight(error=ApiError(code="400"))),
            refreshing(Stage.SAVING, Status.FAILED, tally=THRICE),
        ],
    ),
    "ERR004": (
        failing("401"),
        Refresh(run=3, nth=1, why="error 401", back=True, cure=True),
        [
            failing("400"),
            failing("529"),
            failing("401", Tally(failures=2, turns=2)),
            failing("401", Tally(failures=3, turns=3, cures=1)),
            failing("401", Tally(failures=3)),
            failing("401", context=MUTE),
            failing("401", Tally(turns=3), faults=(Fault(at=0.0, code="401"),) * 5),
            refreshing(Stage.SAVING, Status.FAILED, tally=THRICE),
        ],
    ),
    "ERR005": (
        failing("401", Tally(failures=1, turns=1)),
        Notify(
            about="3.login0",
            text="a1: its login was refused (401); log in again",
            severity=Severity.P0,
        ),
        [failing("403"), failing("529"), view(sight=Sight(error=ApiError(code="401")))],
    ),
    "ERR007": (
        failing("credit", Tally(failures=1, turns=1, rows=2)),
        Escalate(
            about="3.empty2.0", text="a1: its account has nothing left (credit); fill it up"
        ),
        [
            failing("529"),
            view(sight=Sight(error=ApiError(code="credit"))),
            refreshing(Stage.SAVING, Status.FAILED, sight=Sight(error=ApiError(code="quota"))),
        ],
    ),
    "ERR006": (
        failing("529", Tally(failures=6, turns=6, rows=2)),
        Notify(
            about="outage2.0",
            text="a1: 6 turns in a row have failed (529); it is tried again until one does not",
            severity=Severity.P1,
        ),
        [
            failing("529", Tally(failures=5, turns=5)),
            failing("400", Tally(failures=6, turns=6)),
            failing("quota", Tally(failures=6, turns=6)),
            view(tally=Tally(failures=6, turns=6)),
            refreshing(Stage.SAVING, Status.FAILED, tally=Tally(failures=6, turns=6)),
        ],
    ),
    "HNG001": (
        stalled(),
        Interrupt(run=3, about="hang2.0.0"),
        [
            stalled(sight=Sight(worked_at=NOW.at - 1_199.0)),
            stalled(beside=(LATE,)),
            stalled(beside=(TOOL,)),
            stalled(beside=(replace(TOOL, evidence=(), reason="hook PreToolUse"),)),
            stalled(beside=(replace(TOOL, source=Source.SCREEN, evidence=()),)),
            stalled(settings=Settings(hang_after=0.0)),
            stalled(question=QUESTION),
            stalled(context=replace(CONTEXT, agent_type="codex")),
            stalled(tally=Tally(hangs=3)),
            stalled(tally=Tally(interrupts=3)),
            stalled(sight=Sight(worked_at=NOW.at - 1_200.0, draft="please als")),
            stalled(sight=Sight(error=ApiError(code="529", retrying=True))),
            view(since=0.0),
            view(Status.UNKNOWN, since=0.0),
        ],
    ),
    "HNG002": (
        stalled(beside=(TOOL,)),
        Escalate(
            about="3.stuck2.0",
            text="a1 shows no progress for 1200 s; a tool is running; look at it",
        ),
        [stalled(), stalled(beside=(LATE,)), stalled(settings=Settings(hang_after=0.0))],
    ),
    "HNG003": (
        HUNG,
        Refresh(run=3, nth=1, why="its turn was interrupted"),
        [
            view(),
            view(Status.WORKING, hung=True),
            replace(HUNG, context=MUTE),
            refreshing(Stage.SAVING, Status.IDLE, hung=True),
        ],
    ),
    "LVL001": (
        CIRCLE,
        Send(run=3, text=TOLD, about="loop9", at_once=True),
        [
            view(Status.WORKING),
            replace(CIRCLE, loop=Loop(what="x", call="c", nth=9, times=19)),
            replace(CIRCLE, loop=Loop(what="x", call="c", nth=9, times=40)),
            replace(CIRCLE, settings=Settings(calls_max=0)),
            view(Status.ASKING, loop=CIRCLE.loop),
            replace(CIRCLE, run=replace(RUN, open=("npm test",))),
        ],
    ),
    "LVL002": (
        replace(CIRCLE, loop=Loop(what="x", call="c", nth=9, times=40)),
        Interrupt(run=3, about="loop9.0"),
        [
            CIRCLE,
            view(loop=Loop(what="x", call="c", nth=9, times=40)),
            view(Status.WORKING, loop=Loop(what="x", call="c", nth=9, times=40, broken=True)),
        ],
    ),
    "LVL003": (
        replace(CIRCLE, loop=Loop(what="Bash npm test", call="c", nth=9, times=60)),
        Escalate(
            about="loop9.0",
            text="a1 made the same call 60 times: Bash npm test; look at what it tries",
        ),
        [CIRCLE, replace(CIRCLE, loop=Loop(what="x", call="c", nth=9, times=59))],
    ),
    "CTX002": (
        view(Status.WORKING, sight=Sight(context=ContextUse(used=60.0))),
        Send(run=3, text=WARNED, about="warn", at_once=True),
        [
            view(sight=Sight(context=ContextUse(used=59.9))),
            view(sight=Sight(context=ContextUse(used=70.0))),
            view(Status.ASKING, sight=Sight(context=ContextUse(used=60.0))),
            view(sight=Sight(context=ContextUse(used=60.0)), settings=Settings(warn_context=0.0)),
            view(sight=Sight(context=ContextUse(used=60.0)), settings=Settings(context_max=0.0)),
            view(sight=Sight(context=ContextUse(used=60.0)), context=MUTE),
        ],
    ),
    "SAV001": (
        OLD_NOTE,
        Checkpoint(run=3, name="ckpt-20261026-080000-r3", about="note2.0.0", last=True),
        [
            replace(OLD_NOTE, saved="w"),
            replace(OLD_NOTE, saved=None),
            replace(OLD_NOTE, saved_at=NOW.at - 899.0),
            replace(OLD_NOTE, settings=Settings(save_every=0.0)),
            replace(OLD_NOTE, sight=Sight(moved_at=NOW.at - 1.0)),
            replace(OLD_NOTE, belief=Belief(status=Status.WORKING)),
            replace(OLD_NOTE, tally=Tally(turns=2, misses=3)),
            replace(OLD_NOTE, outbox=(HELLO,)),
            replace(OLD_NOTE, context=MUTE),
            replace(OLD_NOTE, tally=Tally(nudges=1)),
            replace(OLD_NOTE, run=replace(RUN, open=("npm test",))),
        ],
    ),
    "TSK001": (
        DONE,
        Checkpoint(run=3, name="ckpt-20261026-080000-r3", about="done2.0.0", last=True),
        [
            SAVED,
            replace(DONE, tasks=Tasks()),
            replace(DONE, tasks=Tasks(done=3, left=1)),
            replace(DONE, tally=Tally()),
            replace(DONE, belief=Belief(status=Status.WORKING)),
            replace(DONE, outbox=(HELLO,)),
        ],
    ),
    "TSK002": (
        SAVED,
        Stop(run=3, about="done2.0.0"),
        [
            DONE,
            replace(SAVED, tasks=Tasks()),
            replace(SAVED, tasks=Tasks(done=3, left=1)),
            replace(SAVED, belief=Belief(status=Status.FAILED)),
            replace(SAVED, outbox=(HELLO,)),
            view(tasks=Tasks(done=3)),
        ],
    ),
    "TSK003": (
        view(Status.GONE, run=LEFT, tasks=Tasks(done=3)),
        Notify(
            about="3.finished",
            text="a1: all 3 tasks are done; it has ended",
            severity=Severity.P1,
        ),
        [
            DONE,
            view(Status.GONE, run=LEFT),
            view(Status.GONE, run=LEFT, tasks=Tasks(done=3, left=1)),
        ],
    ),
    "IDL001": (
        IDLE_LONG,
        Send(run=3, text="continue", about="idle0.0.0"),
        [
            view(since=NOW.at - 599.0),
            replace(IDLE_LONG, sight=Sight(moved_at=NOW.at - 599.0)),
            view(Status.WORKING, since=LONG_AGO),
            view(Status.ASKING, since=LONG_AGO),
            view(Status.LIMITED, since=LONG_AGO),
            view(since=LONG_AGO, tally=SENT),
            refreshing(Stage.SAVING, Status.IDLE, since=LONG_AGO),
        ],
    ),
    "IDL002": (
        view(tally=SENT),
        Escalate(
            about="3.deaf0.0",
            text="a1 does not react: 5 messages, still idle; look at its terminal",
        ),
        [view(tally=Tally(nudges=4)), view(Status.WORKING, tally=SENT)],
    ),
    "IDL003": (
        view(sight=Sight(draft="please als", moved_at=LONG_AGO)),
        Escalate(
            about="3.line0.0", text="a1: a half-typed line is in its box; send it or clear it"
        ),
        [
            IDLE_LONG,
            view(sight=Sight(draft="please als", moved_at=NOW.at - 599.0)),
            view(Status.WORKING, sight=Sight(draft="please als", moved_at=LONG_AGO)),
        ],
    ),
    "RUN005": (
        view(Status.UNKNOWN, run=Run(), wanted=True),
        Start(run=1, origin=Origin.FIRST),
        [view(), view(Status.UNKNOWN, run=Run())],
    ),
    "RUN007": (
        view(Status.WORKING, halted=Order.KILL, tally=Tally(orders=2)),
        Stop(run=3, about="order2", ordered=True, force=True),
        [
            view(),
            view(Status.GONE, run=LEFT, halted=Order.STOP),
            view(run=Run(), halted=Order.STOP),
        ],
    ),
    "LIM004": (
        view(Status.ASKING, question=MENU),
        Answer(run=3, nth=4, fingerprint=MENU.prompt.fingerprint, choice=Meaning.WAIT),
        [
            ASKING,
            view(Status.ASKING, question=replace(MENU, looks=1)),
            view(Status.ASKING, question=replace(MENU, left_to_person="in doubt")),
            view(Status.ASKING, question=replace(MENU, prompt=replace(WAITING, options=()))),
        ],
    ),
    "MSG001": (
        view(outbox=(HELLO,)),
        Send(run=3, text="hello", about="message7", ordered=True),
        [
            view(),
            view(Status.ASKING, outbox=(HELLO,)),
            view(Status.WORKING, outbox=(HELLO,)),
            view(Status.ASKING, outbox=(replace(HELLO, at_once=True),)),
            view(outbox=(HELLO,), refresh=Refreshing(nth=1, why="w", stage=Stage.SAVING)),
            view(run=LEFT, outbox=(HELLO,)),
        ],
    ),
    "MSG002": (
        view(Status.WORKING, rare=(told(Order.ASK, 7),)),
        Escalate(
            about="3.ask7",
            text="a1 asks you: Which port?; 'koboshi questions' lists it",
        ),
        [
            view(Status.WORKING),
            view(Status.WORKING, rare=(told(Order.ASK, 7), told(Order.REPLY, 9))),
            view(Status.WORKING, rare=(told(Order.TELL, 7),)),
            view(Status.IDLE, since=99_999.0, rare=(told(Order.ASK, 7),)),
            view(Status.WORKING, run=replace(RUN, since=99_999.0), rare=(told(Order.ASK, 7),)),
        ],
    ),
    "RLD001": (
        view(Status.WORKING, reload=ASKED),
        Stop(run=3, about="reload2.0", ordered=True, asked=True),
        [
            view(),
            view(reload=replace(ASKED, run=2)),
            view(Status.WORKING, reload=ASKED, restarts=(NOW.at - 1.0,) * 5),
            view(Status.WORKING, reload=replace(ASKED, tries=3)),
            view(Status.WORKING, reload=ASKED, given_up=True),
        ],
    ),
    "RLD002": (
        view(reload=replace(ASKED, run=2)),
        Send(run=3, text=words(ASKED, 3), about="reload2.0", ordered=True),
        [
            view(),
            view(reload=ASKED),
            view(Status.WORKING, reload=replace(ASKED, run=2)),
            view(Status.ASKING, reload=replace(ASKED, run=2)),
            view(run=LEFT, reload=replace(ASKED, run=2)),
        ],
    ),
    "RLD003": (
        view(reload=replace(ASKED, run=2, tries=3)),
        Escalate(
            about="3.reload2.3.0",
            text=f"a1 asked for a restart (new tools) and was not told why{LOOK}",
        ),
        [view(), view(reload=ASKED), GONE],
    ),
}  # fmt: skip


def proposed(code: str, seen: View) -> tuple[Action, ...]:
    """What that rule would do there."""
    proposal = find(code).check(seen, NOW)
    return proposal.actions if proposal else ()


def same(one: Action, two: Action | None) -> bool:
    """Equal; a session id that is made for the occasion does not count."""
    if isinstance(one, Start) and isinstance(two, Start) and two.session == "":
        return replace(one, session="") == two
    return one == two


def test_every_rule_has_its_case() -> None:
    """No rule is forgotten here."""
    elsewhere = {rule.code for rule in BUILTIN if rule.code.startswith("TXT")}  # test_texts.py

    assert set(CASES) | elsewhere == {rule.code for rule in BUILTIN}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_fires_on_its_example(code: str) -> None:
    """And proposes exactly this."""
    example, action, _ = CASES[code]

    [found] = proposed(code, example)

    assert same(found, action), found


@pytest.mark.parametrize(("code", "nth"), [(c, n) for c in CASES for n in range(len(CASES[c][2]))])
def test_a_rule_does_not_fire_on_its_neighbours(code: str, nth: int) -> None:
    """One thing is different, and there is nothing to find."""
    assert proposed(code, CASES[code][2][nth]) == ()


@pytest.mark.parametrize("code", CASES)
def test_a_rule_finds_nothing_in_a_world_where_nothing_was_seen(code: str) -> None:
    """Before the first run there is nothing to say."""
    assert proposed(code, View(context=CONTEXT)) == ()


def test_one_restart_is_one() -> None:
    """Whoever allows one a period reads of one."""
    spent = replace(GONE, restarts=SPENT[:1], settings=replace(GONE.settings, intensity=1))
    [said] = proposed("RUN002", spent)

    assert isinstance(said, Escalate)
    assert said.text == "a1 keeps ending (1 restart in 3600 s); see why, then 'koboshi ack a1'"


def test_a_hook_confirms_a_question_that_was_seen_once() -> None:
    """Two signals, or two looks (law 11)."""
    once = replace(ASKING, question=replace(QUESTION, since=9_990.0, looks=1), clues=HOOK)

    assert [a.key for a in proposed("PRM001", once)] == ["3.question4"]


def test_a_question_left_to_a_person_is_told() -> None:
    """Allowed or not: the answer failed once."""
    left = replace(ASKING, question=replace(QUESTION, left_to_person="still there"))

    assert [a.key for a in proposed("PRM002", left)] == ["3.question4.escalate"]


def test_a_mode_that_does_not_answer_tells_a_person() -> None:
    """The default answers for nobody (law 12)."""
    keep = replace(ASKING, settings=Settings(mode=Mode.KEEP, allow=("npm test",)))

    assert [a.key for a in proposed("PRM002", keep)] == ["3.question4.escalate"]


def test_what_a_hook_waits_with_is_answered_there() -> None:
    """Whatever the screen shows meanwhile: no key is pressed for it."""
    both = view(Status.WORKING, held=(HELD,), question=QUESTION)

    [answer] = proposed("PRM001", both)

    assert isinstance(answer, Answer)
    assert (answer.nth, answer.ticket, answer.choice) == (5, "t1", Meaning.ONCE)


@pytest.mark.parametrize(
    ("order", "choice", "text", "reason"),
    [
        ("no", Meaning.NO, "", ""),
        ("No: use pnpm: it is here", Meaning.NO, "", "use pnpm: it is here"),
        ("yes: all of it", Meaning.OTHER, "yes: all of it", ""),
        ("Blue", Meaning.OTHER, "Blue", ""),
    ],
)
def test_a_persons_no_carries_why(order: str, choice: Meaning, text: str, reason: str) -> None:
    """The agent is told; a yes has nothing to explain, and other words are an option's."""
    asked = replace(ASKING, question=replace(FORBIDDEN, order=order, orders=1))
    [answer] = proposed("PRM005", asked)

    assert isinstance(answer, Answer)
    assert (answer.choice, answer.text, answer.reason) == (choice, text, reason)


def test_always_is_chosen_only_where_the_owner_prefers_it() -> None:
    """And where the dialog offers it; else once."""
    always = replace(ALLOWED, always=True)
    offered = (*permission().options, Option(text="Always", meaning=Meaning.ALWAYS, key="3"))
    wide = permission(options=offered)

    def choice(question: Question) -> Meaning:
        [answer] = proposed("PRM001", replace(ASKING, question=question))
        assert isinstance(answer, Answer)
        return answer.choice

    assert choice(replace(QUESTION, prompt=wide)) is Meaning.ONCE
    assert choice(replace(QUESTION, prompt=wide, advice=always)) is Meaning.ALWAYS
    assert choice(replace(QUESTION, advice=always)) is Meaning.ONCE


@pytest.mark.parametrize(
    ("stop", "why"),
    [
        ({"sight": Sight(context=ContextUse(used=90.0))}, "only 10 % of its context is left"),
        ({"tally": Tally(denied=5)}, "the policy said no 5 times in a row"),
        ({"given_up": True}, "its health is not certain: given_up"),
    ],
)
def test_a_stop_is_told(stop: dict[str, object], why: str) -> None:
    """What would have been answered is a person's then, and the message says why."""
    proposal = find("PRM002").check(replace(ASKING, **stop), NOW)  # type: ignore[arg-type]

    assert proposal is not None
    assert proposal.message == f"asks about 'npm test'; nothing is answered: {why}"


def test_words_of_an_agent_are_shown_on_one_line() -> None:
    """Nothing that a terminal or a reader could obey is passed on."""
    nasty = permission("rm \x1b[2J\u202e\n\nx" + "y" * 5_000)
    [told] = proposed("PRM002", replace(ASKING, question=replace(FORBIDDEN, prompt=nasty)))

    assert isinstance(told, Escalate)
    assert told.text.isprintable()
    assert len(told.text) < 500


def test_a_limit_without_an_instant_is_tried_after_a_while() -> None:
    """And the note says that nobody knows when it ends."""
    blind = replace(LIMITED, window=BLIND)
    proposal = find("LIM001").check(blind, NOW)

    assert [a.key for a in proposed("LIM002", blind)] == ["3.limit2.0.0"]
    assert proposal is not None
    assert proposal.message == "a1 hit its session limit; waits until an unknown time"


def test_a_limited_new_run_loads_its_note_when_the_limit_is_over() -> None:
    """Otherwise the refresh would wait for ever."""
    waiting = refreshing(Stage.LOADING, Status.LIMITED, window=WINDOW)

    assert [a.key for a in proposed("RFR004", waiting)] == ["3.load0"]


def test_unsaved_work_is_told_after_the_refresh_was_called_off() -> None:
    """Once per refresh that failed."""
    unsaved = view(tally=Tally(unsaved=1, refreshes=4))

    assert [a.key for a in proposed("RFR005", unsaved)] == ["3.unsaved4.escalate"]


def test_who_has_a_call_left_open_is_told_of_it_before_it_is_sent_on() -> None:
    """Sent on, it would make the same call again; also while the telling waits for its turn."""
    run = replace(RUN, open=("Bash make",))

    assert proposed("IDL001", replace(IDLE_LONG, run=run)) == ()
    assert proposed("ERR001", replace(FAILED, run=run)) == ()
    assert proposed("LIM002", replace(LIMITED, run=run)) == ()
    assert proposed("RUN008", replace(LIMITED, run=run)) != ()
    assert proposed("RUN008", replace(LIMITED, run=run, window=EARLY)) == ()
    for code in ("CTX002", "CTX003", "LVL001"):
        example = CASES[code][0]
        assert proposed(code, replace(example, run=replace(example.run, open=run.open))) == ()
        assert proposed(code, example) != ()
    assert proposed("IDL001", IDLE_LONG) != ()
    assert proposed("ERR001", FAILED) != ()


@pytest.mark.parametrize("failures", [6, 60, 6_000])
@pytest.mark.parametrize("code", ["429", "500", "529", "network"])
def test_an_outage_is_waited_out_however_long_it_is(code: str, failures: int) -> None:
    """At the longest cooldown; a person is told under the same key, which is told once."""
    outage = failing(code, Tally(failures=failures, turns=failures, rows=1))
    early = replace(outage, belief=replace(outage.belief, since=NOW.at - 599.0))

    assert [type(a) for a in proposed("ERR001", outage)] == [Send]
    assert proposed("ERR001", early) == ()
    assert [a.key for a in proposed("ERR006", outage)] == ["outage1.0.notify"]
    assert proposed("ERR002", outage) == ()


@pytest.mark.parametrize("code", ["529", "network", "context"])
def test_a_refresh_waits_for_the_end_of_an_outage(code: str) -> None:
    """Nothing can be saved or loaded while no turn gets an answer; a full context is none."""
    full = replace(FULL, error=ApiError(code=code))
    failed = view(Status.FAILED, since=LONG_AGO, tally=THRICE, sight=full)

    assert bool(proposed("CTX001", failed)) == (code == "context")


@pytest.mark.parametrize("failures", range(1, 6))
def test_a_failed_turn_is_retried_later_and_later(failures: int) -> None:
    """30, 60, 120, 240, 480 seconds."""
    wait = 30.0 * 2 ** (failures - 1)
    tally = Tally(failures=failures)

    assert proposed("ERR001", view(Status.FAILED, since=NOW.at - wait + 0.1, tally=tally)) == ()
    assert proposed("ERR001", view(Status.FAILED, since=NOW.at - wait, tally=tally)) != ()


def test_a_wait_that_the_api_asks_for_is_waited_out() -> None:
    """Never less than koboshi's own wait, and never more than an hour."""

    def tried(wait: float, age: float) -> bool:
        sight = Sight(error=ApiError(code="429", wait=wait))
        return proposed("ERR001", replace(FAILED, sight=sight, belief=aged(age))) != ()

    def aged(age: float) -> Belief:
        return replace(FAILED.belief, since=NOW.at - age)

    assert (tried(300.0, 299.0), tried(300.0, 300.0)) == (False, True)
    assert (tried(5.0, 29.0), tried(5.0, 30.0)) == (False, True)
    assert (tried(1e9, 3_599.0), tried(1e9, 3_600.0)) == (False, True)


def test_an_agent_that_is_done_and_does_not_end_is_told_of() -> None:
    """Each try to end it is one of its own."""
    once = replace(SAVED, tally=Tally(turns=2, notes=4, misses=2))
    thrice = replace(SAVED, tally=Tally(turns=2, notes=5, misses=3))

    assert proposed("TSK002", once) == (Stop(run=3, about="done2.0.4"),)
    assert [a.key for a in proposed("TSK002", thrice)] == ["3.up2.0.escalate"]


def test_a_turn_that_hangs_under_a_half_typed_line_is_told_of() -> None:
    """No key goes over the line, so that nobody else would ever end the turn."""
    hung = stalled(sight=Sight(worked_at=NOW.at - 1_200.0, draft="please als"))

    [told] = proposed("HNG002", hung)

    assert isinstance(told, Escalate)
    assert "a half-typed line is in its box" in told.text


def test_what_is_typed_after_an_error_may_be_said_otherwise() -> None:
    """`retry_text` for errors, `continue_text` for everything else."""
    settings = Settings(continue_text="go on", retry_text="try again")

    [retry] = proposed("ERR001", replace(FAILED, settings=settings))
    [nudge] = proposed("IDL001", replace(IDLE_LONG, settings=settings))

    assert isinstance(retry, Send)
    assert isinstance(nudge, Send)
    assert (retry.text, nudge.text) == ("try again", "go on")


@pytest.mark.parametrize("code", ["HNG001", "LVL001", "LVL002", "CTX002"])
def test_an_agent_that_tries_again_by_itself_is_left_alone(code: str) -> None:
    """These reach into a turn that runs; not into one that counts down to its next try."""
    example, _, _ = CASES[code]
    sight = replace(example.sight, error=ApiError(code="529", retrying=True))

    assert proposed(code, replace(example, sight=sight)) == ()


def test_a_note_that_did_not_arrive_starts_the_old_session() -> None:
    """Resumed by its id, not fresh."""
    refresh = Refreshing(nth=1, why="w", stage=Stage.STARTING, note="n", session="old", back=True)

    start = Start(run=4, origin=Origin.RESUMED, session="old")
    assert proposed("RFR003", view(Status.GONE, run=LEFT, refresh=refresh)) == (start,)


def test_enough_limits_are_a_persons_turn() -> None:
    """Over all of them, until somebody acknowledges; 0 is without a bound."""
    often = replace(LIMITED, tally=Tally(continues=100))
    unbound = replace(often, settings=replace(often.settings, limits_max=0))

    [told] = proposed("LIM003", often)
    assert isinstance(told, Escalate)
    assert (
        told.text
        == "a1 went on 100 times after limits: enough; see what holds it up, then 'koboshi ack a1'"
    )
    assert proposed("LIM002", unbound) != ()
    assert proposed("LIM003", unbound) == ()


@pytest.mark.parametrize("code", ["credit", "quota"])
def test_an_empty_account_is_tried_seldom_and_not_for_ever(code: str) -> None:
    """Once an hour, five times; then it waits for somebody who acknowledges."""

    def tried(failures: int, since: float) -> bool:
        tally = Tally(failures=failures, turns=failures)
        made = failing(code, tally)
        return proposed("ERR001", replace(made, belief=replace(made.belief, since=since))) != ()

    hour = NOW.at - 3_600.0
    assert [tried(n, hour) for n in (1, 5, 6, 60)] == [True, True, False, False]
    assert not tried(1, hour + 1.0)


def test_a_wait_that_only_the_transcript_tells_is_kept() -> None:
    """The screen may have cut the line."""
    told = Clue(source=Source.TRANSCRIPT, status=Status.FAILED, at=0.0, wait=300.0)
    waits = replace(FAILED, clues=(told,))

    assert proposed("ERR001", FAILED) != ()
    assert proposed("ERR001", waits) == ()
    assert proposed("ERR001", replace(waits, belief=replace(waits.belief, since=LONG_AGO))) != ()


def test_errors_of_another_kind_are_not_counted_with_this_one() -> None:
    """Whatever came before it: three refused requests are three, one is one."""
    refused = Fault(at=NOW.at, code="403")
    thrice = (*OUTAGE, refused, refused)

    assert proposed("ERR003", failing("400", Tally(failures=9, turns=9), faults=OUTAGE)) == ()
    assert proposed("ERR001", failing("400", Tally(failures=9, turns=9), faults=OUTAGE)) != ()
    assert proposed("ERR003", failing("403", Tally(failures=11, turns=11), faults=thrice)) != ()
