"""What a person orders: it goes the way of everything else, and no mode stands in its way."""

from __future__ import annotations

import pytest

from koboshi.core.actions import Action, Checkpoint, Mode, Send, Stop
from koboshi.core.events import Ending, Order, OrderGiven, RunExited, ScreenRead, Ticked
from koboshi.core.gate import Word
from koboshi.core.readings import Meaning, Option, Prompt, PromptKind, Reading, Status
from koboshi.core.settings import Settings
from koboshi.core.view import evolve
from tests.core.worlds import Driver, admitted, asking, blank, reading


def at_prompt(mode: Mode = Mode.KEEP) -> Driver:
    """Run 1 at its prompt."""
    driver = Driver(blank(Settings(mode=mode)))
    driver.start()
    driver.see(reading(Status.IDLE))
    return driver


def send(text: str, *, at_once: bool = False) -> OrderGiven:
    """A message of a person."""
    return OrderGiven(order=Order.SEND, by="me", text=text, at_once=at_once)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("shown", [reading(Status.IDLE), reading(Status.WORKING), asking()])
@pytest.mark.parametrize(("order", "force"), [(Order.STOP, False), (Order.KILL, True)])
def test_an_order_to_stop_is_carried_out_in_every_mode_and_status(
    mode: Mode, shown: object, order: Order, *, force: bool
) -> None:
    """Who says stop does not wait for a turn to end."""
    driver = at_prompt(mode)
    driver.see(shown)  # type: ignore[arg-type]

    [decision] = admitted(driver.tell(OrderGiven(order=order)))

    assert decision == Stop(run=1, about="order1", ordered=True, force=force)


def test_after_a_stop_no_exit_code_is_a_crash() -> None:
    """SIGTERM gives 143; it was meant all the same, and nothing is started again."""
    driver = at_prompt()
    [stop] = admitted(driver.tell(OrderGiven(order=Order.STOP)))
    driver.tell(RunExited(run=1, code=143))
    driver.finish(stop)
    driver.at += 3600.0
    later = admitted(driver.tell(Ticked()))

    assert driver.view.run.exit is not None
    assert driver.view.run.exit.meant
    assert [a for a in later if a.kind == "start"] == []
    assert driver.view.tally.crashes == 0


def test_a_shell_left_behind_after_a_stop_was_meant() -> None:
    """In a pane of the user's nothing but the shell tells of the end."""
    driver = at_prompt()
    driver.tell(OrderGiven(order=Order.STOP))
    driver.see(reading(Status.GONE))

    assert driver.view.run.exit is not None
    assert driver.view.run.exit.meant


def test_a_stop_that_failed_keeps_all_hands_off() -> None:
    """An agent that would not end is not nudged on."""
    driver = at_prompt()
    [stop] = admitted(driver.tell(OrderGiven(order=Order.STOP)))
    driver.finish(stop, Ending.FAILED, "it did not end")
    driver.at += 3600.0
    driver.see_same()

    held = {d.verdict.word for d in driver.decided if d.action.kind in ("send", "refresh")}
    assert held == {Word.PAUSED}


def test_stopping_again_is_a_new_order() -> None:
    """`koboshi stop` may be said twice, and --force after it."""
    driver = at_prompt()
    [stop] = admitted(driver.tell(OrderGiven(order=Order.STOP)))
    driver.finish(stop, Ending.FAILED)

    [again] = admitted(driver.tell(OrderGiven(order=Order.KILL)))

    assert again == Stop(run=1, about="order2", ordered=True, force=True)


def test_force_does_not_wait_for_other_hands() -> None:
    """A message under way may take minutes."""
    driver = at_prompt()
    driver.tell(send("hello"))

    assert admitted(driver.tell(OrderGiven(order=Order.STOP))) == []
    assert len(admitted(driver.tell(OrderGiven(order=Order.KILL)))) == 1


