"""`koboshi loop COMMAND`."""

from __future__ import annotations

import click

from .many import listing
from .resume import answer, edit, logs, resume, stop
from .show import show
from .start import start

_EPILOG = """\b
Examples:
  koboshi loop "fix the SIGTERM bug in /edit"
  koboshi loop M1.md
  koboshi loop resume
  koboshi loop show plans/M1.md --json
  koboshi loop answer "use the old API"
  koboshi loop stop

\b
Exit codes: 0 every step is done · 1 it waits for a person, or failed
2 no such plan, or it is damaged · 4 git, an agent or the disk refused
"""
#: What is called when the first word is no command: it is a goal, or a plan's file then.
_START = "start"


class _Words(click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if named else [_START, *args])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        # Each in one piece: click cuts a first sentence that is too long for it.
        with formatter.section("Commands"):
            rows = [(name, each.get_short_help_str(200)) for name, each in self.commands.items()]
            formatter.write_dl(rows)


@click.group(
    cls=_Words,
    epilog=_EPILOG,
    commands=[start, resume, answer, stop, listing, show, edit, logs],
    subcommand_metavar="GOAL | FILE | COMMAND ...",
    options_metavar="",
)
def loop() -> None:
    """Work through a plan, step by step: agents do the steps, koboshi verifies and commits them.

    The plan is a text file, M1.md unless another is named; you may read and edit it at any time.
    """
