"""Simulated nights: quiet, and the same every time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from koboshi.core import engine
from koboshi.core.events import Moment
from koboshi.core.rules import Proposal, Rule, evaluate
from koboshi.core.view import View
from koboshi.testing import MemoryShelf, Night
from koboshi.testing.simulate import run_one

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (2, 9, 26)

DIGESTS = """
import logging, sys
logging.disable(logging.CRITICAL)
from koboshi.testing.simulate import run_one
for seed in sys.argv[1:]:
    print(*run_one(int(seed)))
"""


def test_nights_are_quiet() -> None:
    """A sample of what `make sim` runs by the thousand."""
    for seed in range(1001, 1061):
        night = Night(seed)
        night.run()


def test_a_rule_that_is_not_asked_would_have_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`during` saves time and changes nothing."""
    skipped = 0

    def asked(rules: tuple[Rule, ...], view: View, now: Moment) -> Iterator[tuple[Rule, Proposal]]:
        nonlocal skipped
        for each in rules:
            if each.during and view.status not in each.during:
                skipped += 1
                assert each.check(view, now) is None, (each.code, view.status)
        return evaluate(rules, view, now)

    monkeypatch.setattr(engine, "evaluate", asked)
    for seed in range(1001, 1016):
        Night(seed).run()

    assert skipped > 0


@pytest.mark.parametrize("seed", SAMPLE)
def test_the_same_seed_gives_the_same_journal(seed: int) -> None:
    """Byte for byte, in one process."""
    first, second = Night(seed), Night(seed)
    first.run()
    second.run()

    assert first.journal() == second.journal()
    assert first.shelf.names() == second.shelf.names()


@pytest.mark.parametrize("hashseed", ["0", "4242"])
def test_the_same_seed_gives_the_same_journal_in_another_interpreter(hashseed: str) -> None:
    """Nothing depends on the order of a set or on what ran before."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": hashseed}
    argv = [sys.executable, "-c", DIGESTS, *map(str, SAMPLE)]
    result = subprocess.run(
        argv, env=env, capture_output=True, text=True, timeout=100.0, check=True
    )

    expected = [run_one(seed) for seed in SAMPLE]
    assert result.stdout.split("\n")[:-1] == [" ".join(map(str, each)) for each in expected]


def test_other_seeds_are_other_nights() -> None:
    """The seed is what they are drawn from."""
    digests = set()
    for seed in range(1, 9):
        night = Night(seed)
        night.run()
        digests.add(hashlib.sha256(night.journal()).hexdigest())

    assert len(digests) == 8


def test_a_sample_of_nights_has_every_kind_of_action() -> None:
    """What the laws watch over happens in them."""
    kinds = set()
    for seed in range(1, 25):
        night = Night(seed)
        night.run()
        journal = night.journal()
        kinds |= {kind for kind in KINDS if f'"kind":"{kind}"'.encode() in journal}

    assert kinds == set(KINDS)


KINDS = (
    "answer", "send", "refresh", "checkpoint", "stop", "start", "load", "notify", "escalate",
    "interrupt",
)  # fmt: skip


def test_a_memory_shelf_is_a_disk_that_loses_what_was_not_synced() -> None:
    """Some or all of the unsynced tail; never a byte before it."""
    from random import Random  # noqa: PLC0415

    sizes = set()
    name = "2027-01-15.0001.jsonl"
    for seed in range(40):
        shelf = MemoryShelf()
        shelf.create(name, b"1\n")
        shelf.append(name, b"2\n", sync=True)
        shelf.append(name, b"3333\n", sync=False)
        shelf.crash(Random(seed))
        content = shelf.read(name)
        assert b"1\n2\n3333\n".startswith(content)
        sizes.add(len(content))

    assert min(sizes) == 4
    assert len(sizes) > 3
