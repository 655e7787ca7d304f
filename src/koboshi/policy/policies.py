"""What an owner said beforehand: ordered rules, answers to questions, and how they match."""

from __future__ import annotations

import functools
import re
import shlex
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .requests import Word
from .scenes import Scene, below
from .shell.calls import Call

#: Variables that change how something looks, not what it does.
PLAIN_VARIABLES = (
    "CI", "NODE_ENV", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TZ", "LANG", "LC_*", "COLUMNS",
    "LINES", "TERM", "DEBUG", "VERBOSE", "RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR",
    "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONUTF8", "GIT_TERMINAL_PROMPT", "GOOS",
    "GOARCH", "CGO_ENABLED", "DO_NOT_TRACK",
)  # fmt: skip
INSIDE, OUTSIDE = "inside", "outside"
#: The names under which agents' CLIs know a shell, a file that is read, and one that is written.
SHELL_TOOLS = ("Bash", "shell", "run_shell_command", "bash", "local_shell", "exec_command")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRule:
    """One `[[answers.rule]]`; what is empty does not matter, what is given must all fit."""

    do: Word
    name: str = ""  #: as it is told: `answers.rule[2]`
    tools: tuple[str, ...] = ()  #: globs
    commands: tuple[str, ...] = ()  #: words with globs; a `*` at the end is any further words
    paths: tuple[str, ...] = ()  #: `inside`, `outside`, or globs
    domains: tuple[str, ...] = ()  #: a host and all below it
    mcp: tuple[str, ...] = ()  #: `server/tool`, with globs
    always: bool = False
    reason: str = ""

    def takes_tool(self, tool: str) -> bool:
        """Whether it speaks of that tool."""
        if self.mcp:
            parts = tool.split("__", 2)
            known = len(parts) == 3 and parts[0] == "mcp"  # noqa: PLR2004 - mcp__server__tool
            if not known or not any(_mcp_fits("/".join(parts[1:]), each) for each in self.mcp):
                return False
        return not self.tools or any(fnmatchcase(tool, each) for each in self.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRule:
    """One `[[answers.question]]`: a pattern over the words asked, and what to answer."""

    pattern: str  #: with globs, upper and lower case alike
    answer: str
    name: str = ""

    def takes(self, question: str) -> bool:
        """Whether it speaks of that question."""
        return fnmatchcase(" ".join(question.lower().split()), self.pattern.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """All of `[answers]`; the empty one asks about everything that it does not deny."""

    rules: tuple[AnswerRule, ...] = ()
    stricter: tuple[AnswerRule, ...] = ()  #: of a project's file: asked besides, and only denies
    exact: tuple[str, ...] = ()  #: command lines that are allowed word for word
    questions: tuple[QuestionRule, ...] = ()
    plan: Word = Word.ASK
    trust: Word = Word.ASK
    variables: tuple[str, ...] = ()  #: besides the plain ones, with globs
    overridden: frozenset[str] = frozenset()  #: built-in denials that the owner gave up

    def takes_variable(self, name: str) -> bool:
        """Whether setting it is nothing to ask about."""
        return any(fnmatchcase(name, each) for each in (*PLAIN_VARIABLES, *self.variables))


def _mcp_fits(name: str, pattern: str) -> bool:
    server, _, tool = name.partition("/")
    wanted, _, wanted_tool = pattern.partition("/")
    return fnmatchcase(server, wanted) and fnmatchcase(tool, wanted_tool or "*")


def command_fits(call: Call, pattern: str, *, exact: bool) -> bool:
    """Whether the words fit; `exact`: also the folder of the program (`/x/git` is not `git`)."""
    wanted, rest = pattern_words(pattern), list(call.rest)
    if not wanted or not _program_fits(call, wanted[0], exact=exact):
        return False
    wanted = wanted[1:]
    if wanted and wanted[-1] == "*":
        wanted, rest = wanted[:-1], rest[: len(wanted) - 1]
    if len(rest) != len(wanted):
        return False
    return all(fnmatchcase(word, each) for word, each in zip(rest, wanted, strict=True))


def _program_fits(call: Call, wanted: str, *, exact: bool) -> bool:
    """A program may be called by any of its paths: what `./x.sh` forbids, `/a/x.sh` does not do."""
    if fnmatchcase(call.words[0].text, wanted):
        return True
    return not exact and fnmatchcase(call.name, wanted.rpartition("/")[2])


@functools.lru_cache(maxsize=1024)
def pattern_words(pattern: str) -> tuple[str, ...]:
    """The words of a pattern; empty for one whose quotes do not close."""
    try:
        return tuple(shlex.split(pattern))
    except ValueError:
        return ()


def path_fits(spot: str, pattern: str, scene: Scene, *, exact: bool) -> bool:
    """Whether a resolved path fits `inside`, `outside` or a glob; `src/*` is from the worktree.

    A path may hold globs itself, and then stands for many: all of them must fit where `exact`,
    else it is enough that one may.
    """
    if pattern == INSIDE:
        return scene.inside(spot)
    if pattern == OUTSIDE:
        return not scene.inside(spot)
    root = scene.worktree()
    if pattern.startswith("~/"):
        pattern = scene.home() + pattern[1:]
    elif not pattern.startswith("/"):
        pattern = f"{root}/{pattern}"
    if pattern.endswith("/**") and below(spot, pattern.removesuffix("/**")):
        return True
    if any(char in spot for char in "*?["):
        return not exact and (fnmatchcase(pattern, spot) or fnmatchcase(spot, pattern))
    return fnmatchcase(spot, pattern)


def domain_fits(domain: str, pattern: str) -> bool:
    """Whether it is that host or one below it: never a host whose name only ends alike."""
    host = domain.lower().rstrip(".")
    wanted = pattern.lower().removeprefix("*.").strip(".")
    return bool(host) and (host == wanted or host.endswith(f".{wanted}") or pattern == "*")


_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?", re.ASCII)


def is_host(domain: str) -> bool:
    """Whether it is a plain name of a host: what looks like another one is asked about."""
    return _HOST.fullmatch(domain.lower()) is not None
