"""`koboshi attach`: show an agent's terminal in this one."""

from __future__ import annotations

import os
import sys

import click

_EPILOG = """\b
Examples:
  koboshi attach NAME

\b
C-b d leaves; the agent goes on.
Exit codes: 0 fine · 2 no such agent · 4 no terminal here, or there
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
def attach(*, name: str) -> None:
    """Show the terminal of the agent NAME in this one."""
    from koboshi.errors import HostError

    if not wanted(inside_tmux=True):
        raise HostError(
            "attaching takes a terminal, and this is none",
            hint=f"'koboshi status {name}' tells how it is",
        )
    bring(name)


def wanted(*, inside_tmux: bool = False) -> bool:
    """Whether a person sits here who could be brought to an agent.

    Inside tmux nobody is brought anywhere unasked: a tmux in a tmux confuses the keys.
    """
    terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return terminal and (inside_tmux or not os.environ.get("TMUX"))


def bring(name: str) -> None:
    """Become the tmux client that shows the agent."""
    from koboshi.daemon.control.client import call

    from .telling import state_of

    argv = call(state_of(name), "attach", name=name)["argv"]
    here = os.environ.get("TMUX", "").split(",")[0]
    if here and here == _socket(argv):
        # The very server we are in: move there instead of nesting.
        argv = [word if word != "attach-session" else "switch-client" for word in argv]
    else:
        os.environ.pop("TMUX", None)
    sys.stdout.flush()
    os.execvp(argv[0], argv)  # noqa: S606 - argv, no shell


def _socket(argv: list[str]) -> str:
    return argv[argv.index("-S") + 1] if "-S" in argv else ""
