"""A supervisor in small: start an agent, print its place, and look for ever when it stirs.

Arguments: tmux socket, `pty` or `headless`, state folder, then the agent's argv.
The last line that was seen stands in `seen` in the state folder. With KEEPER_IS_TOLD set to
nothing it does without what the kernel tells of writes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from koboshi.hosts import bells
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
    seen = Path(state_dir) / "seen"
    while True:
        await host.stirred(place, 1)
        lines = (await host.look(place)).text.split()
        seen.write_text(lines[-1] if lines else "", encoding="utf-8")


if os.environ.get("KEEPER_IS_TOLD") == "":
    vars(bells)["kernel_tells"] = lambda: False
asyncio.run(keep(*sys.argv[1:]))
