"""What koboshi does about trouble of the real thing: errors, a stream that stops, work done."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest

from koboshi.core.actions import Mode
from koboshi.core.engine import Decision, World
from koboshi.core.events import ActionFinished, Event, Order, OrderGiven
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.daemon.solo import Post, watch_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.performers import Program
from tests.lab.conftest import Stages
from tests.lab.journals import saved_before_each_restart
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, refuse, say, stall
from tests.lab.notes import NUMBER
from tests.lab.parts import CLAUDE, Part
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: As few tries of its own as can be: the wait between them would be minutes.
ONCE = {"CLAUDE_CODE_MAX_RETRIES": "1"}
QUICK = Settings(
    mode=Mode.KEEP,
    quiet=0.5,
    refresh_gap=1.0,
    send_cooldown=0.5,
    failed_base=0.5,
    idle_after=5.0,
    save_every=0.0,
)
PATIENCE = 100.0
NOTE = "[[\\1\nThe parser is half done; next: the lexer.\n\\1]]"
#: The newest version; what is done does not depend on it.
PART = CLAUDE[-1]


@dataclass
class Watched:
    """What was done, and told to a person."""

    done: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    view: View | None = None
    saved: int = 0  #: runs that koboshi ended, all of them saved before

    def listen(self, event: Event, _: tuple[Decision, ...], world: World) -> None:
        """Keep what came out."""
        self.view, body = world.view, event.body
        if isinstance(body, ActionFinished) and body.outcome.ending.value == "done":
            action = body.action
            if action.kind in ("notify", "escalate"):
                self.told.append(action.text)  # type: ignore[union-attr]
            else:
                self.done.append(action.kind)


def watch(stage: Stage, settings: Settings, over: Callable[[View], bool]) -> Watched:
    """Let koboshi look after it, from its first message on."""
    watched, asked = Watched(), list[bool]()
    with tempfile.TemporaryDirectory(prefix="kb-") as state:
        program = Program(argv=stage.home.command(), cwd=str(stage.home.cwd))
        post = Post(
            agent="a1",
            agent_type=stage.home.cli,
            program=program,
            state=Path(state),
            settings=settings,
        )
        deadline = time.monotonic() + PATIENCE

        def enough(supervisor: Supervisor) -> bool:
            view = supervisor.world.view
            if not asked and view.status is Status.IDLE:
                order = OrderGiven(order=Order.SEND, by="test", text="Write the parser.")
                asked.append(supervisor.take(order))
            # What was typed may be answered before it was seen to have left.
            busy = supervisor.world.ledger.in_flight()
            return (not busy and over(view)) or time.monotonic() > deadline

        stage.run(watch_over(post, stage.host, enough=enough, listen=watched.listen))
        watched.saved = saved_before_each_restart(Path(state), "a1")
    assert watched.view is not None
    assert over(watched.view), (watched.done, watched.told, watched.view.belief)
    return watched


@pytest.fixture
def stage(stages: Stages) -> Stage:
    """Claude Code, which tries once."""
    part: Part = PART
    return stages(part, args=("--model", "claude-sonnet-4-5"), env=ONCE)


def ended_well(view: View) -> bool:
    """Whether a later turn than the first ended well."""
    return view.status is Status.IDLE and view.tally.turns > 1 and view.tally.failures == 0


def test_an_overloaded_api_is_tried_again_and_the_work_goes_on(stage: Stage, model: Model) -> None:
    """One `continue`, and the turn ends well."""
    model.expect(
        refuse(529, times=2),
        say("The parser is written.", match="continue", pace=0.5),
    )

    watched = watch(stage, QUICK, ended_well)

    assert watched.done.count("send") == 2, watched.done  # the order, and one `continue`
    assert "refresh" not in watched.done


def test_a_storm_of_refusals_is_met_later_and_later(stage: Stage, model: Model) -> None:
    """429 four times, each try after twice the wait; then the work goes on, in the same run."""
    model.expect(
        refuse(429, times=4, x_should_retry="false"),
        say("The parser is written.", match="continue", pace=0.5),
    )

    watched = watch(stage, QUICK, ended_well)

    asked = [request.at for request in model.asked if request.main]
    gaps = [later - sooner for sooner, later in pairwise(asked)]
    assert len(gaps) == 4
    assert all(gap > QUICK.failed_base * 2.0**n for n, gap in enumerate(gaps)), gaps
    assert watched.done == ["start", *["send"] * 5]


def test_an_agent_that_waits_by_itself_is_left_alone(stage: Stage, model: Model) -> None:
    """429 with retry-after: it counts down and tries again, and nobody types anything."""
    model.expect(refuse(429, retry_after="8"), say("The parser is written."))

    watched = watch(stage, QUICK, lambda v: v.status is Status.IDLE and v.tally.turns > 0)

    first, second = (request.at for request in model.asked if request.main)
    assert second - first > 7.0
    assert watched.done == ["start", "send"]


def test_a_wait_that_the_api_asks_for_is_waited_out(stage: Stage, model: Model) -> None:
    """The CLI has given up; its last line says when to try again."""
    model.expect(
        refuse(429, "Please try again in 9s.", x_should_retry="false"),
        say("The parser is written.", match="once more", pace=0.5),
    )

    watched = watch(stage, replace(QUICK, retry_text="once more"), ended_well)

    first, second = (request.at for request in model.asked if request.main)
    assert second - first > 9.0
    assert watched.done == ["start", "send", "send"]


def test_a_refused_login_is_told_and_gets_one_restart(stage: Stage, model: Model) -> None:
    """The same session in a new process; refused again, a person is asked, and that is all."""
    model.expect(refuse(401, times=EVER, x_should_retry="false"))
    quiet: list[float] = []

    def over(view: View) -> bool:
        """Asked, and nothing happens for a while."""
        if view.tally.cures and view.run.number == 2 and view.tally.failures > 3:
            quiet.append(time.monotonic())
        return bool(quiet) and time.monotonic() - quiet[0] > 10.0

    watched = watch(stage, QUICK, over)

    assert (watched.done.count("refresh"), watched.done.count("start")) == (1, 2), watched.done
    assert watched.saved == 1
    assert any("its login was refused (401); log in again" in text for text in watched.told)
    assert any("times in a row (401)" in text for text in watched.told)


def test_a_stream_that_stops_is_interrupted_and_the_run_refreshed(
    stage: Stage, model: Model
) -> None:
    """Its spinner goes on counting; nothing else moves."""
    model.expect(
        stall("Half of the parser is written and then nothing more", after=5),
        say(NOTE, match=r"only \[\[(\d{5})"),
        say(":\\1: Going on with the lexer.", match=NUMBER),
    )

    watched = watch(
        stage,
        Settings(mode=Mode.KEEP, quiet=0.5, hang_after=12.0, save_every=0.0),
        lambda v: v.run.number == 2 and v.refresh is None and v.status is Status.IDLE,
    )

    acts = [kind for kind in watched.done if kind != "send"]
    assert acts == ["start", "interrupt", "refresh", "checkpoint", "stop", "start", "load"]
    assert watched.saved == 1


def test_an_agent_whose_tasks_are_done_is_ended_and_stays_down(stage: Stage, model: Model) -> None:
    """The last box is ticked while it is supervised."""
    tasks = stage.home.cwd / "TASKS.md"
    tasks.write_text("- [x] lexer\n- [ ] parser\n")
    model.expect(say("The parser is written.", pace=0.5))
    ended: list[float] = []

    def over(view: View) -> bool:
        if view.tally.turns and view.status is Status.IDLE:
            tasks.write_text("- [x] lexer\n- [x] parser\n")
        if view.status is Status.GONE:
            ended.append(time.monotonic())
        return bool(ended) and time.monotonic() - ended[0] > 8.0

    settings = Settings(mode=Mode.KEEP, quiet=0.5, tasks="TASKS.md")
    watched = watch(stage, settings, over)

    assert watched.done == ["start", "send", "checkpoint", "stop"]
    assert watched.saved == 1
    assert watched.told == ["a1: all 2 tasks are done; it has ended"]
