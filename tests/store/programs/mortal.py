"""Writers that are killed: `mortal.py FOLDER KILLS SEED`.

Each writer goes on with the journal that the one before it left, decides, writes, and says what it
is about to perform. It is killed by SIGKILL after a random number of those. Then the journal must
load, and must know of everything that was performed. Prints the number of performed actions.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from random import Random

from koboshi.core.actions import Notify
from koboshi.core.engine import World, happen, step
from koboshi.core.events import (
    ActionFinished,
    Context,
    Ending,
    Moment,
    Order,
    OrderGiven,
    Outcome,
    Severity,
)
from koboshi.core.rules import Proposal, Rule, rule
from koboshi.core.view import View
from koboshi.store import wire
from koboshi.store.history import load
from koboshi.store.journal import Journal, read
from koboshi.store.shelves import DiskShelf


@rule("TST001", "number-seen", Severity.P2)
def number_seen(view: View, now: Moment) -> Proposal:  # noqa: ARG001
    """One action for each acknowledgement."""
    note = Notify(about=f"n{view.tally.settled}", text="t", severity=Severity.P2)
    return Proposal(message="m", actions=(note,))


RULES: tuple[Rule, ...] = (number_seen,)
BLANK = World(view=View(context=Context(agent="mortal")), rules=RULES)


def moment(seq: int) -> Moment:
    """A clock that counts events."""
    return Moment(at=float(seq), utc=1_793_000_000.0 + seq)


def write_for_ever(folder: Path, out: int) -> None:
    """Decide, write, mark, say so, write the outcome; again and again."""
    shelf = DiskShelf(folder)
    world = load(shelf, BLANK, moment(0)).world
    journal = Journal(shelf, segment_bytes=4000)
    journal.open(world, moment(world.seq))
    while True:
        event = happen(world, OrderGiven(order=Order.ACKNOWLEDGE), moment(world.seq + 1))
        world, decisions = step(world, event)
        journal.write(event, decisions, world)
        for decision in decisions:
            key, action = decision.action.key, decision.action
            journal.touch(key, moment(world.seq))
            os.write(out, f"{key}\n".encode())
            outcome = Outcome(ending=Ending.DONE)
            body = ActionFinished(key=key, action=action, outcome=outcome)
            done = happen(world, body, moment(world.seq + 1))
            world, _ = step(world, done)
            journal.write(done, (), world)


def one_life(folder: Path, performed: int) -> list[str]:
    """A writer, killed after that many actions; what it said it performed."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        try:
            write_for_ever(folder, sink)
        finally:
            os._exit(1)
    os.close(sink)
    said = b""
    while said.count(b"\n") < performed:
        said += os.read(source, 64)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(source, 4096):
        said += more
    os.close(source)
    return said.decode().split()


def main(folder: Path, kills: int, seed: int) -> int:
    """Kill after kill; 1 when something is missing."""
    random = Random(seed)
    performed: set[str] = set()
    for _ in range(kills):
        performed.update(one_life(folder, random.randint(1, 12)))
        shelf = DiskShelf(folder)
        load(shelf, BLANK, moment(0))
        admitted = {
            line.record.decision.action.key
            for line in read(shelf)
            if isinstance(line.record, wire.Judged) and line.record.decision.verdict.admitted
        }
        if missing := performed - admitted:
            print(f"performed and not in the journal: {sorted(missing)}")  # noqa: T201
            return 1
    print(len(performed))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