def test_a_start_lifts_the_stop() -> None:
    """The next START is a run as wanted as the first."""
    driver = at_prompt()
    [stop] = admitted(driver.tell(OrderGiven(order=Order.STOP)))
    driver.tell(RunExited(run=1, code=0))
    driver.finish(stop)

    [start] = admitted(driver.tell(OrderGiven(order=Order.START)))

    assert (start.kind, driver.view.halted) == ("start", None)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_message_is_typed_once_at_the_prompt(mode: Mode) -> None:
    """Whatever the mode: the words are a person's own."""
    driver = at_prompt(mode)

    [first] = admitted(driver.tell(send("run the tests")))
    assert first == Send(run=1, text="run the tests", about="message1", ordered=True)
    driver.finish(first)

    assert driver.view.outbox == ()
    assert driver.view.tally.nudges == 0
    assert admitted(driver.tell(Ticked())) == []


def test_two_messages_go_in_one_after_the_other_without_a_cooldown() -> None:
    """The cooldown is for what koboshi says by itself."""
    driver = at_prompt()
    [first] = admitted(driver.tell(send("same words")))
    assert admitted(driver.tell(send("same words"))) == []
    driver.finish(first)

    assert [a.key for a in admitted(tuple(driver.decided))] == ["1.message1", "1.message2"]


@pytest.mark.parametrize(
    "shown", [asking(), reading(Status.WORKING), reading(Status.UNKNOWN), reading(Status.LIMITED)]
)
def test_a_message_waits_for_the_prompt(shown: object) -> None:
    """Text typed into an open dialog approves it."""
    driver = at_prompt()
    driver.see(shown)  # type: ignore[arg-type]
    assert admitted(driver.tell(send("go on"))) == []

    waited = admitted(driver.see(reading(Status.IDLE)))

    assert [action.kind for action in waited] == ["send"]


def test_a_message_for_now_goes_in_while_a_turn_runs_but_never_into_a_dialog() -> None:
    """The CLI queues it."""
    driver = at_prompt()
    driver.see(asking())
    assert admitted(driver.tell(send("stop that", at_once=True))) == []
    [sent] = admitted(driver.see(reading(Status.WORKING)))

    assert sent == Send(run=1, text="stop that", about="message1", ordered=True, at_once=True)


def test_a_half_typed_line_holds_a_message_up() -> None:
    """It would be glued to the person's words."""
    driver = at_prompt()
    driver.see(reading(Status.IDLE, draft="please als"))

    [decision] = driver.tell(send("go on"))

    assert (decision.verdict.word, len(driver.view.outbox)) == (Word.PERSON, 1)


@pytest.mark.parametrize(("ending", "left"), [(Ending.FAILED, 0), (Ending.SKIPPED, 1)])
def test_a_message_in_doubt_is_not_said_again_a_skipped_one_is(ending: Ending, left: int) -> None:
    """Twice the same order is worse than none."""
    driver = at_prompt()
    [sent] = admitted(driver.tell(send("deploy")))
    driver.finish(sent, ending)

    assert len(driver.view.outbox) == left


def test_a_stop_drops_what_was_not_said() -> None:
    """A run that is started days later is not greeted with it."""
    driver = at_prompt()
    driver.see(reading(Status.WORKING))
    driver.tell(send("go on"))
    driver.tell(OrderGiven(order=Order.STOP))

    assert driver.view.outbox == ()


def menu() -> Reading:
    """Claude Code's menu at a usage limit."""
    options = (
        Option(text="Stop and wait", meaning=Meaning.WAIT, key="1"),
        Option(text="Upgrade", meaning=Meaning.OTHER, key="2"),
    )
    prompt = Prompt(kind=PromptKind.LIMIT, question="What do you want to do?", options=options)
    return Reading(status=Status.ASKING, prompt=prompt, lines=("> go",))


@pytest.mark.parametrize(
    ("mode", "word"),
    [(Mode.OBSERVE, Word.WOULD), (Mode.KEEP, Word.ADMITTED), (Mode.AUTO, Word.ADMITTED)],
)
def test_a_limits_menu_is_closed_by_waiting_in_keep_and_told_in_observe(
    mode: Mode, word: Word
) -> None:
    """No other question is answered in keep; in observe a person is asked."""
    driver = at_prompt(mode)
    driver.see(menu())
    decisions = driver.see_same()

    assert {d.action.kind: d.verdict.word for d in decisions}["answer"] is word
    told = [d for d in decisions if d.action.kind == "escalate"]
    assert bool(told) is (mode is Mode.OBSERVE)


