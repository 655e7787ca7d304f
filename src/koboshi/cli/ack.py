"""`koboshi ack`."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi ack NAME

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def ack(*, name: str) -> None:
    """Say that you have seen to the agent NAME: spent budgets and old escalations are forgiven."""
    from .printing import say
    from .telling import tell

    tell(name, "acknowledge")
    say(f"{name}: budgets and escalations are forgiven")
