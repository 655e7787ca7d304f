"""Command lines: which CLI they start, and what is added to them or taken away."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.registry import adapter, program_type
from koboshi.adapters.words import shell_words

ID = "0b5b0d1e-7c1d-4a4e-a1d0-123456789abc"
NEWEST = {"claude": "2.1.325", "codex": "codex-cli 0.166.0", "gemini": "0.61.0", "opencode": "1.18"}


def words(text: str) -> tuple[str, ...]:
    """A command line as a shell splits it."""
    return tuple(shlex.split(text.replace("ID", ID)))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("claude", "claude"),
        ("/usr/local/bin/claude --model opus", "claude"),
        ("npx @anthropic-ai/claude-code", "claude"),
        ("npx -y @anthropic-ai/claude-code@2.1.197 -c", "claude"),
        ("node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "claude"),
        ("env A=1 claude", "claude"),
        ("nice -n 10 claude", "claude"),
        ("bash -lc 'claude --model opus'", "claude"),
        ("/home/x/.local/share/claude/versions/2.1.325", "claude"),
        ("codex resume --last", "codex"),
        ("pnpm dlx @openai/codex", "codex"),
        ("bunx @google/gemini-cli@latest", "gemini"),
        ("node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js", "gemini"),
        ("npx opencode-ai@latest", "opencode"),
        ("/root/.opencode/bin/opencode .", "opencode"),
        ("python3.11 -m koboshi.scripted", "scripted"),
        ("vim claude", "generic"),
        ("less codex", "generic"),
        ("cd claude", "generic"),
        ("bash -lc 'claude; rm x'", "generic"),
        ("claude-monitor", "generic"),
        ("bash", "generic"),
        ("", "generic"),
    ],
)
def test_the_cli_is_known_by_the_word_that_names_it(line: str, expected: str) -> None:
    """Wrappers are looked through, other programs' arguments are not."""
    assert program_type(words(line)) == expected


@pytest.mark.parametrize(
    ("agent", "line", "expected"),
    [
        ("claude", "claude", "claude --session-id ID"),
        ("claude", "npx -y @anthropic-ai/claude-code", None),
        ("claude", "claude --model opus 'fix it'", "claude --model opus 'fix it' --session-id ID"),
        ("claude", "claude --add-dir a b", "claude --add-dir a b --session-id ID"),
        ("claude", "claude -- '-x'", "claude --session-id ID -- -x"),
        ("claude", "claude --session-id other", "claude --session-id other"),
        ("claude", "claude --session-id=other", "claude --session-id=other"),
        ("claude", "claude --resume", "claude --resume"),
        ("claude", "claude -r abc", "claude -r abc"),
        ("claude", "claude -c", "claude -c"),
        ("claude", "claude --continue --model x", "claude --continue --model x"),
        ("claude", "claude mcp list", "claude mcp list"),
        ("claude", "bash -lc claude", "bash -lc 'claude --session-id ID'"),
        ("claude", "./start-agent", "./start-agent --session-id ID"),
        ("codex", "codex", "codex --no-daemon -c check_for_update_on_startup=false"),
        (
            "codex",
            "codex --no-daemon -c check_for_update_on_startup=true",
            "codex --no-daemon -c check_for_update_on_startup=true",
        ),
        ("codex", "codex login", "codex login"),
        (
            "codex",
            "codex resume --last",
            "codex resume --last --no-daemon -c check_for_update_on_startup=false",
        ),
        ("gemini", "gemini -m pro", "gemini -m pro --session-id ID"),
        ("gemini", "gemini --resume latest", "gemini --resume latest"),
        ("opencode", "opencode .", "opencode ."),
    ],
)
def test_a_fresh_start_adds_what_does_not_conflict(
    agent: str, line: str, expected: str | None
) -> None:
    """What a person chose is kept; the CLI is told no session twice."""
    argv = adapter(agent, None, NEWEST[agent]).argv(program=words(line), session=ID)

    assert words(expected or f"{line} --session-id ID") == argv


