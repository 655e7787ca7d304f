"""`koboshi resume`."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi resume NAME

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def resume(*, name: str) -> None:
    """End the pause of the agent NAME."""
    from .printing import say
    from .telling import tell

    tell(name, "resume")
    say(f"{name} is looked after again")
