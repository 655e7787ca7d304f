"""Nobody watches: what stops the real thing is waited out or handed over, through a real daemon."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from koboshi.core.events import Origin
from koboshi.core.readings import Status
from tests.lab.conftest import Lodges
from tests.lab.journals import record, saved_before_each_restart
from tests.lab.leftovers import PAUSE
from tests.lab.limits import LOGIN, codex_used_up, used_up
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Refuse, Turn, say
from tests.lab.notes import NUMBER, handed_over
from tests.lab.parts import CLAUDE, CODEX, Part

pytestmark = [pytest.mark.lab, pytest.mark.stage]

OLD, NEW = CLAUDE
#: As few tries of Codex's own as can be.
ONCE = (
    *("-c", "model_providers.lab.request_max_retries=1"),
    *("-c", "model_providers.lab.stream_max_retries=1"),
)
MINUTE = 60
#: Wound up for a short night; what a test is not about is out of its way.
QUICK = {
    "KOBOSHI_QUIET": "0.5",
    "KOBOSHI_SEND_COOLDOWN": "1s",
    "KOBOSHI_REFRESH_GAP": "5s",
    "KOBOSHI_FAILED_BASE": "1s",
    "KOBOSHI_LIMIT_SLACK": "2s",
    "KOBOSHI_LIMIT_SPREAD": "0s",
    "KOBOSHI_SAVE_EVERY": "0s",
}
#: Seconds at its prompt until it is told to go on, and for which the model then speaks.
IDLE, SPEAKS = 6.0, 8.0
#: Seconds that a limit lasts at least: to start a CLI, to run into it, to die and to come back.
AHEAD = 15.0
#: Soon told to go on, too: a limit that is taken for idleness would show.
IMPATIENT = {**QUICK, "KOBOSHI_IDLE_AFTER": f"{IDLE:g}s"}
SLOW = say("One two three four five six seven eight.", pace=SPEAKS / 8, match="continue")
NOTE = "[[\\1\nThe parser is half done; next: the lexer.\n\\1]]"


def until_answered(lodge: Lodge, requests: int) -> None:
    """Wait until the model was asked so often, has said all it had to, and the agent is at rest."""

    def answered(known: Mapping[str, object]) -> bool:
        # Right after Enter, too, a screen shows a prompt at rest.
        asked = lodge.model.asked
        spoken = len(asked) >= requests and time.time() > asked[-1].at + SPEAKS
        return spoken and known["status"] == "idle"

    lodge.until("a", answered)


# --- idle ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [*CLAUDE, CODEX], ids=lambda part: part.key)
def test_an_idle_agent_is_told_to_go_on_once_each_time(
    part: Part, lodges: Lodges, model: Model
) -> None:
    """A turn that lasts longer than that is no idleness: nothing is typed into it."""
    model.expect(say("Half of the parser is written.", match="Write the parser"), SLOW, SLOW)
    lodge = lodges(part, IMPATIENT)
    lodge.run()
    lodge.say("send", "a", "--wait", "0", "Write the parser.")
    until_answered(lodge, 3)

    first, second, third = (request.at for request in model.asked)
    assert second - first > IDLE
    assert third - second > SPEAKS + IDLE
    kept = record(lodge.state, "a")
    assert kept.kinds == ["start", "send", "send", "send"]
    assert len(kept.sent("idle")) == 2


# --- the time box --------------------------------------------------------------------------------


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_a_run_that_is_old_enough_is_handed_over(part: Part, lodges: Lodges, model: Model) -> None:
    """Saved, ended, started afresh; the model of the new run is sent the note."""
    model.expect(
        say("Half of the parser is written.", match="Write the parser"),
        say(NOTE, match=r"only \[\[(\d{5})"),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )
    lodge = lodges(part, {**QUICK, "KOBOSHI_RUN_MAX": "15s"})
    lodge.run()
    lodge.say("send", "a", "--wait", "0", "Write the parser.")
    lodge.until("a", lambda _: record(lodge.state, "a").kinds[-1:] == ["load"])

    kept = record(lodge.state, "a")
    assert kept.kinds == ["start", "send", "refresh", "checkpoint", "stop", "start", "load"]
    assert [run.origin for run in kept.runs] == [Origin.FIRST, Origin.FRESH]
    assert saved_before_each_restart(lodge.state, "a") == 1
    [greeted] = handed_over(model)
    assert str(greeted.body).count("next: the lexer") == 1
    assert "Write the parser" not in str(greeted.body)


# --- usage limits --------------------------------------------------------------------------------


def in_a_while() -> int:
    """The full minute that is far enough ahead: no screen shows seconds."""
    return (int(time.time() + AHEAD) // MINUTE + 1) * MINUTE


def limited_until(resets: int, refusal: Turn) -> Callable[[str], Turn]:
    """A model that is used up until then, whoever asks, and works afterwards."""

    def answer(_: str) -> Turn:
        return refusal if time.time() < resets else replace(SLOW, match="")

    return answer


def run_into(lodge: Lodge, refusal: Callable[[int], Turn]) -> int:
    """Work until the limit is reached; when it resets."""
    lodge.run()
    resets = in_a_while()
    lodge.model.improvise = limited_until(resets, refusal(resets))
    lodge.say("send", "a", "--wait", "0", "Write the parser.")
    lodge.until_status("a", "limited")
    return resets


def waited_out(lodge: Lodge, resets: int) -> None:
    """One `continue` after the reset, in the same run; it was nothing but a limit."""
    until_answered(lodge, 2)
    kept = record(lodge.state, "a")
    first, second = lodge.model.asked
    assert first.at < resets < second.at
    assert second.told.endswith("continue")
    [sent] = kept.sent("limit")
    assert kept.between(Status.LIMITED, sent) <= {Status.LIMITED, Status.ASKING}
    assert len(kept.runs) == 1
    [told] = kept.told
    assert " limit; waits until " in told


@pytest.mark.parametrize(
    ("part", "claim"),
    [
        pytest.param(OLD, "five_hour", id="2.1.197-session"),
        pytest.param(NEW, "seven_day_opus", id="2.1.325-opus"),
    ],
)
def test_a_limit_is_waited_out_and_its_menu_closed(part: Part, claim: str, lodges: Lodges) -> None:
    """The CLI's own menu is answered with "wait"; after the reset `continue` goes in, once."""
    lodge = lodges(part, IMPATIENT, env=LOGIN)
    resets = run_into(lodge, lambda at: used_up(claim, at))
    waited_out(lodge, resets)

    assert record(lodge.state, "a").kinds == ["start", "send", "answer", "send"]


