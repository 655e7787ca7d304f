"""Command lines: what starts a run afresh, resumes one, goes on with the last, or runs headless.

Rule 1: what a person chose is kept; an option that would conflict with theirs is not added.
Rule 2: a resume never submits the start prompt again, and names its session itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from .words import Line, Words, extended, put_together, take_apart

if TYPE_CHECKING:
    from .grammar.starts import Form, StartGrammar


def fresh_argv(start: StartGrammar, program: Words, session: str, version: str) -> Words:
    """A fresh run, under that session id where the CLI takes one."""
    line = take_apart(program, start.words)
    if line.command and line.command not in start.session_commands:
        return program  # `codex login`: not an agent's run
    added = _missing(line, start.added(version))
    if not _names_session(start, line):
        added = (*added, *_filled(start.fresh_words(version), session=session))
    return extended(program, added) if added else program


def session_at_start(start: StartGrammar, program: Words, session: str, version: str) -> str:
    """The id that a fresh run has: a person's, ours, or (empty) one that the CLI picks itself."""
    line = take_apart(program, start.words)
    words = start.fresh_words(version)
    if not _names_session(start, line):
        return session if words else ""
    # `--session-id ID` and `--resume ID` name it; a name or `latest` is no id.
    named = (line.value(name) for name in start.which)
    return next((value for value in named if _is_id(value)), "")


def resumed_argv(start: StartGrammar, program: Words, session: str, version: str) -> Words:
    """A run that goes on where that session ended."""
    return _again(start, program, start.resume if session else start.last, session, version)


def continued_argv(start: StartGrammar, program: Words, version: str) -> Words:
    """A run that goes on with the last session of its folder."""
    return _again(start, program, start.last, "", version)


def headless_argv(start: StartGrammar, program: Words, prompt: str, session: str | None) -> Words:
    """One prompt without a terminal, in a session of its own or in that one."""
    form = start.headless_resumed if session else start.headless
    line = take_apart(program, start.words)
    folder = (start.folder, *line.bare[:1]) if start.folder and line.bare else ()
    kept = replace(
        line,
        command="",
        options=line.without(start.which | start.once | start.one_shot | form.drops),
        bare=(),
        ended=False,
    )
    filled = {"session": session or "", "prompt": prompt}
    end = (*_filled(form.options, **filled), *folder, *_filled(form.end, **filled))
    return put_together(kept, before=_filled(form.first, **filled), after=end)


def missing_env(start: StartGrammar, program: Words) -> Mapping[str, str]:
    """The variables that keep a run supervisable, but for those a person sets in these words."""
    given = {word.partition("=")[0] for word in program if "=" in word}
    return {name: value for name, value in start.env.items() if name not in given}


def _again(start: StartGrammar, program: Words, form: Form, session: str, version: str) -> Words:
    line = take_apart(program, start.words)
    if line.command and line.command not in start.session_commands:
        return program
    one_shot = line.has(start.one_shot)  # it is nothing without its prompt
    kept = replace(
        line,
        command="",
        options=line.without(start.which | start.once | form.drops),
        bare=line.bare if start.folder or one_shot else (),
        ended=line.ended and (bool(start.folder) or one_shot),
    )
    after = (*_missing(kept, start.added(version)), *_filled(form.options, session=session))
    return put_together(kept, before=_filled(form.first, session=session), after=after)


def _names_session(start: StartGrammar, line: Line) -> bool:
    return line.has(start.which) or bool(line.command)


def _missing(line: Line, groups: tuple[Words, ...]) -> Words:
    """The groups of words whose setting is not given already, whatever its value there."""
    given = [word.partition("=")[0] for option in line.options for word in option]
    return tuple(
        word for group in groups if group[-1].partition("=")[0] not in given for word in group
    )


def _filled(words: Words, **values: str) -> Words:
    """The words with `{session}` and `{prompt}` filled in; a prompt's own braces stay."""
    return tuple(_fill(word, values) for word in words)


def _fill(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        left, mark, right = word.partition("{" + name + "}")
        if mark:
            return left + value + right
    return word


def _is_id(value: str) -> bool:
    least = 8  # characters: `latest` and `5` are no ids
    return len(value) > least and any(c.isdigit() for c in value) and " " not in value
