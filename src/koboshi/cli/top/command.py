"""`koboshi top`: the board, where Textual is there to draw it; else `koboshi ls`."""

from __future__ import annotations

import os
import sys

import click

_EPILOG = """\b
Examples:
  koboshi top

\b
Keys: Enter or t shows its terminal · a answers · r hands over to a fresh run
s stops · w tells why · q leaves; arrows choose.
Exit codes: 0 fine · 4 no terminal here, or the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
def top() -> None:
    """Show what each agent is doing, live; who waits for you comes first.

    It takes Textual (pip install 'koboshi[top]'). Without it `koboshi ls` is shown, once.
    """
    from koboshi.cli.printing import say
    from koboshi.daemon.control.client import call
    from koboshi.errors import HostError
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    state = state_dir()
    if not Roster(state).entries():
        say("no agents yet; 'koboshi run -- claude' starts one")
        return
    if not installed():
        _once()
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise HostError("top takes a terminal, and this is none", hint="'koboshi ls' lists them")
    call(state, "ping")  # starts a daemon where there is none

    from koboshi.daemon.control.visitor import Visitor
    from koboshi.hosts.runs import FOREIGN_SIZE

    from .app import Top

    for name in FOREIGN_SIZE:  # Textual believes it more than the terminal, for ever
        os.environ.pop(name, None)
    Top(Visitor(state), state).run()


def installed() -> bool:
    """Whether the board can be drawn."""
    try:
        import textual.app  # noqa: F401
    except ImportError:
        return False
    return True


def _once() -> None:
    from koboshi.cli.ls import ls
    from koboshi.cli.printing import complain

    complain("the live board takes Textual, and it is not installed", "pip install 'koboshi[top]'")
    ls.callback(as_json=False)  # type: ignore[misc]
