"""`koboshi snapshots restore NAME SNAP`: the files of a snapshot, again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.store.snapshots import Restored

_EPILOG = """\b
Examples:
  koboshi snapshots restore NAME SNAP --to DIR
  koboshi snapshots restore NAME SNAP --here
  koboshi snapshots restore NAME SNAP --here src/main.py

\b
Exit codes: 0 all was written · 1 some files were left as they are
2 no such agent, snapshot or path, or DIR is there already
4 NAME is in no git worktree, or git or the disk refused
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.argument("snap")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--to", metavar="DIR", type=click.Path(path_type=Path), help="A folder to make.")
@click.option("--here", is_flag=True, help="Write over the files of the agent's worktree.")
def restore(*, name: str, snap: str, paths: tuple[str, ...], to: Path | None, here: bool) -> None:
    """Write the files of the snapshot SNAP of NAME, or only those at PATH.

    With --here a snapshot of what is there now is taken first; files that the snapshot does not
    know stay, and so does what could not be had again. Index and branches are not touched. Pause
    or stop the agent before.
    """
    from koboshi.errors import InputError, KoboshiError
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster
    from koboshi.store.snapshots import find, restore_here, restore_to

    from .take import stamp

    worktree = Path(Roster(state_dir()).entry(name).cwd)
    if here == (to is not None):
        raise InputError(
            "expected either --to DIR or --here", hint="--to writes into a new folder, and is safe"
        )
    found = find(worktree, name, snap)
    if to is not None:
        came = restore_to(worktree, found, to, paths=paths)
    else:
        came = restore_here(worktree, found, name=f"before-restore-{stamp()}", paths=paths)
    _tell(name, came)
    if here and came.kept:
        raise KoboshiError(f"{len(came.kept)} path(s) were left as they are")


def _tell(name: str, came: Restored) -> None:
    from koboshi.cli.printing import plain, say

    say(plain(f"{len(came.written)} file(s) written to {came.where}"))
    if came.extra:
        say(f"{came.extra} file(s) that the snapshot does not know are still there")
    if came.before is not None:
        say(f"what was there before: koboshi snapshots restore {name} {came.before.name} --to DIR")
    for kept in came.kept:
        say(plain(f"left as it is: {kept}"))
