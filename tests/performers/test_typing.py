"""Text into the input box: at an empty prompt only, once, seen to leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from koboshi.adapters.base import Adapter
from koboshi.core.actions import Action, Checkpoint, Load, Send
from koboshi.core.events import Ending, Outcome
from koboshi.core.readings import Reading
from koboshi.hosts.base import Key, Keystroke
from koboshi.observations import ScreenSeen
from koboshi.performers.typing import SHOWS
from koboshi.scripted.behaviour import Done, EndTurn, Fail, Limit, Script, Work
from tests.performers.benches import ASK, Bench

SEND = Send(run=1, text="continue", about="idle0")
SAVE = Checkpoint(run=1, name="ckpt-1", about="refresh1.0")
LOAD = Load(run=1, name="ckpt-1", nth=0)
TYPED = {"continue": SEND, "/save ckpt-1": SAVE, "/load ckpt-1": LOAD}
LONG: Script = (Work(seconds=600.0, say="x"), Done())


def outcome(ending: str, why: str) -> Outcome:
    """How it came out."""
    return Outcome(ending=Ending(ending), why=why)


NOT_READY = outcome("skipped", "not at an empty prompt")


@pytest.mark.parametrize("script", [LONG, (Fail(code="500"), *LONG), (EndTurn(), *LONG)])
def test_a_message_is_typed_once_and_entered_once(script: Script) -> None:
    """At an idle prompt, after a failed turn, after a turn that ended."""
    bench = Bench(script)
    if len(script) > 2:
        bench.say("go")

    assert bench.perform(SEND) == outcome("done", "submitted, and seen to have left the box")
    assert bench.sent == ["'continue'", "Enter"]
    assert (bench.marks, bench.status) == (["1.idle0"], "working")


def test_a_limited_agent_takes_a_message() -> None:
    """That is how it is waked after the reset."""
    bench = Bench((Limit(seconds=30.0), *LONG))
    bench.say("go")
    bench.wait(60.0)

    assert bench.perform(SEND).ending is Ending.DONE
    assert bench.status == "working"


@pytest.mark.parametrize("action", TYPED.values(), ids=TYPED)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda bench: bench.ask(),
        lambda bench: bench.agent.paste("please als"),
        lambda bench: bench.host.veil(60.0),
        lambda bench: bench.agent.end(9),
    ],
    ids=["dialog", "draft", "veil", "gone"],
)
def test_nothing_is_typed_where_there_is_no_empty_prompt(
    action: Action, spoil: Callable[[Bench], None]
) -> None:
    """Text typed into a dialog approves it; over a draft it is a person's."""
    bench = Bench(ASK)
    spoil(bench)
    draft = bench.draft

    assert (bench.perform(action), bench.sent) == (NOT_READY, [])
    assert bench.draft == draft


def test_nothing_is_typed_while_it_works() -> None:
    """A message would queue up behind the turn."""
    bench = Bench(LONG)
    bench.say("go")

    assert (bench.perform(SEND), bench.sent) == (NOT_READY, [])


def test_another_run_is_not_typed_into() -> None:
    """The fence of an action is its run."""
    bench = Bench()
    bench.agent.end(9)
    bench.start(2)

    assert bench.perform(SEND) == outcome("skipped", "run 1 is over")
    assert (bench.sent, bench.marks) == ([], [])


def test_a_slow_terminal_is_not_typed_into() -> None:
    """A look that took a second may be a second old."""
    bench = Bench()
    bench.host.slow_looks = 1.0

    assert bench.perform(SEND).ending is Ending.SKIPPED
    assert bench.sent == []


def test_what_a_person_adds_is_not_entered() -> None:
    """Between our text and Enter somebody typed: the box is theirs now."""
    bench = Bench()
    bench.host.on_type = _and_then(bench, lambda: bench.agent.paste(" and also"))

    result = bench.perform(SEND)

    assert result == outcome("failed", "the text did not show in the box; not submitted")
    assert bench.sent == ["'continue'"]
    assert bench.draft.startswith(" and also")


def _and_then(bench: Bench, act: Callable[[], None]) -> Callable[..., None]:
    """Somebody else types at the moment our first text leaves."""
    note, count = bench.host.on_type, 0

    def both(strokes: tuple[object, ...]) -> None:
        nonlocal count
        note(strokes)  # type: ignore[arg-type]
        count += 1
        if count == 1:
            act()

    return both


