"""Every command line that an adapter makes, tried on the CLI that it is for."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
import uuid
from dataclasses import dataclass, replace

import pytest

from koboshi.adapters.base import Adapter
from koboshi.adapters.headless import Result, result
from koboshi.adapters.registry import adapter, program_type
from koboshi.core.readings import PromptKind, Status
from koboshi.hosts.probing import version_of
from tests.lab.conftest import Stages
from tests.lab.looks import Look
from tests.lab.model.server import Model
from tests.lab.model.turns import hang, say
from tests.lab.parts import CLAUDE, Part
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: How a person gives each CLI a prompt to start with.
PROMPT = {
    "claude": ("Begin here.",),
    "codex": ("Begin here.",),
    "gemini": ("-i", "Begin here."),
    "opencode": ("--prompt", "Begin here."),
}
#: The line in which a CLI that was left says how to go on.
HINT = re.compile(r"(?:resume|-s)\s+([\w-]{8,})")


@dataclass(slots=True)
class Troupe:
    """A stage whose CLI is started by the words of its adapter."""

    stage: Stage
    own: tuple[str, ...]  #: the program and a person's own options
    session: str

    @property
    def adapter(self) -> Adapter:
        """For the version that is on the stage."""
        return self.stage.adapter

    def begin(self, argv: tuple[str, ...]) -> Look:
        """Start that command line and wait for an empty prompt."""
        assert argv[0] == self.own[0]
        self.stage.home = replace(self.stage.home, args=argv[1:])
        return self.stage.start()

    def remembered(self, model: Model, *words: str) -> None:
        """Say something and see that the model is told the old words with it."""
        self.stage.say("And now?")
        told = json.dumps(model.asked[-1].body)
        assert [word for word in words if word not in told] == []
        self.stage.wait_status(Status.IDLE)

    def headless(self, prompt: str, session: str | None = None) -> Result:
        """Run one prompt without a terminal, and judge it."""
        argv = self.adapter.headless_argv(program=self.own, prompt=prompt, session=session)
        home = self.stage.home
        ran = subprocess.run(
            argv,
            cwd=home.cwd,
            env={**home.env, "TERM": "dumb"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        judged = result(ran.stdout, home.cli)
        assert judged.ok, (argv, judged, ran.stdout[-2000:], ran.stderr[-2000:])
        return judged


@pytest.fixture
def troupe(part: Part, stages: Stages) -> Troupe:
    """Each test runs with each CLI; what the adapter adds is not in the lab's own options."""
    cli, version = part.cli, part.version
    stage = stages(part)
    program = str(stage.home.program)
    assert program_type((program,)) == cli
    assert asyncio.run(version_of((program,), patience=60.0)) == version
    stage.adapter = adapter(cli, None, version)
    added = stage.adapter.env((program,))
    own = tuple(word for word in stage.home.args if word != "--no-daemon")
    stage.home = replace(stage.home, env={**stage.home.env, **added})
    return Troupe(stage, (program, *own), str(uuid.uuid4()))


def test_a_session_goes_on_by_its_id_and_as_the_last_one(troupe: Troupe, model: Model) -> None:
    """The start prompt is submitted once; a resume asks the model nothing by itself."""
    stage, known = troupe.stage, troupe.adapter
    program = (*troupe.own, *PROMPT[stage.home.cli])
    model.expect(say("First answer."))
    troupe.begin(known.argv(program=program, session=troupe.session))
    stage.wait_text("First answer.")
    stage.wait_status(Status.IDLE)
    left = stage.leave()
    shown = HINT.findall(left.seen.text)
    session = known.session_at_start(program=program, session=troupe.session) or shown[-1]
    assert not shown or shown[-1] == session

    asked = len(model.asked)
    troupe.begin(known.resume_argv(program=program, session=session))
    time.sleep(1.5)
    assert len(model.asked) == asked
    troupe.remembered(model, "Begin here.", "First answer.")

    stage.kill()
    stage.ended()
    asked = len(model.asked)
    troupe.begin(known.continue_argv(program=program))
    assert len(model.asked) == asked
    troupe.remembered(model, "Begin here.", "First answer.", "And now?")


def test_a_turn_is_interrupted(troupe: Troupe, model: Model) -> None:
    """The keys end the turn and not the agent."""
    stage = troupe.stage
    troupe.begin(troupe.adapter.argv(program=troupe.own, session=troupe.session))
    model.expect(hang())
    stage.say("Take your time.")
    stage.wait_status(Status.WORKING)
    first, *more = troupe.adapter.interrupt_keys()
    stage.key(first)
    for key in more:  # OpenCode takes the second one only after it has said so
        stage.wait_text("again to interrupt")
        stage.key(key)

    stage.wait(lambda look: look.reading.status is not Status.WORKING, "the end of the turn")
    model.release()
    assert stage.wait_status(Status.IDLE).seen.alive


def test_a_headless_run_and_one_that_goes_on(troupe: Troupe, model: Model) -> None:
    """A prompt that begins with a dash is a prompt; the second one knows the first."""
    model.expect(say("Headless answer."))

    first = troupe.headless("- Begin here.")
    second = troupe.headless("And now?", first.session)

    assert first.summary.strip() == "Headless answer."
    assert second.session == first.session
    told = json.dumps(model.asked[-1].body)
    assert "- Begin here." in told
    assert "Headless answer." in told


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.version)
def test_left_arrow_does_not_detach_a_run_that_koboshi_started(
    stages: Stages, model: Model, part: Part
) -> None:
    """The user's own settings say that it should; the variable is for this run alone."""
    known = adapter("claude", None, part.version)
    stage = stages(
        part,
        env=dict(known.env(("claude",))),
        settings={"leftArrowOpensAgents": True},
    )
    stage.start()
    model.expect(say("Done."))
    stage.say("Go.")
    stage.wait_text("Done.")
    stage.wait_status(Status.IDLE)
    for _ in range(2):
        stage.key("Left")
        stage.stays(Status.IDLE, 1.5)

    assert len(stage.processes()) == 1
    assert "Done." in stage.look().seen.text


@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.version)
def test_the_view_of_all_agents_is_no_prompt(stages: Stages, model: Model, part: Part) -> None:
    """It looks like one; what is typed there starts another session."""
    stage = stages(part, settings={"leftArrowOpensAgents": True})
    stage.start()
    model.expect(say("Done."))
    stage.say("Go.")
    stage.wait_text("Done.")
    stage.wait_status(Status.IDLE)
    stage.wait_text("← for agents")
    stage.key("Left")  # once: another one that comes before the view is there closes it again

    assert stage.wait_status(Status.ASKING).prompt.kind is PromptKind.PICKER
