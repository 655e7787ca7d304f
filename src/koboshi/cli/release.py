"""`koboshi release`: look after an agent no more."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi release NAME

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def release(*, name: str) -> None:
    """Look after the agent NAME no more; it goes on by itself, and its journal stays."""
    from koboshi.daemon.control.client import call

    from .printing import say
    from .telling import state_of

    call(state_of(name), "release", name=name)
    say(f"{name} is on its own now")
