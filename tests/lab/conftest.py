"""Fixtures of the lab: a scripted model, and a stage for each CLI that a test names."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.conftest import AgentCli, need
from tests.lab.homes import Room, furnish
from tests.lab.model.server import Model
from tests.lab.stage import Stage


@pytest.fixture
def model() -> Iterator[Model]:
    """The scripted model of one test."""
    with Model() as running:
        yield running


class Stages(Protocol):
    """Makes stages."""

    def __call__(self, cli: str, version: str, **room: Any) -> Stage:  # noqa: ANN401
        """A stage for that CLI; `room` fills fields of `Room`, such as `trusted=False`."""


@pytest.fixture
def stages(model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Stages]:
    """Stages that are cleared when the test is over."""
    with contextlib.ExitStack() as after:

        def made(cli: str, version: str, **room: Any) -> Stage:  # noqa: ANN401
            program = agent_cli(cli, version)
            path = os.pathsep.join([str(need("node").parent), "/usr/bin", "/bin"])
            furnished = Room(folder=tmp_path, program=program, path=path, url=model.url, **room)
            stage = Stage(furnish(cli, furnished), model)
            after.callback(stage.close)
            return stage

        yield made
