"""Questions: judged, then answered, each once; by the hook that waits with one, or by keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.core.actions import Answer, Escalate, Judge, Mode, Notify, Send
from koboshi.core.engine import Decision
from koboshi.core.events import (
    Ending,
    HookOver,
    HookRead,
    Order,
    OrderGiven,
    Stance,
    SupervisorStarted,
    Ticked,
)
from koboshi.core.gate import Word
from koboshi.core.readings import Meaning, Prompt, PromptKind, Status
from koboshi.core.settings import Settings
from koboshi.rules.questions import HOOK_WAIT
from tests.core.worlds import Driver, admitted, asking, blank, permission, reading, words

AUTO = Settings(mode=Mode.AUTO)
HOOK = HookRead(
    word="PermissionRequest", status=Status.ASKING, session="s1", prompt=permission(), ticket="t1"
)
RAN = HookRead(word="PostToolUse", status=Status.WORKING, session="s1", prompt=permission())
PAST = (
    HookRead(word="Stop", status=Status.IDLE, session="s1"),
    HookRead(word="UserPromptSubmit", status=Status.WORKING, session="s1"),
)


def running(settings: Settings = AUTO) -> Driver:
    """A run that works."""
    driver = Driver(blank(settings))
    driver.start()
    driver.see(reading(Status.WORKING))
    return driver


def asked(settings: Settings = AUTO, stance: Stance = Stance.ALLOW) -> tuple[Driver, Answer]:
    """A question on the screen, judged, and the answer that was decided."""
    driver = running(settings)
    driver.see(asking())
    driver.see_same()
    [answer] = answers(driver.judge(stance, "why"))
    return driver, answer


def answers(decisions: tuple[Decision, ...] | list[Decision]) -> list[Answer]:
    """The answers that go to a performer."""
    return [action for action in admitted(decisions) if isinstance(action, Answer)]


def escalations(driver: Driver) -> list[Escalate]:
    """What people were told."""
    return [action for action in admitted(driver.decided) if isinstance(action, Escalate)]


def test_a_thousand_looks_at_one_dialog_give_one_answer() -> None:
    """However often it is looked at, before and after the key."""
    driver, answer = asked()
    for _ in range(500):
        driver.see_same(after=0.2)
    driver.finish(answer, Ending.FAILED, "the question is still there after the key")
    for _ in range(500):
        driver.see_same(after=0.2)

    assert answers(driver.decided) == [answer]
    assert len([a for a in admitted(driver.decided) if isinstance(a, Judge)]) == 1
    assert len(escalations(driver)) == 1


def test_the_same_words_after_an_answer_are_another_question() -> None:
    """Judged anew, and answered anew."""
    driver, first = asked()
    driver.finish(first)
    driver.see(asking(), after=AUTO.answer_cooldown)
    driver.see_same()
    [second] = answers(driver.judge(Stance.ALLOW))

    assert (first.key, second.key) == ("1.question1", "1.question2")


def test_an_answer_by_keys_waits_for_the_cooldown() -> None:
    """What shows in the first seconds may be the old frame."""
    driver, first = asked()
    driver.finish(first)
    driver.see(asking())
    driver.see_same()

    assert words(driver.judge(Stance.ALLOW)) == [("1.question2", Word.COOLING)]


def test_a_mode_that_does_not_answer_says_what_it_would_have() -> None:
    """And a person is told."""
    driver = running(Settings(mode=Mode.KEEP))
    driver.see(asking())
    driver.see_same()
    decided = driver.judge(Stance.ALLOW)

    assert ("1.question1", Word.WOULD) in words(decided)
    assert len(escalations(driver)) == 1


def test_what_a_hook_waits_with_is_judged_and_answered_at_once() -> None:
    """No look is needed; the answer names the hook."""
    driver = running()
    judging = driver.tell(HOOK)
    [answer] = answers(driver.judge(Stance.ALLOW))

    assert words(judging) == [("1.question1.hook.judge", Word.ADMITTED)]
    assert (answer.ticket, answer.choice) == ("t1", Meaning.ONCE)


@pytest.mark.parametrize("late", [RAN, *PAST], ids=lambda late: late.word)
def test_a_hook_that_was_overtaken_ends_no_question(late: HookRead) -> None:
    """They run in the background: what comes right after the question was before it."""
    driver = running()
    driver.tell(HOOK)
    driver.tell(late, after=0.1)

    assert [question.ticket for question in driver.view.held] == ["t1"]


def test_a_dialog_that_opens_after_its_hook_is_the_same_question() -> None:
    """Codex draws it then: a person is told once, and what they said to the hook counts for it."""
    driver = running()
    driver.tell(HOOK)
    driver.judge(Stance.ASK)
    driver.tell(OrderGiven(order=Order.ANSWER, question="1.1", text="always"))
    [said] = answers(driver.decided)
    driver.finish(said, Ending.SKIPPED, "that cannot be said through the hook")
    driver.see(reading(Status.WORKING))
    driver.see(asking())
    driver.see_same(after=HOOK_WAIT)
    [_, pressed] = answers(driver.decided)

    assert (pressed.nth, pressed.ticket, pressed.choice) == (1, "", Meaning.ALWAYS)
    assert len(escalations(driver)) == 1


def hooked() -> Driver:
    """A run whose hooks tell, before a dialog that its hook has not told of yet."""
    driver = running()
    driver.tell(HookRead(word="PreToolUse", status=Status.WORKING, session="s1"))
    driver.see(asking(), after=0.1)
    driver.see_same(after=0.1)
    return driver


def test_a_hook_that_comes_after_its_dialog_is_the_same_question() -> None:
    """Its number was told, and what a person said to it goes through the hook, once."""
    driver = hooked()
    driver.tell(OrderGiven(order=Order.ANSWER, question="1.1", text="no: too slow"))
    assert answers(driver.decided) == []
    driver.tell(HOOK)
    [said] = answers(driver.decided)
    driver.finish(said)
    driver.see(reading(Status.WORKING))

    assert (said.nth, said.ticket, said.choice) == (1, "t1", Meaning.NO)
    assert said.reason == "too slow"
    assert (driver.view.question, driver.view.held) == (None, ())
    assert answers(driver.decided) == [said]


@pytest.mark.parametrize(
    ("prompt", "nth"),
    [
        (permission("npm  test"), 1),
        (permission("/npm test"), 2),
        (permission("npm publish"), 2),
        (permission(""), 2),
        (Prompt(kind=PromptKind.PLAN, question="Carry out?", subject="npm test"), 2),
    ],
    ids=["wrapped", "longer", "other", "none", "kind"],
)
def test_what_was_said_to_a_dialog_is_not_said_to_another_hook(prompt: Prompt, nth: int) -> None:
    """It has a number of its own."""
    driver = hooked()
    driver.tell(OrderGiven(order=Order.ANSWER, question="1.1", text="yes"))
    driver.tell(replace(HOOK, prompt=prompt))
    [held] = driver.view.held

    assert (held.nth, held.order) == (nth, "yes" if nth == 1 else "")


def test_a_hook_that_comes_while_a_key_is_pressed_is_answered_for_itself() -> None:
    """It may be the next call with the same words: what was said is used up by the key."""
    driver, pressed = asked()
    driver.tell(HOOK)
    driver.judge(Stance.ALLOW)
    assert answers(driver.decided) == [pressed]  # one answer to one number
    driver.finish(pressed)
    [_, second] = answers(driver.decided)

    assert (second.key, second.ticket) == ("1.question2", "t1")


@pytest.mark.parametrize(
    ("after", "subject"), [(11.0, "npm test"), (0.1, "npm publish")], ids=["late", "other"]
)
def test_another_dialog_after_a_hook_is_another_question(after: float, subject: str) -> None:
    """What was said to the hook says nothing about it."""
    driver = running()
    driver.tell(HOOK)
    driver.tell(OrderGiven(order=Order.ANSWER, question="1.1", text="yes"))
    driver.tell(HookOver(ticket="t1", why="it broke"))
    driver.see(asking(subject), after=after)

    assert driver.view.question is not None
    assert (driver.view.question.nth, driver.view.question.order) == (2, "")


@pytest.mark.parametrize("drawn", [True, False], ids=["with-its-hook", "after-it"])
@pytest.mark.parametrize(
    "end", [HookOver(ticket="t1", why="a minute"), SupervisorStarted()], ids=["over", "restart"]
)
def test_what_was_not_allowed_to_the_hook_is_not_allowed_to_the_dialog(
    end: HookOver | SupervisorStarted,
    drawn: bool,  # noqa: FBT001
) -> None:
    """A hook tells more than a screen, such as the folder: the dialog is not judged anew."""
    driver = running()
    driver.tell(HOOK)
    if drawn:
        driver.see(asking())
    driver.judge(Stance.ASK, "outside of the worktree")
    driver.tell(end)
    driver.see(asking())
    driver.see_same(after=HOOK_WAIT + 1.0)
    question = driver.view.question

    assert question is not None
    assert question.advice is not None
    assert (question.nth, question.advice.stance) == (1, Stance.ASK)
    assert len([a for a in admitted(driver.decided) if isinstance(a, Judge)]) == 1
    assert answers(driver.decided) == []
    assert len(escalations(driver)) == 1


def test_a_second_hook_needs_no_cooldown() -> None:
    """An answer through a hook goes to one question and no other."""
    driver = running()
    driver.tell(HOOK)
    [first] = answers(driver.judge(Stance.ALLOW))
    driver.finish(first)
    driver.tell(replace(HOOK, ticket="t2"), after=0.1)

    [second] = answers(driver.judge(Stance.ALLOW))

    assert (second.key, second.ticket) == ("1.question2", "t2")


def test_no_key_while_a_hook_waits() -> None:
    """The dialog is drawn while the hook decides: the screen holds still."""
    driver = running()
    driver.tell(HOOK)
    driver.judge(Stance.ASK)
    driver.see(asking())
    for _ in range(10):
        driver.see_same()

    assert answers(driver.decided) == []
    assert [told.about for told in escalations(driver)] == ["1.question1"]


def test_a_dialog_waits_for_the_hook_of_an_agent_that_has_hooks() -> None:
    """A key would come before its answer; but not for ever."""
    driver = running()
    driver.tell(HookRead(word="PreToolUse", status=Status.WORKING, session="s1"))
    driver.see(asking(), after=0.1)
    early = driver.see_same(after=0.5)
    late = driver.see_same(after=HOOK_WAIT)

    assert admitted(early) == []
    assert [action.kind for action in admitted(late)] == ["judge"]


def test_a_hook_that_waits_no_longer_leaves_its_dialog() -> None:
    """The same question: told once, and under its number."""
    driver = running()
    driver.tell(HOOK)
    driver.judge(Stance.ASK)
    driver.see(asking())
    decided = driver.tell(HookOver(ticket="t1", why="too late"), after=5.0)

    assert words(decided) == []
    assert driver.view.question is not None
    assert (driver.view.question.nth, driver.view.held) == (1, ())
    assert len(escalations(driver)) == 1


def test_a_hook_that_took_no_answer_leaves_it_to_the_keys() -> None:
    """Nothing was pressed, so it may be decided again."""
    driver = running()
    driver.tell(HOOK)
    [answer] = answers(driver.judge(Stance.ALLOW))
    driver.finish(answer, Ending.SKIPPED, "the hook did not take the answer")
    driver.see(asking())
    driver.see_same(after=HOOK_WAIT)
    [keys] = answers(driver.judge(Stance.ALLOW))

    assert (keys.ticket, driver.view.held) == ("", ())


@pytest.mark.parametrize(
    "fact",
    [
        RAN,
        *PAST,
        SupervisorStarted(),
    ],
    ids=lambda fact: getattr(fact, "word", "supervisor"),
)
def test_what_ends_the_wait_of_a_hook(fact: HookRead | SupervisorStarted) -> None:
    """A person answered, the turn is over, or whoever held the line is dead."""
    driver = running()
    driver.tell(HOOK)
    driver.tell(fact, after=2.5)

    assert driver.view.held == ()


def test_what_another_call_did_ends_nothing() -> None:
    """Two calls may be open at once."""
    driver = running()
    driver.tell(HOOK)
    driver.tell(replace(RAN, prompt=permission("git status")))
    driver.tell(replace(HOOK, ticket="t2", session="other"))

    assert [question.ticket for question in driver.view.held] == ["t1"]


def test_a_refusal_by_keys_is_followed_by_its_reason() -> None:
    """Once, at the prompt; through a hook the model reads it at once."""
    driver, no = asked(stance=Stance.DENY)
    assert no.choice is Meaning.NO
    driver.finish(no)
    driver.see(reading(Status.IDLE))
    [told] = [a for a in admitted(driver.decided) if isinstance(a, Send)]
    driver.finish(told)
    driver.see(reading(Status.WORKING), after=60.0)
    driver.see(reading(Status.IDLE), after=60.0)

    assert "why" in told.text
    assert [a for a in admitted(driver.decided) if isinstance(a, Send)] == [told]


def refused_again(driver: Driver) -> list[Send]:
    """It asks, is told no by keys, and soon stands at its prompt; what it was told so far."""
    driver.see(reading(Status.WORKING))
    driver.see(asking())
    driver.see(asking())
    driver.finish(answers(driver.judge(Stance.DENY, "why"))[-1])
    driver.see(replace(reading(Status.IDLE), reason="interrupted"), after=5.0)
    told = [a for a in admitted(driver.decided) if isinstance(a, Send)]
    driver.finish(told[-1])
    return told


def test_each_refusal_is_told_at_once() -> None:
    """The next one waits for no pause between messages: the agent stands there and does nothing."""
    driver, no = asked(stance=Stance.DENY)
    driver.finish(no)
    driver.see(reading(Status.IDLE), after=5.0)
    driver.finish(next(a for a in admitted(driver.decided) if isinstance(a, Send)))

    assert [len(refused_again(driver)) for _ in range(3)] == [2, 3, 4]


def test_what_koboshi_refused_was_not_broken_off_by_a_person() -> None:
    """A refusal by keys ends the turn, and the screen says that it was interrupted."""
    driver, no = asked(stance=Stance.DENY)
    driver.finish(no)
    driver.see(replace(reading(Status.IDLE), reason="interrupted"), after=5.0)

    assert not [a for a in admitted(driver.decided) if isinstance(a, Notify)]


def test_refusals_in_a_row_are_counted_until_something_is_allowed() -> None:
    """An agent that only asks for what is forbidden is a person's."""
    driver = running(replace(AUTO, denies_max=2))
    for nth in range(3):
        driver.tell(replace(HOOK, ticket=f"t{nth}"))
        for no in answers(driver.judge(Stance.DENY)):
            driver.finish(no)

    assert driver.view.tally.denied == 2
    assert [told.about for told in escalations(driver)] == ["1.question3"]

    driver.tell(OrderGiven(order=Order.ACKNOWLEDGE, by="person"))
    driver.tell(Ticked())
    assert len(answers(driver.decided)) == 3


