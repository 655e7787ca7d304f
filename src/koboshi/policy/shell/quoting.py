"""One word of a shell: characters with a mark whether they were quoted → arguments.

Rule 1: what is not certain becomes UNKNOWN. A guess here is a hole in the policy.
"""

from __future__ import annotations

import re

from .calls import UNKNOWN, Argument

#: A character, and whether a quote takes its special meaning away.
Mark = tuple[str, bool]

#: Words that braces may make of one.
MOST_WORDS = 64
#: Braces in one word; more is no file name.
MOST_BRACES = 32

_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9a-fA-F]{1,2})|([0-7]{1,3})"
    r"|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8}))|\\"
)
_NAMED = {"a": 7, "b": 8, "e": 27, "E": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HIGHEST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def quoted(text: str) -> list[Mark]:
    """Text without any special meaning."""
    return [(char, True) for char in text]


def bare(text: str) -> list[Mark]:
    """Text outside of quotes: a backslash quotes what follows, or joins two lines."""
    marks: list[Mark] = []
    chars = iter(text)
    for char in chars:
        if char != "\\":
            marks.append((char, False))
        elif (follows := next(chars, "\\")) != "\n":
            marks.append((follows, True))
    return marks


def in_double_quotes(text: str) -> list[Mark]:
    """Text between double quotes: a backslash quotes only a few characters there."""
    marks: list[Mark] = []
    chars = iter(text)
    for char in chars:
        if char != "\\":
            marks.append((char, True))
            continue
        follows = next(chars, "")
        if follows == "\n":
            continue
        marks += quoted(follows if follows and follows in '$`"\\' else f"\\{follows}")
    return marks


def ansi(text: str) -> list[Mark]:
    """What stands in `$'…'`; UNKNOWN where it holds an escape that shells read differently."""
    try:
        return quoted(_ANSI.sub(_escape, text))
    except ValueError:
        return [(UNKNOWN, True)]


def _escape(found: re.Match[str]) -> str:
    name, *numbers = found.groups()
    if name:
        return chr(_NAMED.get(name, ord(name)))
    bases = zip(numbers, (16, 8, 16, 16), strict=True)
    code = next((int(digits, base) for digits, base in bases if digits), 0)
    # A NUL ends the word in one shell and not in another; bytes above 127 join to characters.
    joins = not numbers[2] and not numbers[3] and code > 127  # noqa: PLR2004 - the last of ASCII
    if not 0 < code <= _HIGHEST or code in _SURROGATES or joins:
        raise ValueError
    return chr(code)


def arguments(marks: list[Mark], home: str) -> list[Argument]:
    """The words that the shell makes of one."""
    if marks.count(("{", False)) > MOST_BRACES:
        return [Argument(text=UNKNOWN)]
    return [_argument(each, home) for each in _braces(marks)]


def _argument(marks: list[Mark], home: str) -> Argument:
    text = "".join(char for char, _ in marks)
    globs = any(char in "*?[" and not mark for char, mark in marks)
    if marks and marks[0] == ("~", False):
        end = next((n for n, mark in enumerate(marks) if mark == ("/", False)), len(marks))
        # `~name` is another user's home, `~+` and `~-` are folders of this shell.
        text = f"{home if end == 1 and home else UNKNOWN}{text[end:]}"
    elif ("~", False) in marks and re.search(r"[=:]~", text):
        text += UNKNOWN  # shells differ about a `~` behind `=` or `:`
    return Argument(text=text, globs=globs)


def _braces(marks: list[Mark]) -> list[list[Mark]]:
    """`a{b,c}` is two words; what is nested, or counts, is not known."""
    opened = next((n for n, mark in enumerate(marks) if mark == ("{", False)), None)
    if opened is None:
        return [marks]
    closed = next((n for n in range(opened, len(marks)) if marks[n] == ("}", False)), None)
    inside = marks[opened + 1 : closed]
    plain = "".join(char for char, mark in inside if not mark)
    if closed is None or ("," not in plain and ".." not in plain):
        # `{}` and `@{u}` are what they are; but a later pair may be one.
        tails = _braces(marks[opened + 1 :])
        return [marks[: opened + 1] + tail for tail in tails]
    if "{" in plain or ".." in plain:
        return [[*marks[:opened], (UNKNOWN, False), *marks[closed + 1 :]]]
    tails = _braces(marks[closed + 1 :])
    heads = _split(inside)
    if len(heads) * len(tails) > MOST_WORDS:
        return [[(UNKNOWN, False)]]
    return [marks[:opened] + head + tail for head in heads for tail in tails]


def _split(marks: list[Mark]) -> list[list[Mark]]:
    parts: list[list[Mark]] = [[]]
    for mark in marks:
        if mark == (",", False):
            parts.append([])
        else:
            parts[-1].append(mark)
    return parts
