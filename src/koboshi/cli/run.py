"""`koboshi run`: start an agent and look after it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi run -- claude
  koboshi run --name api --cwd ~/api -- claude --model opus
  koboshi run -d --web -- codex
  koboshi run --host pty -- claude

\b
Exit codes: 0 started · 2 it cannot be started so
4 tmux is missing, or the daemon cannot be reached · 130 Ctrl-C
"""


@click.command(epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.option("--name", help="What to call it; else the program's name.")
@click.option("--as", "kind", metavar="TYPE", help="claude, codex, gemini, opencode or generic.")
@click.option("--cwd", type=click.Path(path_type=Path), help="Where it works; else here.")
@click.option(
    "--mode",
    type=click.Choice(["observe", "keep", "auto"]),
    help="How much koboshi may do; else as configured.",
)
@click.option(
    "--host",
    type=click.Choice(["tmux", "pty"]),
    default="tmux",
    show_default=True,
    help="Where its terminal is: in tmux, or this very one.",
)
@click.option("-d", "--detach", is_flag=True, help="Start it and come back at once.")
@click.option("--web", is_flag=True, help="Show all agents on a page, too: see 'koboshi serve'.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def run(
    *,
    name: str | None,
    kind: str | None,
    cwd: Path | None,
    mode: str | None,
    host: str,
    detach: bool,
    web: bool,
    command: tuple[str, ...],
) -> None:
    """Start COMMAND in a terminal of its own and look after it.

    The agent lives in koboshi's tmux and outlives this terminal, and koboshi itself. On a terminal
    you are brought to it at once; C-b d leaves, and it goes on. With --host pty it lives in this
    terminal and ends with it; koboshi looks after it from here, and ends as it ends.
    """
    from koboshi.adapters.registry import adapter, program_type
    from koboshi.store.paths import check_name

    folder = _folder(cwd, command[0])
    if kind:
        adapter(kind)  # or an error that names the known ones, before a daemon is started
    if name:
        check_name(name)
    kind = kind or program_type(command)
    if host == "pty":
        from .foreground import run_here

        _no_page(web=web)
        raise SystemExit(run_here(name, kind, folder, mode, command))
    _need_tmux()
    from .attach import bring, wanted
    from .printing import say

    invited = web and _page()
    agent = _begin(name, kind, folder, mode, command)
    if detach or not wanted():
        say(f"{agent} is running; 'koboshi attach {agent}' shows it, 'koboshi ls' tells how it is")
        return
    if invited:
        from .page import pause

        pause()
    bring(agent)


def _page() -> bool:
    """Have the page served before there is an agent: what is wrong with it is told first."""
    from .page import open_page

    return open_page()


def _no_page(*, web: bool) -> None:
    from koboshi.errors import InputError

    if web:
        raise InputError(
            "the page shows agents that the daemon looks after, and one with --host pty is not",
            hint="leave --host pty out, or --web",
        )


def _begin(
    name: str | None, kind: str, folder: Path, mode: str | None, command: tuple[str, ...]
) -> str:
    """Have it started; its name."""
    from koboshi.config.variables import relevant
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import printable

    from .config import note

    begun = call(
        state_dir(),
        "run",
        patience=60.0,
        argv=list(command),
        cwd=str(folder),
        type=kind,
        environment=printable(dict(os.environ)),
        name=name or "",
        mode=mode or "",
        variables=relevant(os.environ),
    )
    note(begun)
    return str(begun["agent"])


def _need_tmux() -> None:
    """Say so before a daemon is started that could do nothing."""
    from koboshi.errors import HostMissing

    if shutil.which("tmux") is None:
        raise HostMissing(
            "tmux was not found, and agents live in it",
            hint="install tmux 3.2 or newer, or use 'koboshi run --host pty'",
        )


def _folder(cwd: Path | None, program: str) -> Path:
    """Where it shall work, if it can be started there."""
    from koboshi.errors import InputError

    folder = (cwd or Path.cwd()).expanduser().absolute()
    if not folder.is_dir():
        raise InputError(f"expected a folder, not {str(folder)!r}")
    if shutil.which(program) is None and not (folder / program).exists():
        raise InputError(f"{program!r} was not found", hint="is it installed, and in your PATH?")
    return folder
