"""`koboshi inspect`, as a person and as a script use it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from koboshi.cli.inspect import inspect

SCREENS = Path(__file__).parents[1] / "cases" / "screens" / "scripted"
SRC = Path(__file__).parents[2] / "src"
KEYS = ["status", "reason", "evidence", "prompt", "context", "limit", "error", "draft"]


def run(*argv: str, stdin: str | bytes = "") -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(inspect, argv, input=stdin)


def screen(case: str) -> str:
    """The text of a case."""
    return (SCREENS / case / "screen.txt").read_text("utf-8")


def lines(result: Result) -> list[dict[str, object]]:
    """The JSON lines on stdout."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_json_has_exactly_the_public_keys() -> None:
    """Options are texts without numbers, `selected` counts from 0."""
    result = run("--agent", "scripted", "--json", str(SCREENS / "asking-permission" / "screen.txt"))
    (reading,) = lines(result)

    assert result.exit_code == 0
    assert list(reading) == KEYS
    assert reading["prompt"] == {
        "kind": "permission",
        "question": "Do you want to proceed?",
        "options": [
            "Yes",
            "Yes, and don't ask again for rm commands",
            "No, and tell it what to do differently",
        ],
        "selected": 0,
        "subject": "rm -rf build",
    }


@pytest.mark.parametrize(
    ("case", "argv", "expected"),
    [
        ("idle-draft", (), "draft:    half a thought"),
        ("idle-unknown-command", (), "context:  73 % used, 27 % left"),
        ("limited", ("--at", "1763200001"), "limit:    session, resets 2025-11-15 10:46:41 UTC"),
        ("limited", (), "limit:    session, when it resets is not known"),
        ("working-retrying", (), "error:    api, attempt 4 of 10"),
        ("failed-api-error", (), "status:   failed (api error)"),
        ("asking-permission", (), "options:  ❯ 1. Yes [once]"),
        ("asking-question", (), "            3. どちらでもよい [other]"),
        ("unknown-dialog-cut-short", (), "status:   unknown (no live region)"),
    ],
)
def test_people_get_a_fact_per_line(case: str, argv: tuple[str, ...], expected: str) -> None:
    """Labels in one column, evidence last."""
    result = run("--agent", "scripted", *argv, "-", stdin=screen(case))

    assert result.exit_code == 0
    assert expected in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_what_a_screen_holds_cannot_move_the_readers_terminal() -> None:
    """Control characters are shown as a mark, colours of a capture are dropped."""
    text = screen("idle-draft").replace("half", "\x1b[31mha\x9b2Jlf\x1b[0m")

    result = run("--agent", "scripted", stdin=text)
    as_json = run("--agent", "scripted", "--json", stdin=text)

    assert "draft:    ha\ufffd2Jlf a thought" in result.stdout
    assert "\x9b" not in as_json.stdout
    assert lines(as_json)[0]["draft"] == "ha\x9b2Jlf a thought"


def test_thousands_of_lines_are_judged_in_one_go() -> None:
    """One result per line, in order."""
    names = ["idle-fresh", "working", "asking-permission", "limited"] * 500
    records = [{"agent": "scripted", "screen": screen(name)} for name in names]

    result = run("--jsonl", "-", stdin="\n".join(map(json.dumps, records)))

    assert result.exit_code == 0
    assert [name.split("-")[0] for name in names] == [line["status"] for line in lines(result)]


@pytest.mark.parametrize(
    ("more", "status", "resets"),
    [
        ({"at": 1763200001}, "limited", 1763203601.0),
        ({"meta": {"t": 1763200001.5}}, "limited", 1763203601.0),
        ({"meta": {"pane_current_command": "bash"}}, "gone", None),
        ({"pane_current_command": "zsh"}, "gone", None),
        ({"pane_title": "x", "cols": 80, "rows": 24, "screen_ansi": "x"}, "limited", None),
        ({"meta": None, "at": None}, "limited", None),
    ],
)
def test_what_is_known_besides_the_screen_counts(
    more: dict[str, object], status: str, resets: float | None
) -> None:
    """At the top of the record or nested under `meta`."""
    record = {"agent": "scripted", "screen": screen("limited"), **more}
    (reading,) = lines(run("--jsonl", stdin=json.dumps(record)))
    limit = reading["limit"]

    assert status == reading["status"]
    assert resets == (limit["resets_at"] if isinstance(limit, dict) else None)


