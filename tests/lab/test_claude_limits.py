"""Usage limits of Claude Code: which one, and the instant of its reset."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from koboshi.core.readings import Limit, Meaning, PromptKind, Status
from tests.lab.conftest import Staged, Stages
from tests.lab.limits import LOGIN, used_up
from tests.lab.model.server import Model
from tests.lab.model.turns import say
from tests.lab.parts import CLAUDE, Part
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

HOUR = 3600
OLD, NEW = CLAUDE


def in_hours(hours: int) -> int:
    """A full hour from now: the screen shows no seconds."""
    return (int(time.time()) // HOUR + hours) * HOUR


def hit(stage: Stage, claim: str, resets: int) -> None:
    """Run into the limit."""
    stage.start()
    stage.model.expect(used_up(claim, resets))
    stage.say("Try.")


@pytest.mark.parametrize(
    ("part", "claim", "kind"),
    [
        pytest.param(OLD, "five_hour", "session", id="2.1.197-session"),
        pytest.param(OLD, "seven_day", "weekly", id="2.1.197-weekly"),
        pytest.param(OLD, "seven_day_opus", "opus", id="2.1.197-opus"),
        pytest.param(NEW, "seven_day", "weekly", id="2.1.325-weekly"),
        pytest.param(NEW, "seven_day_opus", "opus", id="2.1.325-opus"),
    ],
)
def test_a_limit_opens_a_menu_in_which_one_can_wait(
    stages: Stages, part: Part, model: Model, claim: str, kind: str
) -> None:
    """The menu opens by itself; after it the limit stands, with the instant of its reset."""
    resets = in_hours(3 if claim == "five_hour" else 50)
    stage = stages(part, env=LOGIN)
    hit(stage, claim, resets)
    look = stage.wait_status(Status.ASKING)

    assert look.prompt.kind is PromptKind.LIMIT
    assert look.prompt.question == "What do you want to do?"
    assert look.meanings[0] is Meaning.WAIT
    assert look.prompt.selected == 0
    assert look.reading.limit == Limit(kind=kind, resets_at=resets)

    stage.answer(Meaning.WAIT)
    look = stage.wait_status(Status.LIMITED, never=[Status.IDLE, Status.FAILED])

    assert look.reading.limit == Limit(kind=kind, resets_at=resets)
    assert len(model.asked) == 1


def test_a_session_limit_of_the_new_version_goes_on_by_itself(stages: Stages) -> None:
    """2.1.325 opens no menu: it says when it will continue."""
    resets = in_hours(3)
    stage = stages(NEW, env=LOGIN)
    hit(stage, "five_hour", resets)
    look = stage.wait_text("continuing automatically")

    assert look.reading.status is Status.LIMITED
    assert look.reading.limit == Limit(kind="usage", resets_at=resets)


def test_a_limit_under_a_key_is_retried(claude: Staged) -> None:
    """With an API key the same answer is an error that is tried again, whatever its words."""
    stage = claude()
    hit(stage, "five_hour", in_hours(3))
    look = stage.wait(lambda look: look.retrying and "limit reached" in look.seen.text, "a retry")

    assert look.reading.status is Status.WORKING
    assert look.reading.limit is None


def test_a_warning_is_no_limit(claude: Staged, model: Model) -> None:
    """93% used: the footer says so, and the agent is idle."""
    warning: Mapping[str, str] = {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-reset": str(in_hours(3)),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-status": "allowed_warning",
        "anthropic-ratelimit-unified-5h-reset": str(in_hours(3)),
        "anthropic-ratelimit-unified-5h-utilization": "0.93",
        "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
    }
    stage = claude(env=LOGIN)
    stage.start()
    model.expect(say("Done.", headers=warning))
    stage.say("Work.")
    look = stage.wait_text("used 93%")

    assert look.reading.status is Status.IDLE
    assert look.reading.limit is None
