"""A supervisor that kills itself on the way of an answer: `doomed_answer.py SPEC [POINT]`.

POINT is `decided` (claimed in the journal, nothing begun), `marked` (the mark before the touch is
written), `pressed` (the key is with the terminal, nobody has looked), `said` (the word is with the
hook), `acted` (done, and nobody has written that), `told` (written), or `held` (a hook waits, and
nothing was decided). Without a point it lives until the agent is idle and the model was told, or a
person was asked.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koboshi.core.actions import Answer, Escalate, Mode
from koboshi.core.events import ActionFinished, Ending, HookRead
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.performers.acting import PERFORMERS
from koboshi.sources.holding import Held
from tests.daemon.programs.life import begin, live

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event, Outcome
    from koboshi.core.view import View
    from koboshi.daemon.supervisor import Supervisor
    from koboshi.performers.hands import Hands

SETTINGS = Settings(
    mode=Mode.AUTO,
    save_every=0.0,
    run_max=0.0,
    quiet=0.3,
    send_cooldown=0.5,
    answer_cooldown=0.5,
    allow=("touch made.txt",),
)


def die() -> None:
    """At once, as a machine dies."""
    os.kill(os.getpid(), signal.SIGKILL)


class Doom:
    """Ends this process at its point."""

    def __init__(self, point: str) -> None:
        self.point = point
        self.answers: set[str] = set()  #: keys of the answers that were admitted
        self.asked = False  #: a person was

    def listen(self, event: Event, decisions: tuple[Decision, ...], _: World) -> None:
        """What was written a moment ago."""
        body = event.body
        if isinstance(body, HookRead) and body.ticket and self.point == "held":
            die()
        if isinstance(body, ActionFinished) and body.outcome.ending is Ending.DONE:
            self.asked = self.asked or isinstance(body.action, Escalate)
            if isinstance(body.action, Answer) and self.point == "told":
                die()
        for decision in decisions:
            if decision.verdict.admitted and isinstance(decision.action, Answer):
                self.answers.add(decision.action.key)
                if self.point == "decided":
                    die()

    def lie_in_wait(self, supervisor: Supervisor) -> None:
        """At the marks, behind the keys and the hook's line, and behind the performer."""
        mark, keys, say = supervisor.hands.mark, supervisor.hands.host.type, Held.say
        perform, settle = PERFORMERS["answer"]

        def marked(key: str) -> None:
            mark(key)
            if self.point == "marked" and key in self.answers:
                die()

        async def typed(*args: Any) -> None:  # noqa: ANN401
            await keys(*args)
            if self.point == "pressed" and self.answers:
                die()

        async def said(held: Held, words: dict[str, Any]) -> bool:
            taken = await say(held, words)
            if self.point == "said":
                die()
            return taken

        async def acted(action: Any, hands: Hands) -> Outcome:  # noqa: ANN401
            outcome: Outcome = await perform(action, hands)
            if self.point == "acted" and outcome.ending is Ending.DONE:
                die()
            return outcome

        supervisor.hands.mark = marked
        supervisor.hands.host.type = typed  # type: ignore[assignment,method-assign]
        Held.say = said  # type: ignore[assignment,method-assign]
        PERFORMERS["answer"] = (acted, settle)


async def main(spec: dict[str, Any], point: str) -> None:
    """Look after the agent until its turn is over, or its question is a person's."""
    doom = Doom(point)

    def through(view: View) -> bool:
        return doom.asked or (view.status is Status.IDLE and Path(spec["made"]).exists())

    await live(spec, SETTINGS, doom, through)


if __name__ == "__main__":
    begin(main)
