"""The life of a supervisor that is to die: what it is told, and until when it lives otherwise."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from koboshi.core.events import Order, OrderGiven
from koboshi.core.readings import Status
from koboshi.daemon.solo import Post, start_first, watch_over
from koboshi.hosts.tmux import TmuxHost
from koboshi.performers import Program

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event
    from koboshi.core.settings import Settings
    from koboshi.core.view import View
    from koboshi.daemon.supervisor import Supervisor


class Doom(Protocol):
    """Ends this process at its point."""

    def listen(self, event: Event, decisions: tuple[Decision, ...], world: World) -> None:
        """What was written a moment ago."""
        ...

    def lie_in_wait(self, supervisor: Supervisor) -> None:
        """Where it may strike besides."""
        ...


async def live(
    spec: dict[str, Any], settings: Settings, doom: Doom, through: Callable[[View], bool]
) -> None:
    """Look after the agent until it is through; or until nobody waits for that any more."""
    said = Path(spec["state"]) / "said"
    host = TmuxHost(spec["socket"], state_dir=Path(spec["host_state"]))
    post = Post(
        agent="a1",
        agent_type=spec["type"],
        program=Program(argv=tuple(spec["argv"]), cwd=spec["cwd"], env=spec.get("env")),
        state=Path(spec["state"]),
        settings=settings,
        hooks=Path(spec["hooks"]) if "hooks" in spec else None,
    )

    def begun(supervisor: Supervisor) -> None:
        doom.lie_in_wait(supervisor)
        start_first(supervisor)

    def enough(supervisor: Supervisor) -> bool:
        view = supervisor.world.view
        if not said.exists() and view.status is Status.IDLE:
            said.touch()
            supervisor.take(OrderGiven(order=Order.SEND, by="test", text=spec["say"]))
            return False
        return through(view) or os.getppid() != spec["parent"]

    try:
        await watch_over(post, host, enough=enough, begun=begun, listen=doom.listen)
    finally:
        await host.close()


def begin(main: Callable[[dict[str, Any], str], Any]) -> None:
    """A program: `… SPEC [POINT]`."""
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_bytes()), (*sys.argv[2:], "")[0]))
