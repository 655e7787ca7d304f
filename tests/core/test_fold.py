"""fold: what each fact adds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import (
    Answer,
    Checkpoint,
    Escalate,
    Load,
    Notify,
    Refresh,
    Send,
    Start,
    Stop,
)
from koboshi.core.events import (
    BODY_TYPES,
    Ending,
    Event,
    HookRead,
    Order,
    OrderGiven,
    Origin,
    PersonTyped,
    RunExited,
    RunStarted,
    ScreenRead,
    ScreenSame,
    Severity,
    SignalRead,
    Source,
    SupervisorStarted,
    Ticked,
)
from koboshi.core.fold import fold
from koboshi.core.readings import ContextUse, Limit, Meaning, Reading, Status
from koboshi.core.settings import Settings
from koboshi.core.view import (
    HISTORY,
    Belief,
    Clue,
    Exit,
    Question,
    Refreshing,
    Run,
    Sight,
    Stage,
    Tally,
    View,
    Window,
)
from tests.core.worlds import (
    CONTEXT,
    UTC,
    Driver,
    asking,
    blank,
    moment,
    outcome,
    permission,
    reading,
)

NO_RULES = blank(rules=())


def quiet(settings: Settings | None = None) -> Driver:
    """A driver without rules: only the fold is looked at."""
    return Driver(blank(settings, rules=()))


def running() -> Driver:
    """Run 1, seen idle."""
    driver = quiet()
    driver.start()
    driver.see(reading(Status.IDLE))
    return driver


# -- each body ------------------------------------------------------------------------------------


def test_a_started_run_begins_at_starting() -> None:
    """RunStarted makes a new run and forgets the screen of the old one."""
    driver = running()

    driver.tell(RunStarted(run=2, origin=Origin.RESUMED, place="%2", pid=7, session="s1"))

    view = driver.view
    assert view.run == Run(
        number=2, origin=Origin.RESUMED, place="%2", pid=7, session="s1", since=3.0
    )
    assert view.belief == Belief(status=Status.STARTING, since=3.0, reason="run 2 started")
    assert view.sight == Sight(moved_at=3.0, worked_at=3.0)
    assert view.context == replace(CONTEXT, run=2, lines=("> go",))
    assert (view.clues, view.question, view.window) == ((), None, None)
    assert view.restarts == (3.0,)


def test_a_run_told_twice_is_one_run() -> None:
    """The performer and a supervisor that took over may both tell of it."""
    driver = running()
    before = driver.view

    driver.tell(RunStarted(run=1, origin=Origin.RESUMED))

    assert driver.view is before


def test_the_first_run_costs_nothing() -> None:
    """Only starts of ours count against the budget."""
    assert running().view.restarts == ()


def test_an_exit_is_believed_whatever_the_screen_shows() -> None:
    """A process that ended has ended; the spinner in its last frame does not count."""
    driver = running()
    driver.see(reading(Status.WORKING))

    driver.tell(RunExited(run=1, signal=9))
    driver.see(reading(Status.WORKING))

    assert driver.view.status is Status.GONE
    assert driver.view.run.exit == Exit(signal=9)
    assert driver.view.belief.evidence == ("run 1 ended: signal 9",)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (RunExited(run=1, signal=9), "signal 9"),
        (RunExited(run=1, code=3), "exit code 3"),
        (RunExited(run=1), "exit code not known"),
    ],
)
def test_an_exit_says_how(body: RunExited, words: str) -> None:
    """Signal, code, or that nobody knows."""
    driver = running()

    driver.tell(body)

    assert driver.view.belief.evidence == (f"run 1 ended: {words}",)


def test_a_second_exit_changes_nothing() -> None:
    """A run ends once."""
    driver = running()
    driver.tell(RunExited(run=1, signal=9))
    before = driver.view

    driver.tell(RunExited(run=1, code=0, meant=True))

    assert driver.view is before


def test_an_exit_tells_more_than_the_words_before_it() -> None:
    """A CLI says goodbye, then ends: that it was meant is known only then."""
    driver = running()
    driver.see(reading(Status.GONE))
    assert driver.view.run.exit == Exit()
    driver.tell(RunExited(run=1, code=0, meant=True))
    assert driver.view.run.exit == Exit(code=0, meant=True)

    before = driver.view
    driver.tell(RunExited(run=1))
    assert driver.view is before


def test_gone_stays_gone_until_a_run_starts() -> None:
    """No look, hook or tick revives a run."""
    driver = running()
    driver.tell(RunExited(run=1, code=1))

    for body in (HookRead(word="Stop", status=Status.IDLE), Ticked(), PersonTyped()):
        driver.tell(body)
        assert driver.view.status is Status.GONE
    driver.start(2, Origin.FRESH)

    assert driver.view.status is Status.STARTING


def test_a_look_is_taken_in() -> None:
    """ScreenRead sets sight, clue, belief and the lines of the context."""
    driver = quiet()
    driver.start()

    driver.see(reading(Status.WORKING, used=62.0, lines=tuple(f"l{n}" for n in range(12))))

    view = driver.view
    assert view.sight == Sight(
        digest="d1",
        seen_at=2.0,
        moved_at=2.0,
        context=ContextUse(used=62.0),
        context_at=2.0,
        worked_at=1.0,
    )
    assert view.clues == (
        Clue(source=Source.SCREEN, status=Status.WORKING, at=2.0, since=2.0, reason="shown"),
    )
    assert view.belief == Belief(status=Status.WORKING, since=2.0, reason="shown")
    assert view.context.lines == tuple(f"l{n}" for n in range(2, 12))


def test_a_context_value_stays_while_it_is_not_shown() -> None:
    """The notice slot rotates: not seen does not mean not low."""
    driver = running()
    driver.see(reading(Status.WORKING, used=62.0))

    driver.see(reading(Status.WORKING))

    assert driver.view.sight.context == ContextUse(used=62.0)


def test_an_unchanged_look_moves_nothing() -> None:
    """ScreenSame with the same digest keeps `moved_at` and all else but the time of the look."""
    driver = running()
    before = driver.view

    driver.see_same(after=5.0)

    assert driver.view == replace(before, sight=replace(before.sight, seen_at=7.0))


def test_a_spinner_that_moves_is_movement() -> None:
    """ScreenSame with another digest: nothing to read anew, but it moved."""
    driver = running()

    driver.tell(ScreenSame(run=1, digest="other", seen_at=3.0))

    assert driver.view.sight == Sight(digest="other", seen_at=3.0, moved_at=3.0, worked_at=1.0)


@pytest.mark.parametrize("body", [ScreenRead, ScreenSame])
@pytest.mark.parametrize(("run", "seen_at"), [(1, 1.5), (2, 9.0), (0, 9.0)])
def test_old_looks_and_looks_of_another_run_are_ignored(
    body: type[ScreenRead | ScreenSame], run: int, seen_at: float
) -> None:
    """They change nothing that is believed; only the history remembers that they came."""
    driver = running()
    before = driver.view
    look = (
        ScreenRead(run=run, reading=asking(), digest="x", seen_at=seen_at)
        if body is ScreenRead
        else ScreenSame(run=run, digest="x", seen_at=seen_at)
    )

    driver.tell(look, after=10.0)

    assert replace(driver.view, past=before.past, rare=before.rare) == before


def test_looks_older_than_our_own_keystroke_are_ignored() -> None:
    """What was on the screen before we typed says nothing about after (law 4)."""
    driver = running()
    send = Send(run=1, text="continue", about="idle0")
    driver.at = 10.0
    driver.finish(send)
    before = driver.view

    driver.tell(ScreenRead(run=1, reading=asking(), digest="x", seen_at=10.5))

    assert (before.acted_at, driver.view.status) == (11.0, Status.IDLE)
    assert driver.view.question is None


def test_a_supervisor_that_took_over_looks_again_first() -> None:
    """SupervisorStarted makes every earlier look an old one."""
    driver = running()

    driver.tell(SupervisorStarted(doubts=("1.question1",)), after=4.0)

    assert driver.view.acted_at == 6.0


def test_a_hook_gives_identity() -> None:
    """HookRead names the session; its status is a clue, not a belief while a screen is there."""
    driver = running()
    driver.world = replace(
        driver.world, view=replace(driver.view, run=replace(driver.view.run, session=""))
    )

    driver.tell(HookRead(word="Stop", status=Status.IDLE, session="s9"))

    assert driver.view.run.session == "s9"
    assert driver.view.clue(Source.HOOK) == Clue(
        source=Source.HOOK, status=Status.IDLE, at=3.0, since=3.0, reason="hook Stop"
    )


def test_a_person_is_remembered() -> None:
    """PersonTyped is a time."""
    driver = running()

    driver.tell(PersonTyped())

    assert driver.view.person_at == 3.0


def test_orders_are_followed() -> None:
    """Pause, resume, and an acknowledgement that forgives."""
    driver = running()
    driver.tell(OrderGiven(order=Order.PAUSE))
    paused = driver.view.paused
    driver.tell(OrderGiven(order=Order.RESUME))
    tally = Tally(prompts=2, crashes=3, nudges=4, failures=5, starts=6, unsaved=1, limits=7)
    view = replace(driver.view, given_up=True, restarts=(1.0, 2.0), tally=tally)

    after = fold(view, event(OrderGiven(order=Order.ACKNOWLEDGE)))

    assert (paused, driver.view.paused) == (True, False)
    assert (after.given_up, after.restarts) == (False, ())
    # Not `starts`: it is part of a key, and a key that was used is used.
    assert after.tally == Tally(prompts=2, starts=6, limits=7, settled=1)


def event(body: object, at: float = 50.0) -> Event:
    """A body as the next event."""
    return Event(seq=1, now=moment(at), body=body, context=CONTEXT)  # type: ignore[arg-type]


# -- history --------------------------------------------------------------------------------------


def test_history_is_bounded_and_newest_last() -> None:
    """A rule can look back on so many events and no more."""
    driver = quiet()
    driver.start()
    for _ in range(HISTORY + 10):
        driver.tell(PersonTyped())

    assert len(driver.view.past) == HISTORY
    assert driver.view.history(2) == driver.view.past[-2:]
    assert driver.view.past[-1].seq == HISTORY + 11
    assert (driver.view.history(0), driver.view.history(-3)) == ((), ())


def test_ticks_and_unchanged_screens_are_not_history() -> None:
    """They would push out what a rule wants to look back on."""
    driver = running()
    before = driver.view.past

    driver.see_same()
    driver.tell(Ticked(), after=500.0)

    assert driver.view.past == before


def test_every_body_has_a_wire_name() -> None:
    """An event's type is the name under which it is written."""
    assert [event(body).type for body in (Ticked(), PersonTyped())] == ["ticked", "person-typed"]
    assert len(BODY_TYPES) == len(set(BODY_TYPES.values())) == 15


