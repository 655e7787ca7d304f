"""`koboshi install-service`: what brings koboshi back after a reboot."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi install-service
  koboshi install-service --kind cron
  koboshi install-service --remove

\b
Exit codes: 0 fine · 2 a file is there that is not ours · 4 the disk refused
"""
#: What koboshi and the agents need to be found; nothing that may hold a key.
_KEPT = ("PATH", "KOBOSHI_STATE", "KOBOSHI_CONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LANG")


@click.command("install-service", epilog=_EPILOG)
@click.option(
    "--kind", type=click.Choice(["systemd", "launchd", "cron"]), help="Else what is here."
)
@click.option("--remove", is_flag=True, help="Take the files away again.")
def install_service(*, kind: str | None, remove: bool) -> None:
    """Write units that start the daemon with the machine and go on with plans that were left.

    Nothing is started: the command for that is printed. Agents outlive the units.
    """
    from koboshi.store import services

    from .printing import plain, say

    command = (sys.executable, "-m", "koboshi")
    kept = {name: os.environ[name] for name in _KEPT if os.environ.get(name)}
    chosen = kind or ("launchd" if sys.platform == "darwin" else "systemd")
    found = services.service(chosen, Path.home(), command, kept)
    if remove:
        for path in services.remove(found.units):
            say(plain(f"removed {path}"))
        return
    services.write(found.units)
    for unit in found.units:
        say(plain(f"written {unit.path}"))
    for hint in found.hints:
        say(plain(hint if chosen == "cron" else f"next: {hint}"))
