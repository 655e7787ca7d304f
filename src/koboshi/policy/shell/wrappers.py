"""Programs that run other programs: what they would run.

Rule 1: an option that is not known here is a doubt: it might take the next word.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .calls import BELOW, UNKNOWN, Argument, Call

Words = tuple[Argument, ...]

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh"})
#: Their grammar is not the one that is parsed here.
_OTHER_SHELLS = frozenset({"zsh", "fish", "csh", "tcsh"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_CLUSTER = re.compile(r"[-+][A-Za-z]+")
_LONG = frozenset({"--norc", "--noprofile", "--login", "--posix", "--verbose"})
_SEPARATORS = frozenset({";", "+"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What a wrapper would run: programs with their words, and command lines."""

    calls: tuple[Words, ...] = ()
    texts: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    alone: bool = False  #: it also does something itself, and needs a rule for that
    lent: bool = False  #: a rule for the wrapper is one for what it runs; bans and doubts are not


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The words of a wrapper before the program that it runs."""

    flags: frozenset[str] = frozenset()  #: options without a value
    valued: frozenset[str] = frozenset()  #: options whose value is the next word
    operands: int = 0  #: words of its own before the program
    feeds: bool = False  #: it adds words that nobody has seen yet


def _shape(flags: str = "", valued: str = "", operands: int = 0, *, feeds: bool = False) -> Shape:
    return Shape(
        flags=frozenset(flags.split()),
        valued=frozenset(valued.split()),
        operands=operands,
        feeds=feeds,
    )


SHAPES: dict[str, Shape] = {
    "time": _shape("-p -v -l"),
    "nohup": _shape(),
    "nice": _shape(valued="-n --adjustment"),
    "ionice": _shape("-t", "-c -n --class --classdata"),
    "timeout": _shape(
        "--foreground --preserve-status -v --verbose -f -p", "-s -k --signal --kill-after", 1
    ),
    "gtimeout": _shape("--foreground --preserve-status -v", "-s -k --signal --kill-after", 1),
    "stdbuf": _shape(valued="-i -o -e --input --output --error"),
    "setsid": _shape("-c -f -w --ctty --fork --wait"),
    "caffeinate": _shape("-d -i -m -s -u", "-t -w"),
    "command": _shape("-p"),
    "builtin": _shape(),
    "exec": _shape("-c -l -cl", "-a"),
    "coproc": _shape(),
    "noglob": _shape(),
    "nocorrect": _shape(),
    "busybox": _shape(),
    "toybox": _shape(),
    "unbuffer": _shape("-p"),
    "chronic": _shape("-v -e"),
    "sudo": _shape("-n -E -H -i -s -S -k -b -A -P -v", "-u -g -h -p -C -D -R -T -U"),
    "doas": _shape("-n -s -L", "-u -C"),
    "pkexec": _shape("--disable-internal-agent", "--user"),
    "flock": _shape("-s -x -e -n -u -o --shared --exclusive --nonblock", "-w -E --timeout", 1),
    "xargs": _shape(
        "-0 -r -t -p -x --null --no-run-if-empty --verbose",
        "-n -P -L -I -d -a -E -s -J -R --max-args --max-procs --delimiter --arg-file --replace",
        feeds=True,
    ),
}


def unwrap(call: Call) -> Inside | None:
    """What that call would run besides itself; None for a program that runs nothing else."""
    name, words = call.name, call.words[1:]
    if not call.words[0].known:
        return None
    if name in SHELLS:
        return _shell(name, words)
    if special := _SPECIAL.get(name):
        return special(words)
    shape = SHAPES.get(name)
    return _plain(shape, words) if shape else None


def _plain(shape: Shape, words: Words) -> Inside | None:
    rest, doubts = _behind_options(shape, words)
    inner = rest[shape.operands :]
    if not inner:
        return Inside(doubts=doubts) if doubts else None
    added = (Argument(text=UNKNOWN),) if shape.feeds else ()
    return Inside(calls=((*inner, *added),), doubts=doubts)


def _behind_options(shape: Shape, words: Words) -> tuple[Words, tuple[str, ...]]:
    at, doubts = 0, list[str]()
    while at < len(words) and words[at].text.startswith("-") and words[at].text != "-":
        text = words[at].text
        at += 1
        if text == "--":
            break
        if text in shape.valued:
            at += 1
        elif not (text in shape.flags or _carries_value(text, shape)):
            doubts.append(f"the option {text!r} is not known")
    return words[at:], tuple(doubts)


def _carries_value(text: str, shape: Shape) -> bool:
    """`-n5`, `--signal=KILL`, `-5` of nice."""
    if text.partition("=")[0] in shape.valued and "=" in text:
        return True
    short = not text.startswith("--") and text[:2] in shape.valued
    return short or (text[1:].isdigit() and "-n" in shape.valued)


def _shell(name: str, words: Words) -> Inside | None:
    """`bash -lc TEXT`; a shell that runs a file, or reads what it is fed, is a program like any."""
    at, reads_text = 0, False
    doubts = [f"{name} has a grammar of its own"] if name in _OTHER_SHELLS else list[str]()
    while at < len(words) and words[at].text[:1] in ("-", "+") and len(words[at].text) > 1:
        text = words[at].text
        at += 1
        if text in ("--", "-"):
            break
        if text in _LONG:
            continue
        if _CLUSTER.fullmatch(text) is None:
            doubts.append(f"the option {text!r} is not known")
            continue
        reads_text = reads_text or (text[0] == "-" and "c" in text)
        at += "o" in text or "O" in text
    if not reads_text:
        return Inside(doubts=tuple(doubts), alone=True) if doubts else None
    if at >= len(words):
        return Inside(doubts=("a shell is given nothing to run",))
    return _line(words[at], tuple(doubts))


def _line(word: Argument, doubts: tuple[str, ...] = ()) -> Inside:
    """A word that is a command line itself; what is known of it is read even if not all is."""
    if not word.known:
        doubts = (*doubts, "it runs a text that is not known")
    return Inside(texts=(word.text.replace(UNKNOWN, "$UNKNOWN"),), doubts=doubts)


def _joined(words: Words) -> Inside | None:
    """`eval` and `watch` put their words together."""
    if not words:
        return None
    if words[0].text == "--":
        words = words[1:]
    text = " ".join(word.text for word in words)
    doubts = ("it runs names of files",) if any(word.globs for word in words) else ()
    return _line(Argument(text=text), doubts)


def _watch(words: Words) -> Inside | None:
    flags = "-d -t -b -e -g -c -x -p --differences --no-title --color --exec"
    rest, doubts = _behind_options(_shape(flags, "-n --interval"), words)
    inside = _joined(rest)
    return inside and Inside(texts=inside.texts, doubts=(*inside.doubts, *doubts))


def _env(words: Words) -> Inside | None:
    valued = "-u --unset -C --chdir"
    rest, doubts = _behind_options(_shape("-i - -0 --ignore-environment", valued), words)
    options = [word.text for word in words[: len(words) - len(rest)]]
    moved = any(text.startswith(("-C", "--chdir")) for text in options)
    removed = [text for text in options if not text.startswith("-")]
    assigned: list[str] = removed
    while rest and _ASSIGNMENT.match(rest[0].text):
        assigned.append(rest[0].text.partition("=")[0].rstrip("+"))
        rest = rest[1:]
    if moved:
        doubts = (*doubts, "it runs in another folder")
    if not rest and not doubts:
        return None
    return Inside(calls=(rest,) if rest else (), assigned=tuple(assigned), doubts=doubts)


def _find(words: Words) -> Inside | None:
    """`find ROOT -exec PROGRAM {} ;`: `{}` is something below each of its roots."""
    calls: list[Words] = []
    roots = _roots(words)
    texts = [word.text for word in words]
    for at, text in enumerate(texts):
        if text not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        end = next((n for n in range(at + 1, len(texts)) if texts[n] in _SEPARATORS), len(texts))
        for root in roots:
            below = Argument(text=f"{root.text.rstrip('/')}/{BELOW}", globs=True)
            inner = tuple(_below(word, below) for word in words[at + 1 : end])
            calls.append(inner)
    return Inside(calls=tuple(each for each in calls if each), alone=True) if calls else None


def _below(word: Argument, below: Argument) -> Argument:
    if "{}" not in word.text:
        return word
    # Within a longer word it may become a part of a command line.
    return below if word.text == "{}" else Argument(text=word.text.replace("{}", UNKNOWN))


def _roots(words: Words) -> Words:
    roots = []
    for word in words:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.text[:1] in ("-", "(", "!"):
            break
        roots.append(word)
    return tuple(roots) or (Argument(text="."),)


def _script(words: Words) -> Inside | None:
    """`script -c TEXT`, `su -c TEXT`."""
    for at, word in enumerate(words[:-1]):
        if word.text in ("-c", "--command") or re.fullmatch(r"-[a-z]*c", word.text):
            return _line(words[at + 1])
    return None


def _lookup(words: Words) -> Inside | None:
    """`command -v NAME` only tells where a program is."""
    if words and words[0].text in ("-v", "-V"):
        return None
    return _plain(SHAPES["command"], words)


def _trap(words: Words) -> Inside | None:
    return _line(words[0], ("it runs something later",)) if words else None


def _runner(*verbs: str) -> Callable[[Words], Inside | None]:
    """`uv run pytest`, `npx jest`: who allows them speaks of the environment, not of `rm`."""

    def read(words: Words) -> Inside | None:
        texts = tuple(word.text for word in words)
        for verb in verbs:
            given = tuple(verb.split())
            if texts[: len(given)] == given:
                all_of_it = rest = words[len(given) :]
                while rest and rest[0].text.startswith("-"):
                    rest = rest[1:]
                # Behind an option may stand its value: both readings are looked at.
                readings = (rest,) if rest == all_of_it else (rest, rest[1:])
                calls = tuple(each for each in readings if each)
                return Inside(calls=calls, alone=True, lent=True) if calls else None
        return None

    return read


def _flock(words: Words) -> Inside | None:
    return _script(words) or _plain(SHAPES["flock"], words)


_SPECIAL: dict[str, Callable[[Words], Inside | None]] = {
    "eval": _joined,
    "watch": _watch,
    "env": _env,
    "find": _find,
    "gfind": _find,
    "script": _script,
    "su": _script,
    "runuser": _script,
    "command": _lookup,
    "trap": _trap,
    "flock": _flock,
    "npx": _runner(""),
    "bunx": _runner(""),
    "uvx": _runner(""),
    "npm": _runner("exec", "x"),
    "pnpm": _runner("exec", "dlx"),
    "yarn": _runner("exec", "dlx"),
    "bun": _runner("x"),
    "uv": _runner("run", "tool run"),
    "pipx": _runner("run"),
    "poetry": _runner("run"),
    "pipenv": _runner("run"),
    "pdm": _runner("run"),
    "rye": _runner("run"),
    "hatch": _runner("run"),
    "conda": _runner("run"),
    "mise": _runner("exec", "x"),
    "asdf": _runner("exec"),
    "bundle": _runner("exec"),
    "direnv": _runner("exec"),
    "dotenv": _runner(""),
    "doppler": _runner("run"),
}
