"""What holds for every real CLI: what is live, what an option does, which keys pick it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.adapters.claude import ClaudeAdapter
from koboshi.adapters.decode import decode
from koboshi.adapters.registry import adapter
from koboshi.core.readings import Meaning, Prompt, PromptKind, Reading, Status
from koboshi.observations import ScreenSeen
from tests.adapters.looks import CASES, look_of, looks

CLIS = ("claude", "codex", "gemini", "opencode")
RULE = "─" * 100
#: The kinds a policy may answer; a person's menus and the agent's own questions never are.
ANSWERED = frozenset({PromptKind.PERMISSION, PromptKind.PLAN, PromptKind.TRUST, PromptKind.LIMIT})


def claude(text: str, **more: object) -> Reading:
    """What Claude Code's adapter says about that text."""
    return adapter("claude").read(ScreenSeen(text=text, command="claude", cols=100, **more))  # type: ignore[arg-type]


def dialogs(agent: str) -> list[ScreenSeen]:
    """The recorded looks at an open question."""
    found = [(look, adapter(agent).read(look).prompt) for look in looks(agent)]
    return [look for look, prompt in found if prompt and prompt.options]


@pytest.mark.parametrize("agent", CLIS)
def test_there_are_dialogs_to_look_at(agent: str) -> None:
    """A property over nothing proves nothing."""
    assert len(dialogs(agent)) > 1


@pytest.mark.parametrize("agent", CLIS)
def test_a_dialog_shown_in_the_transcript_is_no_question(agent: str) -> None:
    """An agent may print any dialog; below it stands the input box, and that is what is live."""
    box = f"\n\n✻ Worked for 3s\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts\n"
    for look in dialogs(agent):
        rows = look.text.rstrip().split("\n")
        as_it_was = claude("\n".join(rows) + box)
        quoted = claude("● Look:\n\n" + "\n".join("  " + row for row in rows) + box)

        assert as_it_was.prompt is None
        assert as_it_was.status is not Status.ASKING
        assert (quoted.status, quoted.prompt) == (Status.IDLE, None)


def test_a_dialog_typed_into_the_box_is_a_draft() -> None:
    """A person's half-written line is theirs, whatever it looks like."""
    for draft in ("❯ 1. Yes", "1. Yes\n  2. No", "esc to interrupt", "✻ Brewing… (3s)"):
        reading = claude(f"{RULE}\n❯ {draft}\n{RULE}\n  ⏸ manual mode on\n")

        assert (reading.status, reading.prompt) == (Status.IDLE, None)
        assert draft.split() == reading.draft.split()


THIN = "╌" * 100
ASKED = (" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel")
HELD = (
    ("rm -rf /", RULE, "Bash command", THIN, "npm test"),
    ("rm -rf /", " " + RULE, " Bash command", " " + THIN, "npm test"),
    ("npm test", "", "rm -rf /"),
    ("rm -rf /", "", THIN, "npm test", THIN),
    ("rm -rf / ▔", "Bash command", "", "  npm test"),
)


@pytest.mark.parametrize("command", HELD)
@pytest.mark.parametrize("framed", [True, False])
def test_a_command_cannot_pass_a_part_of_itself_for_the_whole(
    command: tuple[str, ...], *, framed: bool
) -> None:
    """A policy compares the subject with what is allowed, word by word."""
    if framed:
        shown = (THIN, *(" " + row for row in command), THIN)
    else:
        shown = ("", *("   " + row for row in command), "")
    reading = claude("\n".join(("● Bash", "", RULE, " Bash command", *shown, "", *ASKED)))

    subject = reading.prompt.subject if reading.prompt else "rm -rf /"

    assert "rm -rf /" in subject


def test_a_command_cannot_ask_codex_question_anew() -> None:
    """Two blank rows part a dialog from the transcript; a command may hold two, too."""
    question = ("", "", "  Would you like to run the following command?", "")
    options = ("", "", "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do", "")
    rows = (*question, "  $ rm -rf /", *question, "  $ npm test", *options)
    hint = "  Press enter to confirm or esc to cancel"
    look = ScreenSeen(text="\n".join(("• Running", *rows, hint)), command="codex", cols=100)

    prompt = adapter("codex").read(look).prompt

    assert prompt is not None
    assert prompt.subject.startswith("rm -rf /")


