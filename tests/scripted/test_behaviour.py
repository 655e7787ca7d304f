"""The scripted agent behaves as the real CLIs were seen to behave."""

from __future__ import annotations

import pytest

from koboshi.scripted.behaviour import (
    Act,
    Ask,
    Behaviour,
    Compact,
    Crash,
    Done,
    EndTurn,
    Exit,
    Fail,
    Hang,
    Limit,
    Print,
    Reload,
    Retry,
    Work,
)
from koboshi.scripted.drawing import width

UTC = 1_763_200_000.0


class Desk:
    """A behaviour, its clock and a keyboard."""

    def __init__(self, *script: Act, notes: dict[str, str] | None = None, **more: object) -> None:
        self.now = 0.0
        self.notes = {} if notes is None else notes
        wanted: dict[str, object] = {
            "session": "s1",
            "resumed": False,
            "cols": 80,
            "rows": 24,
            **more,
        }
        self.agent = Behaviour(script, now=0.0, utc=UTC, notes=self.notes, **wanted)  # type: ignore[arg-type]
        self.wait(1)

    def wait(self, seconds: float) -> Desk:
        """Let time pass."""
        self.now += seconds
        self.agent.advance(self.now, UTC + self.now)
        return self

    def type(self, text: str) -> Desk:
        """Type text."""
        self.agent.type(text, self.now, UTC + self.now)
        return self

    def key(self, *names: str) -> Desk:
        """Press keys."""
        for name in names:
            self.agent.key(name, self.now, UTC + self.now)
        return self

    def send(self, text: str) -> Desk:
        """Type text and submit it."""
        return self.type(text).key("Enter")

    def events(self) -> list[str]:
        """The names of the hooks fired since the last call."""
        fired = [hook["hook_event_name"] for hook in self.agent.hooks]
        self.agent.hooks.clear()
        return fired


# --- the box -------------------------------------------------------------------------------------


def test_enter_on_an_empty_box_does_nothing() -> None:
    """A second Enter is harmless."""
    desk = Desk(Work(seconds=5))
    before = desk.agent.screen()

    desk.key("Enter")

    assert ("idle", before) == (desk.agent.status, desk.agent.screen())


def test_leftover_text_is_glued_to_the_next_message() -> None:
    """The box keeps a draft."""
    desk = Desk(Work(seconds=5)).type("left").type("over")

    assert desk.agent.draft == "leftover"
    assert "❯ leftover" in desk.agent.screen()
    desk.key("C-u")
    assert desk.agent.draft == ""


def test_a_paste_with_newlines_stays_in_the_box() -> None:
    """Only Enter submits."""
    desk = Desk(Work(seconds=5))

    desk.agent.paste("one\ntwo\n", desk.now, UTC)

    assert (desk.agent.status, desk.agent.draft) == ("idle", "one\ntwo\n")


def test_what_a_person_typed_before_a_long_paste_stays_in_sight() -> None:
    """Whoever looks must see that it is not the paste alone."""
    desk = Desk(Work(seconds=5)).type("git sta")
    desk.agent.paste("line\n" * 9, desk.now, UTC)

    assert "❯ git sta[Pasted text #1 +9 lines]" in desk.agent.screen()

    desk.key("C-u")
    desk.agent.paste("line\n" * 9, desk.now, UTC)
    assert "❯ [Pasted text #1 +9 lines]" in desk.agent.screen()


def test_enter_before_the_first_paint_is_a_newline() -> None:
    """Typed too early, a message is in the box and not sent."""
    desk = Desk(Work(seconds=5), start_seconds=5)

    desk.send("early bird")

    assert (
        desk.agent.status,
        desk.agent.draft,
        desk.agent.screen(),
    ) == ("starting", "early bird\n", "")


def test_text_sent_while_busy_is_queued_and_runs_as_the_next_turn() -> None:
    """The turn that runs is not disturbed."""
    desk = Desk(Work(seconds=5), EndTurn(), Work(seconds=5)).send("first").wait(1).send("second")

    assert list(desk.agent.queued) == ["second"]
    assert "1 queued" in desk.agent.screen()
    desk.wait(5)
    assert (desk.agent.status, desk.agent.progress) == ("working", 2)
    assert "> second" in desk.agent.screen()


def test_escape_before_the_first_token_puts_the_message_back() -> None:
    """The next message would be glued to it."""
    desk = Desk(Work(seconds=5)).send("go on").wait(0.2).key("Escape")

    assert (desk.agent.status, desk.agent.draft) == ("idle", "go on")
    assert "> go on" not in desk.agent.screen()