def ordered(text: str, question: str = "1.1") -> OrderGiven:
    """A person's answer."""
    return OrderGiven(order=Order.ANSWER, by="person", text=text, question=question)


def test_a_persons_no_by_keys_is_followed_by_their_words_each_time() -> None:
    """A second one is not taken for the first; and it is no refusal of the policy's."""
    driver = running(Settings(mode=Mode.KEEP))
    for nth in (1, 2):
        driver.see(reading(Status.WORKING), after=60.0)
        driver.see(asking())
        driver.see(asking())
        driver.tell(ordered(f"no: reason {nth}", f"1.{nth}"))
        driver.finish(answers(driver.decided)[-1])
        driver.see(reading(Status.IDLE))
        told = [a for a in admitted(driver.decided) if isinstance(a, Send)]
        driver.finish(told[-1])

    assert [f"reason {nth}" in each.text for nth, each in enumerate(told, 1)] == [True, True]
    assert driver.view.tally.denied == 0


def test_a_persons_answer_passes_the_mode() -> None:
    """They said so."""
    driver = running(Settings(mode=Mode.OBSERVE))
    driver.see(asking())
    driver.see_same()
    driver.judge(Stance.ASK)
    [answer] = answers(driver.tell(ordered("always")))

    assert (answer.key, answer.choice) == ("1.question1.order1", Meaning.ALWAYS)


