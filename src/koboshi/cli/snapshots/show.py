"""`koboshi snapshots show NAME SNAP`: what changed in it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.store.snapshots import Change

_EPILOG = """\b
Examples:
  koboshi snapshots show NAME SNAP
  git diff HEAD refs/koboshi/snapshots/NAME/SNAP

\b
Exit codes: 0 fine · 2 no such agent or snapshot
4 NAME is in no git worktree, or git refused
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.argument("snap")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(*, name: str, snap: str, as_json: bool) -> None:
    """Show which files differ between the snapshot SNAP of NAME and its commit."""
    from koboshi.cli.printing import clip, columns, day, local, plain, say, to_json
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster
    from koboshi.store.snapshots import changes, find, size_words

    from .listing import facts

    worktree = Path(Roster(state_dir()).entry(name).cwd)
    found = find(worktree, name, snap)
    changed = changes(worktree, found)
    if as_json:
        say(to_json({**facts(found), "changes": [asdict(each) for each in changed]}))
        return
    moment = local(found.utc)
    when = f"{day(found.utc)} {moment:%H:%M:%S}" if moment else "???"
    base = found.parent[:12] or "no commit yet"
    rows = [f"{found.ref}, {when}"]
    rows += [f"on {base}: {found.files} file(s) changed, {size_words(found.size)}"]
    room = columns()
    for row in [*rows, *map(_row, changed), *(f"left out: {left}" for left in found.left_out)]:
        say(plain(row) if room is None else clip(plain(row), room))


def _row(change: Change) -> str:
    if change.added is None or change.deleted is None:
        lines = "bytes"
    else:
        lines = f"+{change.added} -{change.deleted}"
    return f"{change.kind} {lines:>12}  {change.path}"
