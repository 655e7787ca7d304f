"""Questions on a screen: recognised strictly, from the last row upwards, or not at all.

Only a dialog that is whole counts: its rule, a title we know, its question, options numbered from
1 with one selected, and its cancel line as the last row. A file shown in the transcript that looks
like a dialog has the input box below it; a screen torn between two frames lacks one of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from koboshi.core.readings import Meaning, Option, Prompt, PromptKind

from .text import unwrap, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .manifest import DialogGrammar, Manifest

#: More rows than any terminal shows of one dialog; bounds the search for its rule.
_MAX_ROWS = 200

_LEAST_HEAD_ROWS = 3  # title, blank, blank
_LEAST_ROWS = 6  # rule, title, blank, blank, question, option … cancel line


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogRead:
    """A whole dialog: what it asks, and the row its rule stands in."""

    prompt: Prompt
    top: int


def read_dialog(manifest: Manifest, rows: Sequence[str]) -> DialogRead | str:
    """The dialog the rows end with, or the word for what is missing."""
    end = len(rows) - 1
    top = _rule_above(manifest, rows, end)
    if top is None:
        return "dialog_without_rule"
    columns = len(rows[top])
    if end < top + _LEAST_ROWS or rows[end - 1] or any(width(row) > columns for row in rows[top:]):
        return "dialog_torn"
    options = _options(manifest.dialog, rows, end - 2, columns)
    if options is None:
        return "dialog_options_incomplete"
    texts, selected, above = options
    first, question = _question(manifest.dialog, rows, above, columns)
    head = _head(manifest.dialog, rows[top + 1 : first], columns) if question else None
    if head is None:
        return "dialog_torn"
    title, subject = head
    kind = manifest.dialog.titles.get(title)
    if kind is None:
        return "dialog_unknown"
    prompt = Prompt(
        kind=kind,
        question=question,
        options=tuple(_option(manifest, kind, i, text) for i, text in enumerate(texts)),
        selected=selected,
        subject=subject,
        tool=manifest.dialog.tools.get(title, ""),
    )
    if kind in manifest.dialog.closed and not _is_closed(prompt):
        return "dialog_options_unknown"
    if kind not in manifest.dialog.closed and _rows_of_another(manifest, texts):
        return "dialog_torn"
    return DialogRead(prompt=prompt, top=top)


def _head(grammar: DialogGrammar, rows: Sequence[str], columns: int) -> tuple[str, str] | None:
    """Title and subject, from the rows between the rule and the question; None unless whole."""
    if len(rows) < _LEAST_HEAD_ROWS or rows[1] or rows[-1]:
        return None
    title = grammar.title.match(rows[0])
    subject = [grammar.subject.match(row) for row in rows[2:-1]]
    strange = any(row and not found for row, found in zip(rows[2:-1], subject, strict=True))
    if title is None or strange:
        return None
    texts = [found["text"] if found else "" for found in subject]
    return title["text"], unwrap(texts, columns - 4, newline="\n").strip("\n")


def _rows_of_another(manifest: Manifest, texts: Sequence[str]) -> bool:
    """Whether the options are, one by one, those of a kind whose options are all known.

    Under the head of a free question they come from the next frame: its rows below our title.
    """
    for kind in manifest.dialog.closed:
        meanings = [_option(manifest, kind, i, text).meaning for i, text in enumerate(texts)]
        if Meaning.OTHER not in meanings and Meaning.NO in meanings:
            return True
    return False


def _is_closed(prompt: Prompt) -> bool:
    """Whether every option is understood and one of them refuses."""
    meanings = {option.meaning for option in prompt.options}
    return Meaning.OTHER not in meanings and Meaning.NO in meanings


def _rule_above(manifest: Manifest, rows: Sequence[str], end: int) -> int | None:
    for index in range(end, max(end - _MAX_ROWS, -1), -1):
        if manifest.regions.rule.match(rows[index]):
            return index
    return None


def _options(
    grammar: DialogGrammar, rows: Sequence[str], last: int, columns: int
) -> tuple[list[str], int, int] | None:
    """Option texts, the selected one, and the row above them; None unless they are whole."""
    texts: list[str] = []
    marked: list[int] = []
    wrapped: list[str] = []
    expected = 0
    for index in range(last, -1, -1):
        row = rows[index]
        found = grammar.option.match(row)
        if found is None:
            more = grammar.option_more.match(row)
            if more is None:
                return None
            wrapped.append(more["text"])
            continue
        number = int(found["number"])
        if expected and number != expected:
            return None
        expected = number - 1
        texts.append(unwrap([found["text"], *reversed(wrapped)], columns - 7))
        wrapped.clear()
        if found["mark"] != " ":
            marked.append(number - 1)
        if number == 1:
            texts.reverse()
            return (texts, marked[0], index - 1) if len(marked) == 1 else None
    return None


def _question(
    grammar: DialogGrammar, rows: Sequence[str], last: int, columns: int
) -> tuple[int, str]:
    """The first row of the question and its text."""
    first = last + 1
    while first > 0 and grammar.question.match(rows[first - 1]):
        first -= 1
    return first, unwrap(
        [row[1:] for row in rows[first : last + 1]], columns - 2
    ) if first <= last else ""


def _option(manifest: Manifest, kind: PromptKind, index: int, text: str) -> Option:
    for entry in manifest.meanings:
        if kind in entry.kinds and entry.pattern.search(text):
            return Option(text=text, meaning=entry.meaning, key=str(index + 1))
    return Option(text=text, meaning=Meaning.OTHER, key=str(index + 1))
