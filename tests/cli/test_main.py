"""The entry point: quick, quiet, and without a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koboshi import __version__
from koboshi.adapters.text import width
from koboshi.cli.group import VERBS
from koboshi.cli.main import main, sentence
from koboshi.cli.printing import clip, paint, wrap
from tests.cli.journals import disk, edit, edited, lay_down, run

SRC = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SRC), "PYTHONUNBUFFERED": ""}
COMMAND = [sys.executable, "-m", "koboshi"]
#: Commands that read an agent's journal.
READERS = [["why", "sim"], ["events", "sim"], ["replay", "sim"]]


def imported_by(*argv: str) -> set[str]:
    """The modules that are loaded after a call."""
    code = (
        "import sys\nfrom koboshi.cli.main import main\n"
        f"main({list(argv)!r})\nprint(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, check=True, text=True
    )
    return set(ran.stderr.split())


def test_version_needs_almost_nothing() -> None:
    """Not even click, which alone takes longer than all that is allowed."""
    loaded = imported_by("--version")

    assert {
        m for m in loaded if m.partition(".")[0] in ("click", "msgspec", "rich", "psutil")
    } == set()
    assert {m for m in loaded if m.startswith("koboshi")} == {
        "koboshi",
        "koboshi._version",
        "koboshi.cli",
        "koboshi.cli.main",
        "koboshi.errors",
    }


def test_help_imports_no_command() -> None:
    """The list of commands is a table."""
    loaded = imported_by("--help")

    assert {m for m in loaded if m.partition(".")[0] in ("msgspec", "rich", "psutil")} == set()
    assert loaded & {verb.module for verb in VERBS.values()} == set()


def test_version_is_said_by_both_doors() -> None:
    """Before click, and through it."""
    assert run("--version").out == f"koboshi {__version__}\n" == run("--version", "--help").out
    ran = subprocess.run(
        [*COMMAND, "--version"], env=ENVIRONMENT, capture_output=True, check=True, text=True
    )
    assert ran.stdout == f"koboshi {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"]])
def test_help_lists_every_command(argv: list[str]) -> None:
    """With an example and the exit codes."""
    ran = run(*argv)

    assert ran.code == 0
    assert [verb.help for verb in VERBS.values() if verb.help not in ran.out] == []
    assert "Exit codes:" in ran.out


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"demo"}))
def test_each_command_has_help_with_an_example(verb: str) -> None:
    """And names its exit codes."""
    ran = run(verb, "--help")

    assert (ran.code, ran.err) == (0, "")
    assert f"  koboshi {verb}" in ran.out
    assert "Exit codes:" in ran.out


# --- a person's mistakes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "message", "hint"),
    [
        (["wy"], "no such command 'wy'", "try 'koboshi --help'"),
        (["why"], "missing argument 'NAME'", "try 'koboshi why --help'"),
        (["why", "sim", "--evnt", "e1"], "no such option '--evnt'", "try 'koboshi why --help'"),
        (["why", "nobody"], "expected the name of an agent, not 'nobody'", "with a journal: sim"),
        (["events", "nobody"], "expected the name of an agent, not 'nobody'", "journal: sim"),
        (["replay", "nobody"], "expected the name of an agent, not 'nobody'", "journal: sim"),
        (["why", "../sim"], "expected an agent name of letters", ""),
        (["events", "../../etc"], "expected an agent name of letters", ""),
        (["events", "a\x1b[2Jb"], "not 'a\\x1b[2Jb'", ""),
        (["why", ""], "expected an agent name of letters", ""),
        (["replay", "../nowhere"], "../nowhere: no such file or directory", ""),
        (["replay", "missing.jsonl"], "missing.jsonl: no such file or directory", ""),
        (["replay", "."], "expected an agent name", ""),
        (["replay", "./state"], "./state: expected a journal, and there is no '*.jsonl'", ""),
        (["events", "sim", "--since", "yesterday"], "expected a time such as '90s'", ""),
        (["events", "sim", "--since", "-1h"], "expected a time such as '90s'", ""),
        (["events", "sim", "--since", "9" * 400 + "d"], "expected a time such as '90s'", ""),
        (
            ["events", "sim", "--type", "run-died"],
            "not 'run-died'",
            "types: run-started, run-exited",
        ),
        (["why", "sim", "--event", "e9999"], "expected the id of an event from e1 to e", ""),
        (["why", "sim", "--event", "x"], "expected the id of an event such as 'e42', not 'x'", ""),
        (["why", "sim", "--event", "e٤"], "expected the id of an event such as 'e42'", ""),
        (
            ["rules", "XYZ999"],
            "expected a rule code such as 'RUN001'",
            "'koboshi rules' lists them",
        ),
    ],
)
def test_a_mistake_is_a_sentence(argv: list[str], message: str, hint: str, state: Path) -> None:
    """Exit 2, nothing on stdout, nothing changed on disk."""
    before = disk(state)
    ran = run(*argv)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("koboshi: ")
    assert message in ran.err.splitlines()[0]
    assert hint in (ran.err.splitlines()[1:] or [""])[0]
    assert disk(state) == before


@pytest.mark.parametrize("group", ["loop", "notify"])
def test_a_group_without_a_word_shows_its_page(
    group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In rows, as `--help` does; it is a mistake all the same."""
    assert main([group]) == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"Usage: koboshi {group} ")
    assert "\nCommands:\n" in said.err


