"""What a run gets so that it tells of itself: asked of its adapter, written by us.

A run starts also when its equipment cannot be laid out: it is then known by its screen alone.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi import _hook
from koboshi.adapters.equipment import BRIEF, Equipment, Kit

from .pruning import prune_runs

if TYPE_CHECKING:
    from .hands import Hands

log = logging.getLogger(__name__)

#: Isolated and without site packages: nothing of the user's Python can break or slow the shim.
SHIM = (sys.executable, "-I", "-S", _hook.__file__)
#: Bytes of a settings file that is looked at.
MOST = 1 << 20


class Texts(Mapping[str, str]):
    """Files by path; one that cannot be read is not there."""

    def __getitem__(self, path: str) -> str:
        try:
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                return file.read(MOST)
        except (OSError, ValueError):
            raise KeyError(path) from None

    def __iter__(self) -> Iterator[str]:
        return iter(())  # nobody lists the disk

    def __len__(self) -> int:
        return 0


def equipped(argv: tuple[str, ...], run: int, hands: Hands, *, brief: str = "") -> Equipment:
    """That run with what its adapter adds; the same arguments give the same equipment."""
    program, gear = hands.program, hands.program.gear
    if gear is None:
        return Equipment(argv=argv)
    kit = Kit(
        agent=hands.agent,
        run=run,
        shim=SHIM,
        folder=str(gear.folder / f"run-{run}"),
        socket=str(gear.socket),
        spool=str(gear.spool),
        url="" if gear.url is None else gear.url(run),
        cwd=program.cwd,
        around=os.environ if program.env is None else program.env,
        texts=Texts(),
        brief=brief,
    )
    return hands.adapter.equip(argv, kit)


def waiting_brief(run: int, hands: Hands) -> Path | None:
    """The brief that this run has not taken yet; None when there is none, or it was taken."""
    gear = hands.program.gear
    path = gear.folder / f"run-{run}" / BRIEF if gear is not None else None
    return path if path is not None and path.exists() else None


def was_briefed(run: int, hands: Hands) -> bool:
    """Whether that run has taken its brief: hooks may be switched off, or its CLI too old."""
    gear = hands.program.gear
    if gear is None or waiting_brief(run, hands) is not None:
        return False  # one that waits is of a later try to start it than one that was taken
    return (gear.folder / f"run-{run}" / (BRIEF + _hook.TOLD)).exists()


def identity(run: int, hands: Hands) -> dict[str, str]:
    """By what `koboshi`, called inside that run, knows which agent's and where its daemon is."""
    gear = hands.program.gear
    if gear is None:
        return {}
    return {
        "KOBOSHI_AGENT": hands.agent,
        "KOBOSHI_RUN_NUMBER": str(run),
        "KOBOSHI_STATE": str(gear.state),
    }


def reach(hands: Hands) -> dict[str, str]:
    """By what hooks of the project (`koboshi init`) reach us."""
    gear = hands.program.gear
    if gear is None:
        return {}
    return {
        "KOBOSHI_HOOK_SHIM": shlex.join(SHIM),
        "KOBOSHI_HOOK_SOCKET": str(gear.socket),
        "KOBOSHI_HOOK_SPOOL": str(gear.spool),
    }


def lay_out(run: int, equipment: Equipment, hands: Hands) -> bool:
    """Write the files of that run, for nobody else to read; False when they cannot be written.

    Those of runs that are long over are removed.
    """
    gear = hands.program.gear
    try:
        for name, text in equipment.files.items():
            _write(Path(name), text)
    except OSError as error:
        _tell(hands, run, f"its files cannot be written: {error}")
        return False
    if equipment.note:
        _tell(hands, run, equipment.note)
    if gear is not None:
        prune_runs(gear.folder, run)
    return True


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def _tell(hands: Hands, run: int, why: str) -> None:
    facts = {"agent": hands.agent, "run": run, "action": "start", "reason": why}
    log.warning("run %s not equipped: %s", run, why, extra=facts)
