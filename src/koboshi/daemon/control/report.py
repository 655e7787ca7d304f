"""What is known of one agent, as plain values: for `ls`, `status`, pages and programs.

docs/reference/json.md describes the fields; names are never reused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from koboshi.core.health import examine

if TYPE_CHECKING:
    from koboshi.core.engine import World
    from koboshi.core.events import Moment
    from koboshi.core.view import Question, View
    from koboshi.store.roster import Entry


def brief(entry: Entry, world: World | None, now: Moment | None, trouble: str) -> dict[str, Any]:
    """One line of `ls`."""
    known = {
        "agent": entry.agent,
        "type": entry.agent_type,
        "host": entry.host,
        "mode": world.view.settings.mode.name.lower() if world else entry.mode or "configured",
        "cwd": entry.cwd,
        "watched": entry.watched,
        "trouble": trouble,
    }
    if world is None or now is None:
        return {**known, "status": "unknown", "reason": trouble or "not looked at yet"}
    view = world.view
    health = examine(view, now)
    return {
        **known,
        "status": view.status.value,
        "since": _utc(view.belief.since, now) if view.run.number else entry.created,
        "reason": view.belief.reason,
        "evidence": list(view.belief.evidence),
        "health": {"level": health.level.value, "reasons": list(health.reasons)},
        "run": _run(view, now),
        "restarts": max(0, view.run.number - 1),
        "tasks": _tasks(view),
        "context": view.sight.context.used if view.sight.context else None,
        "cost": view.run.cost or None,
        "limit": _limit(view),
        "question": _question(view.question, now),
        "halted": view.halted.value if view.halted else None,
        "paused": view.paused,
        "given_up": view.given_up,
    }


def full(entry: Entry, world: World | None, now: Moment | None, trouble: str) -> dict[str, Any]:
    """All of `status NAME`."""
    known = {**brief(entry, world, now, trouble), "argv": list(entry.argv)}
    if world is None or now is None:
        return known
    view, settings = world.view, world.view.settings
    return {
        **known,
        "signals": _signals(view, now),
        "draft": view.sight.draft,
        "error": view.sight.error.code if view.sight.error else None,
        "refresh": view.refresh.stage.value if view.refresh else None,
        "messages": len(view.outbox),
        "under_way": [action.kind for action in world.ledger.in_flight()],
        "budget": {
            "used": view.restarts_in_period(now),
            "of": settings.intensity,
            "period": settings.period,
        },
        "still_for": round(view.still_for(now), 1),
        "lines": list(view.context.lines),
    }


def _utc(at: float, now: Moment) -> float:
    """A time on our own clock as people's clocks show it."""
    return round(now.utc - max(0.0, now.at - at), 3)


def _run(view: View, now: Moment) -> dict[str, Any] | None:
    run = view.run
    if run.number == 0:
        return None
    ended = run.exit
    return {
        "number": run.number,
        "origin": run.origin.value,
        "place": run.place,
        "pid": run.pid,
        "session": run.session,
        "started": _utc(run.since, now),
        "exit": None
        if ended is None
        else {"code": ended.code, "signal": ended.signal, "meant": ended.meant},
    }


def _tasks(view: View) -> dict[str, int] | None:
    tasks = view.tasks
    return {"done": tasks.done, "left": tasks.left} if tasks.done or tasks.left else None


def _limit(view: View) -> dict[str, Any] | None:
    if view.window is None:
        return None
    return {"kind": view.window.limit.kind, "resets_at": view.window.limit.resets_at}


def _question(question: Question | None, now: Moment) -> dict[str, Any] | None:
    if question is None:
        return None
    prompt = question.prompt
    return {
        "nth": question.nth,
        "kind": prompt.kind.value,
        "question": prompt.question,
        "subject": prompt.subject,
        "options": [{"text": o.text, "meaning": o.meaning.value} for o in prompt.options],
        "selected": prompt.selected,
        "since": _utc(question.since, now),
        "left_to_person": question.left_to_person,
    }


def _signals(view: View, now: Moment) -> list[dict[str, Any]]:
    """What each source said last, and how long ago."""
    return [
        {
            "source": clue.source.value,
            "status": clue.status.value,
            "age": round(max(0.0, now.at - clue.at), 1),
            "reason": clue.reason,
            "evidence": list(clue.evidence),
        }
        for clue in view.clues
    ]