def test_a_dialog_whose_top_is_out_of_sight_has_no_subject() -> None:
    """What is left of a long command may be made to look like a short one."""
    reading = claude("\n".join(("   x", "   Bash command", "", "   npm test", "", *ASKED)))

    assert reading.prompt is not None
    assert (reading.status, reading.prompt.subject) == (Status.ASKING, "")


@pytest.mark.parametrize("left", [1, 2, 3])
@pytest.mark.parametrize("marked", range(4))
def test_a_dialog_drawn_over_the_one_before_asks_nothing(left: int, marked: int) -> None:
    """What is left above its list is an option of the other, and no question."""
    look = look_of(CASES / "claude" / "asking-bash-2-1-325-100")
    rows = look.text.rstrip().split("\n")
    first = next(n for n, row in enumerate(rows) if "1. Yes" in row)
    options = [row.replace("❯", " ") for row in rows[first : first + 4]]
    below = [f" ❯{row[2:]}" if n == marked else row for n, row in enumerate(options)]
    torn = "\n".join((*options[:left], *below, *rows[first + 4 :]))

    assert claude(torn).prompt is None


def mixed(agent: str, one: ScreenSeen, other: ScreenSeen, cut: int) -> ScreenSeen:
    """The first rows of one look above the others of another."""
    upper, lower = one.text.split("\n"), other.text.split("\n")
    at = cut % max(len(lower), 1)
    return replace(other, text="\n".join((*upper[:at], *lower[at:])), ansi=None, command=agent)


def test_two_hints_are_of_two_frames() -> None:
    """A dialog drawn over a longer one, whose last row is still there."""
    rows = ("  Hooks need review", "", "› 1. Review hooks", "  2. Trust all and continue", "")
    hints = ("  enter confirm · esc skip", "", "  enter continue · esc quit")
    whole, torn = ("\n".join((*rows, *hints[:n])) for n in (1, 3))

    def asked(text: str) -> Prompt | None:
        return adapter("codex").read(ScreenSeen(text=text, command="codex", cols=80)).prompt

    assert asked(whole) is not None
    assert asked(torn) is None


@settings(max_examples=400, deadline=None)
@given(data=st.data(), agent=st.sampled_from(("claude", "codex")), cut=st.integers(1, 60))
def test_a_torn_screen_asks_nothing_that_neither_frame_asked(
    data: st.DataObject, agent: str, cut: int
) -> None:
    """The options of a question never come from two frames."""
    same = [look for look in looks(agent) if look.alive and look.command == agent]
    one, other = data.draw(st.sampled_from(same)), data.draw(st.sampled_from(same))
    if one.cols != other.cols:
        return
    read = adapter(agent).read
    plain = [replace(look, ansi=None) for look in (one, other)]
    asked = [prompt for look in plain if (prompt := read(look).prompt)]

    torn = read(mixed(agent, one, other, cut)).prompt

    if torn is not None and torn.kind in ANSWERED and torn.options:
        assert torn.kind in {prompt.kind for prompt in asked}
        assert torn.options in [prompt.options for prompt in asked]


@settings(max_examples=300, deadline=None)
@given(data=st.data(), agent=st.sampled_from(CLIS), cut=st.integers(1, 40))
def test_a_dialog_cut_off_below_its_list_is_not_answered(
    data: st.DataObject, agent: str, cut: int
) -> None:
    """Rows missing at the end leave the same options or none."""
    look = data.draw(st.sampled_from(dialogs(agent)))
    whole = adapter(agent).read(look).prompt
    rows = look.text.rstrip().split("\n")
    short = replace(look, text="\n".join(rows[: max(len(rows) - cut, 0)]), ansi=None)

    prompt = adapter(agent).read(short).prompt

    if whole and prompt and prompt.kind is not PromptKind.PICKER:
        texts = [option.text for option in prompt.options]
        assert texts == [option.text for option in whole.options][: len(texts)]


@given(
    text=st.text(), ansi=st.text(alphabet="\x1b[0123456789;:m ❯›\nab"), agent=st.sampled_from(CLIS)
)
def test_any_attributes_give_a_reading(text: str, ansi: str, agent: str) -> None:
    """Attributes that do not fit the text are no reason to fall over."""
    seen = ScreenSeen(text=text + ansi, ansi=ansi, cols=-1, cursor=(-1, 10**6))

    assert adapter(agent).read(seen) == adapter(agent).read(seen)