@pytest.mark.parametrize("seen", ["before", "after"])
def test_a_turn_that_fails_too_quickly_to_be_seen_is_another_failure(seen: str) -> None:
    """Seen while we still looked whether our words had left the box, or only then: it is one."""
    driver = running()
    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.FAILED, error="401"))
    driver.see_same()
    counts = [driver.view.tally.failures]
    again = reading(Status.FAILED, error="401", lines=("> continue", "401"))

    driver.see(reading(Status.FAILED, error="401", draft="continue"))
    if seen == "before":
        driver.see(again)
    counts.append(driver.view.tally.failures)
    driver.finish(Send(run=1, text="continue", about="failed1.0.0"))
    driver.tell(Ticked())
    counts.append(driver.view.tally.failures)
    driver.see(again)
    driver.see_same()

    assert counts == [1, 1, 1]
    assert (driver.view.tally.failures, driver.view.tally.turns) == (2, 2)
    assert [fault.code for fault in driver.view.faults] == ["401", "401"]


def test_a_turn_that_was_seen_to_fail_is_counted_once() -> None:
    """Its work and its error were seen before our words were seen to have left."""
    driver = running()
    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.FAILED, error="401"))
    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.FAILED, error="401"))
    driver.finish(Send(run=1, text="continue", about="failed1.0.0"))
    driver.see(reading(Status.FAILED, error="401", lines=("redrawn",)))

    assert (driver.view.tally.failures, driver.view.tally.turns) == (2, 2)


