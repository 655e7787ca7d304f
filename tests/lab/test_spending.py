"""What the real CLIs write down about their use is found: while they run, and in the report."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from koboshi.daemon.control.client import call
from tests.lab.conftest import Lodges
from tests.lab.lodges import PATIENCE, Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import say
from tests.lab.parts import CLAUDE, CODEX, GEMINI, OPENCODE, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]


def used(lodge: Lodge) -> dict[str, Any]:
    """What the page shows of it, once there is something."""
    deadline = time.monotonic() + PATIENCE
    while True:
        told = call(lodge.state, "spending", name="a", seconds=3600.0)["spent"]
        if told and told["written"]:
            return dict(told)
        assert time.monotonic() < deadline, told
        time.sleep(0.2)


@pytest.mark.parametrize("part", [CLAUDE[0], CODEX, GEMINI, OPENCODE], ids=lambda part: part.cli)
def test_its_use_is_told(lodges: Lodges, part: Part, model: Model) -> None:
    """Tokens of every CLI; money of those that tell: Claude Code's status line does."""
    lodge = lodges(part)
    lodge.run()
    model.expect(say("one two three"))
    lodge.say("send", "a", "Count.")
    lodge.until_heard("Count.")
    lodge.until_status("a", "idle")

    told = used(lodge)

    assert told["read"] > 0
    [account] = json.loads(lodge.say("report", "--since", "1h", "--json"))["agents"]
    assert account["spent"]["written"] == told["written"]
    if part.cli == "claude":
        known = lodge.until("a", lambda known: bool(known["cost"]))
        assert 0 < known["cost"] < 1
        lodge.until("a", lambda _: _report(lodge)["spent"]["cost"] == known["cost"])


def _report(lodge: Lodge) -> dict[str, Any]:
    account: dict[str, Any] = json.loads(lodge.say("report", "--since", "1h", "--json"))["agents"][
        0
    ]
    return account
