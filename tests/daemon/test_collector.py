"""What a start made is kept out of the garbage collector's sight."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from koboshi.daemon.runtime import GARBAGE, spare_the_collector


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_the_collector_is_spared_and_goes_on_collecting() -> None:
    """Less often, and not what was there before; a cycle is still found."""
    spare_the_collector()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] == GARBAGE
    assert gc.isenabled()

    cycle: list[object] = []
    cycle.append(cycle)
    del cycle
    assert gc.collect() > 0