def test_the_first_answer_wins() -> None:
    """And an answer to another question answers nothing."""
    driver = running(Settings(mode=Mode.KEEP))
    driver.see(asking())
    driver.see_same()
    driver.judge(Stance.ASK)
    other = answers(driver.tell(ordered("yes", "1.2")))
    [first] = answers(driver.tell(ordered("yes")))
    late = answers(driver.tell(ordered("no")))

    assert (other, first.choice, late) == ([], Meaning.ONCE, [])


def test_an_answer_that_failed_can_be_given_again() -> None:
    """The person sees that the question is still there, and knows why."""
    driver = running(Settings(mode=Mode.KEEP))
    driver.see(asking())
    driver.see_same()
    driver.judge(Stance.ASK)
    [first] = answers(driver.tell(ordered("yes")))
    driver.finish(first, Ending.FAILED, "still there")
    driver.see_same()
    [second] = answers(driver.tell(ordered("no")))

    assert (second.key, second.choice) == ("1.question1.order2", Meaning.NO)


def test_an_answer_that_was_not_tried_is_tried_again() -> None:
    """Whoever looked at the terminal, left it and answered has typed there a moment ago."""
    driver = running(Settings(mode=Mode.KEEP))
    driver.see(asking())
    driver.see_same()
    driver.judge(Stance.ASK)
    driver.tell(ordered("yes"))
    [first] = answers(driver.decided)
    driver.finish(first, Ending.SKIPPED, "a person is typing there")
    driver.see_same(after=60.0)

    assert answers(driver.decided) == [first, first]
    driver.finish(first)
    assert driver.view.question is None


