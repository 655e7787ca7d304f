"""From a dialog to its answer: through the hook, by keys, and by a poll every two seconds.

A real tmux, the real supervisor with its journal on the disk, the real shim, a policy that allows.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.config.answers import read_answers
from koboshi.core.actions import Mode
from koboshi.core.settings import Settings
from koboshi.daemon.solo import Post, watch_over
from koboshi.hosts.tmux import TmuxHost
from koboshi.performers import Program

from . import asker
from .figures import Figure, NotMeasured, count, share

if TYPE_CHECKING:
    from koboshi.daemon.supervisor import Supervisor

ASKED = 60
#: Seconds between two dialogs: longer than the time after an answer in which nothing is pressed.
GAP, COOLDOWN = 0.7, 0.5
#: Seconds for all of them.
PATIENCE = 240.0
#: What others do: a look every two seconds, and a key when it shows a question.
POLL = 2.0
_AIMS = {"hook": "≤ 100", "keys": "≤ 1000"}
_ALLOW = {"rule": [{"do": "allow", "command": ["make *"]}]}


def measure_answers(scale: float) -> tuple[Figure, ...]:
    """Each way for itself."""
    if shutil.which("tmux") is None:
        raise NotMeasured("there is no tmux")
    asked = count(ASKED, scale, least=3)
    taken = {way: asyncio.run(_asked(way, asked)) for way in ("hook", "keys")}
    dice = random.Random(1)
    taken["poll"] = [dice.uniform(0.0, POLL) for _ in range(1000)]
    return tuple(
        Figure(
            key=f"{way}_{name}",
            value=share(sorted(round(each * 1e6) for each in seconds), part) / 1e3,
            unit="ms",
            aim=_AIMS.get(way, "") if name == "p95" else "",
        )
        for way, seconds in taken.items()
        for name, part in (("p50", 0.50), ("p95", 0.95))
    )


async def _asked(way: str, times: int) -> list[float]:
    with tempfile.TemporaryDirectory(prefix="kb-") as made:
        folder = Path(made)
        out = folder / "times"
        words = (sys.executable, asker.__file__, way, str(times), str(GAP), str(out))
        post = Post(
            agent="asker",
            agent_type="claude",
            program=Program(
                argv=("bash", "-c", 'exec -a claude "$0" "$@"', *words), cwd=str(folder)
            ),
            state=folder / "state",
            settings=Settings(mode=Mode.AUTO, answer_cooldown=COOLDOWN),
            answers=read_answers(_ALLOW).policy,
        )
        host = TmuxHost(socket=folder / "tmux", state_dir=folder / "state")
        end = time.monotonic() + PATIENCE

        def enough(_: Supervisor) -> bool:
            if time.monotonic() > end:
                raise NotMeasured(f"not answered in time: {way}")
            return _lines(out) >= times

        try:
            await watch_over(post, host, enough=enough, announce=lambda *_: None)
        finally:
            await host.shutdown()
        return [float(line) for line in out.read_text(encoding="ascii").split()]


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="ascii").split()) if path.exists() else 0
