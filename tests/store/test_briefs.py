"""What is read in brief says the same as what is read as a whole."""

from __future__ import annotations

import pytest

from koboshi.core.events import ActionFinished, Context
from koboshi.errors import JournalDamaged
from koboshi.store import wire
from koboshi.store.briefs import Ended, read_brief
from koboshi.testing import Night

HELD = (
    b'{"k":"held","at":0,"utc":0,"cause":1,"word":"busy","why":"","finding":'
    b'{"code":"RUN001","name":"x","severity":"P0","message":"m"},"action":{"kind":"no"}}'
)


@pytest.mark.parametrize("seed", [3, 4])
def test_a_night_in_brief_is_the_same_night(seed: int) -> None:
    """Every decision and every outcome of it, and nothing else."""
    night = Night(seed)
    night.run()
    lines = [line for name in night.shelf.names() for line in night.shelf.read(name).splitlines()]
    kinds = set()
    for line in lines:
        try:
            whole = wire.read_line(line, Context(agent="a"))
        except JournalDamaged:
            continue  # torn: that night a supervisor died while it wrote
        brief = read_brief(line)
        kinds.add(type(brief))
        if isinstance(whole, wire.Judged):
            assert brief == whole
        elif isinstance(whole, wire.Seen) and isinstance(whole.event.body, ActionFinished):
            assert brief == Ended.of(whole.event.body)
        else:
            assert brief is None

    assert kinds == {wire.Judged, Ended, type(None)}


@pytest.mark.parametrize(
    "line",
    [
        b'{"k":"finished"}',
        b'{"k":"admitted","at":1}',
        HELD,
        b'{"k":"held"' + b"[" * 5000,
    ],
)
def test_what_is_no_record_is_told_as_such(line: bytes) -> None:
    """Damage is one kind of error, however it looks."""
    with pytest.raises(JournalDamaged):
        read_brief(line)
