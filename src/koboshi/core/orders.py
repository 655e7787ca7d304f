"""What a person's order, or an agent's about itself, adds to the view. Part of `fold`."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from .actions import Mode
from .events import Order
from .view import NEVER, Message, Refreshing, Reloading, Stage, evolve

if TYPE_CHECKING:
    from .events import OrderGiven
    from .view import Question, View


def ordered(view: View, body: OrderGiven) -> View:  # noqa: C901 - one case per order
    """What is known after that order."""
    match body.order:
        case Order.START:
            down = view.run.number == 0 or view.run.exit is not None
            return evolve(view, wanted=down, halted=None)
        case Order.STOP | Order.KILL:
            tally = evolve(view.tally, orders=view.tally.orders + 1)
            after = evolve(view, halted=body.order, wanted=False, refresh=None, tally=tally)
            return evolve(after, outbox=(), reload=None)
        case Order.SEND:
            nth = view.tally.messages + 1
            message = Message(nth=nth, text=body.text, at_once=body.at_once)
            tally = evolve(view.tally, messages=nth)
            return evolve(view, outbox=(*view.outbox, message), tally=tally)
        case Order.MODE:
            mode = Mode.__members__.get(body.text.upper(), view.settings.mode)
            return evolve(view, settings=evolve(view.settings, mode=mode))
        case Order.RELOAD:
            return _reload(view, body)
        case Order.SAVE:  # as if nothing had ever been noted down: the rule does the rest
            return evolve(view, saved_at=NEVER, saved="", tally=evolve(view.tally, misses=0))
        case Order.REFRESH:
            return _refresh(view, body)
        case Order.RELEASE | Order.ASK | Order.REPLY | Order.TELL:
            return view  # for the record, and for whoever reads `history`
        case Order.PAUSE:
            return evolve(view, paused=True)
        case Order.RESUME:
            return evolve(view, paused=False)
        case Order.ACKNOWLEDGE:
            return _acknowledged(view)
        case Order.ANSWER:
            return _answer(view, body)
    assert_never(body.order)


def _acknowledged(view: View) -> View:
    """A person has seen to it: what was spent or given up is forgiven."""
    settled = view.tally.settled + 1
    # `starts` stays: it is part of a key, and a key that was used is used.
    tally = evolve(view.tally, crashes=0, nudges=0, failures=0, held=0)
    tally = evolve(tally, cures=0, hangs=0, interrupts=0, misses=0)
    tally = evolve(tally, unsaved=0, continues=0, settled=settled, denied=0)
    # A refresh that ran out of tries is the person's now; it would hold every rule up.
    stuck = view.refresh is not None and view.refresh.tries >= view.settings.tries_max
    refresh = None if stuck else view.refresh
    reload = view.reload and evolve(view.reload, tries=0)
    after = evolve(view, given_up=False, restarts=(), tally=tally, refresh=refresh)
    return evolve(after, reload=reload, faults=())


def _answer(view: View, body: OrderGiven) -> View:
    """The first answer wins: one that comes while another is under way changes nothing."""

    def ordered(question: Question) -> Question:
        meant = body.question == f"{view.run.number}.{question.nth}" and not question.order
        return evolve(question, order=body.text, orders=question.orders + 1) if meant else question

    held = tuple(map(ordered, view.held))
    return evolve(view, held=held, question=view.question and ordered(view.question))


def _refresh(view: View, body: OrderGiven) -> View:
    """The stages of a refresh begin; not while another restart is under way."""
    run, nth = view.run, view.tally.refreshes + 1
    if run.number == 0 or run.exit is not None or view.halted is not None or view.restarting:
        return view
    stage = Stage.EXITING if body.note else Stage.SAVING
    refresh = Refreshing(nth=nth, why=body.text, stage=stage, note=body.note, session=run.session)
    return evolve(view, refresh=refresh, tally=evolve(view.tally, refreshes=nth, unsaved=0))


def _reload(view: View, body: OrderGiven) -> View:
    """Asked again before the next run was told: what was said first is told, too."""
    run, old, tally = view.run, view.reload, view.tally
    if run.number == 0 or view.halted is not None:
        return view
    nth = old.nth if old is not None and old.run == run.number else tally.reloads + 1
    reload = Reloading(
        nth=nth,
        run=run.number,
        reason="; ".join(filter(None, (old.reason if old else "", body.text))),
        note="\n\n".join(filter(None, (old.note if old else "", body.note))),
        session="" if body.fresh else run.session,
    )
    exit_ = run.exit and evolve(run.exit, meant=True)
    # The agent asked for it: it is not one more crash, and what came before is forgiven.
    tally = evolve(tally, crashes=0, reloads=nth)
    return evolve(view, reload=reload, refresh=None, tally=tally, run=evolve(run, exit=exit_))
