"""Signals beside the screen: what they add to the view, and what the arbiter makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.arbiter import resolve
from koboshi.core.events import (
    HookRead,
    RunExited,
    SignalRead,
    Source,
    SupervisorStarted,
    Ticked,
)
from koboshi.core.health import examine
from koboshi.core.readings import ContextUse, Prompt, PromptKind, Status
from koboshi.core.settings import Settings
from koboshi.core.view import Clue, Question, Run, Sight, View
from tests.core.worlds import CONTEXT, Driver, asking, blank, moment, reading

RUN = Run(number=1, since=100.0)
STATUSES = list(Status)
W, R, A, F, L, U = (
    Status.WORKING,
    Status.IDLE,
    Status.ASKING,
    Status.FAILED,
    Status.LIMITED,
    Status.UNKNOWN,
)


def said(source: Source, status: Status, at: float = 110.0) -> Clue:
    """One source's word, held since it was told."""
    words = f"{source.value}-{status.value}"
    return Clue(source=source, status=status, at=at, since=at, reason=words, evidence=("e",))


def view_of(*clues: Clue, moved_at: float = 105.0, question: Question | None = None) -> View:
    """A view of run 1 with these clues."""
    sight = Sight(moved_at=moved_at)
    return View(context=CONTEXT, run=RUN, clues=clues, sight=sight, question=question)


def signal(status: Status | None, source: Source = Source.REGISTRY, **more: object) -> SignalRead:
    """A word about run 1."""
    return SignalRead(run=1, source=source, status=status, reason="r", **more)  # type: ignore[arg-type]


def running(settings: Settings | None = None) -> Driver:
    """Run 1 is up and idle, in session s1."""
    driver = Driver(blank(settings, rules=()))
    driver.start()
    driver.see(reading(Status.IDLE))
    return driver


# -- the table of the arbiter -----------------------------------------------------------------

#: screen, registry → in grace, past it while the screen moves, past it while nothing moves
TABLE = [
    (W, W, W, W, W),
    (W, R, W, W, U),
    (W, A, W, U, U),
    (R, W, R, W, U),
    (R, R, R, R, R),
    (R, A, R, U, U),
    (F, W, F, W, U),
    (F, R, F, F, F),
    (F, A, F, U, U),
    (A, W, A, U, U),
    (A, R, A, U, U),
    (A, A, A, A, A),
    (L, W, L, L, L),
    (L, A, L, L, L),
    (U, W, W, W, W),
    (U, R, U, U, U),
    (U, A, U, U, U),
]


@pytest.mark.parametrize(("shown", "told", "grace", "moving", "still"), TABLE)
def test_two_levels_are_weighed(
    shown: Status, told: Status, grace: Status, moving: Status, still: Status
) -> None:
    """Agreement stands; a contradiction past the grace time is unknown."""
    clues = (said(Source.SCREEN, shown), said(Source.REGISTRY, told))
    now = moment(500.0)

    assert resolve(view_of(*clues), moment(120.0))[0] is grace
    assert resolve(view_of(*clues, moved_at=499.0), now)[0] is moving
    assert resolve(view_of(*clues), now)[0] is still


def test_a_menu_that_a_person_opened_is_no_contradiction() -> None:
    """Claude Code says idle under its own menus."""
    menu = Question(prompt=Prompt(kind=PromptKind.PICKER, question="Model"), nth=1, since=110.0)
    clues = (said(Source.SCREEN, A), said(Source.REGISTRY, R))

    assert resolve(view_of(*clues, question=menu), moment(500.0))[0] is A


def test_an_error_in_the_transcript_fails_a_quiet_prompt() -> None:
    """The text has scrolled away, the turn has failed all the same."""
    clues = (said(Source.SCREEN, R), said(Source.TRANSCRIPT, F))

    assert resolve(view_of(*clues), moment(111.0)) == (F, "transcript-failed", ("e", "e"))


def test_a_turn_that_ended_under_a_frozen_spinner_is_named() -> None:
    """By the transcript as by a hook, unless the registry holds with the screen."""
    clues = (said(Source.SCREEN, W), said(Source.TRANSCRIPT, R))
    status, reason, _ = resolve(view_of(*clues), moment(500.0))

    assert (status, reason) == (
        U,
        "contradiction: the screen says working, the transcript said the turn ended",
    )
    assert resolve(view_of(*clues, said(Source.REGISTRY, W)), moment(500.0))[0] is W


clues = st.lists(
    st.builds(
        said,
        st.sampled_from(list(Source)),
        st.sampled_from(STATUSES),
        st.floats(100.0, 200.0),
    ),
    unique_by=lambda clue: clue.source,
).map(tuple)
times = st.floats(200.0, 1000.0)