@pytest.mark.parametrize("agent", CLIS)
def test_a_shell_in_the_foreground_is_gone_whatever_the_frame_shows(agent: str) -> None:
    """After SIGKILL spinner, box and title stay."""
    for look in looks(agent):
        reading = adapter(agent).read(replace(look, command="zsh"))

        assert (reading.status, reading.prompt) == (Status.GONE, None)


@pytest.mark.parametrize(
    "row",
    ["[Opus] proj | ctx 42%", "cost: $", "main #", "root@box:~/proj#", "~/proj ❯"],
)
def test_a_status_line_is_no_shell_prompt(row: str) -> None:
    """It may end as a prompt does; the living process decides."""
    reading = claude(f"{RULE}\n❯ \n{RULE}\n  {row}\n")

    assert reading.status is Status.IDLE


@pytest.mark.parametrize("tail", ["root@box:~/proj#", "dev@box proj %", "➜  proj git:(main)"])
def test_a_shell_prompt_counts_when_the_process_is_not_known(tail: str) -> None:
    """A plain text was handed in: the last row is all there is."""
    text = f"Resume this session with:\nclaude --resume 1234\n{tail}\n"

    assert adapter("claude").read(ScreenSeen(text=text)).status is Status.GONE


@pytest.mark.parametrize(
    ("agent", "case", "choice", "expected"),
    [
        ("claude", "bash", Meaning.ONCE, {("1",)}),
        # A plan and the agent's own question have no option that refuses.
        ("claude", "ask-*", Meaning.NO, {("Escape",)}),
        ("claude", "plan-empty", Meaning.NO, {("2",)}),
        ("claude", "model", Meaning.NO, {None}),
        ("claude", "bypass-permissions", Meaning.NO, {("Enter",)}),
        ("claude", "bypass-permissions", Meaning.ONCE, {("Down", "Enter")}),
        ("codex", "exec", Meaning.ONCE, {("1",)}),
        ("codex", "exec", Meaning.NO, {("3",), ("2",)}),
        # Here a digit only selects: the way to the option, and Enter, are right in every dialog.
        ("codex", "trust", Meaning.ONCE, {("Enter",)}),
        ("codex", "trust", Meaning.NO, {("Down", "Enter")}),
        ("gemini", "shell", Meaning.NO, {("3",)}),
        ("opencode", "bash", Meaning.NO, {("Right", "Right", "Enter")}),
    ],
)
def test_keys_go_to_the_option_of_that_meaning(
    agent: str, case: str, choice: Meaning, expected: set[tuple[str, ...] | None]
) -> None:
    """A digit where options are numbered, arrows from the selected one otherwise."""
    found = sorted((CASES / agent).glob(f"asking-{case}-[0-9]*"))
    assert found
    for path in found:
        prompt = adapter(agent).read(look_of(path)).prompt

        assert prompt is not None
        assert adapter(agent).keys_for(prompt, choice) in expected


PLAN = f"""❯ Plan it.
{{edge}}

  {"─" * 96}
   Ready to code?

   Here is Claude's plan:
  {"╌" * 96}
   1. Yes, first this
  {"╌" * 96}

  {"─" * 96}
   Claude has written up a plan and is ready to execute. Would you like to proceed?

   ❯ 1. Yes, and use auto mode
     2. Yes, manually approve edits
     3. Tell Claude what to change
        shift+tab to approve with this feedback

   ctrl+g to edit in Vim · ~/.claude/plans/plan-it.md
"""
EDGES = ("▔" * 100, f"{'▔' * 80} ◐ medium · /effort ▔", f"{'▔' * 40} scroll with PgUp/PgDn ▔")


def test_a_plan_is_the_same_whatever_is_noted_at_its_edge() -> None:
    """Notices take turns there; one question must not become a new one with each."""
    first, *others = (claude(PLAN.replace("{edge}", edge)) for edge in EDGES)

    assert first.prompt is not None
    assert (first.prompt.kind, first.lines[:2]) == (
        PromptKind.PLAN,
        ("❯ Plan it.", f"  {'─' * 96}"),
    )
    assert all((each.prompt, each.lines) == (first.prompt, first.lines) for each in others)
    assert adapter("claude").keys_for(first.prompt, Meaning.NO) == ("Escape",)


