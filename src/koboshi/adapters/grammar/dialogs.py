"""Questions on a screen: read from the last row upwards, and only where no input box is below.

A dialog is a list of options with one selected, its question above, and below it nothing but the
row that names its keys. A file shown in a transcript may look like one; it has the input box below
it. A screen torn between two frames lacks one of the parts and gives no dialog.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING

from koboshi.adapters.text import indent, width
from koboshi.core.readings import Prompt, PromptKind

from .buttons import find_coloured
from .hints import PROSE_EDGE, hint_row, hint_text
from .kinds import dismissed_by, kind_of, meant_options
from .manifests import NEVER
from .options import Listed, View, find_options, find_unmarked
from .subjects import Body, read_subject, read_tool
from .turns import flowed

if TYPE_CHECKING:
    from .frames import Frame
    from .manifests import DialogGrammar

_FRAME_TOP = re.compile(r"^ ?╭─{10,}╮$")
_FRAME_FOOT = re.compile(r"^ ?╰─{10,}╯$")
_BORDER = re.compile(r"^ ?│ ?(?P<text>.*?) *│$")
_SENTENCE = re.compile(r"(?:^|(?<=[.!:?] ))(?P<text>(?:[^.!?]|\.(?=\w)){3,400}[?？])(?= |$)")
_NOTE = re.compile(r" \((?:select|choose|pick) (?:all|any|one)\b[^()]*\)$")  # how to answer
_ASKS_NUMBER = re.compile(r"^Enter selection \[1-\d{1,2}\]")
_NUMBERED = re.compile(r"^\d{1,2}\. \S")
_LINES = re.compile(r"[─╌┄]{3}")
_MOST_ROWS = 200
_MARGIN = 2  # columns before a dialog's own rows
_FEW_ROWS = 3  # below the list where no row names keys


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogRead:
    """A whole dialog: what it asks, the row it starts in, and what proved it."""

    prompt: Prompt
    top: int
    evidence: tuple[str, ...]
    sign: str


def read_dialog(grammar: DialogGrammar, frame: Frame, floor: int) -> DialogRead | None:
    """The dialog the screen ends with, below the row `floor`; None when there is no whole one."""
    view = _view(grammar, frame, floor)
    if view is None:
        return None
    hint = hint_row(grammar, view)
    listed = _listed(grammar, frame, view, hint)
    if listed is None:
        return _without_options(grammar, frame, view, hint)
    if _ends_well(grammar, view, listed, hint):
        return _with_options(grammar, frame, view, hint, listed)
    # The list is not this dialog's: a menu below it lists nothing, or the screen is torn.
    menu = _without_options(grammar, frame, view, hint)
    return menu if menu and menu.prompt.kind is PromptKind.PICKER else None


def _listed(grammar: DialogGrammar, frame: Frame, view: View, hint: int | None) -> Listed | None:
    if grammar.buttons:
        return find_coloured(grammar, frame, view, hint)
    listed = find_options(grammar, frame, view)
    if listed is None and hint is not None:
        return _for_screen_readers(grammar, frame, view)
    return listed


def _with_options(
    grammar: DialogGrammar, frame: Frame, view: View, hint: int | None, listed: Listed
) -> DialogRead | None:
    top = _top_row(grammar, view, listed.first)
    body = _body(grammar, view, top, listed.first)
    question = "" if any(map(grammar.foreign.search, body.rows)) else _question(grammar, body)
    if _NUMBERED.match(question) or _LINES.search(question):
        return None  # a part of another frame: one dialog is drawn over the one before
    if not question or (hint is None and not _is_whole(grammar, view, question, listed)):
        return None
    if hint is not None and not any(listed.keys) and not grammar.buttons:
        shown = [row for row in (*body.rows, "") if row]
        if not shown or indent(shown[-1]) != indent(view.rows[hint]):
            return None  # without numbers only the margin tells that list and hint are of one frame
    named = hint_text(view, hint) if hint is not None else ""
    kind, sign = kind_of(grammar, body, question, listed.texts, named)
    keys = ("",) * len(listed.keys) if grammar.picks.search(named) else listed.keys
    untold = sign == "permission_title" and question == body.title
    torn = kind is PromptKind.PERMISSION and not _asks_whole(grammar, question, listed)
    if torn or untold or _is_quoted(grammar, view, listed, top, kind):
        return None
    # Scrolled so far that its top is gone, what is left may be the end of somebody's text.
    known = body.whole or kind is not PromptKind.PERMISSION
    options = meant_options(grammar, kind, listed, keys)
    prompt = Prompt(
        kind=kind,
        question=question,
        options=options,
        dismiss=dismissed_by(grammar, kind, options),
        selected=listed.selected,
        subject=read_subject(grammar, frame, body, question, named) if known else "",
        tool=read_tool(grammar, frame, body, question) if known else "",
    )
    shown = [row.strip() for row in view.rows[listed.first : listed.last + 1] if row]
    evidence = (f"{sign}: {question}", *(f"option: {row}" for row in shown))
    if named:
        evidence = (*evidence, f"hint: {named}")
    return DialogRead(prompt=prompt, top=view.offset + top, evidence=evidence, sign=sign)


def _asks_whole(grammar: DialogGrammar, question: str, listed: Listed) -> bool:
    """No real question about a tool call is without a no, or begins in a numbered row of a diff."""
    refused = grammar.refusal is NEVER or any(map(grammar.refusal.search, listed.texts))
    return refused and not question[0].isdigit()


def _is_quoted(
    grammar: DialogGrammar, view: View, listed: Listed, top: int, kind: PromptKind
) -> bool:
    """Whether it stands as far to the right as what an agent quotes, and nothing proves it real."""
    if view.bordered or grammar.first_question or kind is PromptKind.PLAN:
        return False
    sign = _top_sign(grammar, view.rows[top]) if top >= 0 else ""
    if sign == "inset" or (sign == "edge" and kind is PromptKind.PERMISSION):
        return True
    marked = [row for row in view.rows[listed.first : listed.last + 1] if grammar.mark[0] in row]
    return top < 0 and bool(marked) and marked[0].index(grammar.mark[0]) > 1


def _for_screen_readers(grammar: DialogGrammar, frame: Frame, view: View) -> Listed | None:
    """A list without a mark, above the row that asks for a number."""
    for row in range(len(view.rows) - 1, max(len(view.rows) - 1 - _FEW_ROWS, 0), -1):
        if _ASKS_NUMBER.search(view.rows[row]):
            return find_unmarked(grammar, frame, view, row)
    return None


def _view(grammar: DialogGrammar, frame: Frame, floor: int) -> View | None:
    """The rows below `floor`, or what a border or a bar at the end of the screen holds."""
    rows = _without_footer(grammar, frame.rows, floor)
    if not rows or floor >= len(rows):
        return None
    if grammar.bar is not NEVER:
        return _behind_bar(grammar, frame, floor)
    foot = _foot_row(grammar, rows)
    if foot is None:
        first = max(floor, len(rows) - _MOST_ROWS)
        return View(rows=rows[first:], offset=first, columns=frame.columns)
    top = _frame_top(rows, foot, floor)
    inner = [_BORDER.match(row) for row in rows[top + 1 : foot]] if top is not None else []
    if top is None or not all(inner):
        return None
    texts = [found["text"] if found else "" for found in inner]
    below = ["", *(row.strip() for row in rows[foot + 1 :])] if foot + 1 < len(rows) else []
    inside = len(rows[foot].strip()) - 4
    return View(
        rows=texts + below, offset=top + 1, columns=inside, bordered=True, whole=top >= floor
    )


def _frame_top(rows: list[str], foot: int, floor: int) -> int | None:
    """The first row of the frame with that foot; the one before all where it is scrolled away."""
    indent = rows[foot].index("╰")
    for top in range(foot - 1, floor - 1, -1):
        if _FRAME_TOP.match(rows[top]) and rows[top].index("╭") == indent:
            return top
    return None if floor else -1


def _foot_row(grammar: DialogGrammar, rows: list[str]) -> int | None:
    """The foot of a frame that ends the screen; rows that name keys may stand below it."""
    for foot in range(len(rows) - 1, max(len(rows) - 2 - _FEW_ROWS, -1), -1):
        if _FRAME_FOOT.match(rows[foot]):
            return foot
        if rows[foot] and not grammar.hint.search(rows[foot]):
            return None
    return None


def _without_footer(grammar: DialogGrammar, rows: list[str], floor: int) -> list[str]:
    """The rows up to a border that only the program's own footer stands below."""
    end = len(rows)
    while end > floor and (not rows[end - 1] or grammar.footer.match(rows[end - 1])):
        end -= 1
    return rows[:end] if end > floor and _FRAME_FOOT.match(rows[end - 1]) else rows


