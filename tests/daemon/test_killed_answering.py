"""The supervisor is killed at every touch of the outside while a question is answered.

Before and after each byte to the disk, each look, each key, and each word to a hook that waits:
whoever takes over answers the question once, or leaves it to a person; never twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from koboshi.daemon.supervisor import Supervisor
from koboshi.observations import HookFired
from koboshi.scripted.behaviour import Ask, Done, Script
from koboshi.testing.outside import Killed, Outside
from tests.daemon.lives import SETTINGS, Life

ASKS: Script = (Ask(command="npm test"), Done())
#: More touches than the answer to one question takes; those behind it kill nothing.
TOUCHES = 45
QUICK = replace(SETTINGS, answer_cooldown=0.0, idle_after=3.0, send_cooldown=1.0)


class Line:
    """A hook that waits with the open dialog; it dies with who holds it."""

    def __init__(self, life: Life, outside: Outside, payload: dict[str, Any]) -> None:
        self.life, self.outside, self.payload = life, outside, payload
        self.said = 0

    async def say(self, words: dict[str, Any]) -> bool:
        """The word reaches the agent, which may be the last that its supervisor does."""
        self.outside.before()
        assert words["hookSpecificOutput"]["decision"]["behavior"] == "allow"
        self.said += 1
        self.life.agent.decide(1, "once")
        self.outside.after()
        return True


class Mortal(Life):
    """A life whose supervisor is killed at one touch, with hooks that wait or without."""

    def __init__(self, *, hooked: bool) -> None:
        super().__init__(ASKS, settings=QUICK)
        self.outside = Outside()
        self.hooked = hooked
        self.line: Line | None = None
        self.told = False
        self.host._outside = self.shelf._outside = self.outside  # noqa: SLF001

    def rise(self) -> Supervisor:
        """Whoever takes over finds no line: it died with who held it."""
        self.line = None
        return super().rise()

    def go_on(self, seconds: float) -> None:
        """Time passes, in which the one hook may come."""
        for _ in range(int(seconds)):
            self.live(1.0)
            running = self.agent.running
            if self.hooked and not self.told and running is not None and running.dialog:
                self._tell_of_hook()

    def _tell_of_hook(self) -> None:
        assert self.supervisor is not None
        self.told = True
        payload = {
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": "npm test"},
        }
        self.line = Line(self, self.outside, payload)
        self.supervisor.hands.held = lambda _: self.line
        self.supervisor.observe(HookFired(payload=payload, ticket="t1"))


def answers(life: Mortal) -> list[tuple[int, str]]:
    """How the agent's question was answered, each time."""
    return list(life.agent.running.answers) if life.agent.running else []


@pytest.mark.parametrize("hooked", [False, True], ids=["keys", "hook"])
def test_killed_anywhere_it_answers_once_or_leaves_it(hooked: bool) -> None:  # noqa: FBT001
    """At each touch in turn, before it happens (even) and after (odd)."""
    died, answered, by_hook = 0, 0, 0
    for touch in range(1, TOUCHES):
        life = Mortal(hooked=hooked)
        life.rise()
        life.live(4.0)  # up, and told to begin
        first = life.outside.touches
        life.outside.kill_at = first + touch
        try:
            life.go_on(12.0)
        except Killed:
            died += 1
            life.fall()
            life.outside.kill_at = -1
            life.rise()
            life.go_on(15.0)
        life.fall()  # nothing is left running
        pressed = [key for key in life.sent if key.isdigit()]
        through = life.line.said if life.line is not None else 0

        assert len(pressed) <= 1, (touch, life.sent)
        assert len(answers(life)) <= 1, touch
        assert not (pressed and through), touch
        by_hook += through
        if answers(life):
            answered += 1
            assert answers(life) == [(1, "once")]
        else:
            assert any("asks" in text for text in life.announced), (touch, life.outcomes())

    assert died > 15
    assert answered > TOUCHES // 2
    assert (by_hook > 0) is hooked