SINGLE = sorted((CASES / "claude").glob("asking-ask-single-*"))


@pytest.mark.parametrize("case", SINGLE, ids=lambda path: path.name)
def test_a_blinking_face_is_nothing_new(case: Path) -> None:
    """It blinks and turns at the top of a fresh session; the question stays the same one."""
    look, words = look_of(case), ("Claude Code", "Opus · API Usage", "/home/dev/proj")
    faces = (
        (" ▐▛███▛█ ", "▝▜██████▀", " ▝▝   ▝▝ "),
        (" ▐▂███▂█ ", "▝▜██████▀", " ▝▝   ▝▝ "),
        ("   ▛██▌  ", "   ███▌  ", "   ▘  ▘  "),
    )
    read = []
    for face in faces:
        top = "".join(f"{part}  {word}\n" for part, word in zip(face, words, strict=True))
        read.append(adapter("claude").read(replace(look, text=top + look.text)))

    assert len({each.lines for each in read}) == 1
    assert all(each.prompt for each in read)


def test_a_button_whose_colour_is_not_known_is_not_pressed() -> None:
    """Which one Enter takes cannot be told from the text, unless that names it."""
    for look in dialogs("opencode"):
        prompt = adapter("opencode").read(replace(look, ansi=None)).prompt

        assert prompt is not None
        if "enter accept" in look.text:
            assert adapter("opencode").keys_for(prompt, Meaning.ONCE) == ("Enter",)
            assert adapter("opencode").keys_for(prompt, Meaning.NO) == ("d",)
            continue
        assert prompt.selected is None
        assert adapter("opencode").keys_for(prompt, Meaning.ONCE) is None


def test_a_users_manifest_takes_the_place_of_ours() -> None:
    """A CLI update is a change of data, also between two releases of koboshi."""
    text = CASES.parents[2] / "src" / "koboshi" / "adapters" / "claude" / "manifest.toml"
    ours = text.read_text("utf-8")
    theirs = ours.replace("% context used", "% of the window gone")
    seen = ScreenSeen(text=f"{RULE}\n❯ \n{RULE}\n  ? for shortcuts   42% of the window gone\n")

    assert ClaudeAdapter().read(seen).context is None
    reading = ClaudeAdapter(theirs).read(seen)
    assert reading.context is not None
    assert reading.context.used == 42


def test_the_evidence_names_the_pattern_and_its_line() -> None:
    """`koboshi inspect` shows which line matched, and as what."""
    reading = claude(
        f"✻ Brewing… (3s · ↓ 30 tokens)\n\n{RULE}\n❯ \n{RULE}\n  7% until auto-compact\n"
    )

    assert reading.evidence == (
        "spinner: ✻ Brewing… (3s · ↓ 30 tokens)",
        "context_until_compact: 7% until auto-compact",
    )


@pytest.mark.parametrize(
    ("notice", "used"),
    [
        ("82% context used", 82),
        ("Context left until auto-compact: 7%", 93),
        ("7% until auto-compact", 93),
        ("Context low (11% remaining) · Run /compact to compact & continue", 89),
    ],
)
def test_left_is_the_opposite_of_used(notice: str, used: int) -> None:
    """Whatever the wording, what is kept is the share in use."""
    reading = claude(f"{RULE}\n❯ \n{RULE}\n  ? for shortcuts      {notice}\n")

    assert reading.context is not None
    assert reading.context.used == used


def test_an_error_an_agent_wrote_itself_is_an_answer() -> None:
    """The program draws its errors in a colour; an answer has none."""
    rows = ("● API Error: 500 Internal server error", "", "✻ Worked for 3s", "", RULE, "❯ ", RULE)
    text = "\n".join(rows)
    red = text.replace("API", "\x1b[38;5;211mAPI").replace("error\n", "error\x1b[39m\n")

    assert claude(text, ansi=text).status is Status.IDLE
    assert claude(text, ansi=red).status is Status.FAILED
    assert claude(text).status is Status.FAILED


