"""`koboshi snapshots [NAME]`: which snapshots there are."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from koboshi.store.snapshots import Snapshot

_EPILOG = """\b
Examples:
  koboshi snapshots
  koboshi snapshots NAME
  koboshi snapshots NAME --json | jq -r '.[-1].name'

\b
Exit codes: 0 fine · 2 no such agent
4 NAME is in no git worktree, or git refused
"""
_HEAD = ("AGENT", "SNAPSHOT", "AGO", "FILES", "SIZE", "")


@click.command("list", epilog=_EPILOG)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def listing(*, name: str | None, as_json: bool) -> None:
    """List the snapshots of the agent NAME, or of all, oldest first."""
    from koboshi.cli.printing import complain, say, to_json
    from koboshi.errors import GitError
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster
    from koboshi.store.snapshots import list_snapshots

    roster = Roster(state_dir())
    found: list[Snapshot] = []
    for entry in [roster.entry(name)] if name else roster.entries():
        try:
            found += list_snapshots(Path(entry.cwd), entry.agent)
        except GitError as error:
            if name:
                raise
            complain(f"{entry.agent} has no snapshots: {error}")
    if as_json:
        say(to_json([facts(each) for each in found]))
    elif found:
        _table(found)
    else:
        say("no snapshots yet; 'koboshi snapshots take NAME' takes one")


def facts(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot; the keys are a public contract (docs/reference/json.md)."""
    return {
        "agent": snapshot.agent,
        "name": snapshot.name,
        "ref": snapshot.ref,
        "commit": snapshot.commit,
        "parent": snapshot.parent or None,
        "utc": snapshot.utc,
        "clean": snapshot.clean,
        "files": snapshot.files,
        "size": snapshot.size,
        "left_out": list(snapshot.left_out),
    }


def _table(found: list[Snapshot]) -> None:
    from koboshi.adapters.text import width
    from koboshi.cli.ls import age
    from koboshi.cli.printing import clip, columns, paint, plain, say
    from koboshi.store.snapshots import size_words

    rows = [
        (
            each.agent,
            each.name,
            age(time.time() - each.utc),
            "clean" if each.clean else str(each.files),
            size_words(each.size),
            f"{len(each.left_out)} left out" if each.left_out else "",
        )
        for each in found
    ]
    cells = [_HEAD, *(tuple(plain(cell) for cell in row) for row in rows)]
    sizes = [max(map(width, column)) for column in zip(*cells, strict=True)]
    room = columns()
    for n, row in enumerate(cells):
        padded = [cell + " " * (size - width(cell)) for cell, size in zip(row, sizes, strict=True)]
        line = "  ".join(padded).rstrip()
        line = line if room is None else clip(line, room)
        say(line if n else paint(line, "dim"))