def test_an_unsent_message_leaves_what_was_before() -> None:
    """The error or the limit is still the last thing on the screen."""
    failed = Desk(Fail(), Work(seconds=5)).send("go").send("go").wait(0.2).key("Escape")
    limited = Desk(Limit(seconds=9), Work(seconds=5)).send("go").wait(20).send("go").key("Escape")

    assert (failed.agent.status, failed.agent.draft) == ("failed", "go")
    assert (limited.agent.status, limited.agent.limited_until) == ("limited", UTC + 10)


def test_after_the_first_words_nothing_is_unsent() -> None:
    """However quick the Escape."""
    desk = Desk(Work(seconds=0.1, say="x"), Work(seconds=5)).send("go").wait(0.3).key("Escape")

    assert (desk.agent.status, desk.agent.draft) == ("idle", "")
    assert "Interrupted" in desk.agent.screen()


def test_escape_later_interrupts_and_work_goes_on_where_it_was() -> None:
    """No Stop hook fires on an interrupt."""
    desk = Desk(Work(seconds=5), Done()).send("go on").wait(3)
    desk.events()
    desk.key("Escape")

    assert (
        desk.agent.status,
        desk.agent.draft,
        desk.agent.progress,
        desk.events(),
    ) == ("idle", "", 0, [])
    assert desk.send("again").wait(6).agent.done


def test_unknown_commands_are_named() -> None:
    """And nothing else happens."""
    desk = Desk(Work(seconds=5)).send("/nope now")

    assert "● Unknown command: /nope" in desk.agent.screen()
    assert desk.agent.status == "idle"


# --- dialogs -------------------------------------------------------------------------------------


def test_text_typed_into_a_dialog_is_an_approval() -> None:
    """Letters are ignored, Enter takes the highlighted Yes: the trap of all four real CLIs."""
    desk = Desk(Ask(command="rm x"), Done()).send("go").send("no")

    assert desk.agent.answers == [(1, "once")]
    assert desk.agent.draft == ""
    assert desk.agent.done


@pytest.mark.parametrize(
    ("keys", "meaning"),
    [
        (("1",), "once"),
        (("2",), "always"),
        (("3",), "no"),
        (("Down", "Enter"), "always"),
        (("Up", "Enter"), "no"),
        (("Escape",), "no"),
    ],
)
def test_keys_choose_in_a_dialog(keys: tuple[str, ...], meaning: str) -> None:
    """A digit picks at once, arrows move and wrap around, Escape refuses."""
    desk = Desk(Ask(command="rm x"), Done()).send("go").key(*keys)

    assert [(1, meaning)] == desk.agent.answers
    said = "rm commands are not asked about again" in desk.agent.screen()
    assert said is (meaning == "always")


def test_a_digit_in_a_longer_chunk_or_a_paste_picks_nothing() -> None:
    """As it was seen."""
    desk = Desk(Ask(command="rm x")).send("go").type("2 please")
    desk.agent.paste("2", desk.now, UTC)

    assert (desk.agent.answers, desk.agent.status) == ([], "asking")


def test_two_dialogs_with_the_same_words_follow_each_other() -> None:
    """Only the number tells them apart."""
    desk = Desk(Ask(command="rm x"), Ask(command="rm x"), EndTurn()).send("go")
    first = desk.agent.dialog
    desk.key("1")
    second = desk.agent.dialog

    assert first is not None
    assert second is not None
    assert (first.number, second.number) == (1, 2)
    assert first.rows(80, 24) == second.rows(80, 24)
    desk.key("1", "1")
    assert desk.agent.answers == [(1, "once"), (2, "once")]
    assert desk.agent.draft == "1"


def test_no_ends_the_turn_and_escape_leaves_the_question_open() -> None:
    """After Escape the same words are asked again, under a new number."""
    refused = Desk(Ask(command="rm x"), Done()).send("go").key("3")
    escaped = Desk(Ask(command="rm x"), Done()).send("go").key("Escape")

    assert (refused.agent.status, refused.agent.progress) == ("idle", 1)
    assert (escaped.agent.status, escaped.agent.progress) == ("idle", 0)
    assert escaped.send("go").agent.prompt_number == 2


def test_a_spare_digit_after_the_dialog_lands_in_the_box() -> None:
    """And would be glued to the next message."""
    assert Desk(Ask(command="x"), EndTurn()).send("go").key("1", "1").agent.draft == "1"


def test_hooks_name_the_tool_call() -> None:
    """Asked, allowed, done: one use id."""
    desk = Desk(Ask(command="rm x"), Done()).send("go").key("1")
    tool = [hook for hook in desk.agent.hooks if "tool_use_id" in hook]

    assert desk.events() == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "Stop",
    ]
    assert {"rm x"} == {hook["tool_input"]["command"] for hook in tool}
    assert len({hook["tool_use_id"] for hook in tool}) == 1