def test_a_spinner_an_agent_wrote_itself_is_an_answer() -> None:
    """Codex answers begin as its status line does; only the program draws the hint faint."""
    text = "› go\n\n\n• Working (3s • esc to interrupt)\n\n\n› \n\n  gpt-5 · ~/proj\n"
    drawn = text.replace("to interrupt", "\x1b[2mto interrupt").replace(")\n", ")\x1b[0m\n")
    seen = ScreenSeen(text=text, command="codex", title="proj", cols=100)
    read = adapter("codex").read

    assert read(replace(seen, ansi=text)).status is Status.IDLE
    assert read(replace(seen, ansi=drawn)).status is Status.WORKING
    assert read(seen).status is Status.WORKING


@pytest.mark.parametrize(
    ("agent", "fresh", "resumed", "end"),
    [
        ("claude", ("x", "--session-id", "s1"), ("x", "--resume", "s1"), "/exit"),
        ("codex", ("x",), ("x", "resume", "s1"), "/quit"),
        ("gemini", ("x",), ("x", "--resume", "s1"), "/quit"),
        ("opencode", ("x",), ("x", "-s", "s1"), "/exit"),
    ],
)
def test_each_cli_is_started_resumed_and_ended_its_own_way(
    agent: str, fresh: tuple[str, ...], resumed: tuple[str, ...], end: str
) -> None:
    """Only Claude Code takes the id of a fresh session."""
    known = adapter(agent)

    assert fresh == known.argv(program=("x",), session="s1")
    assert resumed == known.resume_argv(program=("x",), session="s1")
    assert end == known.exit_text()
    assert known.save_text("n") == known.load_text("n") == ""
    assert not known.saved(("n",), "n")
    assert not known.loaded(("n",), "n")
    assert known.clean_exit(0, None)
    assert not known.clean_exit(137, None)
    assert not known.clean_exit(None, 9)
    assert known.clean_exit(143, None) == (agent == "claude")


@pytest.mark.parametrize(
    ("draft", "entry", "expected"),
    [
        ("/quit", "quit             Exit the cli", "at_prompt"),
        ("/quit", "clear            Clear the screen and start a new session", "menu_differs"),
        ("quit", "clear            Clear the screen and start a new session", "at_prompt"),
    ],
)
def test_a_menu_that_lags_behind_the_text_is_told(draft: str, entry: str, expected: str) -> None:
    """Enter runs the entry: `/clear`, seen with Gemini CLI on a busy machine, for `/quit`."""
    rows = ("✦ Done.", "", RULE, " Shift+Tab to accept edits", "", f" > {draft}", "", f" {entry}")
    seen = ScreenSeen(text="\n".join((*rows, " ~/proj    no sandbox")), command="node", cols=100)

    reading = adapter("gemini").read(seen)

    assert (reading.status, reading.draft, reading.reason) == (Status.IDLE, draft, expected)


TOO_LARGE = "● Request too large (max 32MB). Double press esc to go back and try a smaller file."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (TOO_LARGE, Status.FAILED),
        (f"{TOO_LARGE}\n\n  That is what it said.", Status.IDLE),
        (f"{TOO_LARGE} That is what it said.", Status.IDLE),
        (TOO_LARGE.replace("● ", "● It said: "), Status.IDLE),
    ],
)
def test_an_error_without_colour_must_be_all_there_is(answer: str, expected: Status) -> None:
    """Claude Code 2.1.197 draws one of them like an answer; an agent may quote it."""
    text = f"❯ Try.\n\n{answer}\n\n✻ Baked for 0s\n\n{RULE}\n❯ \n{RULE}\n"

    assert claude(text, ansi=text).status is expected


def test_a_notice_is_no_answer_that_may_still_grow() -> None:
    """The program draws its own words grey, an agent's never."""
    box = f"\n\n{RULE}\n❯ \n{RULE}\n  ⏵⏵ auto mode on\n"
    grey = "● \x1b[38;5;246mAuto mode lets Claude handle it.\x1b[39m"
    plain = "● Auto mode lets Claude handle it."

    assert claude(plain + box, ansi=grey + box).status is Status.IDLE
    assert claude(plain + box, ansi=plain + box).status is Status.UNKNOWN
    growing = f"● I am at it\n\n{plain}{box}"
    assert claude(growing, ansi=growing.replace(plain, grey)).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("above", "draft", "below", "expected"),
    [
        ("", "/exit", "", "menu_not_seen"),
        ("", "/exit", "/exit            Exit the REPL", "at_prompt"),
        ("", "/exit", "/export          Export the conversation", "menu_differs"),
        ("    /clear       Begin anew\n  ❯ /exit        Exit", "/exit", "", "at_prompt"),
        ("  ❯ /clear       Begin anew\n    /exit        Exit", "/exit", "", "menu_differs"),
        ("  /clear       an agent's words", "/exit", "", "menu_not_seen"),
        ("", "/save it", "", "at_prompt"),
        ("", "not a command", "", "at_prompt"),
    ],
)
def test_a_command_needs_its_menu(above: str, draft: str, below: str, expected: str) -> None:
    """Below the box or above it; where entries are marked, the marked one is what Enter runs."""
    reading = claude(f"{above}\n{RULE}\n❯ {draft}\n{RULE}\n{below}\n")

    assert (reading.status, reading.reason) == (Status.IDLE, expected)