@pytest.mark.parametrize("seen", ["before", "after"])
def test_a_first_turn_that_fails_too_quickly_is_a_failure(seen: str) -> None:
    """Before the first message, the error would be one of the run before."""
    driver = running()
    message = Send(run=1, text="hello", about="message1", ordered=True)
    driver.see(reading(Status.IDLE))
    if seen == "before":
        driver.see(reading(Status.FAILED, error="401"))
    old = driver.view.tally.failures
    driver.finish(message)
    driver.see(reading(Status.FAILED, error="401"))
    driver.see_same()

    assert old == 0
    assert (driver.view.tally.failures, driver.view.tally.turns) == (1, 1)
    assert len(driver.view.faults) == 1


def test_what_was_not_said_is_not_answered() -> None:
    """A message that was not submitted, and a supervisor that came back, look at the old error."""
    driver = running()
    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.FAILED, error="401"))
    for ending in (Ending.SKIPPED, Ending.FAILED):
        driver.finish(Send(run=1, text="continue", about="failed1.0.0"), ending)
        driver.see(reading(Status.FAILED, error="401", lines=("redrawn", ending.value)))
    driver.tell(SupervisorStarted())
    driver.see(reading(Status.FAILED, error="401", lines=("redrawn",)))

    assert (driver.view.tally.failures, driver.view.tally.turns) == (1, 1)


