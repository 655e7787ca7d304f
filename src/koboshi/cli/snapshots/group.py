"""`koboshi snapshots [NAME]`, and the words that may stand in the place of a name."""

from __future__ import annotations

import click

from .listing import listing
from .restore import restore
from .show import show
from .take import take

_EPILOG = """\b
Examples:
  koboshi snapshots
  koboshi snapshots NAME --json
  koboshi snapshots take NAME
  koboshi snapshots restore NAME SNAP --to DIR

\b
Exit codes: 0 fine · 2 no such agent · 4 git or the disk refused
"""
#: What is called when the first word is no command: it is an agent's name then.
_LIST = "list"


class _Words(click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # An agent may be called `take`; `koboshi snapshots list take` means it.
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else [_LIST, *args])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        # Each in one piece: click cuts a first sentence that is too long for it.
        with formatter.section("Commands"):
            rows = [(name, each.get_short_help_str(200)) for name, each in self.commands.items()]
            formatter.write_dl(rows)


@click.group(
    cls=_Words,
    epilog=_EPILOG,
    commands=[listing, take, show, restore],
    subcommand_metavar="[NAME] | COMMAND ...",
    options_metavar="",
)
def snapshots() -> None:
    """List an agent's snapshots, or take, show and restore one.

    A snapshot holds what `git status` shows of the agent's worktree: changed files, staged or not,
    and new ones that are not ignored. It is a commit at refs/koboshi/snapshots/NAME/SNAP; index,
    files, branches and the stash are not touched. Such refs stay on this machine: no ordinary push,
    fetch or clone takes them along. `git push --mirror` does; to leave them out, push
    `+refs/heads/*:refs/heads/*` and `+refs/tags/*:refs/tags/*` instead.
    """
