"""Which rows of a transcript are the agent's own words, and which show something else.

Own are its messages, the errors that its CLI reports, and whatever stands there without any form: a
crash does not keep to the layout. Not own are a person's words and what a tool printed: a file that
is shown may say anything (law 11). Where it cannot be told, a row is not own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: A tool that failed, in the words of the CLI: the first row below the call.
_ERROR = re.compile(r"^[\W_]*(?:API )?Error\b")
#: Rows of a drawn box: what a tool printed, a diff, a question.
_BOX = re.compile(r"^\s*[│┃║|╭╰╮╯┌└┐┘├╎▏▌]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How a CLI marks its blocks; each is searched in one row."""

    head: re.Pattern[str]  #: a row that opens a block
    user: re.Pattern[str]  #: … of a person
    tool: re.Pattern[str]  #: … of a tool call
    tree: re.Pattern[str]  #: a row below a call, with what came of it


def own_rows(rows: tuple[str, ...], marks: Marks) -> tuple[bool, ...]:
    """Of each row, whether it is the agent's own."""
    return tuple(_own(rows, marks))


def _own(rows: tuple[str, ...], marks: Marks) -> Iterator[bool]:
    speaks = False  # the first rows may belong to a block that has scrolled away
    for row in rows:
        if marks.tree.search(row):
            speaks = False
            yield _ERROR.search(row) is not None
        elif marks.head.search(row):
            speaks = not (marks.user.search(row) or marks.tool.search(row))
            yield speaks
        elif not row.strip() or _BOX.search(row):
            yield False
        else:
            # In the first column and without a mark: nobody's layout.
            speaks = speaks or not row[0].isspace()
            yield speaks