def test_a_bad_line_is_named_and_the_others_go_on() -> None:
    """Exit 2 at the end; stdout holds results only."""
    good = json.dumps({"agent": "scripted", "screen": ""})
    bad = ["{", "[]", "{}", '{"agent": "clod", "screen": ""}', '{"agent": "scripted"}']
    bad += [
        '{"agent": "scripted", "screen": 3}',
        '{"agent": "scripted", "screen": "", "at": "noon"}',
    ]
    bad += [
        '{"agent": "scripted", "screen": "", "meta": []}',
        '{"agent": 1, "screen": ""}',
        "\udcff",
    ]
    bad += ['{"agent": "scripted", "screen": "", "at": 1' + "0" * 400 + "}", "[" * 100_000]
    stdin = "\n".join((good, *bad, good)).encode("utf-8", "surrogateescape")

    result = run("--jsonl", stdin=stdin)

    assert result.exit_code == 2
    assert [line["status"] for line in lines(result)] == ["starting", "starting"]
    complaints = [
        line for line in result.stderr.splitlines() if line.startswith("koboshi inspect: ")
    ]
    assert [f"stdin, line {n}:" for n in range(2, len(bad) + 2)] == [
        complaint.split(": ")[1] + ":" for complaint in complaints
    ]


def test_the_agent_of_all_lines_may_be_given_once() -> None:
    """A line may still name its own."""
    stdin = '{"screen": "x"}\n\n{"agent": "scripted", "screen": ""}\n'

    result = run("--jsonl", "--agent", "generic", stdin=stdin)

    assert [line["reason"] for line in lines(result)] == ["program_not_known", "blank_screen"]


@pytest.mark.parametrize(
    ("argv", "stdin", "message"),
    [
        (("--agent", "scripted", "missing.txt"), "", "missing.txt: no such file or directory"),
        (("--agent", "scripted", "."), "", ".: expected a file, not a directory"),
        (
            ("--agent", "clod", "-"),
            "x",
            "expected one of claude, codex, gemini, generic, opencode, scripted, not 'clod'",
        ),
        (
            ("-",),
            "x",
            "expected --agent NAME, one of claude, codex, gemini, generic, opencode, scripted",
        ),
        (("--agent", "scripted"), "", "stdin: expected a screen, found nothing"),
        (("--agent", "scripted"), b"\x7fELF\0\0\1\2" * 99, "stdin: expected the text of a screen"),
        (("--agent", "scripted"), bytes(range(128, 256)) * 9, "not binary junk"),
        (("--jsonl",), "", "stdin: expected a JSON object per line, found nothing"),
        (("--jsonl", "missing.jsonl"), "", "missing.jsonl: no such file or directory"),
        (("--agent", "scripted", "a\0b"), "", "null"),
    ],
)
def test_input_that_cannot_be_used_is_said(
    argv: tuple[str, ...],
    stdin: str | bytes,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit 2, a message on stderr, nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    result = run(*argv, stdin=stdin)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("koboshi inspect: ")
    assert message in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    """Permission denied, in words."""
    secret = tmp_path / "secret"
    secret.touch(mode=0)

    assert "permission denied" in run("--agent", "scripted", str(secret)).stderr


def test_help_shows_an_example_and_the_exit_codes() -> None:
    """The page a person sees first."""
    page = run("--help").stdout

    assert "koboshi inspect --agent codex --json screen.txt" in page
    assert "Exit codes:" in page


COMMAND = [sys.executable, "-c", "from koboshi.cli.inspect import inspect; inspect()"]
# Buffered, as in a shell: what is left in the buffer fails at the exit, not at the write.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SRC), "LC_ALL": "C", "PYTHONUNBUFFERED": ""}


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """`| head -1` ends it without a word, in the C locale too."""
    many = tmp_path / "many.jsonl"
    many.write_text(
        (json.dumps({"agent": "scripted", "screen": screen("asking-question")}) + "\n") * 5000
    )
    ran = subprocess.Popen(
        [*COMMAND, "--jsonl", str(many)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ran.stdout is not None
    assert ran.stderr is not None
    assert b"asking" in ran.stdout.readline()
    ran.stdout.close()

    assert ran.stderr.read() == b""
    assert ran.wait(20) == 0
    ran.stderr.close()


def test_ctrl_c_is_quiet() -> None:
    """130, and no traceback."""
    ran = subprocess.Popen(
        [*COMMAND, "--jsonl"],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ran.stdin is not None
    ran.stdin.write(b'{"agent": "scripted", "screen": ""}\n' * 2000)
    ran.stdin.flush()
    assert ran.stdout is not None
    ran.stdout.read(1)  # it is inside the command now
    ran.send_signal(signal.SIGINT)
    _, complaints = ran.communicate(timeout=20)

    assert (ran.returncode, complaints) == (130, b"")
