"""Half an hour of one dialog after the other: no duplicate, no miss, and the agent lives.

make soak                                       # with everything else that takes long
KOBOSHI_SOAK_MINUTES=2 .venv/bin/python -m pytest tests/lab/test_answers_soak.py
"""

from __future__ import annotations

import os
import time
from collections import Counter

import pytest

from koboshi.core.actions import Answer
from tests.lab.conftest import Lodges
from tests.lab.journals import record
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, say
from tests.lab.parts import CLAUDE
from tests.lab.test_answers import ruled

pytestmark = [pytest.mark.lab, pytest.mark.soak]

#: Both ways together.
MINUTES = float(os.environ.get("KOBOSHI_SOAK_MINUTES", "30"))
#: Calls of one turn, of which every fifth is refused.
CALLS, EVERY = 25, 5
#: Seconds for a turn: by keys an answer waits a second behind the one before.
LONGEST = 300.0


def calls(way: str) -> tuple[Turn, ...]:
    """One turn of the model; by keys a refusal would end it."""
    made = []
    for number in range(CALLS):
        refused = way == "hook" and number % EVERY == 0
        # Twice the same words, one right after the other.
        command = f"touch other{number}" if refused else f"touch made{number // 2}.txt"
        made.append(call("Bash", command=command, description="Make"))
    return (*made, say("That was all."))


@pytest.mark.timeout(60 * MINUTES + 2 * LONGEST)
@pytest.mark.parametrize("way", ["hook", "keys"])
def test_dialogs_without_end(lodges: Lodges, way: str, model: Model) -> None:
    """Every call has one result, every answer went one way, and nobody was called."""
    lodge = ruled(lodges, CLAUDE[-1], way)
    lodge.run()
    end, asked = time.monotonic() + 30 * MINUTES, 0
    while time.monotonic() < end:
        asked += CALLS
        model.expect(*calls(way))
        lodge.say("send", "a", f"Go on with {asked}.")
        deadline = time.monotonic() + LONGEST
        while len(model.results) < asked or lodge.status("a")["status"] != "idle":
            assert time.monotonic() < deadline, lodge.told(lodge.status("a"))
            time.sleep(0.5)

    kept = record(lodge.state, "a")
    answers = [each for each in kept.done if isinstance(each, Answer)]
    ways = Counter("hook" if each.ticket else "keys" for each in answers)

    assert len({result.id for result in model.results}) == len(model.results) == asked
    assert ways.total() == asked
    # A machine with too much to do starts a hook so late that its dialog was answered by a key.
    assert ways[way] >= asked * (1.0 if way == "keys" else 0.98)
    assert len({each.key for each in answers}) == asked
    assert kept.told == []
    assert len(kept.runs) == 1
