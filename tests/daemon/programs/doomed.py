"""A supervisor that kills itself at one step of a refresh: `doomed.py SPEC [KIND.POINT]`.

KIND is an action (`checkpoint`), POINT where on its way: `decided` (written down, nothing begun),
`marked` (the mark before the touch is written), `acted` (done, and nobody has written that), `told`
(written). Without a point it lives until the refresh is through.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from koboshi.core.actions import Mode, Start
from koboshi.core.events import ActionFinished, Ending
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.performers.acting import PERFORMERS
from tests.daemon.programs.life import begin, live

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event, Outcome
    from koboshi.core.view import View
    from koboshi.daemon.supervisor import Supervisor
    from koboshi.performers.hands import Hands

SETTINGS = Settings(
    mode=Mode.KEEP,
    save_every=0.0,
    run_max=0.0,
    quiet=0.3,
    send_cooldown=0.5,
    refresh_gap=600.0,
    backoff_base=0.2,
    retry_gap=0.2,
)


class Doom:
    """Ends this process at its point."""

    def __init__(self, point: str) -> None:
        self.kind, _, self.point = point.partition(".")
        self.kinds: dict[str, str] = {}  #: key → kind of what was admitted

    def strike(self, action: Action, point: str) -> None:
        """Die here if this is the place; the first start is no part of a refresh."""
        first = isinstance(action, Start) and action.run == 1
        if (action.kind, point) == (self.kind, self.point) and not first:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(self, event: Event, decisions: tuple[Decision, ...], _: World) -> None:
        """What was written a moment ago."""
        body = event.body
        if isinstance(body, ActionFinished) and body.outcome.ending is Ending.DONE:
            self.strike(body.action, "told")
        for decision in decisions:
            if decision.verdict.admitted:
                self.kinds[decision.action.key] = decision.action.kind
                self.strike(decision.action, "decided")

    def lie_in_wait(self, supervisor: Supervisor) -> None:
        """At the marks and behind the performers."""
        mark = supervisor.hands.mark

        def marked(key: str) -> None:
            mark(key)
            if (self.kinds.get(key), self.point) == (self.kind, "marked") and key != "1.start0":
                os.kill(os.getpid(), signal.SIGKILL)

        supervisor.hands.mark = marked
        for kind, (perform, settle) in list(PERFORMERS.items()):

            async def acted(action: Any, hands: Hands, do: Any = perform) -> Outcome:  # noqa: ANN401
                outcome: Outcome = await do(action, hands)
                if outcome.ending is Ending.DONE:
                    self.strike(action, "acted")
                return outcome

            PERFORMERS[kind] = (acted, settle)


async def main(spec: dict[str, Any], point: str) -> None:
    """Look after the agent until its second run has its note and is done."""

    def through(view: View) -> bool:
        over = view.run.number > 1 and view.refresh is None and view.tally.refreshes > 0
        return over and view.status is Status.IDLE

    await live(spec, SETTINGS, Doom(point), through)


if __name__ == "__main__":
    begin(main)
