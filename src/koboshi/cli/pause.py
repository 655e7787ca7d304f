"""`koboshi pause`."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi pause NAME

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def pause(*, name: str) -> None:
    """Keep looking at the agent NAME and touch nothing, until `resume`."""
    from .printing import say
    from .telling import tell

    tell(name, "pause")
    say(f"{name} is only looked at; 'koboshi resume {name}' ends that")
