"""Questions that stand in the transcript, above an input box that stays.

Only the program's footer tells that one is open; where it stands, a panel with a bar on both sides
tells. Its last row names a key for each answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from koboshi.core.readings import Prompt, PromptKind

from .dialogs import DialogRead
from .kinds import meant_options
from .options import Listed
from .subjects import Body, read_subject
from .turns import first_match

if TYPE_CHECKING:
    from .boxes import Box
    from .frames import Frame
    from .manifests import Manifest

_PANEL = re.compile(r"^ {1,4}┃(?: {2}(?P<text>.*?))? *┃$")
_ANSWER = re.compile(r"(?P<key>enter|[a-z]) (?P<text>\S+(?: \S+)*)")
_GAP = re.compile(r" {2,}")
_LEAST = 2  # rows that hold something: the question and the answers


def is_asked(manifest: Manifest, frame: Frame, box: Box) -> bool:
    """Whether the footer says that a question is open."""
    return first_match(manifest.sign("asked"), frame.rows[box.bottom :]) is not None


def read_inline(manifest: Manifest, frame: Frame, box: Box) -> DialogRead | None:
    """The lowest question above the box; None when there is no whole one."""
    last = max(box.top, 0)
    while last > 0 and not _PANEL.match(frame.rows[last - 1]):
        last -= 1
    top, texts = last, list[str]()
    while top > 0 and (found := _PANEL.match(frame.rows[top - 1])):
        texts.insert(0, found["text"] or "")
        top -= 1
    shown = [text for text in texts if text]
    if len(shown) < _LEAST:
        return None
    answers = [_ANSWER.fullmatch(each) for each in _GAP.split(shown[-1].strip())]
    if len(answers) < _LEAST or not all(answers):
        return None
    found_all = [answer for answer in answers if answer]
    keys = tuple(answer["key"].replace("enter", "Enter") for answer in found_all)
    listed = Listed(
        first=top,
        last=last,
        texts=tuple(answer["text"] for answer in found_all),
        keys=keys,
        selected=keys.index("Enter") if "Enter" in keys else None,
    )
    return _made(manifest, frame, listed, shown)


def _made(manifest: Manifest, frame: Frame, listed: Listed, shown: list[str]) -> DialogRead:
    *about, question, answers = shown
    body = Body(rows=[question, *about], offset=listed.first, columns=frame.columns, title=question)
    prompt = Prompt(
        kind=PromptKind.PERMISSION,
        question=question,
        options=meant_options(manifest.dialog, PromptKind.PERMISSION, listed, listed.keys),
        selected=listed.selected,
        subject=read_subject(manifest.dialog, frame, body, question, answers),
    )
    evidence = (f"permission: {question}", f"option: {answers}")
    return DialogRead(prompt=prompt, top=listed.first, evidence=evidence, sign="permission")
