"""What a dialog is about: the command, the file, the address. It comes from the dialog alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING

from koboshi.adapters.text import unwrap, width

if TYPE_CHECKING:
    from .frames import Frame
    from .manifests import DialogGrammar, SubjectSign, ToolSign

_MARGINS = 2  # columns beside a text between rules
_BARRED = 4  # columns beside one that has a bar before it
_LEAD = 2  # rows below the title: a blank one, and the first of the command
_NESTED_TOP = re.compile(r"^ {0,4}╭─{5,}╮?$")
_NESTED_FOOT = re.compile(r"^ {0,4}╰─{5,}╯?$")
_NESTED_ROW = re.compile(r"^ {0,4}│ ?(?P<text>.*?) *│?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The rows between a dialog's top and its options."""

    rows: list[str]
    offset: int
    columns: int
    title: str
    whole: bool = True  #: its first row is on the screen
    bordered: bool = False  #: a frame is drawn around it

    def content(self, grammar: DialogGrammar) -> tuple[int, int] | None:
        """The rows that the dialog frames as somebody else's words: first and behind the last."""
        rules = [n for n, row in enumerate(self.rows) if grammar.inner_rule.match(row)]
        if len(rules) > 1:
            return rules[0] + 1, rules[-1]
        tops = [n for n, row in enumerate(self.rows) if _NESTED_TOP.match(row)]
        feet = [n for n, row in enumerate(self.rows) if _NESTED_FOOT.match(row)]
        if tops and feet and feet[-1] > tops[0]:
            return tops[0] + 1, feet[-1]
        return None


def read_subject(grammar: DialogGrammar, frame: Frame, body: Body, question: str, hint: str) -> str:
    """The subject of the dialog; empty when the manifest does not know where it stands."""
    for sign in grammar.subjects:
        if not (sign.title.search(body.title) or sign.title.search(question)):
            continue
        taken = _taken(sign, grammar, frame, body, question, hint)
        if sign.extract is None:
            return taken
        found = sign.extract.search(taken)
        if found:
            subject = next(text for text in found.groups() if text is not None)
            return subject.replace("\n", "") if sign.glued else subject
    return ""


def read_tool(grammar: DialogGrammar, frame: Frame, body: Body, question: str) -> str:
    """The tool that the dialog is about; empty when its title is not known, or says less."""
    for sign in grammar.tools:
        if not (sign.title.search(body.title) or sign.title.search(question)):
            continue
        taken = _taken(sign, grammar, frame, body, question, "")
        found = sign.extract.search(taken) if sign.extract else None
        if found or sign.extract is None:
            return sign.tool.format_map(found.groupdict("") if found else {})
    return ""


def _taken(
    sign: SubjectSign | ToolSign,
    grammar: DialogGrammar,
    frame: Frame,
    body: Body,
    question: str,
    hint: str,
) -> str:
    match sign.take:
        case "content":
            return _content(grammar, frame, body)
        case "flat":
            return _flat(grammar, body, question)
        case "path":
            return _path(grammar, body)
        case "hint":
            return hint
        case "question":
            return question
        case "title":
            return body.title
        case "titled":
            return _with_title(grammar, body)
        case _:
            rows = (row for row in body.rows if row and not grammar.inner_rule.match(row))
            return "\n".join(row.strip() for row in rows)


def _content(grammar: DialogGrammar, frame: Frame, body: Body) -> str:
    """Framed rows, or the indented rows under the title without the faint ones."""
    span = body.content(grammar)
    if span is not None:
        rows = body.rows[span[0] : span[1]]
        ruled = grammar.inner_rule.match(body.rows[span[0] - 1])
        margins = _MARGINS
        if not ruled or _is_barred(frame, body.offset + span[0], rows):
            rows, margins = [_unnested(row) for row in rows], _BARRED
        columns = body.columns - margins
        return unwrap(_dedented(rows), columns, newline="\n", words=True).strip("\n")
    taken = _indented(grammar, frame, body)
    rows = [body.rows[index] for index in taken]
    lead = len(rows[0]) - len(rows[0].lstrip()) if rows else 0
    columns = body.columns - 2 * lead  # as far from the right as from the left
    if taken and _is_barred(frame, body.offset + taken[0], rows):
        rows, columns = [_unnested(row) for row in rows], columns - _MARGINS
    return unwrap(_dedented(rows), columns, newline="\n", words=True).strip("\n")


