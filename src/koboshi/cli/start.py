"""`koboshi start`: start an agent again."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi start NAME

\b
Exit codes: 0 started · 2 no such agent, or it runs
4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def start(*, name: str) -> None:
    """Start the agent NAME again, with the command it was first started with."""
    from koboshi.daemon.control.client import call

    from .printing import say
    from .telling import state_of

    begun = call(state_of(name), "start", patience=60.0, name=name)
    say(f"{name} is running (run {begun['run']['number']})")
