"""What signals beside the screen add to the view. Part of `fold`, which is its only caller.

Rule 1: a clue keeps when it was told and since when its source has said the same.
Rule 2: a signal is believed about the run it names, and a session only by who can vouch for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .actions import Mode
from .events import HookOver, HookRead, LinesHeard, PeersCounted, SignalRead, Source, TasksRead
from .readings import ContextUse, alike
from .view import ECHOES, NEVER, THINGS, Clue, Echo, Loop, Question, Tasks, evolve

if TYPE_CHECKING:
    from .events import Moment
    from .view import Sight, View

#: Whose word about the context counts more: numbers of the agent before notices on its screen.
_RANK: dict[str, int] = {Source.STATUSLINE: 2, Source.TRANSCRIPT: 1}
#: Seconds after which a better source that fell silent no longer outranks a worse one.
_CONTEXT_OLD = 300.0
#: Seconds. That a transcript grew is noted no more often than that.
_GROWTH_EVERY = 30.0


def with_clue(view: View, clue: Clue) -> tuple[Clue, ...]:
    """The clues with that one in its source's place."""
    old = view.clue(clue.source)
    since = old.since if old is not None and old.status is clue.status else clue.at
    rest = (c for c in view.clues if c.source is not clue.source)
    return (*rest, evolve(clue, since=since))


def without(view: View, *sources: Source) -> View:
    """The view without what these sources said."""
    return evolve(view, clues=tuple(c for c in view.clues if c.source not in sources))


#: Hooks after which no question from before is open.
_PAST_ASKING = ("Stop", "StopFailure", "UserPromptSubmit", "SessionStart", "SessionEnd")
_RAN = ("PostToolUse", "PostToolUseFailure")
#: Seconds by which hooks that run in the background may overtake each other.
_LATE = 2.0

Signal = HookRead | HookOver | SignalRead | TasksRead | PeersCounted | LinesHeard


def told(view: View, body: Signal, now: Moment) -> View:
    """What is known after that signal."""
    if isinstance(body, PeersCounted):
        return view if body.count == view.peers else evolve(view, peers=body.count)
    if isinstance(body, HookOver):
        return let_go(view, body.ticket, now.at)
    if isinstance(body, TasksRead):
        tasks = Tasks(done=body.done, left=body.left)
        return view if tasks == view.tasks else evolve(view, tasks=tasks)
    if isinstance(body, LinesHeard):
        return _heard(view, body, now) if body.run == view.run.number else view
    return _hook(view, body, now) if isinstance(body, HookRead) else _signal(view, body, now)


def _heard(view: View, body: LinesHeard, now: Moment) -> View:
    echoes = {echo.what: echo for echo in view.echoes}
    nth = view.echoes[-1].nth + 1 if view.echoes else 1
    for each in body.heard:
        old = echoes.pop(each.what, None) or Echo(what=each.what)
        times = (*old.times, *(now.at,) * min(each.times, ECHOES))[-ECHOES:]
        total = old.total + each.times
        echoes[each.what] = Echo(what=each.what, total=total, times=times, text=each.text, nth=nth)
    return evolve(view, echoes=tuple(echoes.values())[-THINGS:])


def _hook(view: View, body: HookRead, now: Moment) -> View:
    known, vouched = view.run.session, body.run == view.run.number
    # /clear and /resume go on in another session; only the run's own shim is believed about that.
    renews = vouched and bool(body.began) and body.age < view.settings.grace
    foreign = bool(body.session and known) and body.session != known and not renews
    if foreign or (body.run is not None and not vouched):
        return view  # late, from the run before, or another agent's
    after = _ran(_held(_in_session(view, body.session), body, now), body, now)
    if body.tool:
        after = evolve(after, loop=_looped(after.loop, body))
    if body.status is None:
        return after
    at = now.at - body.age
    clue = Clue(source=Source.HOOK, status=body.status, at=at, reason=f"hook {body.word}")
    return evolve(after, clues=with_clue(after, clue))


def _held(view: View, body: HookRead, now: Moment) -> View:
    """The questions that a hook waits with, after that hook; who asks once is one question."""
    if body.ticket and body.prompt is not None:
        nth, shown, since = view.tally.prompts + 1, view.question, now.at - body.age
        asked = Question(prompt=body.prompt, nth=nth, since=since, looks=2, ticket=body.ticket)
        if shown is not None and _drawn_first(view, shown, asked):
            # What a person was told of and has said about it holds.
            asked = evolve(asked, nth=shown.nth, order=shown.order, orders=shown.orders)
        tally = evolve(view.tally, prompts=max(view.tally.prompts, asked.nth))
        return evolve(view, held=(*view.held, asked), freed=None, tally=tally)
    if not view.held:
        return view
    past, ran = body.word in _PAST_ASKING, body.word in _RAN and body.prompt is not None
    left = tuple(  # a hook may come late, and tell of what was before
        q
        for q in view.held
        if q.since >= now.at - body.age - _LATE or not (past or (ran and q.prompt == body.prompt))
    )
    return view if left == view.held else evolve(view, held=left)


