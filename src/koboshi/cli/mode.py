"""`koboshi mode`: how much koboshi may do to an agent."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi mode NAME observe
  koboshi mode NAME keep

\b
observe  looks and tells, touches nothing
keep     saves, continues, refreshes, resumes, waits out limits
auto     keep, and answers questions by policy

\b
Exit codes: 0 fine · 2 no such agent or mode · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.argument("mode", type=click.Choice(["observe", "keep", "auto"]))
def mode(*, name: str, mode: str) -> None:
    """From now on koboshi may do that much to the agent NAME.

    What a mode holds back is shown by `koboshi why NAME` as "would have".
    """
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    from .printing import say

    Roster(state_dir()).entry(name)
    call(state_dir(), "mode", name=name, mode=mode)
    say(f"{name} is in mode {mode}")