# --- acts ----------------------------------------------------------------------------------------


def test_a_limit_refuses_until_it_resets() -> None:
    """Nothing resumes by itself; the first message after the reset is taken."""
    desk = Desk(Limit(seconds=60), Done()).send("go")

    assert (desk.agent.status, desk.agent.limited_until) == ("limited", UTC + 61)
    assert "⎿ You've hit your session limit · resets 9:47:41am (UTC)" in desk.agent.screen()
    desk.wait(30).send("go")
    assert desk.agent.status == "limited"
    desk.wait(40)
    assert desk.agent.status == "limited"
    assert desk.send("go").agent.done


def test_a_limit_outlives_the_run_that_hit_it() -> None:
    """It belongs to the account."""
    desk = Desk(Limit(seconds=60), Done(), resumed=True, progress=1, limited_until=UTC + 60).send(
        "go"
    )

    assert (desk.agent.status, desk.agent.done) == ("limited", False)


def test_an_error_leaves_an_idle_box_and_a_nudge_goes_on() -> None:
    """Nobody retries for you."""
    desk = Desk(Fail(code="529"), Done()).send("go")

    assert desk.agent.status == "failed"
    assert "● API Error: 529 Overloaded" in desk.agent.screen()
    assert "StopFailure" in desk.events()
    assert desk.send("continue").agent.done


def test_retries_count_up_and_then_the_turn_goes_on() -> None:
    """The cause is shown with the last attempt only."""
    desk = Desk(Retry(code="500", seconds=50, attempts=10), Done()).send("go").wait(18)

    assert "✻ API error · Retrying in 2s · attempt 4/10" in desk.agent.screen()
    desk.wait(30)
    assert "✻ 500 Internal server error · Retrying in 2s · attempt 10/10" in desk.agent.screen()
    assert desk.wait(3).agent.done


def test_a_hang_counts_for_ever_and_happens_once() -> None:
    """A hung API looks like honest work."""
    desk = Desk(Hang(), Done()).send("go").wait(5000)

    assert (desk.agent.status, desk.agent.next_at()) == ("working", None)
    assert "(5000s" in desk.agent.screen()
    assert desk.key("Escape").send("go").agent.done


def test_a_crash_leaves_its_last_frame() -> None:
    """The screen goes on saying `working`."""
    desk = Desk(Work(seconds=5), Crash(signal=9)).send("go").wait(4)
    desk.wait(2)

    assert (Exit(signal=9), "gone", 2) == (desk.agent.exit, desk.agent.status, desk.agent.progress)
    assert "esc to interrupt" in desk.agent.screen()
    frame = desk.agent.screen()
    desk.send("hello").wait(100)
    assert (frame, "") == (desk.agent.screen(), desk.agent.draft)


def test_a_restart_of_its_own_leaves_words_and_happens_once() -> None:
    """It hangs up on itself; the next run goes on behind it."""
    words = Reload(reason="new tools", context="at step 3")
    desk = Desk(Work(seconds=5), words, Done()).send("go").wait(6)

    assert (desk.agent.exit, desk.agent.last_words) == (Exit(code=129), words)
    assert desk.agent.progress == 2


def test_context_fills_up_to_a_refusal() -> None:
    """Shown from 60 % on; at 100 % only /compact and /clear help."""
    desk = Desk(*(Work(seconds=1, context=32) for _ in range(4)), Done()).send("go").wait(1.5)

    assert "context used" not in desk.agent.screen()
    desk.wait(1)
    assert "67% context used" in desk.agent.screen()
    desk.wait(2)
    assert (desk.agent.status, desk.agent.context) == ("failed", 100.0)
    assert "⎿ Context limit reached · /compact or /clear to continue" in desk.agent.screen()
    desk.send("/save n").wait(2)
    assert (desk.agent.status, desk.notes) == ("failed", {})
    desk.send("/compact").wait(3)
    assert (desk.agent.status, desk.agent.context) == ("idle", 10.0)


def test_compacting_rebuilds_the_screen_and_the_turn_goes_on() -> None:
    """Context is free again."""
    desk = Desk(Work(seconds=1, context=70), Compact(seconds=4), Work(seconds=9)).send("go").wait(3)

    assert "✽ Compacting conversation…" in desk.agent.screen()
    desk.wait(3)
    assert (desk.agent.status, desk.agent.context) == ("working", 10.0)
    assert "> go" not in desk.agent.screen()


def test_printed_lines_stand_in_the_transcript() -> None:
    """Whatever they look like; control characters never reach the terminal."""
    desk = Desk(Print(lines=("❯ 1. Yes", "\x1b[2Jgone")), EndTurn()).send("go")

    assert "    ❯ 1. Yes\n    [2Jgone" in desk.agent.screen()


