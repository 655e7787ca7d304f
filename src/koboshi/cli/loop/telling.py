"""`koboshi why PLAN`, `koboshi events PLAN`: what was decided about a plan, as about an agent."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.store.progress import Progress

#: Seconds between two looks at the journal.
_POLL = 0.25


def plan_meant(name: str) -> Progress | None:
    """The plan of that name; an agent of the same name comes first."""
    from koboshi.store.paths import agents, state_dir
    from koboshi.store.progress import plan_named

    return None if name in agents(state_dir()) else plan_named(state_dir(), name)


def tell_why(plan: Progress, event: str | None, count: int | None, *, as_json: bool) -> None:
    """Each decision from what was seen to what came of it, oldest first."""
    from koboshi.cli.printing import COLUMNS, columns, day, paint, say, to_json
    from koboshi.store.planjournal import chains
    from koboshi.store.queries import event_number

    found = chains(plan.notebook.all())
    if event is not None:
        name = f"e{event_number(event)}"
        found = [each for each in found if name in (each["seen"].get("id"), _ended_by(each))]
    elif count is not None:
        found = found[max(0, len(found) - count) :]
    if as_json:
        say(to_json(found))
        return
    today = ""
    for chain in found:
        if (date := day(chain["utc"])) != today:
            today = date
            say(paint(today, "bold"))
        say("")
        say("\n".join(_rows(chain, columns() or COLUMNS)))
    if not found:
        say("nothing was decided yet")


def _ended_by(chain: dict[str, Any]) -> str:
    return str((chain["outcome"] or {}).get("event", ""))


def _rows(chain: dict[str, Any], room: int) -> Iterator[str]:
    from koboshi.cli.colours import SEVERITY_COLOURS
    from koboshi.cli.printing import clock, labelled, paint, plain, wrap
    from koboshi.core.events import Severity

    finding, words, outcome = chain["finding"], chain["words"], chain["outcome"]
    head = f"{clock(chain['utc'])} {finding['code']} {finding['name']}"
    first, *more = wrap(plain(head), room)
    yield paint(first, SEVERITY_COLOURS[Severity(finding["severity"])])
    yield from more
    yield labelled("seen", plain(f"{chain['seen'].get('id', '')} {words['seen']}".strip()), room)
    for line in finding["evidence"]:
        yield labelled("", plain(" ".join(line.split())), room, mark="│ ")
    yield labelled("found", plain(finding["message"]), room)
    yield labelled("action", plain(words["action"]), room)
    yield labelled("verdict", plain(words["verdict"]), room)
    if chain["verdict"]["admitted"]:
        said = "not written yet"
        if outcome:
            why = f": {outcome['why']}" if outcome["why"] else ""
            said = f"{outcome['ending']} at {clock(outcome['utc'])} ({outcome['event']}){why}"
        yield labelled("outcome", plain(said), room)


def tell_events(plan: Progress, start: float, *, follow: bool, as_json: bool) -> None:
    """What was seen of the plan since then, a line each."""
    from koboshi.cli.printing import clip, clock, columns, day, plain, say, to_json
    from koboshi.store.planjournal import event_facts

    told = 0  # the number of the last event: what lies before it in the journal may go meanwhile
    while True:
        rows = [row for row in plan.notebook.all() if row.get("k") in ("seen", "finished")]
        for row in rows:
            if row["seq"] <= told or row["utc"] < start:
                continue
            facts = event_facts(row)
            when = f"{day(row['utc'])} {clock(row['utc'])}"
            said = f"{when} {facts['id']} {facts['severity']} {facts['type']}  {facts['words']}"
            room = columns()
            line = plain(said) if room is None else clip(plain(said), room)
            say(to_json(facts) if as_json else line)
        told = max((told, *(int(row["seq"]) for row in rows)))
        if not follow:
            return
        sys.stdout.flush()
        time.sleep(_POLL)
