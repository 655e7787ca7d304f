"""The supervisor process of the demo: `python -m koboshi.demo.child SPEC`. It may be killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.actions import Mode
from koboshi.core.settings import Settings
from koboshi.daemon.solo import Post, watch_over
from koboshi.errors import KoboshiError
from koboshi.hosts.base import Key
from koboshi.performers import Program

from .checks import FINISHED
from .run import end_server

if TYPE_CHECKING:
    from koboshi.daemon.supervisor import Supervisor
    from koboshi.hosts.base import Host

#: A night's waits, compressed; the proportions are those of a real one.
SETTINGS = Settings(
    mode=Mode.AUTO,
    allow=("npm test", "make lint"),
    tasks="TASKS.md",
    hang_after=4.0,  # longer than any turn of the script
    calls_max=3,
    idle_after=2.0,
    send_cooldown=2.0,
    answer_cooldown=0.5,
    failed_base=1.0,
    quiet=0.5,
    refresh_gap=5.0,
    backoff_base=1.0,
    limit_slack=0.5,
    person_hold=2.0,
    run_max=0.0,
)
#: Seconds the person of the demo needs to answer, and the key that refuses.
PERSON_TAKES, REFUSE = 2.0, "3"


def make_host(spec: dict[str, Any]) -> Host:
    """The terminal the parent chose."""
    if spec["host"] == "tmux":
        from koboshi.hosts.tmux import TmuxHost

        return TmuxHost(spec["socket"], state_dir=Path(spec["host_state"]))
    from koboshi.hosts.pty import PtyHost

    return PtyHost()


async def _refuse(supervisor: Supervisor) -> None:
    """The person of the demo: says no to what was escalated."""
    await supervisor.runtime.sleep(PERSON_TAKES)
    place = supervisor.place
    if place is not None and supervisor.world.view.question is not None:
        await supervisor.hands.host.type(place, (Key(name=REFUSE),))


def _announce(supervisor: Supervisor, text: str) -> None:
    if " asks: " in text:
        supervisor.runtime.spawn(_refuse(supervisor))


def _tick(tasks: Path, box: str) -> None:
    """The tasks file as the agent of the demo keeps it; a scripted one writes no files."""
    tasks.write_text(f"- [{box}] make the tests pass\n- [{box}] write the summary\n")


def _finished(supervisor: Supervisor, tasks: Path) -> bool:
    """Whether the agent is through, was ended, and a person heard of it."""
    view = supervisor.world.view
    if any(FINISHED in line for line in view.context.lines) and not view.tasks.complete:
        _tick(tasks, "x")
    ended = view.tasks.complete and view.run.exit is not None
    return ended and not supervisor.world.ledger.in_flight()


def _orphaned(spec: dict[str, Any]) -> bool:
    return os.getppid() != int(spec["parent"])


async def main(spec: dict[str, Any]) -> None:
    """Look after the scripted agent until it is done."""
    host = make_host(spec)
    post = Post(
        agent=spec["agent"],
        agent_type="scripted",
        program=Program(argv=tuple(spec["argv"]), cwd=spec["cwd"]),
        state=Path(spec["state"]),
        settings=SETTINGS,
        hooks=Path(spec["hooks"]),
    )
    tasks = Path(spec["cwd"]) / SETTINGS.tasks
    if not tasks.exists():
        _tick(tasks, " ")

    def enough(supervisor: Supervisor) -> bool:
        return _finished(supervisor, tasks) or _orphaned(spec)

    try:
        await watch_over(post, host, enough=enough, announce=_announce)
    finally:
        await host.close()
        if _orphaned(spec):  # nobody is left who would clear up
            end_server(Path(spec["cwd"]))
            shutil.rmtree(spec["cwd"], ignore_errors=True)


if __name__ == "__main__":
    try:
        asyncio.run(main(msgspec.json.decode(Path(sys.argv[1]).read_bytes())))
    except (KoboshiError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
