"""Commands on screens of every width: what is read as whole is the command, to the letter."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from koboshi.adapters.registry import adapter
from koboshi.adapters.text import width
from koboshi.core.readings import PromptKind
from koboshi.observations import ScreenSeen
from koboshi.policy.dialogs import request_of_prompt

CLAUDE = adapter("claude")
FAINT, PLAIN = "\x1b[2m", "\x1b[0m"

COMMANDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["git", "log", "rm", "-rf", "&&", "日本語", "テスト", "x" * 60, "…", "│ a"]
        ),
        st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), min_size=1),
    ),
    min_size=1,
    max_size=30,
).flatmap(
    lambda words: st.lists(
        st.sampled_from([" ", " ", "  ", "\n", "\n\n"]),
        min_size=len(words),
        max_size=len(words),
    ).map(lambda gaps: "".join(a + b for a, b in zip(words, gaps, strict=True)).strip())
)


def wrapped(line: str, columns: int) -> list[str]:
    """As a terminal program wraps it: at blanks, and inside a word that has no room in a row."""
    rows, row = [], ""
    for number, word in enumerate(line.split(" ")):
        blank = " " if number else ""
        if width(row + blank + word) <= columns:
            row += blank + word
            continue
        if number:
            rows.append(row)
            row = ""
        for char in word:
            if width(row + char) > columns:
                rows.append(row)
                row = ""
            row += char
    return [*rows, row]


def screen(command: str, columns: int, edge: int, *, framed: bool) -> ScreenSeen:
    """Claude Code asks about it: 2.1.325 frames the command, 2.1.197 describes it in faint."""
    rows = [row for line in command.split("\n") for row in wrapped(line, columns - edge)]
    if framed:
        mark = "│ " if len(rows) > 1 else ""
        rule = "╌" * columns
        body = [" Npm test", rule, *(f" {mark}{row}" for row in rows), rule]
    else:
        body = ["", *(f"   {row}" for row in rows), f"   {FAINT}Npm test{PLAIN}", ""]
    shown = [
        *("❯ go", "", "● Working.", "", "─" * columns, " Bash command", *body),
        *(" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"),
    ]
    ansi = "\n".join(shown)
    text = ansi.replace(FAINT, "").replace(PLAIN, "")
    return ScreenSeen(text=text, ansi=ansi, cols=columns, rows=80, command="claude", run=1)


@given(command=COMMANDS, columns=st.integers(40, 250), edge=st.integers(4, 8), framed=st.booleans())
@example(command="git log x\nrm -rf y", columns=40, edge=6, framed=False)
@example(command=f"git log {'x' * 30} && evil", columns=40, edge=4, framed=True)
def test_what_is_read_as_whole_is_the_command(
    command: str,
    columns: int,
    edge: int,
    framed: bool,  # noqa: FBT001
) -> None:
    """Wide characters, long words, line breaks at the edge: asked, or exact."""
    seen = screen(command, columns, edge, framed=framed)
    prompt = CLAUDE.read(seen).prompt
    if prompt is None or prompt.kind is not PromptKind.PERMISSION:
        return
    request = request_of_prompt(prompt, "claude", "/w", seen.cols)

    assert not request.complete or request.command == command


@given(st.integers(40, 250), st.booleans(), st.data())
def test_what_fits_in_a_row_is_read(columns: int, framed: bool, data: st.DataObject) -> None:  # noqa: FBT001
    """A wide terminal shows more of it in one row, and that is proof enough."""
    size = data.draw(st.integers(1, columns - 12))
    command = ("touch " + "a" * 250)[: max(size, 7)]
    seen = screen(command, columns, 6, framed=framed)
    prompt = CLAUDE.read(seen).prompt

    assert prompt is not None
    request = request_of_prompt(prompt, "claude", "/w", seen.cols)
    assert (request.tool, request.command, request.complete) == ("Bash", command, True)