@given(clues, times, st.floats(100.0, 1000.0))
def test_a_dead_process_is_gone_whatever_else_is_said(
    said_by: tuple[Clue, ...], at: float, moved: float
) -> None:
    """The kernel's word is the last."""
    others = (clue for clue in said_by if clue.source is not Source.PROCESS)
    dead = said(Source.PROCESS, Status.GONE)

    assert resolve(view_of(*others, dead, moved_at=moved), moment(at))[0] is Status.GONE


@given(clues, times, st.floats(100.0, 1000.0))
def test_only_a_screen_that_can_be_read_asks_or_rests(
    said_by: tuple[Clue, ...], at: float, moved: float
) -> None:
    """Those lead to keys."""
    status, reason, _ = resolve(view_of(*said_by, moved_at=moved), moment(at))
    shown = next((c.status for c in said_by if c.source is Source.SCREEN), None)

    if status in (Status.ASKING, Status.IDLE, Status.LIMITED):
        assert shown is status
    if status is Status.FAILED:
        assert shown in (Status.FAILED, Status.IDLE)
    assert reason or status is shown


@given(clues, times)
def test_a_contradiction_names_both_sides(said_by: tuple[Clue, ...], at: float) -> None:
    """Who says what, in words a person can act on."""
    status, reason, evidence = resolve(view_of(*said_by), moment(at))
    if not reason.startswith("contradiction"):
        return
    shown = next(c for c in said_by if c.source is Source.SCREEN)
    others = [c for c in said_by if c.source is not Source.SCREEN and c.source.value in reason]

    assert status is Status.UNKNOWN
    assert f"the screen says {shown.status.value}" in reason
    assert others
    assert any(c.reason in evidence for c in others)


# -- what signals add to the view -------------------------------------------------------------


def test_a_clue_knows_since_when_and_how_old_it_is() -> None:
    """Told again, its age begins anew and its time does not."""
    driver = running()
    driver.tell(signal(Status.WORKING))
    driver.tell(signal(Status.WORKING), after=5.0)
    same = driver.view.clue(Source.REGISTRY)
    driver.tell(signal(Status.IDLE), after=5.0)
    other = driver.view.clue(Source.REGISTRY)

    assert same is not None
    assert (same.since, same.at) == (3.0, 8.0)
    assert other is not None
    assert other.since == 13.0


def test_a_registry_that_is_gone_takes_its_word_back() -> None:
    """A file left by a dead process holds nothing up."""
    driver = running()
    driver.tell(signal(Status.WORKING))
    driver.tell(SignalRead(run=1, source=Source.REGISTRY))

    assert driver.view.clue(Source.REGISTRY) is None


def test_signals_of_another_run_or_an_ended_one_change_nothing() -> None:
    """They are history."""
    driver = running()
    before = driver.world
    driver.tell(SignalRead(run=2, source=Source.REGISTRY, status=Status.WORKING, session="x"))
    assert driver.world is before

    driver.tell(RunExited(run=1, code=0))
    gone = driver.world
    driver.tell(signal(Status.WORKING, session="x"))
    assert driver.world is gone


def test_a_new_supervisor_reads_levels_again() -> None:
    """Nobody watched while it was away."""
    driver = running()
    driver.tell(signal(Status.WORKING))
    driver.tell(SupervisorStarted())

    assert driver.view.clue(Source.REGISTRY) is None
    assert driver.view.clue(Source.SCREEN) is not None


def test_the_better_source_is_believed_about_the_context_while_it_speaks() -> None:
    """Numbers of the agent before notices on its screen, until they are old."""
    driver = running()
    line = ContextUse(used=40.0, source="statusline")
    driver.tell(signal(None, Source.STATUSLINE, context=line, window=200_000))
    driver.see(reading(Status.IDLE, used=44.0))
    driver.tell(signal(None, Source.TRANSCRIPT, tokens=90_000))
    held = driver.view.sight.context
    driver.see(reading(Status.IDLE, used=50.0), after=300.0)

    assert held == line
    assert driver.view.sight.context == ContextUse(used=50.0)


def test_tokens_are_a_share_only_of_a_window_that_is_known() -> None:
    """A guess would refresh an agent with a window five times as large."""
    unknown, told, set_by_owner = running(), running(), running(Settings(context_window=100_000))
    told.tell(signal(None, Source.STATUSLINE, window=200_000))
    for driver in (unknown, told, set_by_owner):
        driver.tell(signal(Status.WORKING, Source.TRANSCRIPT, tokens=50_000))

    assert unknown.view.sight.context is None
    assert told.view.sight.context == ContextUse(used=25.0, source="transcript")
    assert set_by_owner.view.sight.context == ContextUse(used=50.0, source="transcript")


def test_a_status_line_that_says_the_same_is_no_event() -> None:
    """It comes several times a second."""
    driver = running()
    line = signal(None, Source.STATUSLINE, context=ContextUse(used=4.0, source="statusline"))
    driver.tell(line)
    before = driver.world

    driver.tell(line)

    assert driver.world is before


