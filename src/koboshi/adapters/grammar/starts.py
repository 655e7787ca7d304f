"""How a CLI is started: the `[start]` table of its manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from koboshi.adapters.versions import within
from koboshi.adapters.words import WordGrammar, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Words that keep a run supervisable, in the versions that know them."""

    words: Words
    versions: str = ""  #: a range; empty: all


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The words of one kind of start around a person's own options."""

    first: Words = ()  #: right behind the CLI's name
    options: Words = ()
    end: Words = ()  #: behind everything
    drops: frozenset[str] = frozenset()  #: a person's options that this kind does not take


@dataclass(frozen=True, slots=True, kw_only=True)
class StartGrammar:
    """What a start adds to the words of a person, and what a resume takes away from them."""

    words: WordGrammar = field(default_factory=WordGrammar)
    which: frozenset[str] = frozenset()  #: options that say which session
    once: frozenset[str] = frozenset()  #: options that are for the first start alone
    one_shot: frozenset[str] = frozenset()  #: options that make it a headless run
    session_commands: frozenset[str] = frozenset()  #: subcommands that say which session
    folder: str = ""  #: the option for the bare word; empty: a bare word is a start prompt
    adds: tuple[Added, ...] = ()
    fresh: Added | None = None  #: how a fresh session gets its id; None: it picks one itself
    resume: Form = field(default_factory=Form)
    last: Form = field(default_factory=Form)  #: goes on with the last session of the folder
    headless: Form = field(default_factory=Form)
    headless_resumed: Form = field(default_factory=Form)
    env: dict[str, str] = field(default_factory=dict)

    def added(self, version: str) -> tuple[Words, ...]:
        """The words that a CLI of that version takes; of a version not known, only the safe."""
        return tuple(a.words for a in self.adds if not a.versions or within(version, a.versions))

    def fresh_words(self, version: str) -> Words:
        """The words that name a fresh session, where that version takes them."""
        if self.fresh is None:
            return ()
        known = not self.fresh.versions or within(version, self.fresh.versions)
        return self.fresh.words if known else ()


def read_start(raw: dict[str, Any]) -> StartGrammar:
    """The table, compiled; KeyError, TypeError or ValueError when it is not one."""
    sets = {key: frozenset(raw.get(key, ())) for key in ("one", "maybe", "many", "flags")}
    commands = frozenset(raw.get("commands", ()))
    return StartGrammar(
        words=WordGrammar(**sets, commands=commands),
        which=frozenset(raw.get("which", ())),
        once=frozenset(raw.get("once", ())),
        one_shot=frozenset(raw.get("one_shot", ())),
        session_commands=frozenset(raw.get("session_commands", ())),
        folder=raw.get("folder", ""),
        adds=tuple(map(_added, raw.get("adds", ()))),
        fresh=_added(raw["fresh"]) if "fresh" in raw else None,
        resume=_form(raw.get("resume", {})),
        last=_form(raw.get("last", {})),
        headless=_form(raw.get("headless", {})),
        headless_resumed=_form(raw.get("headless_resumed", {})),
        env=dict(raw.get("env", {})),
    )


def _added(raw: dict[str, Any]) -> Added:
    versions = raw.get("versions", "")
    if versions:
        within("0.0", versions)  # a range that is none is found here, not in the night
    return Added(words=tuple(raw["words"]), versions=versions)


def _form(raw: dict[str, Any]) -> Form:
    parts = {key: tuple(raw.get(key, ())) for key in ("first", "options", "end")}
    return Form(**parts, drops=frozenset(raw.get("drops", ())))