@pytest.mark.parametrize(
    ("part", "claim"),
    [
        pytest.param(NEW, "five_hour", id="2.1.325-session"),
        pytest.param(NEW, "seven_day", id="2.1.325-weekly"),
        pytest.param(CODEX, "", id="codex"),
    ],
)
def test_a_limit_without_a_menu_is_waited_out(part: Part, claim: str, lodges: Lodges) -> None:
    """Also where the CLI says that it will go on by itself: 2.1.325 would, a minute later."""
    lodge = lodges(part, IMPATIENT, env=LOGIN if claim else {})
    resets = run_into(lodge, lambda at: used_up(claim, at) if claim else codex_used_up(at))
    waited_out(lodge, resets)

    assert record(lodge.state, "a").kinds == ["start", "send", "send"]


@pytest.mark.parametrize(
    ("part", "back"),
    [
        pytest.param(NEW, "before", id="2.1.325-back-before-the-reset"),
        pytest.param(NEW, "after", id="2.1.325-back-after-it"),
        pytest.param(CODEX, "after", id="codex-back-after-it"),
    ],
)
def test_a_supervisor_that_is_killed_while_it_waits_still_sends_once(
    part: Part, back: str, lodges: Lodges
) -> None:
    """The next one knows of the limit from the journal and the screen."""
    claude = part.cli == "claude"
    lodge = lodges(part, IMPATIENT, env=LOGIN if claude else {})
    resets = run_into(
        lodge, lambda at: used_up("seven_day_opus", at) if claude else codex_used_up(at)
    )
    daemon = lodge.daemon()
    assert daemon is not None
    daemon.kill()
    daemon.wait()
    while back == "after" and time.time() < resets + 3:
        time.sleep(PAUSE)
    lodge.say("daemon", "start")
    waited_out(lodge, resets)


# --- errors --------------------------------------------------------------------------------------


def test_an_error_of_codex_is_tried_again_and_the_work_goes_on(
    lodges: Lodges, model: Model
) -> None:
    """Its own tries are left alone; when it has given up, one `continue`."""
    broken = Turn(trouble=Refuse(status=500), match="Write the parser", times=EVER)
    model.expect(broken, SLOW)
    lodge = lodges(CODEX, QUICK, args=ONCE)
    lodge.run()
    lodge.say("send", "a", "--wait", "0", "Write the parser.")
    lodge.until("a", lambda _: lodge.heard("continue") > 0)
    until_answered(lodge, len(model.asked))

    kept = record(lodge.state, "a")
    assert kept.kinds == ["start", "send", "send"]
    assert len(kept.sent("failed")) == 1
    assert lodge.heard("continue") == 1
    assert len(kept.runs) == 1