def test_each_try_to_note_down_or_to_end_what_is_done_has_a_number() -> None:
    """Also where its turn was too short to be seen; a refresh counts its own."""
    driver = running()
    counts = []
    for action, ending in (
        (Checkpoint(run=1, name="n", about="done1.0.0"), Ending.SKIPPED),
        (Checkpoint(run=1, name="n", about="note1.0.0"), Ending.FAILED),
        (Checkpoint(run=1, name="n", about="done1.0.1"), Ending.DONE),
        (Stop(run=1, about="done1.0.2"), Ending.FAILED),
        (Stop(run=1, about="refresh1.0"), Ending.FAILED),
        (Stop(run=1, about="done1.0.3"), Ending.DONE),
    ):
        driver.finish(action, ending)
        counts.append((driver.view.tally.notes, driver.view.tally.misses))

    assert counts == [(0, 0), (1, 1), (2, 0), (3, 1), (3, 1), (3, 1)]


@pytest.mark.parametrize("body", ["load", "turn"])
def test_what_is_done_before_the_next_look_at_rest_is_not_noted_down(body: str) -> None:
    """A note has been loaded, or a turn has begun: what is seen then is more than the note has."""
    driver = running()
    driver.finish(Checkpoint(run=1, name="n", about="note1.0.0"))
    noted = driver.view.saved
    if body == "load":
        driver.finish(Load(run=1, name="n", nth=0))
    else:
        driver.see(reading(Status.WORKING))
    rest = reading(Status.IDLE)
    driver.tell(ScreenRead(run=1, reading=rest, digest="n", seen_at=driver.at + 1.0, work="more"))

    assert (noted, driver.view.saved) == (None, "")


# -- counters -------------------------------------------------------------------------------------


def test_counters_of_a_run_start_again_with_the_run() -> None:
    """Prompts, turns, nudges, starts and held ones begin at 0; the others go on."""
    view = replace(
        running().view,
        tally=Tally(
            prompts=1,
            turns=2,
            nudges=3,
            failures=4,
            crashes=5,
            starts=6,
            held=11,
            limits=7,
            refreshes=8,
            unsaved=9,
            settled=10,
        ),
    )

    after = fold(view, event(RunStarted(run=2, origin=Origin.FRESH)))

    assert after.tally == Tally(failures=4, crashes=5, limits=7, refreshes=8, unsaved=9, settled=10)


def test_a_turn_is_counted_when_it_begins_and_forgives_nudges() -> None:
    """Working, whatever it was before."""
    driver = running()
    driver.finish(Send(run=1, text="continue", about="idle0"))
    nudged = driver.view.tally

    driver.see(reading(Status.WORKING))
    driver.see(reading(Status.WORKING, lines=("more",)))

    assert nudged == Tally(nudges=1)
    assert driver.view.tally == Tally(turns=1)


def test_failures_end_with_a_turn_that_ends_well() -> None:
    """Two failed turns, then one that went from working to idle."""
    driver = running()
    counts = []
    for status in (
        Status.WORKING, Status.FAILED, Status.WORKING, Status.FAILED, Status.IDLE,
        Status.WORKING, Status.IDLE,
    ):  # fmt: skip
        driver.see(reading(status))
        counts.append(driver.view.tally.failures)

    assert counts == [0, 1, 1, 2, 2, 2, 0]


def _told_well(source: str, *, age: float = 0.0) -> HookRead | SignalRead:
    if source == "hook":
        return HookRead(word="Stop", status=Status.IDLE, age=age)
    reason = "transcript: the turn ended"
    return SignalRead(run=1, source=Source.TRANSCRIPT, status=Status.IDLE, reason=reason)


@pytest.mark.parametrize("first", ["screen", "signal"])
@pytest.mark.parametrize("source", ["hook", "transcript"])
def test_a_good_turn_too_quick_to_be_seen_ends_the_failures(source: str, first: str) -> None:
    """Another signal shows that it ended, before or after the screen is seen at rest."""
    driver = running()
    for status in (Status.WORKING, Status.FAILED) * 2:
        driver.see(reading(status))
    before = driver.view.tally.failures
    if first == "signal":
        driver.tell(_told_well(source))
    driver.see(reading(Status.IDLE))
    if first == "screen":
        driver.tell(_told_well(source))

    assert before == 2
    assert driver.view.tally.failures == 0


@pytest.mark.parametrize(
    "told",
    [
        _told_well("hook", age=500.0),
        HookRead(word="Notification", status=Status.IDLE),
        HookRead(word="StopFailure", status=Status.FAILED),
    ],
    ids=["before the error", "a notice", "a failure"],
)
def test_a_prompt_alone_does_not_end_the_failures(told: HookRead) -> None:
    """The error may have been cleared away; what was told before it is about another turn."""
    driver = running()
    for status in (Status.WORKING, Status.FAILED):
        driver.see(reading(status))
    driver.tell(told)
    driver.see(reading(Status.IDLE))

    assert driver.view.tally.failures == 1