def _behind_bar(grammar: DialogGrammar, frame: Frame, floor: int) -> View | None:
    texts: list[str] = []
    first = len(frame.rows)
    while first > floor and (found := grammar.bar.match(frame.rows[first - 1])):
        texts.append((found["text"] or "").rstrip())
        first -= 1
    texts.reverse()
    if not any(texts):
        return None
    return View(rows=texts, offset=first, columns=frame.columns, bordered=True)


def _ends_well(grammar: DialogGrammar, view: View, listed: Listed, hint: int | None) -> bool:
    """Whether nothing stands below the list but its hint and what belongs there."""
    if hint is not None and hint <= listed.last:
        return grammar.buttons and hint == listed.first
    end = len(view.rows) if hint is None else hint
    strange = [
        row
        for row in view.rows[listed.last + 1 : end]
        if row and not grammar.inner_rule.match(row) and not grammar.after.match(row)
    ]
    if hint is None:
        return not strange
    hints = [row for row in strange if grammar.hint.search(row) and not _ASKS_NUMBER.search(row)]
    if hints:
        return False  # two hints are of two frames
    few = view.bordered or len(strange) <= _FEW_ROWS  # what a border holds is the dialog's own
    return few and not any(map(grammar.option.match, strange))


def _is_whole(grammar: DialogGrammar, view: View, question: str, listed: Listed) -> bool:
    """Whether a list without a hint below it is not one that was cut off."""
    if view.bordered:
        return True
    known = grammar.hintless.search(question) or grammar.closing.search(listed.texts[-1])
    return bool(known) and any(map(grammar.refusal.search, listed.texts))


