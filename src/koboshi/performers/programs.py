"""What a run is started with: the words that the agent was begun with, or its owner's own line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from koboshi.core.events import Origin

if TYPE_CHECKING:
    from koboshi.core.actions import Start

    from .hands import Hands

_SHELL = ("/bin/sh", "-c")
#: Only a shell knows what these mean.
_PUNCTUATION = frozenset("();<>|&")


def argv(action: Start, hands: Hands) -> tuple[str, ...]:
    """The whole command line, with what names its session."""
    adapter, program = hands.adapter, words(action, hands)
    if needs_shell(action, hands):
        return program
    if action.origin is Origin.RESUMED:
        return adapter.resume_argv(program=program, session=action.session)
    return adapter.argv(program=program, session=action.session)


def session(action: Start, hands: Hands) -> str:
    """The session that the run has; empty where the CLI picks one that is not known yet."""
    if needs_shell(action, hands):
        return ""
    if action.origin is Origin.RESUMED:
        return action.session
    return hands.adapter.session_at_start(program=words(action, hands), session=action.session)


def words(action: Start, hands: Hands) -> tuple[str, ...]:
    """The program and its words."""
    line = _line(action, hands)
    if not line:
        return hands.program.argv
    return _split(line) or (*_SHELL, line)


def needs_shell(action: Start, hands: Hands) -> bool:
    """Whether the line is more than words: nothing can be added to it then."""
    line = _line(action, hands)
    return bool(line) and not _split(line)


def _line(action: Start, hands: Hands) -> str:
    """The owner's line for it; the first run is what a person typed."""
    settings = hands.view().settings
    if action.origin is Origin.FIRST:
        return ""
    again = settings.restart_command if action.origin is Origin.RESUMED else ""
    return again or settings.start_command


def _split(line: str) -> tuple[str, ...]:
    """The words of a line; none where only a shell can read it."""
    if "$" in line or "`" in line:
        return ()
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        found = tuple(lexer)
    except ValueError:  # a quote that is not closed: the shell will say so
        return ()
    return () if any(_PUNCTUATION.issuperset(word) for word in found) else found
