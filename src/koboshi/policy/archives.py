"""What `tar` and its relatives read and write, however their options are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .shell.calls import Argument

Words = tuple[Argument, ...]

#: Letters and long options whose value is the next word, or behind `=`.
_VALUED = "bCfFgHIKLNTVX"
_LONG = {
    "--file": "f",
    "--directory": "C",
    "--listed-incremental": "g",
    "--files-from": "T",
    "--exclude-from": "X",
    "--use-compress-program": "I",
    "--info-script": "F",
    "--new-volume-script": "F",
    "--index-file": "index",
    "--one-top-level": "top",
    "--transform": "transform",
    "--xform": "transform",
}
_MODES = {
    "--create": "c", "--extract": "x", "--get": "x", "--append": "r", "--update": "u",
    "--concatenate": "A", "--catenate": "A", "--delete": "D", "--list": "t", "--diff": "d",
    "--compare": "d",
    "--absolute-names": "P", "--absolute-paths": "P", "--remove-files": "remove",
    "--force-local": "local", "--unlink-first": "", "--keep-directory-symlink": "P",
}  # fmt: skip
_SHORTEST = 5  # `--abs`: a long option may be shortened
_CHANGES = frozenset("cruAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """A call of `tar`, taken apart."""

    flags: frozenset[str]
    values: tuple[tuple[str, Argument], ...]
    members: Words

    def given(self, *letters: str) -> Words:
        """The values of these options."""
        return tuple(value for letter, value in self.values if letter in letters)

    @property
    def extracts(self) -> bool:
        """Whether it unpacks."""
        return "x" in self.flags

    @property
    def spoils(self) -> Iterator[Argument]:
        """What it writes: the archive, the folder it unpacks into, lists of its own."""
        if self.flags & _CHANGES:
            yield from (each for each in self.given("f") if each.text != "-")
        yield from self.given("g", "index")
        if self.extracts:
            yield from self.given("C", "top") or (Argument(text="."),)
        if "remove" in self.flags:
            yield from self.members

    @property
    def wanders(self) -> bool:
        """Whether names in the archive, or on another machine, decide what is written."""
        remote = any(":" in each.text for each in self.given("f")) and "local" not in self.flags
        return "P" in self.flags or bool(self.given("transform", "F", "I")) or remote


def archive(words: Words) -> Archive:
    """Its options and its members; `czf x.tgz`, `-czf x.tgz`, `--create --file=x.tgz`."""
    flags, values, members = set[str](), list[tuple[str, Argument]](), list[Argument]()
    rest = list(words)
    first = True
    while rest:
        word = rest.pop(0)
        if word.text.startswith("--") and len(word.text) > 2:  # noqa: PLR2004
            _long(word, rest, flags, values)
        elif word.text == "--":
            members += rest
            break
        elif (word.text.startswith("-") and word.text != "-") or first:
            _letters(word, rest, flags, values, bundled=not word.text.startswith("-"))
        else:
            members.append(word)
        first = False
    return Archive(flags=frozenset(flags), values=tuple(values), members=tuple(members))


def _long(
    word: Argument, rest: list[Argument], flags: set[str], values: list[tuple[str, Argument]]
) -> None:
    name, equals, value = word.text.partition("=")
    known = {**_LONG, **_MODES}
    found = {known[name]} if name in known else set[str]()
    if not found and len(name) >= _SHORTEST:
        found = {letter for each, letter in known.items() if each.startswith(name)}
    for letter in found:
        if letter not in _LONG.values():
            flags.add(letter)
        elif equals:
            values.append((letter, Argument(text=value, globs=word.globs)))
        elif letter != "top" and rest:
            values.append((letter, rest.pop(0)))


def _letters(
    word: Argument,
    rest: list[Argument],
    flags: set[str],
    values: list[tuple[str, Argument]],
    *,
    bundled: bool,
) -> None:
    letters = word.text.lstrip("-")
    for at, letter in enumerate(letters):
        if letter not in _VALUED:
            flags.add(letter)
            continue
        tail = "" if bundled else letters[at + 1 :]
        if tail:
            values.append((letter, Argument(text=tail, globs=word.globs)))
            return
        if rest:
            values.append((letter, rest.pop(0)))
