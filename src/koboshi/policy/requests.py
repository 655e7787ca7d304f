"""What an agent wants, and what is thought of it: values only."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from koboshi.core.readings import PromptKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the agent wants, from a hook's payload or from a dialog on its screen."""

    kind: PromptKind
    tool: str = ""  #: "Bash", "Edit", "mcp__server__tool", "shell" …; empty when not known
    command: str = ""  #: a command line for a shell
    paths: tuple[str, ...] = ()  #: files it reads or writes, as told; may be relative to `cwd`
    writes: bool = True  #: whether the paths are written
    domains: tuple[str, ...] = ()  #: hosts it talks to
    question: str = ""  #: the words asked
    options: tuple[str, ...] = ()  #: the choices offered
    several: bool = False  #: more than one of them may be picked
    arguments: tuple[tuple[str, str], ...] = ()  #: what a server's tool is given: name, text
    complete: bool = True  #: False: cut off, or not to be proven; never allowed
    cwd: str = ""  #: the folder in which it would happen
    written: bool = False  #: as the agent wrote it down itself


class Word(enum.StrEnum):
    """What is said to a request."""

    ALLOW = "allow"  #: Yes
    DENY = "deny"  #: No, and the agent is told why
    ASK = "ask"  #: A person says


_STRICTNESS = (Word.ALLOW, Word.ASK, Word.DENY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A verdict, which rule says so, and why in one sentence."""

    verdict: Word
    rule: str  #: "answers.rule[2]", "builtin:force-push", "default", "unparsed" …
    why: str
    always: bool = False  #: the owner asked for "always" instead of "once"
    text: str = ""  #: to a question: the option or the words to answer with


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the agent works; `resolve` makes a path absolute and follows its links."""

    worktree: str
    home: str
    resolve: Callable[[str], str]
    guarded: tuple[str, ...] = ()  #: koboshi's own folders, where they are not the usual ones


def stricter(one: Opinion, other: Opinion) -> Opinion:
    """The stricter of two; the first where they are equally strict."""
    first, second = (_STRICTNESS.index(each.verdict) for each in (one, other))
    return one if first >= second else other
