"""The lines of a plan file, each kept as it was written: `KEY: value   # comment`.

Rule 1: a line is its raw text. What is read out of it are places in that text, so that a new value
replaces the old one and nothing else.
Rule 2: every text has lines; nothing here raises, whatever a person or an editor left behind.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

#: What ends a line: not what `splitlines` takes for an end (form feeds, U+2028 …).
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_BLANK = "[ \t\u3000]"
# A Japanese keyboard writes a wide colon.
_KEYED = re.compile(
    rf"(?P<indent>\ufeff?{_BLANK}*)(?P<key>[A-Z][A-Z0-9_]*|[0-9]{{1,6}}){_BLANK}*[:：]{_BLANK}*"
)
_INDENT = re.compile(rf"\ufeff?{_BLANK}*")
_QUOTED = re.compile(rf'"(?:[^"\\]|\\.)*"(?={_BLANK}*$|{_BLANK}+#)')
#: Keys whose values hold no blanks: one blank before `#` begins their comment. In prose, where
#: `issue # 12` may stand, it takes two, or a tab.
_WORDS = frozenset({"STATUS", "TOTAL_STEPS", "CURRENT_STEP", "TASK_ID", "CC_PID", "SPAWN_TIME"})
_WORDS |= {"EXIT", "COMMIT", "VERIFIED", "ATTEMPTS", "TIMEOUT", "AGENT", "RETRIES"}
_BLANKS = " \t\u3000"
#: What a terminal obeys, or an editor takes for the end of a line.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
#: Columns from which a comment keeps its distance to a value that became longer.
GAP = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line and the places in it."""

    raw: str  #: with its end
    indent: int  #: columns before its first character
    key: str  #: empty where there is none
    begin: int  #: where the value stands in `raw`; without a key, the text
    end: int

    @property
    def value(self) -> str:
        """The value as it is written, quotes and all."""
        return self.raw[self.begin : self.end]

    @property
    def content(self) -> bool:
        """Whether it says anything; a comment does not."""
        return bool(self.key) or self.begin < self.end

    @property
    def ending(self) -> str:
        """The end of the line; empty at the end of a file that has none."""
        return self.raw[len(self.raw.rstrip("\r\n")) :]


def split(text: str) -> tuple[Line, ...]:
    """The lines of a text; put together they are the text again."""
    return tuple(look(raw) for raw in _LINE.findall(text))


@functools.lru_cache(maxsize=2048)
def look(raw: str) -> Line:
    """Where what stands in a line."""
    body = raw.rstrip("\r\n")
    keyed = _KEYED.match(body)
    if keyed is None:
        indent = _INDENT.match(body)
        begin = indent.end() if indent else 0
        end = _end(body, begin, word=False)
        return Line(raw, columns(body[:begin]), "", begin, end)
    begin, key = keyed.end(), keyed["key"]
    end = _end(body, begin, word=key in _WORDS)
    return Line(raw, columns(keyed["indent"]), key, begin, end)


def _end(body: str, begin: int, *, word: bool) -> int:
    """Where a value ends: before its comment and the blanks around it."""
    quoted = _QUOTED.match(body, begin)
    if quoted is not None:
        return quoted.end()
    at = body.find("#", begin)
    while at >= 0 and not (_starts_word(body, at) if word else _starts_prose(body, begin, at)):
        at = body.find("#", at + 1)
    return begin + len((body[begin:at] if at >= 0 else body[begin:]).rstrip(_BLANKS))


def _starts_word(body: str, at: int) -> bool:
    """Whether a comment begins there, behind a value without blanks."""
    return at == 0 or body[at - 1] in _BLANKS or body[at - 1] in ":："


def _starts_prose(body: str, begin: int, at: int) -> bool:
    """Whether a comment begins there, in prose: `KEY: # 12` and `issue # 12` are none."""
    if body[at + 1 : at + 2] not in ("", *_BLANKS):
        return False
    if at == begin and not body[:begin].strip("\ufeff" + _BLANKS):
        return True  # nothing else is on the line
    return body[max(0, at - 2) : at] in ("  ", "\u3000 ", " \u3000") or body[at - 1 : at] == "\t"


def columns(indent: str) -> int:
    """How far in that is; a tab goes on to the next eighth column."""
    return len(indent.lstrip("\ufeff").replace("\u3000", "  ").expandtabs(8))


def spliced(line: Line, value: str) -> Line:
    """The line with another value; its comment stays, in its column where there is room."""
    if value == line.value:
        return line
    head, tail = line.raw[: line.begin], line.raw[line.end :]
    if line.begin == line.end:
        # What stands between the colon and a comment is a part of the head, and belongs behind.
        bare = head.rstrip(" \t\u3000") if line.key else head
        head, tail = (bare + " ", head[len(bare) :] + tail) if line.key else (head, tail)
    comment = tail.lstrip(" \t\u3000")
    if not comment.strip("\r\n"):
        return look(head.rstrip(" ") + tail if not value else head + value + tail)
    blanks = tail[: len(tail) - len(comment)]
    if "\t" not in blanks:
        room = len(line.raw) - len(comment) - len(head) - len(value)
        blanks = " " * max(GAP, room)
    return look(head + value + blanks + comment)


def plain(value: str) -> str:
    """What a value says: without quotes."""
    if len(value) > 1 and value.startswith('"') and _QUOTED.fullmatch(value):
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def written(text: str, *, quotes: bool = False) -> str:
    """The text as one value that reads as that text: one line, quoted where it must be.

    What an agent said becomes a value: it must not be able to write a second line.
    """
    words = one_line(text)
    if quotes or words.startswith('"') or words == PENDING:
        return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return words


def one_line(text: str) -> str:
    """The words of a text, one blank between them, and nothing that a terminal would obey."""
    return " ".join(_CONTROL.sub(" ", text).split())


#: What stands where a value is still to come.
PENDING = "(pending)"