def test_without_any_journal_nobody_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh machine; and no folder is made by asking."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "none"))
    ran = run("why", "sim")

    assert (ran.code, "none yet" in ran.err) == (2, True)
    assert disk(tmp_path) == {}


# --- journals that cannot be used ----------------------------------------------------------------


def newer(record: dict[str, Any]) -> None:
    """As if version 99 had written it."""
    record["v"] = 99


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _junk(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def _junk_in_one_line(path: Path) -> None:
    path.write_bytes(b"\x7fELF\x00\xff\x1b[2J" * 40)


def _newer(path: Path) -> None:
    edit(path, 1, newer)


def _flipped(path: Path) -> None:
    """One letter in the world; the checksum stays."""
    head, rest = path.read_bytes().split(b"\n", 1)
    assert b'"agent_type":"scripted"' in head
    path.write_bytes(head.replace(b'"scripted"', b'"scriptex"', 1) + b"\n" + rest)


def _hole(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][: len(lines[2]) // 2]
    path.write_bytes(b"\n".join(lines))


def _headless(path: Path) -> None:
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])


def _deep(path: Path) -> None:
    whole = path.read_bytes().rpartition(b"\n")[0]
    path.write_bytes(whole + b"\n" + b"[" * 100_000 + b"\n{}\n")


def _endless(path: Path) -> None:
    edit(path, 2, lambda record: record.update(seq="1e999"))


