"""HNG: turns that do not end.

What can be known: new output on the screen, hooks, lines that the agent writes down. What cannot: a
tool that runs for an hour and prints nothing looks like one that hangs. So a turn is interrupted
only where the agent tells of its tools and none is open; otherwise a person is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Interrupt
from koboshi.core.events import Severity, Source
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .asking import ask
from .context import refresh_for

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.view import View


#: Agents whose hooks or transcripts tell when a tool begins and when it ends.
TELL_OF_TOOLS = ("claude", "scripted")
_BESIDE = (Source.HOOK, Source.TRANSCRIPT)


def _stalled(view: View, now: Moment) -> bool:
    """A turn in which nothing was seen of any work for a long time."""
    limit = view.settings.hang_after
    if limit <= 0 or view.status is not Status.WORKING or view.question is not None:
        return False
    return not view.retrying and view.stalled_for(now) >= limit


def _why_not(view: View) -> str:
    """Why it is left to a person; empty: nothing speaks against an interrupt."""
    if view.sight.draft:
        return "a half-typed line is in its box"
    clues = [c for c in view.clues if c.source in _BESIDE]
    if view.context.agent_type not in TELL_OF_TOOLS or not clues:
        return "a tool may be running"
    tools = [e for c in clues for e in c.evidence if e.endswith("has no result yet")]
    if tools or any(c.reason == "hook PreToolUse" for c in clues):
        return "a tool is running"
    most = view.settings.tries_max
    if view.tally.hangs >= most or view.tally.interrupts >= most:
        return "it was interrupted before"
    return ""


@rule("HNG001", "turn-without-progress", Severity.P1, Status.WORKING)
def turn_without_progress(view: View, now: Moment) -> Proposal | None:
    """A turn runs, and nothing has been seen of its work for a long time.

    ## Why
    A stream that stopped keeps its spinner turning until morning. Seconds that count up are no
    work; new output, a tool that begins or ends, a line in the transcript are.

    ## Example
    `Pondering… (1203s)`, not a token for 20 minutes, no tool open: Escape, then a refresh.

    ## Safety
    Safe. Never while a tool is open, never into a dialog or over a half-typed line; the last look
    before the key shows what was decided about.
    """
    if not _stalled(view, now) or _why_not(view):
        return None
    about = f"hang{view.tally.turns}.{view.tally.settled}.{view.tally.interrupts}"
    message = f"no progress for {view.settings.hang_after:g} s or more"
    stop = Interrupt(run=view.run.number, about=about)
    return Proposal(message=message, actions=(stop,), evidence=view.belief.evidence)


@rule("HNG002", "turn-seems-stuck", Severity.P1, Status.WORKING)
def turn_seems_stuck(view: View, now: Moment) -> Proposal | None:
    """A turn shows no progress, and koboshi cannot know whether it hangs.

    ## Why
    A build may take an hour and print nothing. Whoever started it knows; koboshi does not.

    ## Example
    `cargo build` for 20 minutes without a line.

    ## Safety
    Safe. It tells a person, once per turn; no key is sent.
    """
    why = _why_not(view) if _stalled(view, now) else ""
    if not why:
        return None
    long = f"{view.settings.hang_after:g} s"
    text = f"{view.context.agent} shows no progress for {long}; {why}"
    about = f"{view.run.number}.stuck{view.tally.turns}.{view.tally.settled}"
    escalation = ask(about, text, "look at it")
    return Proposal(message=text, actions=(escalation,), evidence=view.belief.evidence)


@rule("HNG003", "turn-was-interrupted", Severity.P1, Status.IDLE, Status.FAILED)
def turn_was_interrupted(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A turn was interrupted by koboshi, and the agent sits at its prompt.

    ## Why
    What hung or went round in circles would do so again: a fresh run with a note gets on.

    ## Example
    After the Escape: saved, restarted, loaded.

    ## Safety
    Safe. It begins a refresh, which saves first, within the restart budget.
    """
    if not view.hung or view.status not in (Status.IDLE, Status.FAILED):
        return None
    actions = refresh_for(view, "its turn was interrupted")
    return Proposal(message="its turn was interrupted", actions=actions) if actions else None