def test_a_persons_answer_goes_through_the_hook_that_waits() -> None:
    """No key where none is needed."""
    driver = running()
    driver.tell(HOOK)
    driver.judge(Stance.ASK)
    [answer] = answers(driver.tell(ordered("yes")))

    assert (answer.ticket, answer.order) == ("t1", 1)


def test_nobody_answers_and_the_time_is_over() -> None:
    """The safe default is a no, where the owner wants it."""
    driver = running(replace(AUTO, ask_for=30.0, ask_then="deny"))
    driver.see(asking())
    driver.see_same()
    driver.judge(Stance.ASK)
    before = answers(driver.tell(Ticked(), after=20.0))
    [no] = answers(driver.tell(Ticked(), after=20.0))

    assert (before, no.choice) == ([], Meaning.NO)


def test_a_mark_that_blinks_above_a_dialog_makes_no_other_question() -> None:
    """A call that runs has one; told once, however often it is looked at."""
    driver = running(Settings(mode=Mode.KEEP))
    driver.see(asking(lines=("> go", "● lab - note (MCP)")))
    driver.see_same()
    driver.judge(Stance.ASK)
    for _ in range(5):
        driver.see(asking(lines=("> go", "  lab - note (MCP)")))
        driver.see(asking(lines=("> go", "● lab - note (MCP)")))

    assert driver.view.question is not None
    assert driver.view.question.nth == 1
    assert len(escalations(driver)) == 1


