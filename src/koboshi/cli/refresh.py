"""`koboshi refresh`: hand an agent over to a fresh run."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi refresh NAME
  koboshi refresh NAME --reason "the plan has changed"

\b
Exit codes: 0 it has begun · 1 not done: its budget is spent, it is paused,
or it is being restarted already · 2 no such agent, or it is not running
4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--reason", metavar="TEXT", default="", help="Why; for the record.")
def refresh(*, name: str, reason: str) -> None:
    """Have the agent NAME write a hand-over note, and go on in a fresh run with it.

    It begins when its turn has ended: uncommitted work is kept, the note is asked for, the run
    ends, the next one starts with an empty context and proves that it has the note.
    """
    from koboshi.daemon.control.client import call

    from .printing import say
    from .telling import state_of

    call(state_of(name), "refresh", name=name, reason=reason)
    say(f"{name} is handed over at the end of its turn; 'koboshi events {name} --follow' tells how")
