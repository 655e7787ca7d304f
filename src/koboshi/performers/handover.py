"""A note from one run to the next, for agents that have no command of their own for it.

The agent is asked to answer with it, in plain text: a note that it writes to a file would open a
permission dialog, at night, on behalf of nobody. Its answer is read from its transcript, or from
the screen. An agent that cannot answer gets a note made from what it wrote down before.

The next run gets the note in its first message, or has it from its start (`briefs.py`), and has to
say a number that stands in it nowhere in that form: what is only echoed proves nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import zlib
from typing import TYPE_CHECKING

from koboshi.core.events import Ending
from koboshi.core.readings import Status

from .hands import done, failed
from .pruning import prune_notes

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.adapters.story import Story
    from koboshi.core.actions import Checkpoint, Load
    from koboshi.core.events import Outcome

    from .hands import Glance, Hands

#: Seconds an agent gets to write its note, and to prove that it has one.
WRITES, PROVES = 240.0, 180.0
#: Seconds after which an error on the screen is an answer to us.
REFUSES = 5.0
#: Characters of a note; a longer one would fill what was just emptied.
LONGEST = 8000
#: Characters of each part of a note that we make ourselves.
PART = 1500
#: Tool calls that are told of, and the characters of each.
CALLS, CALL = 5, 300


def number(name: str, use: str) -> int:
    """Five digits that belong to that note and that use of it."""
    return 10_000 + zlib.crc32(f"{use} {name}".encode()) % 90_000


def request(name: str) -> str:
    """What is asked of the agent before it goes."""
    mark = number(name, "save")
    return (
        "Your context is about to be emptied: you will be restarted. Answer now with a hand-over "
        "note for your successor, in plain text and without using any tool: what you were asked "
        "to do, what is done, what is under way (files, commands, branches), what comes next, and "
        f"what to beware of. Put it between a line that is only [[{mark} and a line that is only "
        f"{mark}]] and stop there."
    )


def note_in(text: str, name: str) -> str:
    """The note in an answer; empty when there is none."""
    mark = number(name, "save")
    # A bullet or a frame may stand before the marks; the question itself has them within a line.
    frame = r"[^\w\n]*"
    found = re.search(rf"(?ms)^{frame}\[\[{mark}{frame}$\n(.*?)^{frame}{mark}\]\]{frame}$", text)
    return found[1].strip()[:LONGEST] if found else ""


#: How a note begins that the agent did not write.
_MADE_UP = "(The agent could not write this note; koboshi made it from what was written down.)"


def is_made_up(note: str) -> bool:
    """Whether koboshi wrote that note."""
    return note.startswith(_MADE_UP)


def made_up(story: Story, lines: tuple[str, ...]) -> str:
    """The note that koboshi writes where the agent cannot: what it wrote down, what it showed."""
    parts = [_MADE_UP]
    for title, text in (
        ("Last request", story.request),
        ("Last answer", story.reply),
        ("Files it changed", "\n".join(story.files)),
        ("Open items", "\n".join(story.todos)),
        ("Tool calls without a result: they may have run", "\n".join(story.calls)),
        ("Last lines on its screen", "" if story.reply else "\n".join(lines)),
    ):
        if text.strip():
            parts.append(f"{title}:\n{text.strip()[-PART:]}")
    return "\n\n".join(parts)[:LONGEST]


def greeting(name: str, note: str, run: int) -> str:
    """The first message to the next run."""
    mark = number(name, "load")
    return (
        f"You are run {run} of this work, with an empty context; the run before you has ended. Its "
        f"hand-over note follows. Begin your answer with the number {mark} between two colons, "
        f"without blanks, then go on with the work at once.\n\n{note}"
    )


def headline(name: str, run: int) -> str:
    """How a note begins that the next run has from its start: nothing else names that number."""
    return f"Hand-over note number {number(name, 'load')} for run {run} of this work."


def proven(text: str, name: str) -> bool:
    """Whether that answer shows that the note arrived."""
    return re.search(rf"(?m)^[^\w\n]*:{number(name, 'load')}:", text) is not None


# -- files ------------------------------------------------------------------------------------


def _folder(hands: Hands) -> Path | None:
    gear = hands.program.gear
    return gear.folder / "notes" if gear is not None else None


def path_of(hands: Hands, name: str) -> Path | None:
    """Where the note of that name stands; None where there is no folder for notes."""
    folder = _folder(hands)
    return folder / f"{name}.md" if folder is not None else None


def keep(hands: Hands, name: str, note: str) -> bool:
    """Write the note, and that it is the last one; False when it cannot be written."""
    folder = _folder(hands)
    if folder is None:
        return False
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, text in (
            (folder / f"{name}.md", f"{note}\n"),
            (folder / f"{hands.agent}-LAST", f"{name}\n"),
        ):
            temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    except OSError:
        return False
    view = hands.view()
    held = {name, view.refresh.note if view.refresh is not None else ""}
    before = hands.now().utc - view.settings.keep_for
    prune_notes(folder, held, least=view.settings.keep_least, before=before)
    return True


def kept(hands: Hands, name: str) -> str:
    """The note of that name; empty when there is none."""
    path = path_of(hands, name)
    if path is None:
        return ""
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip()
    return ""


def last_note(hands: Hands) -> str:
    """The newest note of the agent; empty when there is none."""
    folder = _folder(hands)
    if folder is None:
        return ""
    with contextlib.suppress(OSError):
        last = (folder / f"{hands.agent}-LAST").read_text(encoding="utf-8").strip()
        return kept(hands, last) if last else ""
    return ""


# -- the two acts -----------------------------------------------------------------------------


def _story(hands: Hands) -> Story:
    return hands.adapter.story(hands.transcript())


def reply(hands: Hands) -> str:
    """What the agent said last, as it wrote it down."""
    return _story(hands).reply


def open_calls(hands: Hands) -> tuple[str, ...]:
    """The tool calls that have no result, each in a short line."""
    return tuple(" ".join(call.split())[:CALL] for call in _story(hands).calls[-CALLS:])


def _answers(hands: Hands, glance: Glance) -> tuple[str, str]:
    """Where an answer may stand: in the transcript, or on the screen."""
    return reply(hands), "\n".join(glance.reading.lines)


def found_note(hands: Hands, glance: Glance, name: str) -> str:
    """The note, wherever it is."""
    return next((note for text in _answers(hands, glance) if (note := note_in(text, name))), "")


async def settled(hands: Hands, sent: Outcome, action: Checkpoint | Load) -> Outcome:
    """What came of the question or the greeting."""
    if sent.ending is not Ending.DONE:
        return sent
    saving = action.kind == "checkpoint"
    sent_at = hands.now().at

    def over(glance: Glance) -> bool:
        status = glance.reading.status
        if status in (Status.GONE, Status.ASKING) or arrived(hands, glance, action):
            return True
        late = hands.now().at - sent_at > REFUSES
        return late and status in (Status.FAILED, Status.LIMITED)

    glance = await hands.until(over, WRITES if saving else PROVES)
    if glance is None or not arrived(hands, glance, action):
        return failed("no note came" if saving else "no proof that the note arrived")
    if not saving:
        return done("loaded: the new run has the note")
    note = found_note(hands, glance, action.name)
    return done("saved: its own note") if keep(hands, action.name, note) else failed("not written")


def arrived(hands: Hands, glance: Glance, action: Checkpoint | Load) -> bool:
    """Whether the note, or the proof of it, is there."""
    if action.kind == "checkpoint":
        return bool(found_note(hands, glance, action.name))
    if any(proven(text, action.name) for text in _answers(hands, glance)):
        return True
    story = _story(hands)  # a model may forget the number that it was given
    answered = bool(story.reply) and glance.reading.status is Status.IDLE
    return answered and headline(action.name, action.run) in story.given


def left_for(hands: Hands, name: str, said: str) -> Outcome:
    """Write the note of a run that is gone; `said` is what came of the snapshot."""
    if not hands.adapter.hands_over:
        return failed("no words are known in which a note could be told to it")
    written = written_for(hands, name)
    if written.ending is not Ending.DONE or not said:
        return written
    return done(f"begun; {said}; {written.why}")


def written_for(hands: Hands, name: str) -> Outcome:
    """Write the note that the agent did not."""
    lines, story = hands.view().context.lines, _story(hands)
    before = "" if story.request or story.reply else last_note(hands)
    if keep(hands, name, before or made_up(story, lines)):
        return done("saved: koboshi wrote the note from what was written down")
    return failed("the note cannot be written")