PLANNED = permission(kind=PromptKind.PLAN, options=(), dismiss="Escape")


def shown(driver: Driver, prompt: Prompt, *waits: float) -> None:
    """That dialog, looked at after each of these seconds."""
    for wait in waits:
        driver.see(replace(asking(), prompt=prompt), after=wait)


def test_what_no_option_refuses_is_refused_by_its_key() -> None:
    """By policy, and the reason follows; a question that nobody answers in time, too."""
    driver = running()
    shown(driver, PLANNED, 1.0, 1.0)
    [no] = answers(driver.judge(Stance.DENY, "why"))
    late = running(replace(AUTO, ask_for=60.0, ask_then="deny"))
    shown(late, replace(PLANNED, kind=PromptKind.QUESTION), 1.0, 1.0)
    late.judge(Stance.ASK)
    late.see_same(after=61.0)

    assert no.choice is Meaning.NO
    assert [each.choice for each in answers(late.decided)] == [Meaning.NO]


def test_a_plan_that_nothing_refuses_is_a_persons() -> None:
    """Without an option and without a key for it."""
    driver = running()
    shown(driver, replace(PLANNED, dismiss=""), 1.0, 1.0)

    assert answers(driver.judge(Stance.DENY)) == []
    assert len(escalations(driver)) == 1


