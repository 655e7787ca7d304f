"""`koboshi history`: the runs of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.store.sessions import Past

_EPILOG = """\b
Examples:
  koboshi history NAME
  koboshi history NAME --json | jq -r .session

\b
Exit codes: 0 fine · 2 no such agent · 3 the journal cannot be used
4 sessions.jsonl cannot be written
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def history(*, name: str, as_json: bool) -> None:
    """List the runs of the agent NAME: session, beginning, end, and why it ended.

    All of it comes from the journal, and, for runs that it has forgotten, from `sessions.jsonl`
    beside it, which the daemon keeps. The same lines are put there.
    """
    from koboshi.store.history import follow
    from koboshi.store.paths import known_journal_dir, state_dir
    from koboshi.store.queries import with_context
    from koboshi.store.sessions import remembered, renew, runs
    from koboshi.store.tail import tail

    from .printing import plain, say, to_json

    folder = known_journal_dir(state_dir(), name)
    told = with_context(follow(tail(folder, None, since=""), ()))
    found = runs(told, remembered(folder.parent))
    renew(folder.parent, found)
    for past in found:
        say(to_json(past.facts()) if as_json else plain(_row(past)))
    if not found and not as_json:
        say(f"{name} has not run yet")


def _row(past: Past) -> str:
    from .printing import clock, day

    began = f"{day(past.started)} {clock(past.started)}"
    session = past.sessions[-1] if past.sessions else "no session known"
    if past.ended is None:
        return f"#{past.run}  {began} → now  {past.origin}  {session}"
    why = f": {past.reason}" if past.reason else ""
    return f"#{past.run}  {began} → {clock(past.ended)}  {past.origin}  {session}  {past.how}{why}"