def test_a_save_too_quick_to_be_seen_does_not_end_the_failures() -> None:
    """To save is no turn of the work."""
    driver = running()
    for status in (Status.WORKING, Status.FAILED):
        driver.see(reading(status))
    driver.finish(Refresh(run=1, nth=1, why="old"))
    driver.tell(_told_well("hook"))
    driver.see(reading(Status.IDLE))

    assert driver.view.tally.failures == 1


@pytest.mark.parametrize("ending", Ending)
def test_a_call_left_open_is_forgotten_once_it_was_told(ending: Ending) -> None:
    """What was skipped, or failed and was not submitted, is told again."""
    driver = running()
    driver.tell(RunStarted(run=2, origin=Origin.RESUMED, open=("Bash make",)))
    driver.finish(Send(run=2, text="You were ended", about="open-call0.0.0"), ending)

    assert bool(driver.view.run.open) == (ending is not Ending.DONE)


def test_rows_of_failures_are_counted() -> None:
    """What a person is told about one of them is told once."""
    driver = running()
    rows = []
    for status in (Status.FAILED, Status.FAILED, Status.IDLE, Status.FAILED):
        driver.see(reading(Status.WORKING))
        driver.see(reading(status))
        rows.append(driver.view.tally.rows)

    assert rows == [1, 1, 1, 2]


def test_crashes_count_up_until_a_run_lived_long_enough() -> None:
    """A healthy stretch forgives the crashes before it; a meant exit is no crash."""
    driver = quiet(Settings(healthy_after=300.0))
    counts = []
    for run, lived in ((1, 10.0), (2, 20.0), (3, 400.0), (4, 5.0)):
        driver.start(run, Origin.RESUMED)
        driver.tell(RunExited(run=run, code=1), after=lived)
        counts.append(driver.view.tally.crashes)
    driver.start(5, Origin.RESUMED)
    driver.tell(RunExited(run=5, code=0, meant=True))

    assert counts == [1, 2, 1, 2]
    assert driver.view.tally.crashes == 2


def test_only_restarts_within_the_period_are_kept() -> None:
    """The list does not grow for ever."""
    driver = quiet(Settings(period=100.0))
    for run, after in ((1, 1.0), (2, 50.0), (3, 60.0)):
        driver.at += after
        driver.start(run, Origin.RESUMED)

    assert driver.view.restarts == (53.0, 114.0)
    assert driver.view.restarts_in_period(moment(152.0)) == 2
    assert driver.view.restarts_in_period(moment(153.0)) == 1


# -- questions ------------------------------------------------------------------------------------


def test_a_question_is_numbered_and_its_looks_counted() -> None:
    """Seen again, also with another row selected, it is the same question."""
    driver = running()
    driver.see(asking())
    driver.see(
        replace(asking(), prompt=permission(selected=1)),
    )
    driver.see_same()

    assert driver.view.question == Question(
        prompt=permission(selected=1), nth=1, since=3.0, looks=3, above=("> go",)
    )


def test_the_same_words_with_new_lines_above_are_another_question() -> None:
    """It was answered and asked again between two looks."""
    driver = running()
    driver.see(asking())
    driver.see_same()

    driver.see(asking(lines=("> go", "Bash(npm test)")))

    assert driver.view.question == Question(
        prompt=permission(), nth=2, since=5.0, above=("> go", "Bash(npm test)")
    )


def test_other_words_are_another_question() -> None:
    """No gap was seen between the two."""
    driver = running()
    driver.see(asking("npm test"))

    driver.see(asking("make build"))

    question = driver.view.question
    assert question is not None
    assert (question.nth, question.looks) == (2, 1)


def test_a_question_whose_dialog_is_gone_is_closed_and_its_number_spent() -> None:
    """The next one has the next number, even with the same words."""
    driver = running()
    driver.see(asking())
    driver.see(reading(Status.WORKING))
    closed = driver.view.question

    driver.see(asking())

    question = driver.view.question
    assert closed is None
    assert question is not None
    assert question.nth == 2


def test_an_unknown_screen_hides_a_question() -> None:
    """It does not close it: the number must not move on."""
    driver = running()
    driver.see(asking())
    driver.see(Reading(status=Status.UNKNOWN, reason="half a dialog"))
    hidden = driver.view.question

    driver.see(asking())

    assert hidden == Question(prompt=permission(), nth=1, since=3.0, above=("> go",))
    assert driver.view.question == replace(hidden, looks=2)


def answer_for(driver: Driver) -> Answer:
    """The answer to the open question."""
    question = driver.view.question
    assert question is not None
    return Answer(
        run=1, nth=question.nth, fingerprint=question.prompt.fingerprint, choice=Meaning.ONCE
    )


def test_after_an_answer_whatever_shows_next_is_new() -> None:
    """A poll can miss the gap between two identical prompts (law 4)."""
    driver = running()
    driver.see(asking())
    driver.finish(answer_for(driver))

    driver.see(asking(), after=2.0)

    assert driver.view.question == Question(prompt=permission(), nth=2, since=6.0, above=("> go",))