def test_a_mode_can_be_changed_while_it_runs() -> None:
    """What was held back is decided anew, and the other way round."""
    driver = at_prompt(Mode.OBSERVE)
    driver.at += 600.0
    [held] = [d for d in driver.see_same() if d.action.kind == "send"]
    assert held.verdict.word is Word.WOULD

    again = driver.tell(OrderGiven(order=Order.MODE, text="keep"))

    assert [a.kind for a in admitted(again)] == ["send"]
    assert driver.view.settings.mode is Mode.KEEP
    driver.tell(OrderGiven(order=Order.MODE, text="nonsense"))
    assert driver.view.settings.mode is Mode.KEEP


def test_a_refresh_that_was_asked_for_goes_through_its_stages() -> None:
    """Saved first; where the agent wrote the note itself, the run ends at once."""
    driver = at_prompt()
    [save] = admitted(driver.tell(OrderGiven(order=Order.REFRESH, by="me", text="a new plan")))
    assert isinstance(save, Checkpoint)

    other = at_prompt()
    order = OrderGiven(order=Order.REFRESH, by="agent", text="full", note="ckpt-1")
    [stop] = admitted(other.tell(order))
    assert isinstance(stop, Stop)
    assert other.view.refresh is not None
    assert (other.view.refresh.note, other.view.refresh.why) == ("ckpt-1", "full")


def test_a_refresh_is_not_begun_over_another_restart_or_without_a_run() -> None:
    """The one that is under way knows more."""
    order = OrderGiven(order=Order.REFRESH, text="again", note="ckpt-2")
    driver = at_prompt()
    driver.tell(OrderGiven(order=Order.RELOAD, text="new tools"))
    driver.tell(order)
    assert driver.view.refresh is None

    driver = at_prompt()
    driver.tell(OrderGiven(order=Order.REFRESH, text="first"))
    before = driver.view.refresh
    driver.tell(order)
    assert driver.view.refresh == before

    driver = at_prompt()
    driver.tell(RunExited(run=1, code=0, meant=True))
    driver.tell(order)
    assert driver.view.refresh is None


@pytest.mark.parametrize("order", [Order.ASK, Order.REPLY, Order.TELL])
def test_what_is_only_told_changes_nothing_but_the_record(order: Order) -> None:
    """It is in the history, and no key is pressed."""
    driver = at_prompt()
    decided = driver.tell(OrderGiven(order=order, by="agent", text="x"))

    assert [a.kind for a in admitted(decided)] == (["escalate"] if order is Order.ASK else [])
    assert driver.view.past[-1].body == OrderGiven(order=order, by="agent", text="x")


@pytest.mark.parametrize("before", [Order.STOP, Order.RELOAD])
def test_what_ends_is_not_refreshed(before: Order) -> None:
    """A person said stop, or a restart is under way."""
    driver = at_prompt()
    driver.tell(OrderGiven(order=before))
    driver.tell(OrderGiven(order=Order.REFRESH))

    assert driver.view.refresh is None


def look(driver: Driver, status: Status, work: str) -> None:
    """A look that shows that much work."""
    shown, at = reading(status), driver.at + 1.0
    driver.tell(ScreenRead(run=1, reading=shown, digest=work + status, seen_at=at, work=work))


def test_an_order_to_save_has_a_note_written_however_young_the_last_one_is() -> None:
    """Once, at the next rest."""
    driver = at_prompt()
    known = evolve(driver.view.context, agent_type="claude")
    driver.world = evolve(driver.world, view=evolve(driver.view, context=known))

    def notes() -> list[Action]:
        driver.at += 60.0
        return [a for a in admitted(driver.tell(Ticked())) if isinstance(a, Checkpoint)]

    look(driver, Status.WORKING, "some")
    look(driver, Status.IDLE, "done")
    assert notes() == []

    [asked] = admitted(driver.tell(OrderGiven(order=Order.SAVE, by="person")))
    assert isinstance(asked, Checkpoint)
    driver.finish(asked)
    look(driver, Status.IDLE, "done")
    assert notes() == []
