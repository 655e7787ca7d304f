"""`koboshi incidents`: what rules found of agents, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path

_EPILOG = """\b
Examples:
  koboshi incidents
  koboshi incidents NAME --since 7d --severity P0
  koboshi incidents --json | jq -r '.[] | select(.open) | .agent'

\b
Exit codes: 0 fine · 2 no such agent, severity or time
"""


@click.command(epilog=_EPILOG)
@click.argument("name", required=False)
@click.option("--since", metavar="TIME", default="24h", help="The last 90s, 15m, 1h, 2d … [24h]")
@click.option(
    "--severity",
    default="P1",
    type=click.Choice(["P0", "P1", "P2"]),
    help="The least that is shown [P1]; P2 shows what is only for the record, too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def incidents(*, name: str | None, since: str, severity: str, as_json: bool) -> None:
    """List what rules found of the agent NAME or of all, newest first, and what came of it.

    No daemon is needed: the journals are read. Where one runs, it knows what is over.
    `koboshi ack NAME` says that you saw to it; `koboshi why NAME EVENT` tells all that belongs to
    one.
    """
    from koboshi.incidents.findings import LONGEST
    from koboshi.store.paths import known_journal_dir, state_dir

    from .events import duration
    from .printing import say, to_json

    state = state_dir()
    if name:
        known_journal_dir(state, name)  # or an error that names the known ones
    seconds = min(duration(since), LONGEST)
    found = _told(state, name or "", seconds, severity)
    if as_json:
        say(to_json(found))
        return
    for each in found:
        say("\n".join(_rows(each)))
    if not found:
        say("nothing was found")


def _told(state: Path, name: str, seconds: float, severity: str) -> list[dict[str, Any]]:
    """What the daemon says, where one runs and knows the agent; else what the journals say."""
    import time

    from koboshi.core.events import Severity
    from koboshi.daemon.control.client import Refused, call_running
    from koboshi.incidents.findings import MOST, found_in

    asked = {"name": name, "seconds": max(seconds, 0.001), "severity": severity, "count": MOST}
    try:
        told: list[dict[str, Any]] | None = call_running(state, "incidents", patience=30.0, **asked)
    except Refused:
        told = None  # it was struck from the list; its journal is there
    if told is not None:
        return told
    since, names = time.time() - seconds, (name,) if name else ()
    return found_in(state, names, since=since, least=Severity[severity])


def _rows(each: dict[str, Any]) -> list[str]:
    from koboshi.core.events import Severity

    from .colours import SEVERITY_COLOURS
    from .printing import clock, day, paint, plain

    when = f"{day(each['utc'])[5:]} {clock(each['utc'])}"
    head = f"{when}  {each['severity']} {each['code']} {each['name']}  {each['agent']}"
    if each["open"]:
        head = f"{head}  waits for you: koboshi ack {each['agent']}"
    rows = [paint(head, SEVERITY_COLOURS[Severity[each["severity"]]])]
    rows += _fitted(f"{plain(each['message'])} ({each['event']})")
    for step in each["actions"]:
        ending = step["ending"] or step["why"]
        said = f": {step['said']}" if step["said"] else ""
        rows += _fitted(f"→ {plain(step['words'])} – {plain(ending)}{plain(said)}")
    return rows


def _fitted(text: str) -> list[str]:
    """Below its head, in as many rows as a terminal needs; a pipe gets one."""
    from .printing import columns, wrap

    room = columns()
    rows = [*wrap(text, max(20, room - 6))] if room else [text]
    return [f"    {'  ' if number else ''}{row}" for number, row in enumerate(rows)]
