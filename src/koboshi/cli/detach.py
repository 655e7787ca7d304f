"""`koboshi detach`: take every terminal off an agent's."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi detach NAME

\b
Exit codes: 0 fine · 2 no such agent · 4 its terminal cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def detach(*, name: str) -> None:
    """Take every terminal that shows the agent NAME off it; the agent goes on.

    In the terminal itself C-b d does the same. To have koboshi look after it no more: `release`.
    """
    from koboshi.daemon.control.client import call

    from .printing import say
    from .telling import state_of

    count = call(state_of(name), "detach", name=name)["detached"]
    say(f"{name} goes on; {count} terminal{'' if count == 1 else 's'} detached")