def doubted() -> Driver:
    """A question whose answer failed: nobody knows whether it was answered."""
    driver = running()
    driver.see(asking())
    driver.finish(answer_for(driver), Ending.FAILED, "still there")
    return driver


def test_a_failed_answer_leaves_the_question_to_a_person() -> None:
    """Also when the same words come again and the command has run in between."""
    driver = doubted()
    question = driver.view.question

    driver.see(asking(lines=("> go", "● Bash(npm test)")), after=2.0)

    again = driver.view.question
    assert question == Question(
        prompt=permission(), nth=1, since=3.0, above=("> go",), left_to_person="still there"
    )
    assert again is not None
    assert again.nth == 2
    assert again.left_to_person


@pytest.mark.parametrize(("clear", "left"), [(1, True), (2, True), (3, False)])
def test_a_doubt_ends_when_the_screen_was_clear_for_three_looks(clear: int, *, left: bool) -> None:
    """One look without the question may be an old frame."""
    driver = doubted()
    driver.at += 1.0
    driver.see(reading(Status.WORKING))
    for _ in range(clear - 1):
        driver.see_same()

    driver.see(asking())

    question = driver.view.question
    assert question is not None
    assert bool(question.left_to_person) is left


def test_an_unknown_screen_does_not_end_a_doubt() -> None:
    """It hides the question; it is not clear of it."""
    driver = doubted()
    for _ in range(5):
        driver.see(Reading(status=Status.UNKNOWN))

    assert driver.view.doubted == (permission().fingerprint,)


def test_a_skipped_answer_changes_nothing() -> None:
    """It was not pressed; it may be decided again."""
    driver = running()
    driver.see(asking())
    before = driver.view.question

    driver.finish(answer_for(driver), Ending.SKIPPED)

    assert driver.view.question == before


def test_an_answer_to_an_older_question_closes_nothing() -> None:
    """Its number says what it was about."""
    driver = running()
    driver.see(asking())
    old = answer_for(driver)
    driver.see(asking("make build"))
    before = driver.view.question

    driver.finish(old)

    assert driver.view.question == before


# -- limits ---------------------------------------------------------------------------------------


def limited(resets_at: float | None) -> Reading:
    """A screen at a usage limit."""
    return reading(Status.LIMITED, limit=Limit(kind="session", resets_at=resets_at))


def test_the_instant_of_the_reset_names_a_window() -> None:
    """The same instant is the same window, over other screens too; another instant is another."""
    driver = running()
    driver.see(limited(UTC + 100))
    driver.see(reading(Status.WORKING))
    driver.see(limited(UTC + 100))
    same = driver.view.window
    driver.see(limited(UTC + 200))

    assert same == Window(limit=Limit(kind="session", resets_at=UTC + 100), nth=1, since=3.0)
    assert driver.view.window == Window(
        limit=Limit(kind="session", resets_at=UTC + 200), nth=2, since=6.0
    )


def test_a_window_without_an_instant_ends_when_the_agent_goes_on() -> None:
    """There is nothing else to tell two of them apart."""
    driver = running()
    driver.see(limited(None))
    driver.see(reading(Status.WORKING))
    over = driver.view.window

    driver.see(limited(None))

    window = driver.view.window
    assert over is None
    assert window is not None
    assert window.nth == 2


def test_a_message_counts_as_a_try_of_the_window() -> None:
    """Done or failed; a skipped one was not sent, and one about something else does not count."""
    driver = running()
    driver.see(limited(UTC + 100))
    tries = []
    for ending in (Ending.SKIPPED, Ending.DONE, Ending.FAILED):
        driver.finish(Send(run=1, text="continue", about="limit1.0.0"), ending)
        window = driver.view.window
        assert window is not None
        tries.append((window.tries, driver.view.tally.nudges))

    driver.finish(Send(run=1, text="continue", about="idle1.0.0"))

    assert tries == [(0, 0), (1, 1), (2, 2)]
    assert driver.view.window == window


def test_a_limit_calls_off_a_save() -> None:
    """A limited agent cannot save; nothing is lost by waiting."""
    driver = refreshing(Stage.SAVING)

    driver.see(limited(UTC + 100))

    assert driver.view.refresh is None


# -- refresh --------------------------------------------------------------------------------------


def refreshing(stage: Stage) -> Driver:
    """Run 1 or 2, with a refresh at that stage."""
    driver = running()
    driver.finish(Refresh(run=1, nth=1, why="old"))
    if stage is Stage.SAVING:
        return driver
    driver.finish(Checkpoint(run=1, name="note", about="refresh1.0"))
    if stage is Stage.EXITING:
        return driver
    driver.tell(RunExited(run=1, code=0, meant=True))
    if stage is Stage.STARTING:
        return driver
    driver.start(2, Origin.FRESH)
    driver.see(reading(Status.IDLE))
    return driver