@pytest.mark.parametrize(
    ("agent", "line", "expected"),
    [
        ("claude", "claude --model opus 'fix it'", "claude --model opus --resume ID"),
        ("claude", "claude 'fix it' --verbose", "claude --verbose --resume ID"),
        ("claude", "claude --session-id x -c 'go'", "claude --resume ID"),
        ("claude", "claude --resume old --fork-session", "claude --resume ID"),
        ("claude", "claude --resume=old --model=x", "claude --model=x --resume ID"),
        ("claude", "claude -r", "claude --resume ID"),
        ("claude", "claude -- 'fix it'", "claude --resume ID"),
        ("claude", "claude --future x", "claude --future x --resume ID"),
        ("claude", "claude -p 'fix it'", "claude 'fix it' -p --resume ID"),
        ("claude", "npx @anthropic-ai/claude-code hi", "npx @anthropic-ai/claude-code --resume ID"),
        ("claude", "claude --add-dir a b", "claude --add-dir a b --resume ID"),
        (
            "codex",
            "codex -m o3 -i shot.png 'fix it'",
            "codex resume ID -m o3 --no-daemon -c check_for_update_on_startup=false",
        ),
        (
            "codex",
            "codex resume old --last 'go'",
            "codex resume ID --no-daemon -c check_for_update_on_startup=false",
        ),
        ("gemini", "gemini -i 'fix it' -y", "gemini -y --resume ID"),
        ("gemini", "gemini 'fix it' --session-id x", "gemini --resume ID"),
        ("opencode", "opencode . --prompt 'fix it' -c", "opencode . -s ID"),
    ],
)
def test_a_resume_names_its_session_and_submits_nothing(
    agent: str, line: str, expected: str
) -> None:
    """The start prompt was for the first run; a headless run is nothing without its own."""
    known = adapter(agent, None, NEWEST[agent])

    assert words(expected) == known.resume_argv(program=words(line), session=ID)


@pytest.mark.parametrize(
    ("agent", "line", "expected"),
    [
        ("claude", "claude --model x 'fix it'", "claude --model x --continue"),
        ("codex", "codex 'fix it' -m x", "codex resume --last -m x"),
        ("gemini", "gemini 'fix it'", "gemini --resume latest"),
        ("opencode", "opencode . -s x", "opencode . --continue"),
    ],
)
def test_the_last_session_goes_on_where_no_id_is_known(
    agent: str, line: str, expected: str
) -> None:
    """Also when a resume is asked for without an id."""
    known = adapter(agent)

    assert words(expected) == known.continue_argv(program=words(line))
    assert words(expected) == known.resume_argv(program=words(line), session="")


@pytest.mark.parametrize(
    ("agent", "line", "session", "expected"),
    [
        (
            "claude",
            "claude --model x --output-format text 'old'",
            None,
            "claude --model x -p --output-format stream-json --verbose -- '-do {it}'",
        ),
        (
            "claude",
            "claude -c",
            ID,
            "claude -p --output-format stream-json --verbose --resume ID -- '-do {it}'",
        ),
        (
            "codex",
            "codex -m x -a never --no-daemon 'old'",
            None,
            "codex exec -m x --json --skip-git-repo-check -- '-do {it}'",
        ),
        (
            "codex",
            "codex",
            ID,
            "codex exec --json --skip-git-repo-check resume -- ID '-do {it}'",
        ),
        (
            "gemini",
            "gemini -m x -i old",
            ID,
            "gemini -m x --output-format stream-json --resume ID '--prompt=-do {it}'",
        ),
        (
            "opencode",
            "opencode proj -m x",
            None,
            "opencode run -m x --format json --dir proj -- '-do {it}'",
        ),
    ],
)
def test_a_headless_run_prints_its_events(
    agent: str, line: str, session: str | None, expected: str
) -> None:
    """The prompt is one word, whatever it begins with."""
    known = adapter(agent)

    argv = known.headless_argv(program=words(line), prompt="-do {it}", session=session)

    assert words(expected) == argv


