"""`koboshi rm`: strike ended agents from the list."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi rm NAME

\b
Exit codes: 0 fine · 2 no such agent, or it runs
4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def rm(*, names: tuple[str, ...]) -> None:
    """Strike the agents NAME, which have ended, from the list; their journals stay."""
    from koboshi.daemon.control.client import call

    from .printing import say
    from .telling import state_of

    for name in names:
        state = state_of(name)
        call(state, "remove", name=name)
        say(f"{name} is off the list; 'koboshi why {name}' still tells its story")
