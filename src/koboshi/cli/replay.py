"""`koboshi replay`: the decisions of a journal made again, and where they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.store.replays import Comparison, Difference

#: Exit code when something would be decided differently.
DIFFERS = 1

_EPILOG = """\b
Examples:
  koboshi replay NAME
  koboshi replay 2026-01-15.0001.jsonl --json
  koboshi replay NAME --rules new-rules.toml

\b
Exit codes: 0 every decision comes out the same · 1 some would differ
2 no such file or agent · 3 the journal cannot be used
"""


@click.command(epilog=_EPILOG)
@click.argument("journal")
@click.option("--rules", metavar="FILE", help="Take the rules of this file in place of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def replay(*, journal: str, rules: str | None, as_json: bool) -> None:
    """Decide JOURNAL again and show what would differ; nothing is done and nothing is written.

    JOURNAL is a segment file, a folder of segments, or the name of an agent. Each event is judged
    by the rules of this koboshi, of its plug-ins and of your own koboshi.toml, or of --rules in the
    place of these, with the settings of then, on what was recorded before it.
    """
    from koboshi.config.files import own_rules, rules_of
    from koboshi.plugins.manager import in_force
    from koboshi.store import replays
    from koboshi.store.manifests import config_dir
    from koboshi.store.paths import state_dir
    from koboshi.store.queries import find_journal, segment

    from .printing import say, to_json

    shelf = find_journal(journal, state_dir())
    lines = (line for name in shelf.names() for line in segment(shelf, name))
    more = rules_of(rules) if rules is not None else own_rules(config_dir())
    # What is in force was listened for then; only other rules have to listen anew.
    listening = tuple(what for rule in more for what in rule.listens) if rules is not None else ()
    found = replays.replay(lines, in_force(more), listening)
    if as_json:
        say(to_json(replays.comparison_facts(found)))
    else:
        _tell(found)
    if found.differences:
        raise SystemExit(DIFFERS)


def _tell(found: Comparison) -> None:
    from .printing import COLUMNS, columns, day, paint, say, wrap

    room, today = columns() or COLUMNS, ""
    for each in found.differences:
        date = day(each.event.now.utc)
        if date != today:
            say(paint(date, "bold"))
            today = date
        say(_words(each, room) + "\n")
    for row in wrap(_summary(found), room):
        say(row)


def _summary(found: Comparison) -> str:
    differ = len(found.differences)
    result = "nothing would differ" if not differ else f"{_count(differ, 'decision')} would differ"
    over = f"{_count(found.events, 'event')}, {_count(found.decisions, 'decision')}"
    cut = ""
    if found.cut:
        cut = f"; {_count(found.cut, 'decision')} at a torn end could not be compared"
    return f"{result} ({_count(found.segments, 'segment')}, {over}{cut})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _words(each: Difference, room: int) -> str:
    from koboshi.store.wording import event_words

    from .printing import clock, labelled, paint, plain, wrap

    either = each.recorded or each.now
    rule = f"{either.finding.code} {either.finding.name}" if either else ""
    parts = f" ({', '.join(each.parts)})" if each.parts else ""
    head = f"{clock(each.event.now.utc)} {rule}: {each.kind.value.replace('-', ' ')}{parts}"
    rows = [paint(row, "yellow") for row in wrap(plain(head), room)]
    rows.append(labelled("seen", plain(f"{each.event.id} {event_words(each.event.body)}"), room))
    rows.append(labelled("then", plain(_decision(each.recorded)), room))
    rows.append(labelled("now", plain(_decision(each.now)), room))
    return "\n".join(rows)


def _decision(decision: Decision | None) -> str:
    from koboshi.store.wording import action_words, verdict_words

    if decision is None:
        return "no such decision"
    words = f"{verdict_words(decision.verdict)} – {action_words(decision.action)}"
    return f"{words} – {decision.finding.message}"