def test_a_tip_under_a_spinner_does_not_hide_it() -> None:
    """Versions hang it by different margins."""
    for margin in (2, 3, 4):
        tip = " " * margin + "⎿  Tip: Run /terminal-setup to enable convenient terminal integration"

        assert claude(f"· Misting…\n{tip}\n{RULE}\n❯ \n{RULE}\n").status is Status.WORKING


@pytest.mark.parametrize("footed", [True, False])
@pytest.mark.parametrize("long", [1, 9, 14, 30])
def test_a_draft_of_codex_is_as_long_as_its_writer_likes(long: int, *, footed: bool) -> None:
    """Blank rows in it included; without a footer it may be what was said long ago."""
    rows = [f"  row {n}" if n % 4 else "" for n in range(1, long)]
    foot = "  gpt-5.3-codex default · ~/proj" if footed else "  and so on"
    text = "\n".join(("  >_ OpenAI Codex", "", "› note follows", *rows, "", foot))
    seen = ScreenSeen(text=text, command="codex", title="proj", cols=100, rows=40)
    reading = adapter("codex").read(seen)

    if footed:
        assert reading.status is Status.IDLE
        assert reading.draft.split() == " ".join(("note follows", *rows)).split()
    else:
        found = (Status.UNKNOWN, False) if long > 12 else (Status.IDLE, True)
        assert (reading.status, bool(reading.draft)) == found


def test_a_list_without_its_hint_is_no_draft() -> None:
    """A dialog of Codex that is drawn in part is neither a prompt nor a question."""
    text = "  Would you like to run it?\n\n› 1. Yes\n  2. No\n"
    reading = adapter("codex").read(ScreenSeen(text=text, command="codex", cols=100))

    assert (reading.status, reading.prompt, reading.draft) == (Status.UNKNOWN, None, "")


@pytest.mark.parametrize("keys", ["enter to open · space", "enter to return · space"])
def test_the_view_of_all_agents_is_no_prompt(keys: str) -> None:
    """It has a box; what is typed there starts another session."""
    box = f"{RULE}\n❯ describe a task for a new session\n{RULE}"
    reading = claude(f"Needs input\n ✻ hello\n\n{box}\n  {keys} to reply · ctrl+x to remove\n")

    assert (reading.status, reading.reason) == (Status.ASKING, "agents_view")
    assert reading.prompt is not None
    assert reading.prompt.kind is PromptKind.PICKER


NOT_FOUND = "No conversation found with session ID: 0c0ffee0-1111-4222-a333-444455556666"


@pytest.mark.parametrize(
    ("text", "alive", "lost"),
    [
        (f"{NOT_FOUND}\nPane is dead (status 1, Sun Nov 15 15:00:00 2026)", False, True),
        (f"$ claude --resume x\n{NOT_FOUND}\nme@host:~/work$ ", True, True),
        ("Segmentation fault\nPane is dead (status 139)", False, False),
        (f"● The log says: {NOT_FOUND}\nPane is dead (status 1)", False, False),
        (f"{NOT_FOUND}\n" + "x\n" * 20, False, False),
    ],
)
def test_a_session_that_is_not_found_is_known(text: str, *, alive: bool, lost: bool) -> None:
    """By its last words, at the beginning of a row."""
    seen = ScreenSeen(
        text=text, at=1.0, run=2, alive=alive, command="bash" if alive else "", code=1
    )
    body = decode(adapter("claude"), seen)

    assert getattr(body, "lost", False) is lost