STAGES = {
    Stage.SAVING: Refreshing(nth=1, why="old", session="s1", stage=Stage.SAVING),
    Stage.EXITING: Refreshing(nth=1, why="old", session="s1", stage=Stage.EXITING, note="note"),
    Stage.STARTING: Refreshing(nth=1, why="old", session="s1", stage=Stage.STARTING, note="note"),
    Stage.LOADING: Refreshing(nth=1, why="old", session="s1", stage=Stage.LOADING, note="note"),
}


@pytest.mark.parametrize("stage", Stage)
def test_a_refresh_goes_stage_by_stage(stage: Stage) -> None:
    """Save, exit, start, load; each moved on by the outcome or the fact it waits for."""
    assert refreshing(stage).view.refresh == STAGES[stage]


def test_a_loaded_note_ends_the_refresh() -> None:
    """The last stage."""
    driver = refreshing(Stage.LOADING)

    driver.finish(Load(run=2, name="note", nth=0))

    assert driver.view.refresh is None
    assert driver.view.tally.refreshes == 1


@pytest.mark.parametrize(
    ("stage", "run", "after"),
    [
        (Stage.SAVING, 1, None),
        (Stage.EXITING, 1, STAGES[Stage.STARTING]),
        (Stage.STARTING, 1, STAGES[Stage.STARTING]),
        (Stage.LOADING, 2, STAGES[Stage.STARTING]),
    ],
)
def test_a_crash_at_each_stage(stage: Stage, run: int, after: Refreshing | None) -> None:
    """Unsaved work starts over as a crash; saved work goes on to a fresh start."""
    driver = refreshing(stage)

    driver.tell(RunExited(run=run, signal=9))

    assert driver.view.refresh == after


def test_a_person_who_exits_before_the_load_is_not_brought_back() -> None:
    """A meant exit of the new run ends the refresh."""
    driver = refreshing(Stage.LOADING)

    driver.tell(RunExited(run=2, code=0, meant=True))

    assert driver.view.refresh is None


@pytest.mark.parametrize(
    ("stage", "action"),
    [
        (Stage.SAVING, Checkpoint(run=1, name="note", about="refresh1.0")),
        (Stage.EXITING, Stop(run=1, about="refresh1.0")),
        (Stage.LOADING, Load(run=2, name="note", nth=0)),
    ],
)
def test_a_failed_stage_is_counted_and_a_skipped_one_is_not(
    stage: Stage, action: Checkpoint | Stop | Load
) -> None:
    """The count is part of the next key."""
    driver = refreshing(stage)
    driver.finish(action, Ending.SKIPPED)
    skipped = driver.view.refresh

    driver.finish(action, Ending.FAILED)

    assert skipped == STAGES[stage]
    assert driver.view.refresh == replace(STAGES[stage], tries=1)


def test_a_note_that_does_not_arrive_brings_the_old_session_back() -> None:
    """A full context is better than none; the fresh run is ended and the old one resumed."""
    driver = refreshing(Stage.LOADING)
    for tries in range(3):
        driver.finish(Load(run=2, name="note", nth=tries), Ending.FAILED)
    back = driver.view.refresh
    assert back == replace(STAGES[Stage.EXITING], back=True)
    driver.tell(RunExited(run=2, code=0, meant=True))

    assert driver.view.refresh == replace(STAGES[Stage.STARTING], back=True)
    driver.start(3, Origin.RESUMED, session="s1")
    assert driver.view.refresh is None


def test_work_that_cannot_be_saved_calls_the_refresh_off() -> None:
    """After the last try the old run goes on, and that is remembered."""
    driver = refreshing(Stage.SAVING)
    for tries in range(3):
        driver.finish(Checkpoint(run=1, name="n", about=f"refresh1.{tries}"), Ending.FAILED)

    assert driver.view.refresh is None
    assert driver.view.tally.unsaved == 1


def test_a_refresh_of_an_ended_run_does_not_begin() -> None:
    """It ended by itself before it was asked to save; the number is spent."""
    driver = running()
    driver.tell(RunExited(run=1, signal=9))

    driver.finish(Refresh(run=1, nth=1, why="old"))

    assert (driver.view.refresh, driver.view.tally.refreshes) == (None, 1)


# -- outcomes about something else ----------------------------------------------------------------


