"""`koboshi snapshots take NAME`: a snapshot, now."""

from __future__ import annotations

import time
from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi snapshots take NAME
  koboshi snapshots take NAME --as before-the-merge

\b
Exit codes: 0 taken · 2 no such agent
4 NAME is in no git worktree, or git or the disk refused
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--as", "called", metavar="SNAP", help="What to call it; else the time, in UTC.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def take(*, name: str, called: str | None, as_json: bool) -> None:
    """Take a snapshot of what the agent NAME has not committed.

    A file of more than 50 MB is left out and named; 'NAME-2' is chosen where NAME is taken.
    Filters such as LFS do not run: files are kept as they lie there.
    """
    from koboshi.cli.printing import plain, say, to_json
    from koboshi.errors import GitError
    from koboshi.store import snapshots as store
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    from .listing import facts

    entry = Roster(state_dir()).entry(name)
    came = store.take(Path(entry.cwd), name, called or stamp())
    if isinstance(came, store.Skipped):
        raise GitError(
            f"no snapshot of {name}: {came.reason}",
            hint=f"its folder is {entry.cwd}; snapshots need a git worktree there",
        )
    if as_json:
        say(to_json(facts(came)))
        return
    what = "clean: nothing changed since the last commit"
    if not came.clean:
        what = f"{came.files} file(s) changed, {store.size_words(came.size)}"
    say(f"{came.name}: {what}")
    for left in came.left_out:
        say(plain(f"left out: {left}"))


def stamp() -> str:
    """Now, as a name."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime())