def test_the_run_follows_its_session_when_the_agent_itself_says_so() -> None:
    """What was known of the old session's context does not hold for the new one."""
    driver = running()
    driver.tell(signal(None, Source.STATUSLINE, context=ContextUse(used=90.0, source="statusline")))
    driver.tell(signal(Status.WORKING, Source.TRANSCRIPT))
    driver.tell(signal(Status.IDLE, session="s2"))

    assert driver.view.run.session == "s2"
    assert driver.view.sight.context is None
    assert driver.view.clue(Source.TRANSCRIPT) is None


@pytest.mark.parametrize(
    ("hook", "session"),
    [
        (HookRead(word="SessionStart", session="s2", run=1, began="clear"), "s2"),
        (HookRead(word="SessionStart", session="s2", run=1, began="clear", age=60.0), "s1"),
        (HookRead(word="SessionStart", session="s2", run=2, began="clear"), "s1"),
        (HookRead(word="SessionStart", session="s2", began="clear"), "s1"),
        (HookRead(word="Stop", session="s2", run=1, status=Status.IDLE), "s1"),
    ],
    ids=["its own", "long ago", "another run's", "nobody vouches", "no beginning"],
)
def test_a_session_changes_only_by_the_runs_own_word(hook: HookRead, session: str) -> None:
    """Foreign processes call hooks, too."""
    driver = running()
    driver.tell(hook)

    assert driver.view.run.session == session
    assert (driver.view.clue(Source.HOOK) is None) or session == "s2"


def called(word: str, command: str, call: str) -> HookRead:
    """A hook about a tool call of run 1."""
    return HookRead(word=word, tool="Bash", subject=command, call=call, session="s1")


def row(driver: Driver) -> int:
    """How often the same call was made in a row."""
    return driver.view.loop.times if driver.view.loop else 0


def test_the_same_call_in_a_row_is_counted_once_each() -> None:
    """A hook told twice is one call, so are all hooks about it, and one that comes late counts."""
    driver = running()
    for word, call in (
        ("PostToolUse", "1"),
        ("PreToolUse", "2"),
        ("PreToolUse", "2"),
        ("PermissionRequest", "2"),
        ("PostToolUse", "2"),
        ("PreToolUse", "1"),
    ):
        driver.tell(called(word, "make", call))

    assert row(driver) == 2


@pytest.mark.parametrize("between", ["PreToolUse", "PermissionRequest", "PostToolUse", "screen"])
def test_a_call_in_between_breaks_the_row_whoever_tells_of_it(between: str) -> None:
    """Hooks get lost, each for itself; a question on the screen tells of a call, too."""
    driver = running()
    driver.tell(called("PreToolUse", "make", "1"))
    driver.tell(called("PreToolUse", "make", "2"))
    nth = driver.view.loop.nth if driver.view.loop else 0
    if between == "screen":
        driver.see(asking("npm test"))
    else:
        driver.tell(called(between, "npm test", "3"))
    driver.tell(called("PreToolUse", "make", "4"))

    assert row(driver) == 1
    assert driver.view.loop is not None
    assert driver.view.loop.nth > nth


def test_a_question_about_the_call_itself_does_not_break_its_row() -> None:
    """It is asked before each of them."""
    driver = running()
    for call in "12":
        driver.tell(called("PreToolUse", "make", call))
        driver.see(asking("make"))
        driver.see(reading(Status.WORKING))

    assert row(driver) == 2


def test_a_hook_from_the_spool_is_as_old_as_it_is() -> None:
    """Read now, it happened then."""
    driver = running()
    driver.tell(HookRead(word="Stop", session="s1", run=1, status=Status.IDLE, age=2.5))

    hook = driver.view.clue(Source.HOOK)
    assert hook is not None
    assert hook.at == 0.5


def test_any_signal_is_movement() -> None:
    """Law 9: nothing is refreshed while anything moves."""
    driver = running()
    driver.tell(signal(Status.WORKING, Source.TRANSCRIPT), after=50.0)

    assert driver.view.still_for(driver.now) == 0.0


def test_what_ails_an_agent_is_in_the_evidence_of_what_is_decided() -> None:
    """A person who reads the decision sees that the signals contradicted each other."""
    driver = Driver(blank())
    driver.start()
    driver.see(reading(Status.IDLE))
    driver.tell(signal(Status.ASKING))
    driver.tell(Ticked(), after=11.0)
    [decision] = driver.tell(Ticked(), after=121.0)

    assert examine(driver.view, driver.now).reasons == ("contradiction",)
    assert decision.finding.code == "RUN004"
    assert "contradiction: the screen says idle, the registry says asking" in (
        decision.finding.message
    )
    assert decision.finding.evidence[-1] == "health: contradiction"
