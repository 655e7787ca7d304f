"""Save and load by commands that the owner has for it, such as `/sc-save {name}`.

What such a command prints is not known. So saved means: the file it was given is there, or the turn
is over and the agent has said the name that the work was saved under. Every try has a name of its
own, so that what was said or written before does not count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from koboshi.adapters.pasted import bare
from koboshi.core.events import Ending
from koboshi.core.readings import Status

from . import handover
from .hands import done, failed

if TYPE_CHECKING:
    from koboshi.core.actions import Checkpoint, Load
    from koboshi.core.events import Outcome

    from .hands import Glance, Hands

#: How CLIs answer to a command they do not have; they may repeat its arguments, the name too.
UNKNOWN = ("unknowncommand", "unknownskill", "unknownslashcommand", "unrecognizedcommand")
#: Words of a row that names the checkpoint and says that there is none.
_FAILED = re.compile(
    r"(?i)\b(?:no such|not (?:found|saved|loaded)|could(?: not|n.t)|can(?:not|.t)|unable|fail\w*"
    r"|do(?:es)?(?: not|n.t) exist|unknown)\b"
)
_REFUSED = (Status.FAILED, Status.LIMITED)


def text_for(action: Checkpoint | Load, hands: Hands) -> str:
    """What the owner wants to be typed for that; empty: nothing."""
    settings, name = hands.view().settings, action.name
    if action.kind == "checkpoint":
        return _filled(settings.save_text, hands, name)
    note = handover.kept(hands, name)
    if "{file}" in settings.load_text:
        knows = bool(note)
    else:  # a note that koboshi wrote is in no store of the agent's
        knows = bool(settings.save_text) and not handover.is_made_up(note)
    return _filled(settings.load_text, hands, name) if knows else ""


def _filled(text: str, hands: Hands, name: str) -> str:
    if not text:
        return ""
    if "{name}" not in text and "{file}" not in text:
        text = f"{text} {{name}}"
    file = handover.path_of(hands, name)
    return text.replace("{name}", name).replace("{file}", str(file or name))


async def settled(hands: Hands, sent: Outcome, action: Checkpoint | Load, text: str) -> Outcome:
    """What came of the command."""
    if sent.ending is not Ending.DONE:
        return sent
    saving, sent_at = action.kind == "checkpoint", hands.now().at

    def late() -> bool:
        return hands.now().at - sent_at > handover.REFUSES

    def over(glance: Glance) -> bool:
        status = glance.reading.status
        if status in (Status.GONE, Status.ASKING) or _refused(glance, text):
            return True
        return arrived(hands, glance, action, text, late=late()) or (late() and status in _REFUSED)

    glance = await hands.until(over, handover.WRITES if saving else handover.PROVES)
    if glance is None:
        glance = await hands.look()
        if not saving and glance.reading.status is Status.WORKING and not _refused(glance, text):
            return done("loaded: the new run is at work on it")
    if not arrived(hands, glance, action, text, late=True):
        refused = " (the agent has no such command)" if _refused(glance, text) else ""
        return failed(f"{text!r} was not confirmed{refused}")
    return noted(hands, action, text)


def arrived(
    hands: Hands, glance: Glance, action: Checkpoint | Load, text: str, *, late: bool
) -> bool:
    """Whether the work is seen to be saved, or loaded; `late`: what is shown came after it."""
    reading = glance.reading
    # Nothing on the screen may say that a turn has ended; another signal can.
    idle = reading.status is Status.IDLE or (reading.unended and hands.view().status is Status.IDLE)
    if _refused(glance, text):
        return False
    said = _said(glance, hands, action.name, text)
    named = any(said)
    if action.kind == "load":  # whatever came after it: the run knows what it is to go on with
        return named or (late and idle and not said and _answered(glance, text))
    # In the middle of a turn the name may be an announcement, and the file half written.
    written = "{file}" in hands.view().settings.save_text and handover.kept(hands, action.name)
    return idle and (named or bool(written))


def noted(hands: Hands, action: Checkpoint | Load, text: str) -> Outcome:
    """It is done; of a save it is written down under which name."""
    if action.kind == "load":
        return done("loaded: by its command")
    note = handover.kept(hands, action.name) or f"The work was saved with: {text}"
    handover.keep(hands, action.name, note)  # where there is no folder, the agent has it all
    return done("saved: by its command")


def _said(glance: Glance, hands: Hands, name: str, text: str) -> list[bool]:
    """What the agent said of that name, row by row: False where it says that it failed."""
    rows = [*glance.reading.lines, *handover.reply(hands).splitlines()]
    said = []
    for row, after in zip(rows, [*rows[1:], ""], strict=True):
        whole = row if bare(name) in bare(row) or bare(name) in bare(after) else row + after
        if bare(name) in bare(whole).replace(bare(text), ""):
            said.append(_FAILED.search(whole) is None)
    return said


def _answered(glance: Glance, text: str) -> bool:
    """Whether the command stands there, and something below it."""
    _, echo, below = bare("".join(glance.reading.lines)).rpartition(bare(text))
    return bool(echo and below)


def _below(glance: Glance, text: str) -> str:
    """What stands below the command, without white space: rows wrap anywhere."""
    return bare("".join(glance.reading.lines)).rpartition(bare(text))[2]


def _refused(glance: Glance, text: str) -> bool:
    below = _below(glance, text).lower()
    return any(words in below for words in UNKNOWN)
