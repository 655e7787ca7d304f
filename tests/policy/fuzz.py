"""Random command lines and hook payloads, by the hundred thousand; `make fuzz`.

Three claims: nothing raises; without rules nothing is allowed; and what is allowed because it only
runs `good` does, in a real bash, not run `evil`. The third one is what the parser is for: wherever
it reads a line differently from a shell, a line can be found that says so.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from koboshi.core.readings import Meaning, Option, Prompt, PromptKind
from koboshi.policy.dialogs import request_of_prompt
from koboshi.policy.hooks import request_of_hook
from koboshi.policy.judging import judge_bare
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Request, Surroundings, Word
from tests.policy.test_commands import table
from tests.policy.worlds import AROUND, GENEROUS, POLICY

_SHELL = [
    *(
        "git",
        "rm",
        "-rf",
        "push",
        "-f",
        "status",
        "~",
        "/srv",
        "../x",
        "$X",
        "${X}",
        "$(id)",
        "`id`",
    ),
    *("*", "?", "[a]", "{a,b}", "{1..3}", ">", ">>", "<", "<<EOF", "<<'E'", "<<<", "|", "|&", "||"),
    *(
        "&&",
        ";",
        "&",
        "(",
        ")",
        "{",
        "}",
        "((",
        "))",
        "[[",
        "]]",
        "!",
        "#",
        "\\",
        "'",
        '"',
        "$'",
        '$"',
    ),
    *(
        "\n",
        "\t",
        "=",
        "X=1",
        "PATH=x",
        "if",
        "then",
        "else",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
    ),
    *(
        "esac",
        "while",
        "function",
        "sh",
        "bash",
        "-c",
        "-lc",
        "eval",
        "exec",
        "env",
        "timeout",
        "{}",
    ),
    *(
        "xargs",
        "find",
        "-exec",
        "\\;",
        "+",
        "sudo",
        "curl",
        "wget",
        "cd",
        "..",
        "-",
        "--",
        "@",
        ":",
    ),
    *("%", "^", ",", "é", "日本", "\u202e", "\x1b", "\x00", "\r", "\u00a0"),
]
#: Lines of `good` with room for words ({w}) and for text ({t}) that only looks as if it ran.
_HARMLESS = [
    *(
        "good {w}",
        "good {w} {w}",
        "(good {w})",
        "{{ good {w}; }}",
        "good {w} && good {w}",
        "! good {w}",
    ),
    *(
        "good <<E\n{t}\nE\n",
        "good <<'E'\n{t}\nE\ngood {w}",
        "good <<-E {w}\n{t}\n\tE\n",
        "good {w} | good",
    ),
    *(
        "good # {t}",
        "good {w}# {t}\ngood",
        'good "{t}"',
        "good '{t}'",
        "good $'{t}'",
        "good \\\n {w}",
    ),
    *(
        "if good; then good {w}; fi",
        "good $(good {w})",
        "[[ {w} == {w} ]] && good",
        "good {w}\ngood {w}",
    ),
    *(
        "CI=1 good {w}",
        "env CI=1 good {w}",
        "bash -c 'good {w}'",
        "eval good {w}",
        "good {w} < /dev/null",
    ),
    *(
        "good \"$(cat <<'E'\n{t}\nE\n)\"",
        "good {w} 2>&1 >/dev/null",
        "time good {w}",
        "good {w} & good",
    ),
    *(
        "case {w} in {w}) good;; esac",
        "good {{{w},{w}}}",
        'sh -c "good {w}"',
        "good ${{x:-{w}}} {w}",
    ),
]
_BITS = [
    *(
        "evil",
        "evil",
        "evil",
        "good",
        "a",
        " ",
        " ",
        " ",
        "\n",
        "\n",
        "\t",
        ";",
        "&",
        "|",
        "'",
        '"',
        "\\",
    ),
    *(
        "$",
        "`",
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        "#",
        "=",
        "!",
        "*",
        "[",
        "]",
        "E",
        "E",
        "<<E",
        "<<'E'",
        "\nE\n",
    ),
    *(
        "$(evil)",
        "`evil`",
        "${x:-evil}",
        "\\\n",
        "''",
        '""',
        "$'",
        "\\x65vil",
        "<(evil)",
        "-c",
        "~",
        ",",
    ),
]
_KEYS = ["command", "file_path", "url", "questions", "question", "options", "label", "path", "plan"]
_TOOLS = [
    "Bash",
    "shell",
    "Edit",
    "Read",
    "WebFetch",
    "apply_patch",
    "AskUserQuestion",
    "mcp__a__b",
]

HARMLESS_POLICY = Policy(
    rules=(AnswerRule(do=Word.ALLOW, name="good", commands=("good *", "good", "[ *", "[[ *")),)
)
_SECONDS = 3.0


def random_line(draw: random.Random) -> str:
    """Characters, words of a shell, or a row of the table with a few changes."""
    way = draw.random()
    if way < 0.2:
        size = draw.randrange(60)
        return bytes(draw.randrange(256) for _ in range(size)).decode("utf-8", "surrogateescape")
    if way < 0.6:
        return _joined(draw, _SHELL, 14)
    line = list(draw.choice(_TABLE))
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(line) + 1)
        line[at : at + draw.randrange(3)] = draw.choice(_SHELL)
    return "".join(line)


_TABLE = [command for _, _, command in table()]


def _joined(draw: random.Random, words: list[str], most: int) -> str:
    parts = []
    for _ in range(draw.randrange(1, most)):
        parts.append(draw.choice(words))
        parts.append(draw.choice(["", " ", " ", " ", "\n"]))
    return "".join(parts)


def harmless_line(draw: random.Random) -> str:
    """A line that should run `good`, with `evil` in its words, and sometimes a sign too many."""

    def text(most: int) -> str:
        return "".join(draw.choice(_BITS) for _ in range(draw.randrange(most)))

    line = draw.choice(_HARMLESS)
    while "{w}" in line or "{t}" in line:
        line = line.replace("{w}", _word(draw, text(5)), 1).replace("{t}", text(8), 1)
    line = line.replace("{{", "{").replace("}}", "}")
    for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
        at = draw.randrange(len(line) + 1)
        line = line[:at] + draw.choice(_BITS) + line[at:]
    return line


def _word(draw: random.Random, text: str) -> str:
    ways = ["evil", "'evil'", "e\\vil", "'{}'", '"{}"', "$'{}'", "{}", "\\{}"]
    return draw.choice(ways).replace("{}", text)


def random_json(draw: random.Random, depth: int = 0) -> object:
    """Any value that a hook may send."""
    way = draw.randrange(8 if depth < 4 else 5)
    if way < 3:
        return draw.choice([None, True, -1, 1e308, float("nan"), "", "x" * 70_000, "\ud800"])
    if way < 5:
        return random_line(draw)
    if way < 6:
        return [random_json(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {draw.choice(_KEYS): random_json(draw, depth + 1) for _ in range(draw.randrange(4))}


def check_line(draw: random.Random) -> None:
    """One line under three policies."""
    line = random_line(draw)
    request = Request(kind=PromptKind.PERMISSION, tool="Bash", command=line)
    for policy in (POLICY, GENEROUS):
        judge_bare(request, policy, AROUND)
    found = judge_bare(request, Policy(), AROUND)
    assert found.verdict is not Word.ALLOW, line


def check_payload(draw: random.Random) -> None:
    """One payload; what is not complete is not allowed."""
    payload = {
        "hook_event_name": draw.choice(["PermissionRequest"] * 9 + ["Stop"]),
        "tool_name": draw.choice([*_TOOLS, random_json(draw)]),
        "tool_input": random_json(draw),
        "cwd": draw.choice(["/home/u/src/app", random_json(draw)]),
    }
    request = request_of_hook(payload)
    if request is not None:
        found = judge_bare(request, GENEROUS, AROUND)
        assert request.complete or found.verdict is not Word.ALLOW, payload


_TOOLS = ["Bash", "Edit", "Read", "WebFetch", "WebSearch", "apply_patch", "mcp__a__b", ""]
_QUESTIONS = [
    "Do you want to proceed?",
    "Would you like to run the following command?",
    "Would you like to make the following edits?",
    "Allow execution of [Shell]?",
    'Allow execution of MCP tool "a" from server "b"?',
    'Allow the a MCP server to run tool "b"?',
    "Apply this change?",
    "Do you want to make this edit to a.py?",
    "Do you want to allow Claude to fetch this content?",
    "Permission required",
]


def check_prompt(draw: random.Random) -> None:
    """One dialog; what is not complete is not allowed, and no row of a wrapped one is."""
    subject = random_line(draw)
    question = draw.choice([*_QUESTIONS, random_line(draw)])
    options = [Option(text=random_line(draw), meaning=each) for each in Meaning]
    prompt = Prompt(
        kind=draw.choice([PromptKind.PERMISSION] * 9 + list(PromptKind)),
        question=question,
        subject=subject,
        options=tuple(draw.sample(options, 2)),
        tool=draw.choice([*_TOOLS, random_line(draw)]),
    )
    cli = draw.choice(["claude", "codex", "gemini", "opencode", "scripted", ""])
    request = request_of_prompt(prompt, cli, "/home/u/src/app")
    found = judge_bare(request, GENEROUS, AROUND)
    assert request.complete or found.verdict is not Word.ALLOW, prompt
    assert judge_bare(request, Policy(), AROUND).verdict is not Word.ALLOW, prompt


class RealShell:
    """A bash in an empty folder in which `good` does nothing and `evil` leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._mark = folder / "work", folder / "mark"
        self._bin = folder / "bin"
        for each in (self._folder, self._bin):
            each.mkdir()
        self._program("good", "exit 0")
        self._program("evil", f': > "{self._mark}"')
        for name in ("env", "sh", "bash"):
            (self._bin / name).symlink_to(f"/usr/bin/{name}")
        self.ran = 0

    def _program(self, name: str, text: str) -> None:
        path = self._bin / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def check(self, draw: random.Random) -> None:
        """One line: where it is allowed, it is run."""
        line = harmless_line(draw)
        around = Surroundings(worktree=str(self._folder), home="/nowhere", resolve=os.path.realpath)
        request = Request(kind=PromptKind.PERMISSION, tool="Bash", command=line)
        if judge_bare(request, HARMLESS_POLICY, around).verdict is Word.ALLOW and "evil" in line:
            self.run(line)

    def run(self, line: str) -> None:
        """Run a line; complain when it ran `evil`."""
        self.ran += 1
        listens, held = os.pipe()
        child = subprocess.Popen(
            ["/usr/bin/env", "-i", f"PATH={self._bin}", "/usr/bin/bash", "-c", line],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(held,),
        )
        os.close(held)
        # Not only bash: what it left in the background holds the pipe, too.
        ended, _, _ = select.select([listens], [], [], _SECONDS)
        if not ended:
            os.killpg(child.pid, signal.SIGKILL)
        os.close(listens)
        child.wait()
        if self._mark.exists():
            self._mark.unlink()
            raise AssertionError(f"allowed, and it ran evil: {line!r}")


def repeat(check: Callable[[random.Random], None], count: int, seed: int) -> None:
    """A check that many times; each has a seed of its own, which is told when it fails."""
    for each in range(seed, seed + count):
        try:
            check(random.Random(each))
        except Exception as error:
            raise AssertionError(f"seed {each}: {error!r}") from error


def main() -> int:
    """Print what was done, and how long it took."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--count", type=int, default=1_000_000)
    reader.add_argument("--seed", type=int, default=0)
    asked = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shell = RealShell(Path(folder))
        # By what they cost: a line takes ten times as long as a payload, a real bash again as much.
        checks = {
            "lines": (check_line, 8),
            "payloads": (check_payload, 57),
            "prompts": (check_prompt, 33),
            "in a real bash": (shell.check, 2),
        }
        for name, (check, percent) in checks.items():
            began, count = time.monotonic(), asked.count * percent // 100
            repeat(check, count, asked.seed)
            sys.stdout.write(f"{count} {name}: {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
        sys.stdout.write(f"{shell.ran} lines were allowed and run; none ran evil\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