def deaf_to(bench: Bench, *keys: str) -> None:
    """The agent does not hear those keys."""
    real = bench.agent.key
    deaf = set(keys)

    def hear(name: str) -> None:
        if name not in deaf:
            real(name)

    bench.host.agent = _Deaf(bench, hear)  # type: ignore[assignment]


class _Deaf:
    """The agent, with one key that does nothing."""

    def __init__(self, bench: Bench, hear: Callable[[str], None]) -> None:
        self._agent = bench.agent
        self.key = hear

    def __getattr__(self, name: str) -> object:
        return getattr(self._agent, name)


def test_enter_is_pressed_at_most_twice_and_our_text_taken_back() -> None:
    """To leave it there would look like a person's half-typed line."""
    bench = Bench()
    deaf_to(bench, "Enter")

    assert bench.perform(SEND) == outcome("failed", "the text stayed in the box after Enter")
    assert bench.sent == ["'continue'", "Enter", "Enter", "C-u"]
    assert bench.draft == ""


@pytest.mark.parametrize(("text", "action"), [("/save ckpt-1", SAVE), ("/load ckpt-1", LOAD)])
def test_a_note_is_confirmed_on_the_screen(text: str, action: Action) -> None:
    """Typed, entered, and the agent's own word seen below it."""
    bench = Bench(LONG)
    if action is LOAD:
        bench.agent.notes["ckpt-1"] = '{"progress": 0}'

    result = bench.perform(action)

    assert result.ending is Ending.DONE
    assert "seen on the screen" in result.why
    assert bench.sent == [f"{text!r}", "Enter"]
    assert "ckpt-1" in bench.agent.notes


def test_a_note_that_is_not_there_is_not_loaded() -> None:
    """The agent says so; nobody takes it for a confirmation."""
    bench = Bench(LONG)

    result = bench.perform(LOAD)

    assert result == outcome("failed", "not loaded: no confirmation was seen")


@pytest.mark.parametrize(
    ("code", "ending"), [("529", "skipped"), ("429", "skipped"), ("400", "failed")]
)
def test_a_load_that_an_outage_fails_is_no_failed_try(code: str, ending: str) -> None:
    """It is done again when the outage is over; what does not pass counts."""
    bench = Bench(LONG)
    assert bench.agent.running is not None
    bench.agent.running.outage = (bench.runtime.utc + 600.0, code)

    assert bench.perform(LOAD).ending.value == ending
    assert bench.status == "failed"


def test_a_save_refused_at_a_limit_fails() -> None:
    """Nothing is saved, and nothing is waited for longer than needed."""
    bench = Bench((Limit(seconds=600.0), *LONG))
    bench.say("go")

    result = bench.perform(SAVE)

    assert result == outcome("failed", "not saved: no confirmation was seen")
    assert bench.agent.notes == {}


# -- in doubt -------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", TYPED.values(), ids=TYPED)
def test_what_was_not_begun_may_be_decided_again(action: Action) -> None:
    """Without the mark nothing was typed."""
    bench = Bench()

    result = bench.settle(action, touched=False)

    assert (result.ending, bench.sent) == (Ending.SKIPPED, [])


@pytest.mark.parametrize(("text", "action"), TYPED.items(), ids=TYPED)
def test_text_in_doubt_that_stands_in_the_box_only_needs_enter(text: str, action: Action) -> None:
    """It is not typed a second time."""
    bench = Bench(LONG)
    bench.agent.notes["ckpt-1"] = '{"progress": 0}'
    bench.agent.paste(text)

    result = bench.settle(action)

    assert result.ending in (Ending.DONE, Ending.SKIPPED)
    assert bench.sent == ["Enter"]
    assert bench.draft == ""


def test_a_message_in_doubt_is_taken_as_sent() -> None:
    """Another `continue` comes soon enough; two at once would queue."""
    bench = Bench()

    assert bench.settle(SEND) == outcome("done", "in doubt; taken as sent")
    assert bench.sent == []