DAMAGE: list[tuple[Callable[[Path], None], str]] = [
    (_empty, "2.jsonl: expected the beginning of a journal segment, found none"),
    (_junk, "2.jsonl, line 1: expected a journal record"),
    (_junk_in_one_line, "2.jsonl"),
    (_newer, "2.jsonl, line 1: expected a journal of version 1 or older, not 99"),
    (_flipped, "2.jsonl, line 1: expected the snapshot to match its checksum"),
    (_hole, "2.jsonl, line 3: expected a journal record"),
    (_headless, "2.jsonl, line 1: expected the beginning of a segment"),
    (_deep, "expected a journal record"),
    (_endless, "2.jsonl, line 2: expected a journal record"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE, ids=lambda d: getattr(d, "__name__", ""))
@pytest.mark.parametrize("argv", [*READERS, ["replay", "the file"]], ids=" ".join)
def test_a_damaged_journal_is_named(
    damage: Callable[[Path], None], message: str, argv: list[str], state: Path, journal: Path
) -> None:
    """Exit 3, the file and the line on stderr, no control characters, nothing repaired."""
    path = sorted(journal.iterdir())[1]
    damage(path)
    before = disk(state)
    more = ["--all"] if argv[0] == "why" else []
    ran = run(*(str(path) if word == "the file" else word for word in argv), *more)

    assert ran.code == 3
    assert message in ran.err
    assert ran.err.startswith("koboshi: ")
    assert not set(ran.err) & set("\x00\x1b\x9b")
    assert disk(state) == before


@pytest.mark.parametrize("argv", READERS, ids=" ".join)
def test_a_torn_last_line_is_no_damage(argv: list[str], state: Path, journal: Path) -> None:
    """A supervisor died while writing it: what stands before it is shown."""
    path = max(journal.iterdir())
    path.write_bytes(path.read_bytes()[:-20])
    before = disk(state)
    ran = run(*argv)

    assert (ran.code, ran.err) == (0, "")
    assert disk(state) == before


@pytest.mark.parametrize("argv", READERS, ids=" ".join)
def test_a_folder_in_the_place_of_a_segment_is_named(argv: list[str], journal: Path) -> None:
    """It has the name of one."""
    (journal / "2099-01-01.0001.jsonl").mkdir()
    ran = run(*argv)

    assert ran.code == 2
    assert "2099-01-01.0001.jsonl: is a directory" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
@pytest.mark.parametrize("argv", READERS, ids=" ".join)
def test_an_unreadable_segment_is_named(argv: list[str], journal: Path) -> None:
    """Permission denied, in words."""
    max(journal.iterdir()).chmod(0)
    ran = run(*argv)

    assert ran.code == 2
    assert "permission denied" in ran.err


# --- what agents write ---------------------------------------------------------------------------

HOSTILE = "\x1b[2J日本語\x1b]0;owned\x07\x9b31m\r\x08\u202e " + "長い" * 60


def _poison(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Every text an agent can choose, replaced."""
    if isinstance(value, dict):
        chosen = ("message", "text", "question", "subject", "reason", "why", "draft")
        return {
            k: HOSTILE
            if k in chosen and isinstance(v, str)
            else [HOSTILE]
            if k in ("evidence", "lines")
            else _poison(v)
            for k, v in value.items()
        }
    return [_poison(v) for v in value] if isinstance(value, list) else value


@pytest.fixture
def poisoned(journal: Path) -> Path:
    """The journal of an agent that knows terminals."""
    for path in journal.iterdir():
        *whole, _ = path.read_bytes().split(b"\n")
        lines = [edited(line, lambda record: record.update(_poison(record))) for line in whole]
        path.write_bytes(b"\n".join(lines) + b"\n")
    return journal


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("json_too", [False, True])
@pytest.mark.parametrize("argv", [*READERS, ["why", "sim", "--all"]], ids=" ".join)
def test_what_an_agent_wrote_does_not_reach_the_terminal_raw(
    argv: list[str],
    columns: int,
    poisoned: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    json_too: bool,
) -> None:
    """No escape sequence, no carriage return, no turned direction; nothing wider than the page."""
    assert poisoned.is_dir()
    monkeypatch.setenv("COLUMNS", str(columns))
    ran = run(*argv, *(["--json"] if json_too else []))

    assert ran.code in (0, 1)
    assert "日本語" in ran.out
    assert not set(ran.out) & set("\x00\x07\x08\r\x1b\x7f\x9b\u202e")
    if not json_too:
        assert max(map(width, ran.out.splitlines())) <= columns


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("argv", [*READERS, ["rules"], ["rules", "RUN001"]], ids=" ".join)
def test_pages_fit_the_terminal(
    argv: list[str], columns: int, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 40 columns too; piped output has no colours."""
    assert state.is_dir()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.delenv("NO_COLOR")
    ran = run(*argv)

    assert ran.code == 0
    assert max(map(width, ran.out.splitlines())) <= columns
    assert "\x1b" not in ran.out


def test_colours_are_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not for a dumb one."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint("x", "red") == "\x1b[31mx\x1b[0m"
    assert paint("x", "") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("x", "red") == "x"


@pytest.mark.parametrize(
    ("text", "room", "cut", "rows"),
    [
        ("short", 10, "short", ["short"]),
        ("日本語", 6, "日本語", ["日本語"]),
        ("日本語", 5, "日本…", ["日本", "語"]),
        ("日本語", 4, "日…", ["日本", "語"]),
        ("a bc def", 5, "a bc…", ["a bc", "def"]),
        ("abcdef", 4, "abc…", ["abcd", "ef"]),
        ("", 4, "", [""]),
        ("か\u3099x", 3, "か\u3099x", ["か\u3099x"]),
    ],
)
def test_columns_are_counted_not_characters(
    text: str, room: int, cut: str, rows: list[str]
) -> None:
    """A Japanese character takes two, a mark on it none."""
    assert clip(text, room) == cut
    assert list(wrap(text, room)) == rows


# --- the surroundings ----------------------------------------------------------------------------


def test_a_closed_pipe_is_quiet(state: Path) -> None:
    """`| head -1` ends it without a word, in the C locale too."""
    journal = lay_down(state, "many")
    newest = max(journal.iterdir())
    head, *rest = newest.read_bytes().splitlines(keepends=True)
    newest.write_bytes(head + b"".join(rest) * 200)
    ran = subprocess.Popen(
        [*COMMAND, "events", "many", "--json"],
        env={**ENVIRONMENT, "KOBOSHI_STATE": str(state), "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ran.stdout is not None
    assert ran.stderr is not None
    assert json.loads(ran.stdout.readline())["id"] == "e1"
    ran.stdout.close()

    assert ran.stderr.read() == b""
    assert ran.wait(20) == 0
    ran.stderr.close()


@pytest.mark.parametrize("argv", [["--version"], ["rules"], ["why", "sim"]], ids=" ".join)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_a_sentence(argv: list[str], state: Path) -> None:
    """Exit 4, one line."""
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [*COMMAND, *argv],
            env={**ENVIRONMENT, "KOBOSHI_STATE": str(state)},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )

    assert (ran.returncode, ran.stderr) == (4, "koboshi: no space left on device\n")


def test_help_is_said_in_ascii_too() -> None:
    """A stream that cannot say `·` is no reason for a traceback."""
    ran = subprocess.run(
        [*COMMAND, "--help"],
        env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
        text=True,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Exit codes: 0 fine" in ran.stdout


def test_an_error_of_the_machine_names_its_file() -> None:
    """In lower case, as all messages."""
    assert sentence(PermissionError(13, "Permission denied", "/x")) == "/x: permission denied"
    assert sentence(OSError("what")) == "what"


def test_ctrl_c_is_quiet(state: Path) -> None:
    """130, and not a word."""
    ran = subprocess.Popen(
        [*COMMAND, "events", "sim", "--follow"],
        env={**ENVIRONMENT, "KOBOSHI_STATE": str(state)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ran.stdout is not None
    assert b"e1 P2 supervisor-started" in ran.stdout.readline()
    ran.send_signal(signal.SIGINT)
    _, complaints = ran.communicate(timeout=20)

    assert (ran.returncode, complaints) == (130, b"")


def test_main_takes_the_words_of_the_shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without arguments of its own."""
    monkeypatch.setattr(sys, "argv", ["koboshi", "--version"])

    assert main() == 0
    assert capsys.readouterr().out == f"koboshi {__version__}\n"
