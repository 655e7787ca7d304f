"""Fixtures of the lab: a scripted model, and a stage for each CLI that a test names."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.conftest import AgentCli, need
from tests.lab.homes import Home, Room, furnish
from tests.lab.leftovers import LEFT
from tests.lab.lodges import Lodge
from tests.lab.model.server import Model
from tests.lab.parts import CLAUDE, CODEX, GEMINI, OPENCODE, PARTS, Part
from tests.lab.speech import SPEECHES, Line, Speech
from tests.lab.stage import Stage

#: Seconds for one test with a real CLI: several waits, each of which may be patient.
LONGEST = 300
#: CLIs that take several seconds of processor time to start.
SLOW = ("opencode", "gemini")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A loaded machine is slow, not wrong; and what takes long begins first."""
    stages = [item for item in items if item.get_closest_marker("stage")]
    for item in stages:
        item.add_marker(pytest.mark.timeout(LONGEST))
    slow = {item for item in stages if any(cli in item.nodeid for cli in SLOW)}
    items.sort(key=lambda item: item not in slow)


@pytest.fixture(scope="session", autouse=True)
def _nothing_left() -> Iterator[None]:
    """Whatever a stage started in this session is gone when it ends."""
    yield
    left = LEFT.remaining()

    assert left == []


@pytest.fixture
def model() -> Iterator[Model]:
    """The scripted model of one test."""
    with Model() as running:
        yield running


def furnished(
    part: Part, room: Mapping[str, Any], model: Model, agent_cli: AgentCli, folder: Path
) -> Home:
    """The home of that CLI, or the test is skipped with the reason."""
    need("tmux")
    program = agent_cli(part.cli, part.version)
    path = os.pathsep.join([str(need("node").parent), "/usr/bin", "/bin"])
    wanted = {**part.room, **room}
    return furnish(
        part.cli, Room(folder=folder, program=program, path=path, url=model.url, **wanted)
    )


class Stages(Protocol):
    """Makes stages."""

    def __call__(self, part: Part, **room: Any) -> Stage:  # noqa: ANN401
        """A stage for that CLI; `room` fills fields of `Room`, such as `trusted=False`."""


@pytest.fixture
def stages(model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Stages]:
    """Stages that are cleared when the test is over."""
    with contextlib.ExitStack() as after:

        def made(part: Part, **room: Any) -> Stage:  # noqa: ANN401
            stage = Stage(furnished(part, room, model, agent_cli, tmp_path), model)
            after.callback(stage.close)
            return stage

        yield made


class Lodges(Protocol):
    """Makes lodges."""

    def __call__(
        self,
        part: Part,
        settings: Mapping[str, str] | None = None,
        **room: Any,  # noqa: ANN401
    ) -> Lodge:
        """A koboshi with these settings for that CLI; `room` as for a stage."""


@pytest.fixture
def lodges(model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Lodges]:
    """A koboshi for a CLI; all gone when the test is over."""
    with contextlib.ExitStack() as after:

        def made(
            part: Part,
            settings: Mapping[str, str] | None = None,
            **room: Any,  # noqa: ANN401
        ) -> Lodge:
            home = furnished(part, room, model, agent_cli, tmp_path)
            lodge = Lodge(home, model, settings)
            after.callback(lodge.end)
            return lodge

        yield made


class Staged(Protocol):
    """Makes the stage of a test whose CLI is settled."""

    def __call__(self, **room: Any) -> Stage:  # noqa: ANN401
        """A stage whose room has these fields."""


def staged(stages: Stages, part: Part) -> Staged:
    """Stages of one part."""

    def made(**room: Any) -> Stage:  # noqa: ANN401
        return stages(part, **room)

    return made


@pytest.fixture(params=PARTS, ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """The test runs with every CLI in every version."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture(params=CLAUDE, ids=lambda part: part.version)
def claude(request: pytest.FixtureRequest, stages: Stages) -> Staged:
    """Claude Code; the test runs with each version."""
    return staged(stages, request.param)


@pytest.fixture
def codex(stages: Stages) -> Staged:
    """Codex CLI, without its daemon."""
    return staged(stages, CODEX)


@pytest.fixture
def gemini(stages: Stages) -> Staged:
    """Gemini CLI."""
    return staged(stages, GEMINI)


@pytest.fixture
def opencode(stages: Stages) -> Staged:
    """OpenCode, which asks before it runs or writes."""
    return staged(stages, OPENCODE)


@pytest.fixture(params=SPEECHES, ids=lambda speech: speech.name)
def speech(request: pytest.FixtureRequest) -> Speech:
    """The test runs with every protocol."""
    chosen = request.param
    assert isinstance(chosen, Speech)
    return chosen


@pytest.fixture
def line(model: Model) -> Iterator[Line]:
    """A line to the model of the test."""
    made = Line(model)
    yield made
    made.close()
