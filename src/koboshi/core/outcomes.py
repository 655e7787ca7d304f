"""What an outcome adds to the view. Part of `fold`, which is its only caller.

Rule 1: `skipped` changes nothing but the time of our last keystroke: it may be decided again.
Rule 2: an outcome about a run that is over is history, except a start's, which is about the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import actions as do
from .events import ActionFinished, Ending, Origin
from .readings import Meaning, Status
from .signals import let_go
from .view import Refreshing, Stage, evolve

if TYPE_CHECKING:
    from .events import Moment
    from .view import View


#: What is told to an agent by the way; it is no nudge.
_ASIDE = ("warn", "loop")


def charged(view: View, now: Moment) -> tuple[float, ...]:
    """The restarts that still count against the budget, and one more."""
    start = now.at - view.settings.period
    return (*(at for at in view.restarts if at > start), now.at)


def finished(view: View, body: ActionFinished, now: Moment) -> View:
    """What is known after that outcome."""
    action, ending = body.action, body.outcome.ending
    if isinstance(action, do.HANDS):
        view = evolve(view, acted_at=now.at)
    if isinstance(action, do.Telling):
        given_up = isinstance(action, do.Escalate) and action.gives_up and ending is Ending.DONE
        return evolve(view, given_up=True) if given_up else view
    if isinstance(action, do.Start):
        return _start_finished(view, action, ending, now)
    if action.run != view.run.number:
        return view
    if isinstance(action, do.Answer | do.Judge):
        return _about_question(view, action, body, now)
    if isinstance(action, do.Send):
        return _send_finished(view, action, ending)
    if isinstance(action, do.Refresh):
        return _refresh_began(view, action, ending)
    if isinstance(action, do.Interrupt):
        return _interrupt_finished(view, action, ending)
    if isinstance(action, do.Load):
        view = _at_work(view)
    if isinstance(action, do.Checkpoint | do.Stop):
        view = _noted(view, action, ending, now)
    return _stage_finished(view, action, ending)


def _interrupt_finished(view: View, action: do.Interrupt, ending: Ending) -> View:
    tally = view.tally
    if ending is Ending.SKIPPED:
        return view
    if ending is Ending.FAILED:
        return evolve(view, tally=evolve(tally, interrupts=tally.interrupts + 1))
    if view.loop is not None and action.about.startswith("loop"):
        view = evolve(view, loop=evolve(view.loop, broken=True))
    return evolve(view, hung=True, tally=evolve(tally, hangs=tally.hangs + 1))


def _noted(view: View, action: do.Checkpoint | do.Stop, ending: Ending, now: Moment) -> View:
    """Whether the work so far is written down; a refresh counts its own tries."""
    tally = view.tally
    written = isinstance(action, do.Checkpoint) and ending is Ending.DONE
    if ending is Ending.FAILED or written:
        own = action.about.startswith(("note", "done"))
        missed = tally.misses + (own and not written)
        tally = evolve(tally, notes=tally.notes + own, misses=0 if written else missed)
    if written:
        return evolve(view, saved_at=now.at, saved=None, tally=tally)
    return evolve(view, tally=tally)


def _at_work(view: View) -> View:
    """Whatever is at rest next has done something that was not noted down."""
    return evolve(view, saved="") if view.saved is None else view


def _about_question(
    view: View, action: do.Answer | do.Judge, body: ActionFinished, now: Moment
) -> View:
    if isinstance(action, do.Judge):
        return _judged(view, action, body)
    return _answered(_answer_finished(view, action, body, now), action, body.outcome.ending)


def _judged(view: View, action: do.Judge, body: ActionFinished) -> View:
    """The question with what the policy says; a judgement that was not reached is asked again."""
    question, advice = view.question, body.outcome.advice
    if action.ticket:
        held = (evolve(q, advice=advice) if q.nth == action.nth else q for q in view.held)
        return evolve(view, held=tuple(held))
    if question is None or question.nth != action.nth:
        return view
    same = question.prompt.fingerprint == action.fingerprint
    return evolve(view, question=evolve(question, advice=advice)) if same else view


def _answered(view: View, action: do.Answer, ending: Ending) -> View:
    """How often in a row the policy said no; by keys the agent does not hear why, so it is told."""
    if ending is not Ending.DONE:
        return view
    no, tally = action.choice is Meaning.NO, view.tally
    denied = tally.denied + 1 if no and not action.order else 0
    tally = evolve(tally, denied=denied, refusals=tally.refusals + no)
    reason = "" if action.ticket else action.reason
    return evolve(view, tally=tally, refused=reason or view.refused)


def _answer_finished(view: View, action: do.Answer, body: ActionFinished, now: Moment) -> View:
    question, outcome = view.question, body.outcome
    if action.ticket:
        # Whatever came of it, nobody waits there any more; a dialog that stays is looked at again.
        after = let_go(view, action.ticket, now.at)
        return evolve(after, question=None, freed=None) if outcome.ending is Ending.DONE else after
    skipped = outcome.ending is Ending.SKIPPED  # a person's word stands until it is tried
    if not skipped and any(q.nth == action.nth for q in view.held):
        # A hook that came meanwhile is over, or tells of the next call with the same words.
        new, old = view.tally.prompts + 1, action.nth
        held = (evolve(q, nth=new, order="", orders=0) if q.nth == old else q for q in view.held)
        view = evolve(view, held=tuple(held), tally=evolve(view.tally, prompts=new))
    if action.order and not skipped and question is not None and question.nth == action.nth:
        view = evolve(view, question=evolve(question, order=""))  # said again, it is done again
        question = view.question
    if outcome.ending is Ending.FAILED:
        # The words are in doubt, also where the same words already count as another question.
        if question is not None and question.prompt.fingerprint == action.fingerprint:
            view = evolve(view, question=evolve(question, left_to_person=outcome.why))
        doubted = dict.fromkeys((*view.doubted, action.fingerprint))
        return evolve(view, doubted=tuple(doubted), clear=0)
    if question is None or question.nth != action.nth or skipped:
        return view
    return evolve(view, question=None)  # whatever shows next is new (law 4)


def _send_finished(view: View, action: do.Send, ending: Ending) -> View:
    if ending is Ending.SKIPPED:
        return view
    # A turn that was seen meanwhile has been counted.
    turns = view.tally.turns
    unseen = turns == 0 or action.about.startswith((f"failed{turns}.", f"skip{turns}."))
    view = evolve(_at_work(view), said=unseen and ending is Ending.DONE)
    if action.about.startswith("reload"):
        return _told(view, ending)
    if action.about.startswith("refusal"):
        return evolve(view, refused="")
    if action.about.startswith("open-call") and ending is Ending.DONE:
        # The others may send it on now; what failed was not submitted.
        view = evolve(view, run=evolve(view.run, open=()))
    if action.about.startswith("probe"):
        return evolve(view, tally=evolve(view.tally, probed=view.tally.turns))
    if action.ordered:
        # Said or in doubt: either way it is not said again.
        left = tuple(m for m in view.outbox if f"message{m.nth}" != action.about)
        return evolve(view, outbox=left)
    tally = view.tally
    if action.about.startswith(_ASIDE):
        return view
    if action.about.startswith("skip"):
        tally = evolve(tally, cures=tally.cures + 1)
    window = view.window
    if window is not None and action.about.startswith(f"limit{window.nth}."):
        window = evolve(window, tries=window.tries + 1)
        tally = evolve(tally, continues=tally.continues + 1)
    return evolve(view, window=window, tally=evolve(tally, nudges=tally.nudges + 1))


def _told(view: View, ending: Ending) -> View:
    """The new run knows why it is there, or is told again: what failed was not submitted."""
    if view.reload is None or ending is Ending.DONE:
        return evolve(view, reload=None)
    return evolve(view, reload=evolve(view.reload, tries=view.reload.tries + 1))


def _start_finished(view: View, action: do.Start, ending: Ending, now: Moment) -> View:
    """A start that failed counts like one that did not: a broken start must not loop either."""
    if ending is Ending.SKIPPED:
        return evolve(view, tally=evolve(view.tally, held=view.tally.held + 1))
    if ending is Ending.DONE:
        return view
    tally = evolve(view.tally, starts=view.tally.starts + 1)  # the key is used, whatever it was for
    if action.origin is Origin.FIRST:
        return evolve(view, tally=tally, wanted=False)  # whoever asked for it asks again
    tally = evolve(tally, crashes=tally.crashes + 1)
    return evolve(view, tally=tally, restarts=charged(view, now))


def _refresh_began(view: View, action: do.Refresh, ending: Ending) -> View:
    cures, exit_ = view.tally.cures + action.cure, view.run.exit
    tally = evolve(view.tally, refreshes=action.nth, cures=cures)
    if action.note and exit_ is not None and ending is not Ending.SKIPPED:
        if ending is Ending.FAILED:
            return evolve(view, run=evolve(view.run, exit=evolve(exit_, plain=True)), tally=tally)
        refresh = Refreshing(
            nth=action.nth,
            why=action.why,
            stage=Stage.STARTING,
            note=action.note,
            session="" if exit_.lost else view.run.session,
        )
        return evolve(view, refresh=refresh, tally=tally)
    if ending is not Ending.DONE:
        return evolve(view, tally=tally) if ending is Ending.FAILED else view
    view = evolve(view, hung=False)
    if exit_ is not None or view.status is Status.LIMITED:
        return evolve(view, tally=tally)  # it ended, or was limited, before it was asked to save
    session = view.run.session
    refresh = Refreshing(
        nth=action.nth, why=action.why, stage=Stage.SAVING, session=session, back=action.back
    )
    return evolve(view, refresh=refresh, tally=tally)


def _stage_finished(view: View, action: do.Checkpoint | do.Stop | do.Load, ending: Ending) -> View:
    refresh, reload = view.refresh, view.reload
    if reload is not None and ending is Ending.FAILED:
        return evolve(view, reload=evolve(reload, tries=reload.tries + 1))
    if refresh is None:
        return view
    if ending is not Ending.DONE:
        if ending is Ending.SKIPPED:
            return view
        again = evolve(refresh, tries=refresh.tries + 1)
        if isinstance(action, do.Checkpoint) and again.tries >= view.settings.tries_max:
            # Not saved is not refreshed: the old run goes on, and a person hears of it.
            tally = evolve(view.tally, unsaved=view.tally.unsaved + 1)
            return evolve(view, refresh=None, tally=tally)
        if isinstance(action, do.Load) and again.tries >= view.settings.tries_max and again.session:
            # Full context is better than none: back to the session that knows everything.
            again = evolve(again, stage=Stage.EXITING, tries=0, back=True)
        return evolve(view, refresh=again)
    if isinstance(action, do.Checkpoint) and refresh.stage is Stage.SAVING:
        saved = evolve(refresh, stage=Stage.EXITING, note=action.name, tries=0)
        return evolve(view, refresh=saved, tally=evolve(view.tally, unsaved=0))
    if isinstance(action, do.Load) and refresh.stage is Stage.LOADING:
        return evolve(view, refresh=None)
    return view
