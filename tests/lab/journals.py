"""What a journal says of a night: read from the disk, as a supervisor that takes over reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from koboshi.core.actions import Action, Checkpoint, Escalate, Notify, Send, Stop
from koboshi.core.events import ActionFinished, Ending, RunStarted
from koboshi.core.readings import Status
from koboshi.rules import BUILTIN
from koboshi.store import journal, wire
from koboshi.store.history import follow
from koboshi.store.paths import journal_dir
from koboshi.store.shelves import DiskShelf

#: A line of the record: an action with the word that was written of it, a run that is `up`, or what
#: the agent `is` from there on.
Entry = tuple[str, Action | RunStarted | Status]


@dataclass(slots=True, kw_only=True)
class Record:
    """One agent's journal, in the order in which it was written."""

    entries: list[Entry] = field(default_factory=list)

    @property
    def done(self) -> list[Action]:
        """What was done."""
        ended = (what for word, what in self.entries if word == Ending.DONE)
        return [what for what in ended if not isinstance(what, RunStarted | Status)]

    @property
    def under_way(self) -> list[Action]:
        """What was begun, and nothing says yet how it came out."""
        begun: dict[str, Action] = {}
        for word, what in self.entries:
            if isinstance(what, RunStarted | Status):
                continue
            begun.pop(what.key, None)
            if word == "admitted":
                begun[what.key] = what
        return list(begun.values())

    @property
    def kinds(self) -> list[str]:
        """What was done to the agent."""
        return [each.kind for each in self.done if not isinstance(each, Notify | Escalate)]

    @property
    def told(self) -> list[str]:
        """What people were told."""
        return [each.text for each in self.done if isinstance(each, Notify | Escalate)]

    @property
    def runs(self) -> list[RunStarted]:
        """The runs that began."""
        return [what for _, what in self.entries if isinstance(what, RunStarted)]

    def sent(self, about: str) -> list[Send]:
        """The messages about something that begins so."""
        sent = (each for each in self.done if isinstance(each, Send))
        return [each for each in sent if each.about.startswith(about)]

    def between(self, first: Status, last: Action) -> set[Status]:
        """What the agent was from the first time that it was that until this was decided."""
        begin, end = self.entries.index(("is", first)), self.entries.index(("admitted", last))
        return {what for _, what in self.entries[begin:end] if isinstance(what, Status)}


def record(state: Path, agent: str) -> Record:
    """All that the journal of an agent says."""
    made, status = Record(), None
    shelf = DiskShelf(journal_dir(state, agent))
    for line, world in follow(journal.read(shelf), BUILTIN):
        match line.record:
            case wire.Judged(decision=decision) if decision.verdict.admitted:
                made.entries.append(("admitted", decision.action))
            case wire.Seen(event=event) if isinstance(event.body, ActionFinished):
                made.entries.append((event.body.outcome.ending, event.body.action))
            case wire.Seen(event=event) if isinstance(event.body, RunStarted):
                made.entries.append(("up", event.body))
        if world.view.status is not status:
            status = world.view.status
            made.entries.append(("is", status))
    return made


def saved_before_each_restart(state: Path, agent: str) -> int:
    """Each run that koboshi ended was saved before its end was decided; how many such runs.

    What a person or the agent itself ended is theirs, and a crash asks nobody.
    """
    saved, ended = set[int](), set[int]()
    for word, what in record(state, agent).entries:
        if isinstance(what, Checkpoint) and word == Ending.DONE:
            saved.add(what.run)
        elif isinstance(what, Stop) and word == "admitted" and not (what.ordered or what.asked):
            assert what.run in saved, f"run {what.run} was ended before it was saved"
            ended.add(what.run)
    return len(ended)