@pytest.mark.parametrize(
    "action",
    [
        Answer(run=7, nth=1, fingerprint="f", choice=Meaning.ONCE),
        Send(run=7, text="continue", about="idle0"),
        Refresh(run=7, nth=1, why="old"),
        Checkpoint(run=7, name="note", about="refresh1.0"),
        Stop(run=7, about="refresh1.0"),
        Load(run=7, name="note", nth=0),
    ],
)
def test_outcomes_about_another_run_are_history(
    action: Answer | Send | Refresh | Checkpoint | Stop | Load,
) -> None:
    """Only the time of our last keystroke moves."""
    driver = refreshing(Stage.SAVING)
    driver.see(asking())
    before = driver.view

    after = fold(before, event(outcome(action, Ending.FAILED)))

    assert replace(after, past=before.past, rare=before.rare) == replace(before, acted_at=50.0)


def test_a_failed_start_counts_like_a_start() -> None:
    """A broken start must not loop either."""
    driver = running()
    driver.tell(RunExited(run=1, signal=9))

    driver.finish(Start(run=2, origin=Origin.RESUMED), Ending.FAILED)

    assert driver.view.restarts == (4.0,)
    assert (driver.view.tally.starts, driver.view.tally.crashes) == (1, 2)


@pytest.mark.parametrize(
    "end",
    [
        RunExited(run=1, signal=2),
        RunExited(run=1, code=130),
        RunExited(run=1, signal=3),
        RunExited(run=1, code=131),
    ],
)
@pytest.mark.parametrize(("ago", "meant"), [(1.0, True), (60.0, False), (None, False)])
def test_whoever_presses_ctrl_c_at_its_terminal_means_it(
    end: RunExited,
    ago: float | None,
    meant: bool,  # noqa: FBT001
) -> None:
    """Nobody there: something else sent that signal, and it is a crash like others."""
    driver = Driver()
    driver.start()
    driver.see(reading(Status.WORKING))
    if ago is not None:
        driver.tell(PersonTyped())
    driver.tell(end, after=ago or 1.0)

    assert driver.view.run.exit is not None
    assert driver.view.run.exit.meant is meant


def test_a_crash_while_a_person_types_is_one() -> None:
    """Only keys end a program so."""
    driver = Driver()
    driver.start()
    driver.tell(PersonTyped())
    driver.tell(RunExited(run=1, signal=9))

    assert driver.view.run.exit is not None
    assert not driver.view.run.exit.meant


def test_giving_up_is_remembered_and_telling_is_not() -> None:
    """An escalation that gives up ends restarts; a note changes nothing."""
    driver = running()
    before = driver.view
    note = outcome(Notify(about="x", text="t", severity=Severity.P2))
    told = fold(before, event(note))

    driver.finish(Escalate(about="1.spent0", text="t", gives_up=True))

    assert replace(told, past=before.past, rare=before.rare) == before
    assert driver.view.given_up


@pytest.mark.parametrize(("number", "exited"), [(0, False), (1, True), (1, False)])
def test_a_run_is_wanted_only_where_there_is_none(number: int, *, exited: bool) -> None:
    """`start` while one runs asks for nothing; the run that starts is the one that was wanted."""
    driver = quiet()
    if number:
        driver.start(number)
    if exited:
        driver.tell(RunExited(run=1, code=0, meant=True))

    driver.tell(OrderGiven(order=Order.START))
    wanted = driver.view.wanted
    driver.start(number + 1)

    assert wanted is (number == 0 or exited)
    assert not driver.view.wanted


def test_a_start_that_could_not_be_tried_is_counted() -> None:
    """`held`: the shell's line was not empty, or another run was alive."""
    driver = running()
    driver.tell(RunExited(run=1, signal=9))

    driver.finish(Start(run=2, origin=Origin.RESUMED), Ending.SKIPPED)

    assert (driver.view.tally.held, driver.view.restarts) == (1, ())


GIVES_UP = Escalate(about="1.spent0", text="t", gives_up=True)
BEGINS = Refresh(run=1, nth=1, why="old")


@pytest.mark.parametrize("action", [GIVES_UP, BEGINS])
def test_skipped_changes_nothing_but_the_time_of_our_last_keystroke(
    action: Escalate | Refresh,
) -> None:
    """A person who was not told has not been told; a refresh that was skipped has not begun."""
    before = running().view

    after = fold(before, event(outcome(action, Ending.SKIPPED)))

    assert replace(after, past=before.past, rare=before.rare, acted_at=before.acted_at) == before


def test_a_shell_in_the_foreground_is_an_exit() -> None:
    """In a pane that the user had before, that is all the exit there is."""
    driver = running()

    driver.see(Reading(status=Status.GONE, reason="shell_prompt", evidence=("$",)))
    driver.see(reading(Status.WORKING))

    view: View = driver.view
    assert view.run.exit == Exit()
    assert (view.status, view.belief.reason) == (Status.GONE, "shell_prompt")
