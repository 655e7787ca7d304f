"""`koboshi events`: what was seen of an agent, a line each."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING

import click

from koboshi.core.events import BODY_TYPES

if TYPE_CHECKING:
    from koboshi.core.events import Event

#: Seconds between two looks at the journal. A person does not see less; a poll costs two stats.
_POLL = 0.25
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?[smhd])+\Z")
_PART = re.compile(r"([0-9.]+)([smhd])")
_DAY = 86400.0
#: Columns below which a line is shortened.
_NARROW = 60
#: Longer than any journal, and not yet more than a clock can show.
_LONGEST = 36500 * _DAY

_EPILOG = """\b
Examples:
  koboshi events NAME --since 1h
  koboshi events NAME --follow --type run-exited --type run-started
  koboshi events NAME --json | jq -r .type | sort | uniq -c

\b
Exit codes: 0 fine · 2 no such agent, type or time
3 the journal cannot be used · 130 Ctrl-C
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--follow", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("--since", metavar="TIME", help="Only the last 90s, 15m, 1h, 1h30m, 2d …")
@click.option(
    "--type", "types", metavar="TYPE", multiple=True, help="Only this type; may be repeated."
)
@click.option("--all", "everything", is_flag=True, help="Also looks that showed nothing new.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def events(
    *,
    name: str,
    follow: bool,
    since: str | None,
    types: tuple[str, ...],
    everything: bool,
    as_json: bool,
) -> None:
    """Print what was seen of the agent or plan NAME, oldest first.

    A line has the local time, the id, the severity, the type, and what happened. Piped, it is as
    long as it needs to be; on a terminal it is cut to its width.
    """
    from koboshi.store.history import follow as fold
    from koboshi.store.paths import known_journal_dir, state_dir
    from koboshi.store.queries import with_context
    from koboshi.store.tail import tail

    from .loop.telling import plan_meant, tell_events

    if plan := plan_meant(name):
        since_when = time.time() - duration(since) if since is not None else float("-inf")
        tell_events(plan, since_when, follow=follow, as_json=as_json)
        return
    wanted = frozenset(_known(types)) or _shown(everything=everything)
    start = time.time() - duration(since) if since is not None else float("-inf")
    folder = known_journal_dir(state_dir(), name)
    lines = tail(folder, _pause if follow else None, since=_first_day(start))
    for event, _ in with_context(fold(lines, ())):
        if event.type in wanted and event.now.utc >= start:
            _print(event, as_json=as_json)
            if follow:
                sys.stdout.flush()


def _pause() -> None:
    time.sleep(_POLL)


def _known(types: tuple[str, ...]) -> tuple[str, ...]:
    from koboshi.errors import InputError

    for each in types:
        if each not in BODY_TYPES:
            raise InputError(
                f"expected a type of event, not {each!r}", hint=f"types: {', '.join(BODY_TYPES)}"
            )
    return types


def _shown(*, everything: bool) -> frozenset[str]:
    return frozenset(BODY_TYPES) if everything else frozenset(BODY_TYPES) - {"screen-same"}


def duration(text: str) -> float:
    """Seconds in `90s`, `15m`, `1h30m`, `2d`."""
    from koboshi.errors import InputError

    seconds = -1.0
    if _DURATION.match(text):
        seconds = sum(float(count) * _UNITS[unit] for count, unit in _PART.findall(text))
    if not 0 <= seconds <= _LONGEST:
        raise InputError(f"expected a time such as '90s', '15m', '1h30m' or '2d', not {text!r}")
    return seconds


def _first_day(start: float) -> str:
    """The day of the first segment that can hold something from then on.

    A segment is named for the day it was begun and can hold the first event of the next day.
    """
    from datetime import UTC, datetime

    if start < _DAY:
        return ""
    return f"{datetime.fromtimestamp(start - _DAY, tz=UTC):%Y-%m-%d}"


def _print(event: Event, *, as_json: bool) -> None:
    from koboshi.store.wire import event_facts

    from .colours import SEVERITY_COLOURS
    from .printing import clip, columns, paint, plain, say, to_json

    if as_json:
        say(to_json(event_facts(event)))
        return
    room = columns()
    row = plain(_words(event, room))
    say(paint(row if room is None else clip(row, room), SEVERITY_COLOURS[event.severity]))


def _words(event: Event, room: int | None) -> str:
    """A narrow page has no room for the date and the type; the words say it too."""
    from koboshi.store.wording import event_words

    from .printing import clock, day

    head, words = f"{event.id} {event.severity.value}", event_words(event.body)
    if room is not None and room < _NARROW:
        return f"{clock(event.now.utc)} {head} {words}"
    return f"{day(event.now.utc)[5:]} {clock(event.now.utc)} {head} {event.type}  {words}"
