"""`koboshi watch`: look after an agent in a pane of your own tmux."""

from __future__ import annotations

import os

import click

_EPILOG = """\b
Examples:
  koboshi watch cc:1.0
  koboshi watch %12 --name api
  koboshi watch -S /tmp/other.sock main:claude

\b
Nothing of your tmux is changed: no option, no size, no key.
Exit codes: 0 fine · 2 no such pane or name
4 tmux or the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.option("--name", help="What to call it; else the program's name.")
@click.option("--as", "kind", metavar="TYPE", help="claude, codex, gemini, opencode or generic.")
@click.option(
    "--mode",
    type=click.Choice(["observe", "keep", "auto"]),
    help="How much koboshi may do; else as configured.",
)
@click.option("--web", is_flag=True, help="Show all agents on a page, too: see 'koboshi serve'.")
@click.option("-L", "label", metavar="NAME", help="The tmux server of that name.")
@click.option("-S", "socket", metavar="PATH", help="The tmux server of that socket.")
@click.argument("target", envvar=["TARGET", "SESSION"])
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def watch(
    *,
    name: str | None,
    kind: str | None,
    mode: str | None,
    label: str | None,
    socket: str | None,
    web: bool,
    target: str,
    command: tuple[str, ...],
) -> None:
    """Look after the agent in the pane TARGET, from now on.

    TARGET is what tmux calls it: a pane id (%12), session:window.pane, or a session. COMMAND is
    how the agent is started again after a crash; else the command that runs there now.
    """
    from koboshi.config.variables import relevant
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir

    from .config import note
    from .printing import say

    server = str(os.path.abspath(socket)) if socket else label or _here()  # noqa: PTH100
    begun = call(
        state_dir(),
        "watch",
        patience=60.0,
        target=target,
        socket=server,
        type=kind or "",
        name=name or "",
        mode=mode or "",
        argv=list(command),
        variables=relevant(os.environ, plain=True),
    )
    note(begun)
    say(f"{begun['agent']} is looked after ({begun['type']}, mode {begun['mode']})")
    if web:
        from .page import open_page

        open_page()


def _here() -> str | None:
    """The server this terminal is in; the daemon is in none."""
    return os.environ.get("TMUX", "").rpartition(",")[0].rpartition(",")[0] or None
