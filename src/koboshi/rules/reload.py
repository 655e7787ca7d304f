"""RLD: a restart that was asked for, most often by the agent itself: end → start → tell.

Where it stands is in the view: the run that asked is up, or gone, or a later one is up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Send, Start, Stop
from koboshi.core.events import Origin, Severity
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal, rule

from .asking import ask
from .runs import new_session

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Moment
    from koboshi.core.view import Reloading, View

_AT_PROMPT = (Status.IDLE, Status.FAILED)


def words(reload: Reloading, run: int) -> str:
    """What the new run is told. The number of the run is in it: no other message has the same."""
    times = "once" if run == 2 else f"{run - 1} times"  # noqa: PLR2004 - the second run
    told = [
        f"You are back: run #{run}, restarted {times}.",
        f"Reason of the restart: {reload.reason or 'none was given'}",
    ]
    if reload.note:
        told.append(f"Context from the run before: {reload.note}")
    return "\n".join((*told, "Go on with the work."))


def _tries_left(view: View) -> Reloading | None:
    reload = view.reload
    return reload if reload is not None and reload.tries < view.settings.tries_max else None


@rule("RLD001", "reload-asked", Severity.P2)
def reload_asked(view: View, now: Moment) -> Proposal | None:
    """A restart was asked for and the next run is not there.

    ## Why
    An agent that changed its own tools, settings or instructions has to be started anew to use
    them. It waits for the end of `koboshi reload` in a turn of its own, so that nobody waits for
    its prompt: it gets SIGTERM, then SIGKILL, and is started again at once.

    ## Example
    `koboshi reload --reason "new MCP server"`, typed by the agent: run 3 ends, run 4 resumes its
    session.

    ## Safety
    Safe. Whoever asked knew what was under way. It is no crash, but counts against the one restart
    budget; while that is spent, the old run stays up.
    """
    reload = _tries_left(view)
    if reload is None or view.given_up:
        return None
    action: Action
    if view.run.exit is not None:
        action = Start(
            run=view.run.number + 1,
            origin=Origin.RESUMED if reload.session else Origin.FRESH,
            session=reload.session or new_session(view, now),
            nth=view.tally.starts,
            ordered=True,
        )
    elif view.run.number == reload.run and not view.budget_spent(now):
        about = f"reload{reload.nth}.{reload.tries}"
        action = Stop(run=reload.run, about=about, ordered=True, asked=True)
    else:
        return None
    return Proposal(message=f"a restart was asked for: {reload.reason}", actions=(action,))


@rule("RLD002", "reload-not-told", Severity.P2)
def reload_not_told(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The run after a restart that was asked for does not know yet why it is there.

    ## Why
    Reason and context are what the old run left to the new one. They stay in the journal until
    they were seen to arrive, and are told once, also if koboshi itself ends in between.

    ## Example
    `You are back: run #4, restarted 3 times.` with the reason and the context.

    ## Safety
    Safe. Typed at an empty prompt; before a second try it is looked for on the screen and in the
    transcript.
    """
    reload = _tries_left(view)
    run = view.run
    if reload is None or run.exit is not None or run.number <= reload.run:
        return None
    if view.status not in _AT_PROMPT:
        return None
    send = Send(
        run=run.number,
        text=words(reload, run.number),
        about=f"reload{reload.nth}.{reload.tries}",
        ordered=True,
    )
    return Proposal(message="the new run was not told of its restart", actions=(send,))


@rule("RLD003", "reload-stuck", Severity.P1)
def reload_stuck(view: View, now: Moment) -> Proposal | None:
    """A restart that was asked for could not be carried through.

    ## Why
    An agent that does not end, or that cannot be told, needs a person.

    ## Example
    Five restarts within the hour, and the agent asks for a sixth: it stays up, a person is asked.

    ## Safety
    Safe. It tells a person.
    """
    reload = view.reload
    if reload is None:
        return None
    waiting = view.run.exit is None and view.run.number == reload.run
    if reload.tries >= view.settings.tries_max:
        why = "cannot be ended" if waiting else "was not told why"
    elif waiting and view.budget_spent(now):
        why = "waits: the restart budget is spent"
    else:
        return None
    text = f"{view.context.agent} asked for a restart ({reload.reason}) and {why}"
    about = f"{view.run.number}.reload{reload.nth}.{reload.tries}.{view.tally.settled}"
    needed = f"look at its terminal, then 'koboshi ack {view.context.agent}'"
    return Proposal(message=text, actions=(ask(about, text, needed),))
