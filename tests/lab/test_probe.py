"""A CLI of whose context nothing tells is asked, and its answer is read from its screen."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest

from koboshi.core.actions import Mode
from koboshi.core.engine import Decision, World
from koboshi.core.events import Event, Order, OrderGiven
from koboshi.core.readings import ContextUse, Status
from koboshi.core.settings import Settings
from koboshi.daemon.solo import Post, watch_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.performers import Program
from koboshi.store.wording import event_words
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import Hang, say
from tests.lab.parts import GEMINI

pytestmark = [pytest.mark.lab, pytest.mark.stage]

SETTINGS = Settings(
    mode=Mode.KEEP, quiet=0.5, send_cooldown=1.0, probe_every=5.0, probe_timeout=60.0
)
#: Seconds for a start, a turn and a question, on a busy machine.
PATIENCE = 90.0


def test_gemini_is_asked_for_its_context(stages: Stages, model: Model) -> None:
    """After its first turn, once."""
    stage = stages(GEMINI)
    model.expect(
        # A turn that is over between two looks was seen by nobody, and is not asked about.
        say("Half of it is written.", match="Write the parser", trouble=Hang(after=2)),
        say("CTX:37%", match="How much of your context window"),
    )
    asked: list[bool] = []
    known: list[ContextUse | None] = []
    told: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kb-", ignore_cleanup_errors=True) as state:
        program = Program(argv=stage.home.command(), cwd=str(stage.home.cwd))
        post = Post(
            agent="a1", agent_type="gemini", program=program, state=Path(state), settings=SETTINGS
        )
        deadline = time.monotonic() + PATIENCE

        def enough(supervisor: Supervisor) -> bool:
            view = supervisor.world.view
            if not asked and view.status is Status.IDLE:
                order = OrderGiven(order=Order.SEND, by="test", text="Write the parser.")
                asked.append(supervisor.take(order))
            if view.status is Status.WORKING:
                model.release()
            known[:] = [view.sight.context]
            return view.sight.context is not None or time.monotonic() > deadline

        def listen(event: Event, _: tuple[Decision, ...], world: World) -> None:
            told.append(f"{event.now.at:.1f} {world.view.status.value} {event_words(event.body)}")

        stage.run(watch_over(post, stage.host, enough=enough, listen=listen))

    assert known == [ContextUse(used=37.0, source="probe")], "\n".join(told)
    assert len([r for r in model.asked if r.main and "How much of your context" in r.told]) == 1