def _top_row(grammar: DialogGrammar, view: View, first: int, passed: str | None = None) -> int:
    """The row above the dialog's own rows, past those that begin so; -1 when it fills the view."""
    if view.bordered:
        return -1
    if grammar.first_question:
        return _gap_above(grammar, view, first)
    inset, titled = -1, None
    for row in range(first - 1, -1, -1):
        if grammar.foreign.search(view.rows[row]):
            if passed and view.rows[row].startswith(passed):
                continue
            break
        sign = _top_sign(grammar, view.rows[row])
        if sign == "inset":  # a plan's own, or a line in somebody's text
            inset = max(inset, row)
        elif sign == "title":  # the uppermost is the program's, one below it the agent's
            titled = row - 1
        elif sign == "edge" and inset >= 0:
            break
        elif sign:
            return row
    return inset if titled is None else titled


def _top_sign(grammar: DialogGrammar, row: str) -> str:
    return next((sign.name for sign in grammar.tops if sign.pattern.search(row)), "")


def _gap_above(grammar: DialogGrammar, view: View, first: int) -> int:
    """Two blank rows part a dialog from the transcript; the gap right above the list is its own.

    The text of a command may hold such a gap, and a whole question behind it: of the gaps below
    the transcript's last block the first one counts that a question follows.
    """
    start = next((n for n in range(first - 1, -1, -1) if grammar.foreign.search(view.rows[n])), -1)
    gaps = [n for n in range(max(start, 0) + 2, first) if not view.rows[n - 1] and not view.rows[n]]
    starts = [n for n in gaps if n + 1 < first and view.rows[n + 1]]
    asking = [n for n in starts if _is_known(grammar, view.rows[n + 1 : first])]
    return (asking or starts[-1:] or [-1])[0]


def _is_known(grammar: DialogGrammar, rows: list[str]) -> bool:
    row = next((row for row in rows if row and not grammar.aside.match(row)), "")
    title = row.strip() if indent(row) <= _MARGIN else ""  # deeper is what a tool printed
    asked = (sign for sign in grammar.kinds if sign.where == "question")
    return any(sign.pattern.search(title) for sign in asked)


def _body(grammar: DialogGrammar, view: View, top: int, first: int) -> Body:
    rows = view.rows[top + 1 : first]
    kept = [(n, row) for n, row in enumerate(rows) if row and not grammar.aside.match(row)]
    # A line that is too long for a narrow terminal ends before the title, in its row.
    title = next((text for _, row in kept if (text := row.strip().lstrip("△─ "))), "")
    above = view.rows[: max(top, 0)]
    seen = any(map(grammar.foreign.search, above)) if grammar.first_question else top >= 0
    return Body(
        rows=rows,
        offset=view.offset + top + 1,
        columns=view.columns,
        title=title,
        whole=view.whole if view.bordered else seen,
        bordered=view.bordered,
    )


