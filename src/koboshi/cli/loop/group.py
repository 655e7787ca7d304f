"""`koboshi loop COMMAND`."""

from __future__ import annotations

import click

from .show import show

_EPILOG = """\b
Examples:
  koboshi loop show
  koboshi loop show plans/M1.md --json

\b
Exit codes: 0 fine · 2 no such plan, or it is damaged
"""


class _Words(click.Group):
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        # Each in one piece: click cuts a first sentence that is too long for it.
        with formatter.section("Commands"):
            rows = [(name, each.get_short_help_str(200)) for name, each in self.commands.items()]
            formatter.write_dl(rows)


@click.group(cls=_Words, epilog=_EPILOG, commands=[show])
def loop() -> None:
    """Work through a plan, step by step.

    The plan is a text file, M1.md unless another is named; you may read and edit it at any time.
    """
