"""CTX, too: a context that only the agent itself can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Send
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View

#: Whose every screen shows it: what is not there yet will be.
SHOWN = ("scripted", "opencode")
#: `<n>` is no number: the echo of the question is no answer.
WORDS = (
    "How much of your context window is in use? Use no tool and answer with one line only, in this "
    "form: CTX:<n>%"
)


@rule("CTX003", "context-not-told", Severity.P2)
def context_not_told(view: View, now: Moment) -> Proposal | None:
    """Nothing tells how much of the context is in use, and the agent has worked.

    ## Why
    A context that nobody watches runs full. Where neither status line, transcript nor screen tells,
    only the agent can.

    ## Example
    Gemini CLI without its footer: after ten minutes it is asked for one line, `CTX:<n>%`.

    ## Safety
    Safe. At an empty prompt, at most once in `probe_every`, and only if it has worked since the
    last time. An answer that does not come within `probe_timeout` is not waited for.
    """
    settings, use, tally = view.settings, view.sight.context, view.tally
    if settings.probe_every <= 0 or settings.context_max <= 0 or view.restarting:
        return None
    told = view.context.agent_type in SHOWN or (use is not None and use.source != "probe")
    rests = view.status is Status.IDLE and not view.run.open
    if told or not rests or tally.turns <= tally.probed:
        return None
    nth = int((now.at - view.run.since) // settings.probe_every)
    if nth < 1 or view.still_for(now) < settings.quiet:
        return None
    send = Send(run=view.run.number, text=WORDS, about=f"probe{nth}")
    return Proposal(message="nothing tells how full its context is", actions=(send,))