def test_done_is_said_and_remembered() -> None:
    """A message after the end finds nothing to do."""
    desk = Desk(Done()).send("go")

    assert (desk.agent.done, desk.agent.status) == (True, "idle")
    assert "Nothing is left to do." in desk.send("go").agent.screen()


# --- memory --------------------------------------------------------------------------------------

STEPS = (Work(seconds=1), EndTurn(), Work(seconds=1), Done())


def test_a_saved_note_carries_the_work_into_a_fresh_run() -> None:
    """Save, a new run, load: it goes on where it was."""
    notes: dict[str, str] = {}
    old = Desk(*STEPS, notes=notes).send("go").wait(2).send("/save n1")
    assert old.agent.status == "working"
    assert "● Saved n1" in old.wait(1).agent.screen()

    new = Desk(*STEPS, notes=notes).send("/load n1")

    assert "● Loaded n1" in new.agent.screen()
    assert (new.agent.progress, new.agent.status, new.agent.forgot) == (2, "working", False)
    assert new.wait(2).agent.done


def test_a_note_in_words_is_heeded_and_proven() -> None:
    """It goes on with what the note names, or with what it saved last, or from the beginning."""
    saved = {"n1": '{"progress": 2}', "n2": '{"progress": 2}', "n3": "{}"}
    words = "Begin with the number 12345 between two colons. Saved as"

    named = Desk(*STEPS, notes=dict(saved)).send(f"{words} n1").agent
    last = Desk(*STEPS, notes={"n2": saved["n2"]}).send(words).agent
    damaged = Desk(*STEPS, notes=dict(saved)).send(words).agent

    assert "● :12345: I have the note." in named.screen()
    assert [(each.progress, each.forgot) for each in (named, last, damaged)] == [
        (2, False),
        (2, False),
        (0, False),
    ]


def test_it_tells_its_context_when_asked() -> None:
    """In one line, and it begins no work."""
    desk = Desk(*STEPS).send("Answer with one line in this form: CTX:<n>%").wait(1)

    assert "● CTX:3%" in desk.agent.screen()
    assert (desk.agent.status, desk.agent.progress) == ("idle", 0)


def test_a_fresh_run_that_loads_nothing_has_forgotten() -> None:
    """A lost hand-over shows."""
    desk = Desk(*STEPS, notes={"n1": '{"progress": 2}'}, progress=2).send("go")

    assert (desk.agent.forgot, desk.agent.progress) == (True, 0)


def test_a_first_run_has_nothing_to_forget() -> None:
    """No note, no loss."""
    assert not Desk(*STEPS).send("go").agent.forgot


def test_a_resumed_run_remembers() -> None:
    """It needs no note."""
    desk = Desk(*STEPS, notes={"n1": "{}"}, progress=2, resumed=True).send("go")

    assert (desk.agent.forgot, desk.agent.progress) == (False, 2)
    assert desk.wait(2).agent.done


@pytest.mark.parametrize("note", [None, "", "{}", "[]", '{"progress": "x"}'])
def test_a_note_that_is_missing_or_damaged_is_not_loaded(note: str | None) -> None:
    """It says so and stays where it was."""
    desk = Desk(*STEPS, notes={} if note is None else {"n1": note}).send("/load n1")

    assert "● No such note: n1" in desk.agent.screen()
    assert desk.agent.status == "idle"


def test_exit_leaves_with_zero() -> None:
    """And tells how to come back."""
    desk = Desk(*STEPS).send("/exit")

    assert Exit(code=0) == desk.agent.exit
    assert "SessionEnd" in desk.events()


# --- shape ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cols", [40, 57, 80])
def test_no_row_is_wider_than_the_terminal(cols: int) -> None:
    """Japanese takes two columns a character."""
    say = "ファイルを確認しています。mixed with English、そして長い文章が続きます。" * 3
    desk = Desk(Work(seconds=1, say=say), Ask(command=say), cols=cols, rows=20).type(say)
    for _ in range(3):
        rows = desk.agent.screen().split("\n")
        assert max(map(width, rows)) <= cols
        assert len(rows) <= 20
        desk.key("Enter").wait(1.5)


def test_the_same_keys_at_the_same_times_give_the_same_screens() -> None:
    """Deterministic, however time is cut into pieces."""
    script = (Work(seconds=2.5, say="x"), Retry(seconds=7), Limit(seconds=3), Done())
    coarse = Desk(*script).send("go").wait(20)
    fine = Desk(*script).send("go")
    for _ in range(200):
        fine.wait(0.1)

    assert coarse.agent.screen() == fine.agent.screen()
    assert coarse.agent.limited_until == fine.agent.limited_until
