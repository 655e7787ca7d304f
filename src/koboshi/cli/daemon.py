"""`koboshi daemon`: the process that looks after everybody. It starts by itself."""

from __future__ import annotations

import sys
import time

import click

_EPILOG = """\b
Examples:
  koboshi daemon status
  koboshi daemon restart

\b
Exit codes: 0 fine · 1 there is none · 4 it cannot be reached
"""
#: Seconds a daemon gets to leave.
LEAVES = 20.0


@click.command(epilog=_EPILOG)
@click.argument("what", type=click.Choice(["status", "start", "stop", "restart", "run"]))
def daemon(*, what: str) -> None:
    """Show, start, stop or restart koboshi's daemon, or run it in the foreground.

    It starts by itself when first needed. Agents outlive it; a new one takes them up again.
    """
    from koboshi.daemon.control.client import call, call_running
    from koboshi.store.paths import state_dir
    from koboshi.wording import many

    from .printing import say

    state = state_dir().absolute()
    if what == "run":
        from koboshi.daemon.service import main

        sys.exit(main())
    if what in ("stop", "restart"):
        left = call_running(state, "leave")
        if left is None:
            say("no daemon was running")
        else:
            _gone(left["pid"])
            say(f"the daemon has left; agents still running: {left['running']}")
    if what in ("start", "restart"):
        call(state, "ping")
    if what in ("status", "start", "restart"):
        found = call_running(state, "ping")
        if found is None:
            say("no daemon is running; the first command that needs one starts it")
            sys.exit(1)
        minutes = int((time.time() - found["since"]) // 60)
        agents = many(found["agents"], "agent")
        say(f"pid {found['pid']}, up {minutes} min, {agents}, {found['state']}")


def _gone(pid: int) -> None:
    """Wait until that process has left."""
    import psutil

    from koboshi.errors import DaemonError

    try:
        psutil.Process(pid).wait(LEAVES)
    except psutil.NoSuchProcess:
        return
    except psutil.TimeoutExpired:
        raise DaemonError(
            f"the daemon (pid {pid}) does not leave", hint="its log says why"
        ) from None
