"""What koboshi typed and could not submit: no line of it stays in the box of any CLI."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from koboshi.core.events import Context, Moment, Outcome
from koboshi.core.view import View
from koboshi.hosts.base import Key
from koboshi.performers import Hands, Program
from koboshi.performers.typing import submit
from tests.lab.conftest import Stages
from tests.lab.parts import Part

if TYPE_CHECKING:
    from koboshi.hosts.base import Host, Keystroke, Place
    from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

TEXT = "One line, and\nanother;\n\n  a third one, 'quoted'."


class NoEnter:
    """A terminal on whose way every Enter is lost."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._host, name)

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """All but Enter."""
        if strokes != (Key(name="Enter"),):
            await self._host.type(place, strokes)


async def typed(stage: Stage) -> Outcome:
    """Have the text typed where Enter does nothing."""
    (place,) = await stage.host.find(stage.home.cli)
    hands = Hands(
        agent="a",
        adapter=stage.adapter,
        host=NoEnter(stage.host),
        program=Program(argv=("agent",), cwd=str(stage.home.cwd)),
        now=lambda: Moment(at=time.monotonic(), utc=time.time()),
        sleep=asyncio.sleep,
        mark=lambda _: None,
        tell=lambda _: True,
        announce=lambda _: None,
        scale=lambda at: at,
        view=lambda: View(context=Context(agent="a")),
        place=place,
    )
    return await submit(hands, TEXT)


def test_no_line_of_what_was_not_submitted_stays_in_the_box(stages: Stages, part: Part) -> None:
    """In most CLIs a key clears one line: what is left would look like a person's draft."""
    stage = stages(part)
    stage.start()
    came: list[str] = []

    async def story() -> None:
        came.append((await typed(stage)).why)

    stage.run(story())

    assert came == ["the text stayed in the box after Enter"]
    assert stage.wait(lambda look: not look.reading.draft, "an empty box", 5).seen.alive
    assert not stage.model.asked
