"""From the state folder to a report: journals, notes, git, transcripts. Needs no daemon."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from koboshi.core.view import evolve
from koboshi.errors import KoboshiError
from koboshi.store.history import follow
from koboshi.store.paths import agents, journal_dir
from koboshi.store.queries import segment
from koboshi.store.roster import Entry, Roster
from koboshi.store.sessions import remembered
from koboshi.store.shelves import DiskShelf

from .accounts import account
from .commits import commits
from .phrases import clock
from .spending import Asked, spent
from .steps import plan
from .values import Account, Doing, Refreshed, Report, Spent

if TYPE_CHECKING:
    from koboshi.store.queries import Entry as Record

#: Bytes of a note that are read.
_NOTE = 16_000


class _Head(msgspec.Struct):
    """Of a segment's first line: when it was begun."""

    utc: float


def gather(state: Path, names: tuple[str, ...], *, since: float, until: float) -> Report:
    """The hours of those agents, of all that have a journal where none is named."""
    known = {entry.agent: entry for entry in Roster(state).entries()}
    found = [
        _account(state, name, known.get(name), since=since, until=until)
        for name in names or agents(state)
    ]
    told = [each for each in found if names or each.stretches or each.needs or each.troubles]
    return Report(
        since=since, until=until, agents=tuple(sorted(told, key=lambda a: (not a.needs, a.agent)))
    )


def _account(state: Path, name: str, entry: Entry | None, *, since: float, until: float) -> Account:
    troubles: list[str] = []
    folder = journal_dir(state, name)
    records = _records(DiskShelf(folder), since, troubles)
    found = account(records, since=since, until=until, known=remembered(folder.parent))
    cwd = entry.cwd if entry else found.folder
    kept = tuple(_with_text(each, folder.parent / "notes") for each in found.refreshes)
    asked = Asked(
        environment=Roster(state).environment(name) or {},
        sessions=found.sessions,
        folder=cwd,
        since=since,
        until=until,
    )
    return evolve(
        found,
        agent=name,
        folder=cwd,
        refreshes=kept,
        plan=plan(cwd),
        commits=commits(cwd, since, until),
        spent=_with_cost(spent(found.type, asked), found.cost),
        needs=_needs(found, entry),
        troubles=tuple(troubles),
    )


def _with_cost(used: Spent | None, cost: float | None) -> Spent | None:
    """What the journal knows of money goes with the tokens, where their file tells none."""
    if used is None:
        return Spent(read=0, written=0, cost=cost) if cost is not None else None
    return evolve(used, cost=cost) if used.cost is None else used


def _needs(found: Account, entry: Entry | None) -> tuple[str, ...]:
    """Who was released, or struck from the list, needs nobody."""
    if entry is None or not entry.watched:
        return ()
    last = found.stretches[-1] if found.stretches else None
    if last is None or last.doing is not Doing.UNSEEN:
        return found.needs
    since = f"nobody has looked after it since {clock(last.start)}"
    return (f"{since}: 'koboshi ls' starts the daemon", *found.needs)


def _records(shelf: DiskShelf, since: float, troubles: list[str]) -> Iterator[Record]:
    """What can be read; a segment that is damaged is read up to there, and told of."""
    names = shelf.names()
    for name in names[_first(shelf, names, since) :]:
        try:
            yield from follow(segment(shelf, name), ())
        except KoboshiError as error:
            troubles.append(str(error))


def _first(shelf: DiskShelf, names: tuple[str, ...], since: float) -> int:
    """The segment in which the hours begin: the last one that was opened before them."""
    for number in range(len(names) - 1, -1, -1):
        with (
            contextlib.suppress(OSError, msgspec.MsgspecError),
            (shelf.folder / names[number]).open("rb") as file,
        ):
            if msgspec.json.decode(file.readline(), type=_Head).utc <= since:
                return number
    return 0


def _with_text(each: Refreshed, folder: Path) -> Refreshed:
    if not each.note or "/" in each.note:
        return each
    with contextlib.suppress(OSError), (folder / f"{each.note}.md").open("rb") as file:
        return evolve(each, text=file.read(_NOTE).decode(errors="replace").strip())
    return each
