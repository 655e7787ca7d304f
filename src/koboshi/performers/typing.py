"""Text into the input box: seen in the box, submitted, seen to have left. Send, Checkpoint, Load.

Trap: text typed into an open dialog approves it in every CLI. So the screen must show the prompt
with an empty box before the text, and the box with exactly that text before Enter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.pasted import bare
from koboshi.core.events import Ending, Source
from koboshi.core.readings import Status
from koboshi.rules.outages import RETRY, cure_for

from . import briefs, commands, handover, probing, reactions
from .hands import Skipped, done, failed, readable, skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.core.actions import Checkpoint, Load, Send
    from koboshi.core.events import Moment, Outcome
    from koboshi.core.readings import Reading
    from koboshi.core.view import View

    from .hands import Glance, Hands

#: Statuses in which the input box takes a message.
AT_PROMPT = (Status.IDLE, Status.FAILED, Status.LIMITED)
#: Seconds for typed text to show, and for submitted text to leave.
SHOWS = 3.0
#: Seconds between two looks that count as two signals.
APART = 0.3
#: How often a line is taken out of a box that still holds the beginning of our text.
_TAKES_BACK = 40
#: Seconds for which a hook's word that a question is open holds: its end may have fired none.
RECENT = 10.0
#: Seconds for the agent to confirm a save or a load, and to have read that it was asked.
CONFIRMS, REFUSES = 90.0, 5.0
#: What ends the turn without a confirmation: nothing will come any more.
_REFUSED = (Status.FAILED, Status.LIMITED)


def ready(reading: Reading, told: Status | None) -> bool:
    """At its prompt, no question open, nothing half-typed; `told` is what another signal says."""
    rests = reading.status in AT_PROMPT or (reading.unended and told is Status.IDLE)
    return rests and reading.prompt is None and not reading.draft


def _queues(reading: Reading) -> bool:
    """In a turn with an empty box: what is submitted now waits for the end of the turn."""
    return reading.status is Status.WORKING and reading.prompt is None and not reading.draft


def _is_in_box(hands: Hands, glance: Glance, text: str) -> bool:
    reading = glance.reading
    return reading.prompt is None and hands.adapter.holds(reading.draft, text)


def _holds(hands: Hands, glance: Glance, text: str) -> bool:
    """Whether Enter would submit that text and nothing else."""
    # A menu lags behind the text: Enter would run its entry, `/clear` for `/quit`.
    return _is_in_box(hands, glance, text) and glance.reading.reason != "menu_differs"


def _is_settled(hands: Hands, glance: Glance, text: str) -> bool:
    """The same, and the menu of a command is there: Enter runs an entry that is yet to be drawn."""
    return _holds(hands, glance, text) and glance.reading.reason != "menu_not_seen"


def _takes(reading: Reading, told: Status | None, *, at_once: bool) -> bool:
    return ready(reading, told) or (at_once and _queues(reading))


async def _sure(hands: Hands, *, at_once: bool) -> None:
    """Two signals say that no dialog is open, or nothing is typed: text would approve it."""
    glance = await hands.fresh_look()
    told = second_opinion(hands.view(), hands.now())
    if not _takes(glance.reading, told, at_once=at_once):
        raise Skipped("not at an empty prompt")
    if told is Status.ASKING:
        raise Skipped("the screen shows a prompt, another signal an open question")
    if told is None:
        # Nobody else tells: what a screen shows twice, with its cursor in the same place, is no
        # frame that a dialog is about to replace.
        await hands.sleep(APART)
        again = await hands.fresh_look()
        moved = again.seen.cursor != glance.seen.cursor
        if moved or not _takes(again.reading, told, at_once=at_once):
            raise Skipped("not at an empty prompt, at the second look")


def second_opinion(view: View, now: Moment) -> Status | None:
    """What the agent itself says beside its screen; None: nothing that counts now."""
    registry, hook = view.clue(Source.REGISTRY), view.clue(Source.HOOK)
    if hook is not None and hook.status is Status.ASKING and now.at - hook.at < RECENT:
        return Status.ASKING
    return registry.status if registry is not None else None


async def submit(hands: Hands, text: str, *, at_once: bool = False) -> Outcome:
    """Type the text at an empty prompt and see it leave; text goes in once, Enter at most twice."""
    if not text:
        return failed("no words are known for that")  # an empty box would "hold" them at once
    await _sure(hands, at_once=at_once)
    await hands.paste(text)
    # Gemini swallows an Enter that comes at once, and Codex takes it for a part of the paste.
    await hands.sleep(hands.adapter.submit_pause)
    settled = await hands.until(lambda g: _is_settled(hands, g, text), SHOWS)
    # No menu after all that time: it has no such command, and Enter submits what is typed.
    if settled is None and not _holds(hands, await hands.patient_look(), text):
        await _take_back(hands, text)
        return failed("the text did not show in the box; not submitted")
    return await _enter(hands, text)


async def _enter(hands: Hands, text: str) -> Outcome:
    for _ in range(2):
        if not _holds(hands, await hands.patient_look(), text):
            return failed("the box changed before Enter; not submitted")
        await hands.keys(("Enter",))
        if await hands.until(lambda g: not _holds(hands, g, text), SHOWS) is not None:
            return done("submitted, and seen to have left the box")
    await _take_back(hands, text)
    return failed("the text stayed in the box after Enter")


async def resubmit(hands: Hands, text: str) -> Outcome:
    """Enter what stands in the box, and see it leave."""
    return await _enter(hands, text)


async def _take_back(hands: Hands, text: str) -> None:
    """Clear the box if what stands in it is ours alone; a key may clear one line only."""
    if not _is_in_box(hands, await hands.patient_look(), text):
        return
    await hands.keys(("C-u",))
    for _ in range(_TAKES_BACK):
        await hands.sleep(APART)
        reading = (await hands.patient_look()).reading
        rest = bare(reading.draft)
        # What is not the beginning of ours is a person's.
        if not rest or reading.prompt is not None or not bare(text).startswith(rest):
            return
        await hands.keys(("BSpace", "C-u"))


async def send(action: Send, hands: Hands) -> Outcome:
    """Type and submit a message."""
    hands.at_place(action.run)
    glance = await hands.look()
    if _tells_of_restart(action) and _has_come(action, hands, glance):
        return done("was told already")
    hands.touch(action.key)
    sent = await submit(hands, action.text, at_once=action.at_once)
    if probing.asks(action):
        return await probing.answered(hands, sent, action)
    return await reactions.looked_for(hands, sent, action, glance.reading.lines)


def _tells_of_restart(action: Send) -> bool:
    """Whether it tells a run how it came to be: it must come, and must not come twice."""
    return action.about.startswith(("reload", "open-call"))


def _has_come(action: Send, hands: Hands, glance: Glance) -> bool:
    """Whether its first line, which no other message has, was submitted before."""
    first = bare(action.text.partition("\n")[0])
    if first in bare(glance.reading.draft):
        return False
    written = "".join(line.decode(errors="replace") for line in hands.transcript())
    return first in bare(glance.seen.text) or first in bare(written)


async def checkpoint(action: Checkpoint, hands: Hands) -> Outcome:
    """Have the agent save, and see its confirmation."""
    hands.at_place(action.run)
    hands.touch(action.key)
    if action.last and _is_asked(action, hands):
        written = handover.written_for(hands, action.name)
        if written.ending is Ending.DONE or not commands.text_for(action, hands):
            return written  # where no note can be written, the command is all there is
    sent = await submit(hands, typed_text(action, hands))
    return await _settled(hands, sent, action)


async def load(action: Load, hands: Hands) -> Outcome:
    """Have the new run load what the old one saved, and see its confirmation."""
    hands.at_place(action.run)
    hands.touch(action.key)
    await briefs.taken_or_withdrawn(action, hands)
    sent = await submit(hands, typed_text(action, hands))
    outcome = await _settled(hands, sent, action)
    if sent.ending is Ending.DONE and outcome.ending is Ending.FAILED and await _waits(hands):
        return skipped(f"{outcome.why}: nobody answers now, so it is done again later")
    return outcome


async def _waits(hands: Hands) -> bool:
    """Whether what was asked failed by something that ends by itself: that is no failed try."""
    reading = (await hands.look()).reading
    code = reading.error.code if reading.error is not None else ""
    passes = cure_for(hands.view().settings, code or "error") == RETRY
    return reading.status is Status.LIMITED or (reading.status is Status.FAILED and passes)


def _is_asked(action: Checkpoint | Load, hands: Hands) -> bool:
    """Whether it goes by the owner's command or in words, not by a command of the adapter's."""
    return bool(commands.text_for(action, hands)) or _in_words(action, hands)


def _in_words(action: Checkpoint | Load, hands: Hands) -> bool:
    """Whether the note itself is asked for, or told."""
    if commands.text_for(action, hands):
        return False
    kept = action.kind == "load" and bool(handover.kept(hands, action.name))
    return hands.adapter.hands_over or kept


async def _settled(hands: Hands, sent: Outcome, action: Checkpoint | Load) -> Outcome:
    """See what came of the command or the words."""
    if text := commands.text_for(action, hands):
        return await commands.settled(hands, sent, action, text)
    if _in_words(action, hands):
        return await handover.settled(hands, sent, action)
    adapter, name = hands.adapter, action.name
    if action.kind == "checkpoint":
        return await _confirm(hands, sent, lambda lines: adapter.saved(lines, name), "saved")
    return await _confirm(hands, sent, lambda lines: adapter.loaded(lines, name), "loaded")


async def _confirm(
    hands: Hands, sent: Outcome, shown: Callable[[tuple[str, ...]], bool], word: str
) -> Outcome:
    if sent.ending is not Ending.DONE:
        return sent
    sent_at = hands.now().at

    def settled(glance: Glance) -> bool:
        """Confirmed, or refused: an old error may stand there for a moment after Enter."""
        status, lines = glance.reading.status, glance.reading.lines
        late = hands.now().at - sent_at > REFUSES
        return shown(lines) or status is Status.GONE or (late and status in _REFUSED)

    glance = await hands.until(settled, CONFIRMS)
    if glance is not None and shown(glance.reading.lines):
        return done(f"{word}: seen on the screen")
    return failed(f"not {word}: no confirmation was seen")


async def settle_typing(action: Send | Checkpoint | Load, hands: Hands) -> Outcome:
    """The text may have gone in: if it stands in the box, only Enter is missing."""
    if hands.place is None or hands.place.run != action.run:
        return failed("in doubt; the run is over")
    glance, entered = await finish_typing(hands, typed_text(action, hands))
    if entered and action.kind == "send":
        return done("in doubt; it stood in the box, and was entered")  # an old look may not show it
    return _judge(action, hands, glance)


async def finish_typing(hands: Hands, text: str) -> tuple[Glance, bool]:
    """Press Enter if that text stands in the box; what the screen shows then, and if it left."""
    await readable(hands)
    glance = await hands.patient_look()
    if not glance.reading.draft or not _holds(hands, glance, text):
        return glance, False
    entered = await _enter(hands, text)
    return await hands.look(), entered.ending is Ending.DONE


def typed_text(action: Send | Checkpoint | Load, hands: Hands) -> str:
    """What the action types."""
    if action.kind == "send":
        return action.text  # type: ignore[union-attr]
    return commands.text_for(action, hands) or _words(action, hands)  # type: ignore[arg-type]


def _words(action: Checkpoint | Load, hands: Hands) -> str:
    adapter, name = hands.adapter, action.name
    if _in_words(action, hands):
        if action.kind == "checkpoint":
            return handover.request(name)
        if briefs.was_told(action, hands):  # type: ignore[arg-type]
            return briefs.reminder(action.run)
        return handover.greeting(name, handover.kept(hands, name), action.run)
    return adapter.save_text(name) if action.kind == "checkpoint" else adapter.load_text(name)


def _judge(action: Send | Checkpoint | Load, hands: Hands, glance: Glance) -> Outcome:
    lines, adapter = glance.reading.lines, hands.adapter
    if action.kind == "send":
        must_come = _tells_of_restart(action)  # type: ignore[arg-type]
        if must_come and not glance.seen.alive:
            # What stands in the box of a dead program looks like what it was told.
            return skipped("in doubt; the run is over")
        if not must_come or _has_come(action, hands, glance):  # type: ignore[arg-type]
            return done("in doubt; taken as sent")
        return skipped("in doubt; it has not come, so it is sent again")
    name: str = action.name  # type: ignore[union-attr]
    if text := commands.text_for(action, hands):  # type: ignore[arg-type]
        if commands.arrived(hands, glance, action, text, late=True):  # type: ignore[arg-type]
            return commands.noted(hands, action, text)  # type: ignore[arg-type]
        return skipped("in doubt; not confirmed, so it is done again")
    if _in_words(action, hands):  # type: ignore[arg-type]
        return _judge_note(action, hands, glance)  # type: ignore[arg-type]
    shown = adapter.saved if action.kind == "checkpoint" else adapter.loaded
    if shown(lines, name):
        return done("in doubt; the confirmation is on the screen")
    return skipped("in doubt; no confirmation on the screen, so it is done again")


def _judge_note(action: Checkpoint | Load, hands: Hands, glance: Glance) -> Outcome:
    """A note in doubt: it is there, or it is asked for again."""
    if action.kind == "checkpoint" and handover.kept(hands, action.name):
        return done("in doubt; the note is there")
    if not handover.arrived(hands, glance, action):
        return skipped("in doubt; no note is there, so it is done again")
    if action.kind == "load":
        return done("in doubt; the new run has the note")
    note = handover.found_note(hands, glance, action.name)
    return done("in doubt; found") if handover.keep(hands, action.name, note) else failed("no room")