@pytest.mark.parametrize("version", ["", "0.77.0", "codex-cli 0.165.9"])
def test_a_codex_that_may_not_know_the_flag_starts_without_it(version: str) -> None:
    """A flag that is not known ends the start."""
    assert "--no-daemon" not in adapter("codex", None, version).argv(program=("codex",), session=ID)


@pytest.mark.parametrize(
    ("agent", "line", "version", "expected"),
    [
        ("claude", "claude", "", ID),
        ("claude", "claude --session-id 11111111-1111", "", "11111111-1111"),
        ("claude", "claude --resume 11111111-1111", "", "11111111-1111"),
        ("claude", "claude --continue", "", ""),
        ("codex", "codex", "0.166.0", ""),
        ("gemini", "gemini", "0.61.0", ID),
        ("gemini", "gemini", "0.60.0", ""),
        ("gemini", "gemini", "", ""),
        ("gemini", "gemini --resume latest", "0.61.0", ""),
        ("opencode", "opencode", "1.18.33", ""),
    ],
)
def test_the_session_of_a_fresh_run_is_known_or_it_is_not(
    agent: str, line: str, version: str, expected: str
) -> None:
    """A made-up id would be resumed in vain."""
    known = adapter(agent, None, version)

    assert known.session_at_start(program=words(line), session=ID) == expected


def test_variables_keep_a_run_supervisable() -> None:
    """What a person sets in the same words stays theirs."""
    claude = adapter("claude")

    assert claude.env(("claude",)) == {
        "CLAUDE_CODE_DISABLE_AGENT_VIEW": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    assert "DISABLE_AUTOUPDATER" not in claude.env(("env", "DISABLE_AUTOUPDATER=0", "claude"))
    assert adapter("codex").env(("codex",)) == {}


def test_each_cli_is_interrupted_its_own_way() -> None:
    """OpenCode asks again; the one that is not known is left alone."""
    assert adapter("claude").interrupt_keys() == ("Escape",)
    assert adapter("opencode").interrupt_keys() == ("Escape", "Escape")
    assert adapter("generic").interrupt_keys() == ()
    assert all(adapter(name).submit_pause >= 0.1 for name in NEWEST)


option = st.sampled_from(
    [("--model", "x"), ("--add-dir", "a", "b"), ("--verbose",), ("--settings", "{}"), ("-n", "me")]
)
session = st.sampled_from([("-c",), ("--resume", "old"), ("--session-id", "x"), ("-r",)])


@given(options=st.lists(option), sessions=st.lists(session, max_size=2), prompt=st.booleans())
def test_a_resumed_run_can_be_resumed_again(
    options: list[tuple[str, ...]], sessions: list[tuple[str, ...]], *, prompt: bool
) -> None:
    """Resuming keeps every option, names one session, and changes nothing when done twice."""
    given_words = [word for group in options for word in group]
    chosen = [word for group in sessions for word in group]
    program = ("claude", *(["do it"] if prompt else []), *given_words, *chosen)

    once = adapter("claude").resume_argv(program=program, session=ID)

    assert once == ("claude", *given_words, "--resume", ID)
    assert adapter("claude").resume_argv(program=once, session=ID) == once


@given(argv=st.lists(st.text()).map(tuple))
def test_no_command_line_is_too_strange(argv: tuple[str, ...]) -> None:
    """Nothing raises, and a line that is no shell's is given back as it is."""
    program_type(argv)
    for agent in NEWEST:
        adapter(agent).argv(program=argv, session=ID)
        adapter(agent).resume_argv(program=argv, session=ID)
    shell, inner = shell_words(argv)
    assert shell or inner == argv