@pytest.mark.parametrize(
    ("kind", "stood", "told"),
    [
        (PromptKind.PICKER, HOOK_WAIT - 0.5, 0),
        (PromptKind.PICKER, HOOK_WAIT + 0.5, 1),
        (PromptKind.PERMISSION, 0.5, 0),
        (PromptKind.PERMISSION, 1.5, 1),
    ],
)
def test_nobody_is_called_for_what_is_gone_in_a_moment(
    kind: PromptKind, stood: float, told: int
) -> None:
    """While one dialog is drawn over another, there is a menu that nobody opened."""
    driver = running()
    shown(driver, permission(kind=kind), 1.0, stood)
    if kind is PromptKind.PERMISSION:
        driver.judge(Stance.ASK)
    driver.see(reading(Status.WORKING), after=0.1)

    assert len(escalations(driver)) == told


def test_a_person_is_told_how_a_question_can_be_answered() -> None:
    """A yes would say nothing to one that has choices of its own."""
    driver = running()
    shown(driver, permission(kind=PromptKind.QUESTION), 1.0, 1.0)
    driver.judge(Stance.ASK)

    assert escalations(driver)[0].text.endswith('; koboshi answer a1:1.1 "TEXT"|no')


def same_again(settings: Settings, *, after: float) -> Driver:
    """A dialog stands there, unchanged to the eye, when a hook tells that its command ran."""
    driver = running(settings)
    driver.see(asking(lines=("● npm test", "● npm test")))
    driver.see_same()
    driver.judge(Stance.ASK)
    driver.tell(replace(RAN, age=0.0), after=after)
    driver.see_same(after=0.1)
    driver.see_same(after=HOOK_WAIT)
    if driver.view.question is not None and driver.view.question.advice is None:
        driver.judge(Stance.ASK)
    return driver


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.KEEP])
def test_a_dialog_whose_command_has_run_is_another_one(mode: Mode) -> None:
    """On a screen full of the same calls only the hook tells that somebody answered the first."""
    driver = same_again(Settings(mode=mode), after=3.0)

    assert [told.about for told in escalations(driver)] == ["1.question1", "1.question2"]


def test_a_hook_that_comes_late_makes_no_new_question() -> None:
    """It is about the one before; and where koboshi answers, its own answer tells them apart."""
    late = same_again(Settings(mode=Mode.KEEP), after=0.5)
    auto = same_again(AUTO, after=3.0)
    other = running(Settings(mode=Mode.KEEP))
    other.see(asking())
    other.tell(replace(RAN, prompt=permission("git status")), after=5.0)

    numbers = [driver.view.question and driver.view.question.nth for driver in (late, auto, other)]
    assert numbers == [1, 1, 1]
