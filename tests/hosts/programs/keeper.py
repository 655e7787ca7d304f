"""A supervisor in small: start an agent, print its place, and look for ever.

Arguments: tmux socket, `pty` or `headless`, state folder, then the agent's argv.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from koboshi.hosts.base import Host, Launch
from koboshi.hosts.headless import HeadlessHost
from koboshi.hosts.pty import PtyHost
from koboshi.hosts.tmux import TmuxHost


async def keep(socket: str, state_dir: str, *argv: str) -> None:
    """Start once, look without end."""
    host: Host = TmuxHost(socket=socket, state_dir=Path(state_dir))
    if socket == "pty":
        host = PtyHost()
    if socket == "headless":
        host = HeadlessHost(state_dir=Path(state_dir))
    place = await host.start(Launch(agent="kept", run=1, argv=argv, cwd=state_dir))
    sys.stdout.write(json.dumps({"id": place.id, "pid": place.pid}) + "\n")
    sys.stdout.flush()
    while True:
        await host.look(place)
        await asyncio.sleep(0.05)


asyncio.run(keep(*sys.argv[1:]))