def _drawn_first(view: View, shown: Question, asked: Question) -> bool:
    """Whether the dialog that is there is that of the hook, which came after it."""
    young = abs(shown.since - asked.since) < view.settings.grace
    taken = shown.left_to_person or any(q.nth == shown.nth for q in view.held)
    return young and not taken and alike(shown.prompt, asked.prompt)


def _ran(view: View, body: HookRead, now: Moment) -> View:
    """What is asked there has run: a dialog that stands there all the same is another one.

    On a screen full of the same calls nothing else tells. In mode `auto` our own answer does.
    """
    question, told = view.question, body.prompt
    if question is None or told is None or body.word not in _RAN or question.order:
        return view
    young = question.since >= now.at - body.age - _LATE
    same = "".join(question.prompt.subject.split()) == "".join(told.subject.split()) != ""
    if young or not same or view.settings.mode >= Mode.AUTO:
        return view
    nth = view.tally.prompts + 1
    fresh = evolve(question, nth=nth, since=now.at, looks=1, advice=None)
    return evolve(view, question=fresh, tally=evolve(view.tally, prompts=nth))


def let_go(view: View, ticket: str, at: float) -> View:
    """Nobody waits there any more. A dialog that is there, or comes, is the same: told once."""
    over = next((q for q in view.held if q.ticket == ticket), None)
    if over is None:
        return view
    left, shown = tuple(q for q in view.held if q is not over), view.question
    fits = shown is not None and shown.advice is None and shown.prompt.kind is over.prompt.kind
    if fits and shown is not None and abs(shown.since - over.since) < view.settings.grace:
        shown = shown.after(over)
    freed = evolve(over, since=at) if shown is None else None
    return evolve(view, held=left, question=shown, freed=freed)


def all_let_go(view: View, at: float) -> View:
    """Whoever held the lines of hooks is dead, and so are they."""
    for question in view.held:
        view = let_go(view, question.ticket, at)
    return view


def _looped(loop: Loop | None, body: HookRead) -> Loop:
    """The row that this tool call goes on or begins; a hook told twice is one call.

    Hooks get lost and come late. Only the first of a call counts it, whenever it comes; but what
    stands between two calls breaks their row, whichever hook tells of it.
    """
    what, begins = f"{body.tool} {body.subject}", body.word == "PreToolUse"
    if loop is None or loop.what != what or not body.subject:
        loop = Loop(what=what, call="", nth=loop.nth + 1 if loop else 1, times=0)
    if not begins or (loop.times and loop.call == body.call):
        return loop
    return evolve(loop, call=body.call, times=loop.times + 1)


def _signal(view: View, body: SignalRead, now: Moment) -> View:
    if body.run != view.run.number or view.run.exit is not None:
        return view
    after = _in_session(view, body.session)
    if body.cost and body.cost != after.run.cost:
        after = evolve(after, run=evolve(after.run, cost=body.cost))
    sight, use = after.sight, body.context
    if body.window and body.window != sight.window:
        sight = evolve(sight, window=body.window)
    full = sight.window or view.settings.context_window
    if use is None and body.tokens and full:
        use = ContextUse(used=min(100.0, 100.0 * body.tokens / full), source=body.source.value)
    sight = with_context(sight, use, now.at, view.settings.context_max)
    if body.source is Source.TRANSCRIPT and now.at - sight.worked_at > _GROWTH_EVERY:
        sight = evolve(sight, worked_at=now.at)
    if sight is not after.sight:
        after = evolve(after, sight=sight)
    if body.status is None:
        # The agent's file is gone: a level that nobody holds up any more.
        lost = body.source is Source.REGISTRY and after.clue(body.source) is not None
        return without(after, body.source) if lost else after
    clue = Clue(
        source=body.source,
        status=body.status,
        at=now.at,
        reason=body.reason,
        evidence=body.evidence,
        wait=body.wait,
    )
    return evolve(after, clues=with_clue(after, clue))


def _in_session(view: View, session: str) -> View:
    """The run is in that session; what was known of the one before does not hold for it."""
    if not session or session == view.run.session:
        return view
    sight = evolve(view.sight, context=None, context_at=NEVER)
    after = evolve(view, run=evolve(view.run, session=session, cost=0.0), sight=sight)
    return without(after, Source.TRANSCRIPT)


def with_context(sight: Sight, use: ContextUse | None, at: float, most: float) -> Sight:
    """What was seen, with that word about the context if it is a better one."""
    known = sight.context
    if use is None or use == known:
        return sight
    outranked = known is not None and _RANK.get(use.source, 0) < _RANK.get(known.source, 0)
    if outranked and at - sight.context_at < _CONTEXT_OLD:
        return sight
    since = sight.full_at if known is not None and known.used >= most else at
    return evolve(sight, context=use, context_at=at, full_at=since if use.used >= most else NEVER)
