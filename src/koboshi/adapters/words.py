"""The words of a command line: which of them name the CLI, and what the ones behind it are.

A person may start an agent by any wrapper (`npx -y @openai/codex`, `env A=1 claude`, `bash -lc
claude`). What is added goes behind the word that names the CLI, and what a person chose is kept.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from .base import SHELLS

Words = tuple[str, ...]

#: The last part of the word that names each CLI, an interpreter's script or a package included.
NAMES: dict[str, re.Pattern[str]] = {
    "claude": re.compile(
        r"(?:^|/)claude(?:\.exe)?$|(?:^|/)@anthropic-ai/claude-code(?:@[^/]+)?$"
        r"|/claude-code/(?:[^/]+/)*(?:cli|claude)[\w.-]*$|/claude/versions/\d[\w.-]*$"
    ),
    "codex": re.compile(
        r"(?:^|/)codex(?:\.exe|\.js)?$|(?:^|/)@openai/codex(?:@[^/]+)?$"
        r"|(?:^|/)codex-(?:x86_64|aarch64)-[\w-]+$"
    ),
    "gemini": re.compile(
        r"(?:^|/)gemini(?:\.exe|\.js)?$|(?:^|/)@google/gemini-cli(?:@[^/]+)?$"
        r"|/gemini-cli/(?:[^/]+/)*(?:index|gemini)\.m?js$"
    ),
    "opencode": re.compile(r"(?:^|/)(?:opencode(?:\.exe)?|opencode-ai(?:@[^/]+)?)$"),
    "scripted": re.compile(r"^koboshi\.scripted$|(?:^|/)koboshi-scripted$"),
}
#: Programs that start the one named behind them.
LAUNCHERS = frozenset(
    {
        *("bun", "bunx", "deno", "node", "nodejs", "npm", "npx", "pnpm", "pnpx", "tsx", "yarn"),
        *("fnm", "mise", "nix", "nvm", "python", "python3", "uv", "volta"),
        *("caffeinate", "chrt", "command", "direnv", "doas", "docker", "env", "exec", "ionice"),
        *("nice", "nohup", "podman", "setsid", "stdbuf", "sudo", "systemd-run", "time", "timeout"),
    }
)
_VERSIONED = re.compile(r"^python3\.\d{1,2}$")
_COMMAND_STRING = re.compile(r"^-[a-z]*c$")
_PLAIN = re.compile(r"^[\w@%+=:,./ '\"~-]+$")  # no character that a shell would act on


@dataclass(frozen=True, slots=True, kw_only=True)
class WordGrammar:
    """Which words of a CLI take others behind them."""

    one: frozenset[str] = frozenset()  #: takes the next word
    maybe: frozenset[str] = frozenset()  #: takes the next word unless that is an option
    many: frozenset[str] = frozenset()  #: takes all words up to the next option
    flags: frozenset[str] = frozenset()  #: takes none
    commands: frozenset[str] = frozenset()  #: first words that are no prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A command line, taken apart: what names the CLI, its options with their values, the rest."""

    head: Words
    command: str = ""  #: a subcommand, where the first bare word is one
    options: tuple[Words, ...] = ()
    bare: Words = ()  #: words that belong to no option: a prompt, a folder
    ended: bool = False  #: `--` stood before the bare words
    shell: Words = field(default=())  #: `bash -lc`, where the line was a shell's

    def has(self, names: Iterable[str]) -> bool:
        """Whether one of these options is given."""
        return any(name_of(option[0]) in set(names) for option in self.options)

    def without(self, names: Iterable[str]) -> tuple[Words, ...]:
        """The options but for these."""
        dropped = set(names)
        return tuple(option for option in self.options if name_of(option[0]) not in dropped)

    def value(self, name: str) -> str:
        """The word given with that option; empty when there is none."""
        for option in self.options:
            if name_of(option[0]) == name:
                return option[0].partition("=")[2] or "".join(option[1:2])
        return ""


def name_of(word: str) -> str:
    """An option without its `=value`."""
    return word.partition("=")[0]


def find_program(argv: Words) -> tuple[str, int] | None:
    """Which CLI the command line starts, and the place of the word that says so."""
    first = argv[0].rpartition("/")[2] if argv else ""
    behind = first in LAUNCHERS or _VERSIONED.match(first) is not None
    for place, word in enumerate(argv):
        for name, pattern in NAMES.items():
            if pattern.search(word):
                return name, place
        if not behind:
            break  # `vim claude` is an editor
    return None


def shell_words(argv: Words) -> tuple[Words, Words]:
    """`bash -lc 'claude -c'` as (`bash -lc`, `claude -c`); nothing and the words otherwise."""
    least = 3
    is_shell = len(argv) >= least and argv[0].rpartition("/")[2] in SHELLS
    if not is_shell or not _COMMAND_STRING.match(argv[-2]) or not _PLAIN.match(argv[-1]):
        return (), argv
    try:
        inner = tuple(shlex.split(argv[-1]))
    except ValueError:
        return (), argv
    return (argv[:-1], inner) if find_program(inner) else ((), argv)


def take_apart(argv: Words, grammar: WordGrammar) -> Line:
    """The command line in its parts; a program that is not known is its first word."""
    shell, words = shell_words(argv)
    found = find_program(words)
    start = found[1] + 1 if found else 1
    options: list[Words] = []
    bare: list[str] = []
    rest, ended = list(words[start:]), False
    while rest:
        word = rest.pop(0)
        if word == "--":
            ended = True
            bare += rest
            break
        if not word.startswith("-") or word == "-":
            bare.append(word)
            continue
        options.append((word, *_values(word, rest, grammar)))
    command = ""
    if bare and bare[0] in grammar.commands and not (ended and len(bare) == len(rest)):
        command = bare.pop(0)
    return Line(
        head=words[:start],
        command=command,
        options=tuple(options),
        bare=tuple(bare),
        ended=ended,
        shell=shell,
    )


def _values(word: str, rest: list[str], grammar: WordGrammar) -> Words:
    """The words that belong to the option; they leave `rest`."""
    if "=" in word or word in grammar.flags or not rest:
        return ()
    if word in grammar.one:
        return (rest.pop(0),)
    if rest[0].startswith("-"):
        return ()
    if word in grammar.many:
        taken = []
        while rest and not rest[0].startswith("-"):
            taken.append(rest.pop(0))
        return tuple(taken)
    # An option that is not known may take a word: to lose a value is worse than to keep a prompt.
    return (rest.pop(0),)


def extended(argv: Words, added: Words) -> Words:
    """The command line with options added behind a person's own, before a `--` of theirs."""
    shell, words = shell_words(argv)
    found = find_program(words)
    behind = found[1] + 1 if found else 1
    end = words.index("--", behind) if "--" in words[behind:] else len(words)
    made = (*words[:end], *added, *words[end:])
    return (*shell, shlex.join(made)) if shell else made


def put_together(line: Line, *, before: Words = (), after: Words = ()) -> Words:
    """The command line again, with words right behind the CLI's name and behind its options."""
    options = [word for option in line.options for word in option]
    ending = ["--"] if line.ended and line.bare else []
    command = [line.command] if line.command else []
    # Bare words come before what is added: an option that takes many would swallow them.
    bare = () if ending else line.bare
    words = (*line.head, *before, *command, *bare, *options, *after, *ending)
    words = (*words, *line.bare) if ending else words
    return (*line.shell, shlex.join(words)) if line.shell else words
