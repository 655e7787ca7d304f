"""`koboshi prompt`."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi prompt NAME
  koboshi prompt NAME --about "it crashes at start" | claude -p
  koboshi fire "$(koboshi prompt NAME)"

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--about", default="", help="What is wrong; else what koboshi sees.")
def prompt(*, name: str, about: str) -> None:
    """Print a prompt about the trouble of the agent NAME: for a fresh run of any agent."""
    from koboshi.daemon.control.client import call

    from .printing import plain, say
    from .telling import state_of

    told = call(state_of(name), "prompt", patience=60.0, name=name, text=about)
    for row in told["text"].split("\n"):
        say(plain(row))