def test_what_a_dead_run_had_in_its_box_was_not_told() -> None:
    """It must come, and the next run has to hear it."""
    bench = Bench()
    bench.agent.paste("You are back: run #1.")
    bench.agent.end(9)
    told = Send(run=1, text="You are back: run #1.", about="open-call0.1.0")

    assert bench.settle(told) == outcome("skipped", "in doubt; the run is over")


def test_a_save_in_doubt_that_is_confirmed_was_done() -> None:
    """The screen says so."""
    bench = Bench(LONG)
    bench.say("/save ckpt-1")
    bench.wait(2.0)

    assert bench.settle(SAVE) == outcome("done", "in doubt; the confirmation is on the screen")


def test_a_save_in_doubt_that_is_not_confirmed_is_done_again() -> None:
    """Saving twice costs nothing."""
    assert Bench(LONG).settle(SAVE).ending is Ending.SKIPPED


@pytest.mark.parametrize("action", TYPED.values(), ids=TYPED)
def test_a_persons_line_in_the_box_is_not_entered(action: Action) -> None:
    """It is not our text."""
    bench = Bench(LONG)
    bench.agent.paste("please als")

    bench.settle(action)

    assert (bench.sent, bench.draft) == ([], "please als")


@pytest.mark.parametrize("action", TYPED.values(), ids=TYPED)
def test_text_in_doubt_for_a_run_that_is_over_is_history(action: Action) -> None:
    """There is nothing to look at."""
    bench = Bench()
    bench.hands.place = None

    assert bench.settle(action) == outcome("failed", "in doubt; the run is over")


def test_a_terminal_that_grows_slow_after_the_text_is_in_doubt_not_skipped() -> None:
    """`skipped` would say that nothing was sent, and the message would go out again."""
    bench = Bench()
    note = bench.host.on_type

    def slow_from_now(strokes: tuple[Keystroke, ...]) -> None:
        note(strokes)
        bench.host.slow_looks = 2.0

    bench.host.on_type = slow_from_now
    result = bench.perform(Send(run=1, text="go on", about="idle0.0.0"))

    assert bench.sent
    assert result.ending is Ending.FAILED


def test_an_agent_without_such_a_command_gets_no_key() -> None:
    """An empty text is in every empty box; Enter must not follow it."""
    bench = Bench()

    result = bench.perform(Send(run=1, text="", about="idle0.0.0"))

    assert (result.ending, bench.sent) == (Ending.FAILED, [])


class Menus:
    """An adapter whose CLI shows the menu of its commands late, or never."""

    def __init__(self, bench: Bench, reasons: dict[float, str]) -> None:
        self._bench, self._reasons, self._since = bench, reasons, float("-inf")
        self._known = bench.hands.adapter

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._known, name)

    def read(self, seen: ScreenSeen) -> Reading:
        """What that screen shows, and what its menu is like by then."""
        reading, now = self._known.read(seen), self._bench.runtime.monotonic
        if not reading.draft:
            self._since = now
            return reading
        passed = [reason for at, reason in self._reasons.items() if now - self._since >= at]
        return replace(reading, reason=passed[-1])


@pytest.mark.parametrize(
    ("reasons", "ending", "waited"),
    [
        ({0.0: "menu_not_seen", 0.6: "menu_differs", 1.2: "at_prompt"}, Ending.DONE, 1.2),
        ({0.0: "menu_not_seen"}, Ending.DONE, SHOWS),  # it knows no such command
        ({0.0: "menu_not_seen", 0.6: "menu_differs"}, Ending.FAILED, SHOWS),
    ],
)
def test_a_command_waits_for_its_menu(
    reasons: dict[float, str], ending: Ending, waited: float
) -> None:
    """Enter runs the entry of a menu that is not drawn yet: `/clear` where `/quit` is typed."""
    bench = Bench(LONG)
    bench.hands.adapter = cast("Adapter", Menus(bench, reasons))
    entered: list[float] = []
    began = bench.runtime.monotonic
    note = bench.host.on_type

    def noting(strokes: tuple[Keystroke, ...]) -> None:
        if Key(name="Enter") in strokes:
            entered.append(bench.runtime.monotonic - began)
        note(strokes)

    bench.host.on_type = noting

    assert bench.perform(replace(SEND, text="/quit")).ending is ending
    assert all(at >= waited for at in entered)
    assert bool(entered) is (ending is Ending.DONE)