def _question(grammar: DialogGrammar, body: Body) -> str:
    """What is asked: the sentence with a question mark nearest to the list, else the title."""
    paragraphs = _paragraphs(grammar, body)
    if not paragraphs:
        return ""
    if grammar.buttons:
        return _NOTE.sub("", _first_rows(grammar, body)).lstrip("△ ")
    ordered = paragraphs if grammar.first_question else list(reversed(paragraphs))
    nearest = ordered[0]
    if nearest.endswith(("?", "？")):
        return nearest if not grammar.first_question else _sentence(nearest) or nearest
    for text in ordered:
        sentence = _sentence(text)
        if sentence:
            return sentence
    return nearest if grammar.first_question else body.title


def _first_rows(grammar: DialogGrammar, body: Body) -> str:
    """The rows that the dialog opens with, up to a gap or another margin."""
    rows = [row for row in body.rows if not grammar.aside.match(row)]
    shown = list(dropwhile(lambda row: not row, rows))
    first = indent(shown[0])
    return " ".join(row.strip() for row in takewhile(lambda r: r and indent(r) == first, shown))


def _sentence(text: str) -> str:
    """The first sentence with a question mark, without what leads up to it ("Safety check: …")."""
    found = _SENTENCE.search(text)
    return found["text"].rpartition(": ")[2].strip() if found else ""


def _paragraphs(grammar: DialogGrammar, body: Body) -> list[str]:
    """The dialog's own lines, unwrapped; framed content is somebody else's words."""
    groups: list[list[str]] = []
    above = ""
    first, last = body.content(grammar) or (len(body.rows) + 2, -1)
    for index, row in enumerate(body.rows):
        framed = first - 1 <= index <= last
        if not row or framed or grammar.aside.match(row) or grammar.inner_rule.match(row):
            above = ""
            continue
        word = row.strip().split(" ", 1)[0]
        # Behind a full stop a new line is likely to be one: not where the word had no room at all.
        stops = above.endswith(".")
        full = width(above) + 1 + width(word) > body.columns - (1 if stops else PROSE_EDGE)
        if above and full and not (stops and body.bordered):
            groups[-1].append(row.strip())
        else:
            groups.append([row.strip()])
        above = row
    return [flowed(rows, body.columns) for rows in groups]


def _without_options(
    grammar: DialogGrammar, frame: Frame, view: View, hint: int | None
) -> DialogRead | None:
    """A panel that takes keys but lists nothing we can choose from."""
    if hint is None:
        return None
    top = _top_row(grammar, view, hint)
    mark, told = grammar.mark[0] + " ", False
    if top < 0 and not view.bordered:
        # The entries of some menus stand where messages stand; their title tells them apart.
        top, told = _top_row(grammar, view, hint, passed=mark), True
        if top < 0:
            return None
    body = _body(grammar, view, top, hint)
    question = _question(grammar, body) if body.title else ""
    if not question or (told and body.title.startswith(mark)):
        return None
    named = hint_text(view, hint)
    kind, sign = kind_of(grammar, body, question, (), named)
    if _is_torn(grammar, view, body, kind) or (told and kind is not PromptKind.PICKER):
        return None
    question = body.title if kind is PromptKind.PICKER else question
    subject = read_subject(grammar, frame, body, question, named)
    prompt = Prompt(
        kind=kind, question=question, subject="" if kind is PromptKind.PICKER else subject
    )
    evidence = (f"{sign}: {question}", f"hint: {named}")
    return DialogRead(prompt=prompt, top=view.offset + top, evidence=evidence, sign=sign)


def _is_torn(grammar: DialogGrammar, view: View, body: Body, kind: PromptKind) -> bool:
    """Whether it has a list that is not drawn yet, or not any more; a menu's may have no mark."""
    if not any(map(str.isalnum, body.title)) or _NUMBERED.match(body.title):
        return True
    menu = kind is PromptKind.PICKER and not (grammar.first_question or view.bordered)
    return not menu and any(map(grammar.option.match, body.rows))