def _flat(grammar: DialogGrammar, body: Body, question: str) -> str:
    """All rows between the title and the question, where nothing frames them."""
    shown = [n for n, row in enumerate(body.rows) if row and not grammar.aside.match(row)]
    asked = [n for n in shown if question.startswith(body.rows[n].strip())]
    rows = body.rows[shown[0] + 1 : asked[-1]] if asked else []
    text = ""
    for above, row in zip(("", *rows), rows, strict=False):
        last, first = above.rpartition(" ")[2], row.partition(" ")[0]
        broken = width(last) + width(first) > body.columns  # a word longer than a row
        wrapped = row and width(above) + 1 + width(first) > body.columns
        text += ("" if broken else " " if wrapped else "\n") + row
    return text.strip()


def _indented(grammar: DialogGrammar, frame: Frame, body: Body) -> list[int]:
    """The rows that stand deeper than the title, up to the first that does not.

    A tip of the program's may hang at the title, up to a blank row.
    Blank rows are part of them: a command goes on behind one. Faint rows at the end are the
    program's description of it; and one that stands where no command is to be seen is no command.
    """
    indent = len(body.rows[0]) - len(body.rows[0].lstrip()) if body.rows else 0
    first, taken = 1, list[int]()
    if len(body.rows) > 1 and grammar.aside.match(body.rows[1]):
        first = next((n for n, row in enumerate(body.rows) if not row), first)
    for index, row in enumerate(body.rows[first:], first):
        if row and len(row) - len(row.lstrip()) <= indent:
            break
        taken.append(index)
    while taken and not body.rows[taken[-1]]:
        taken.pop()
    if len(body.rows) > _LEAD and not any(body.rows[first : first + _LEAD]):
        return []  # the first row of the command shows nothing: what follows is its description
    while taken and frame.is_faint(body.offset + taken[-1], body.rows[taken[-1]].strip()):
        taken.pop()
    while taken and not body.rows[taken[0]]:
        taken.pop(0)
    return taken


def _path(grammar: DialogGrammar, body: Body) -> str:
    """The row under the title; in an older dialog the first one inside the frame.

    With those right below it: a name with a blank in it may be wrapped there.
    """
    found: list[str] = []
    for row in body.rows[1:]:
        if grammar.inner_rule.match(row):
            break
        if _NESTED_TOP.match(row):
            continue
        text = _unnested(row).strip()
        if text and not grammar.aside.match(text):
            found.append(text)
        elif found:
            break
    return "\n".join(found)


def _with_title(grammar: DialogGrammar, body: Body) -> str:
    """The title and the rows right below it: a name that stands in it may be wrapped there."""
    rows = list(dropwhile(lambda row: body.title not in row, body.rows))
    shown = takewhile(lambda row: row and not grammar.inner_rule.match(row), rows[1:])
    return "\n".join((body.title, *(row.strip() for row in shown)))


def _is_barred(frame: Frame, first: int, rows: list[str]) -> bool:
    """Whether the program drew a bar before each row: faint, unlike a command that begins with one.

    Where styles are not known, a bar before a single row is text.
    """
    shown = [index for index, row in enumerate(rows) if row]
    if not shown or not all(_NESTED_ROW.match(rows[index]) for index in shown):
        return False
    faint = [frame.is_faint(first + index, "│") for index in shown]
    return len(shown) > 1 if None in faint else all(faint)


def _unnested(row: str) -> str:
    found = _NESTED_ROW.match(row)
    return found["text"] if found else row


def _dedented(rows: list[str]) -> list[str]:
    shown = [len(row) - len(row.lstrip()) for row in rows if row.strip()]
    cut = min(shown, default=0)
    return [row[cut:] for row in rows]
