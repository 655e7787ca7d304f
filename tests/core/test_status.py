"""The status table."""

from __future__ import annotations

import itertools

import pytest

from koboshi.core.readings import Status
from koboshi.core.status import TRANSITIONS, settle

PAIRS = list(itertools.product(Status, Status))


def test_every_status_has_a_row() -> None:
    """No status is forgotten, and the table names no other."""
    assert set(TRANSITIONS) == set(Status)


@pytest.mark.parametrize(("before", "claimed"), PAIRS)
def test_every_pair_settles_to_what_the_table_allows(before: Status, claimed: Status) -> None:
    """A claim wins, or the run stays gone, or the contradiction is unknown with a reason."""
    status, objection = settle(before, claimed)

    if claimed is before or claimed in TRANSITIONS[before]:
        assert (status, objection) == (claimed, "")
    else:
        stays = Status.GONE if before is Status.GONE else Status.UNKNOWN
        assert status is stays
        assert claimed.value in objection


@pytest.mark.parametrize("claimed", [s for s in Status if s is not Status.GONE])
def test_what_is_gone_stays_gone(claimed: Status) -> None:
    """A last frame that shows a spinner revives nobody."""
    assert settle(Status.GONE, claimed)[0] is Status.GONE


def test_no_run_starts_twice() -> None:
    """A status in which an agent was seen never becomes `starting` again; from unknown it may."""
    to_starting = {s for s in Status if Status.STARTING in TRANSITIONS[s]}

    assert to_starting == {Status.UNKNOWN}
