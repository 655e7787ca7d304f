"""The journal of a plan: the same lines as an agent's (wire.py), in the folder of the plan.

Nothing is folded from it but what was under way when a keeper died, and what the plan has used up:
the plan file is the memory. It is what `koboshi why` and `koboshi events` tell of a plan. A segment
that is full is followed by one that begins with what is folded (`known`), so old ones can go.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, cast

import msgspec

from koboshi.core.gate import Verdict, Word
from koboshi.plans.course import PlanRead
from koboshi.plans.crafts import MoveFinished
from koboshi.plans.spending import KNOWN, known

from .wording import verdict_words

if TYPE_CHECKING:
    from koboshi.core.engine import Decision, World
    from koboshi.core.events import Event, Moment
    from koboshi.plans.moves import Act

    from .progress import Progress

#: Grows when an older koboshi could misread what a newer one writes.
VERSION = 1


class PlanJournal:
    """Writes and reads it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def open(self, world: World, now: Moment) -> tuple[str, ...]:
        """Begin a keeper's part of it; the keys of what was under way when the last one died."""
        doubts = tuple(flying(self.rows()))
        head = {"k": "opened", "v": VERSION, "agent": world.view.context.agent}
        when = {"at": now.at, "utc": now.utc}
        self.note({**head, **when, "seq": world.seq, "touched": doubts})
        return doubts

    def rows(self) -> list[dict[str, Any]]:
        """What has to be known of the past by whoever goes on; people may want more."""
        return self._progress.notebook.newest()

    def last(self) -> int:
        """The number of the last event."""
        return last(self.rows())

    def note(self, row: dict[str, Any], *, sync: bool = True) -> None:
        """One more line; a segment that is full is closed."""
        notebook = self._progress.notebook
        if notebook.add(row, sync=sync):
            # What was to be written is written. If the disk is too full for a new segment, this one
            # grows on; the next line tries again.
            with contextlib.suppress(OSError):
                notebook.turn(condensed(notebook.newest(), utc=row.get("utc", 0.0)))

    def write(self, event: Event, decisions: tuple[Decision, ...]) -> None:
        """What was seen and what was decided; durable where anything is done about it."""
        admitted = any(each.verdict.admitted for each in decisions)
        finished = isinstance(event.body, MoveFinished)
        self.note(_seen(event), sync=finished and not decisions)
        for n, each in enumerate(decisions, 1):
            self.note(_judged(each), sync=(admitted or finished) and n == len(decisions))


def flying(rows: list[dict[str, Any]]) -> dict[str, None]:
    """The keys of what was under way at the end of these lines."""
    keys: dict[str, None] = {}
    for row in rows:
        if row.get("k") == "admitted":
            keys[str(row["action"]["key"])] = None
        elif row.get("k") == "finished":
            keys.pop(str(row["key"]), None)
        elif row.get("k") == "opened":
            keys.clear()  # what was under way is nobody's any more
        elif row.get("k") == KNOWN:
            keys = dict.fromkeys(map(str, row.get("flying", ())))
    return keys


def last(rows: list[dict[str, Any]]) -> int:
    """The number of the last event in these lines."""
    return max((int(row.get("seq", 0)) for row in rows), default=0)


def condensed(rows: list[dict[str, Any]], utc: float) -> dict[str, Any]:
    """All that is ever folded from these lines, as one in their place."""
    head = {"k": KNOWN, "v": VERSION, "utc": utc, "seq": last(rows), "flying": tuple(flying(rows))}
    return {**head, **known(rows)}


def _seen(event: Event) -> dict[str, Any]:
    body: Any = event.body
    head = {"seq": event.seq, "at": event.now.at, "utc": event.now.utc}
    if isinstance(body, MoveFinished):
        outcome = body.outcome
        said = {"key": body.key, "ending": outcome.ending.value, "why": outcome.why}
        facts = [{"type": _name(each), "body": _plain(each)} for each in body.facts]
        action: Any = body.action
        return {"k": "finished", **head, **said, "action": _action(action), "facts": facts}
    kind = _name(body)
    return {"k": "seen", **head, "type": kind, "sev": event_severity(kind), "body": _plain(body)}


def _judged(decision: Decision) -> dict[str, Any]:
    verdict, action = decision.verdict, cast("Any", decision.action)
    return {
        "k": "admitted" if verdict.admitted else "held",
        "at": decision.now.at,
        "utc": decision.now.utc,
        "cause": decision.cause,
        "word": verdict.word.value,
        "why": verdict.why,
        "finding": msgspec.to_builtins(decision.finding),
        "action": _action(action),
    }


def _action(act: Act) -> dict[str, Any]:
    return {"kind": act.kind, "key": act.key, **msgspec.to_builtins(act.move)}


def _name(value: object) -> str:
    return re.sub(r"(?<=.)([A-Z])", r"-\1", type(value).__name__).lower()


def event_severity(kind: str) -> str:
    """P1 for what keeps a plan from getting on, P2 for the rest."""
    return "P1" if kind == "stop-seen" else "P2"


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """A fact as plain values; of a plan only what rules look at: the file has the rest."""
    if isinstance(value, PlanRead):
        plan = value.plan
        steps = {str(step.number): step.state.value for step in plan.steps}
        return {"status": plan.status.value, "steps": steps, "task": plan.current.task_id}
    return msgspec.to_builtins(value)


# -- for people -------------------------------------------------------------------------------


def chains(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each decision from what was seen to what came of it: the same keys as an agent's."""
    found: list[dict[str, Any]] = []
    latest: dict[str, Any] = {}
    status, flying = "", dict[str, dict[str, Any]]()
    for row in rows:
        kind = row.get("k")
        if kind in ("seen", "finished"):
            latest, status = event_facts(row), _status(row) or status
        if kind == "finished" and row["key"] in flying:
            said = {key: row[key] for key in ("at", "utc", "ending", "why")}
            flying.pop(row["key"])["outcome"] = {"event": f"e{row['seq']}", **said}
        elif kind in ("admitted", "held"):
            found.append(_chain(row, latest, status))
            if kind == "admitted":
                flying[row["action"]["key"]] = found[-1]
    return found


def _chain(row: dict[str, Any], cause: dict[str, Any], status: str) -> dict[str, Any]:
    verdict = Verdict(word=Word(row["word"]), why=row["why"])
    admitted = verdict.admitted
    return {
        "at": row["at"],
        "utc": row["utc"],
        "seen": cause,
        "status": {"status": status, "reason": "the plan file says so"},
        "finding": row["finding"],
        "action": {"safety": "safe", **row["action"]},
        "verdict": {"word": row["word"], "why": row["why"], "admitted": admitted},
        "touched": None,
        "outcome": None,
        "words": {
            "seen": cause.get("words", "a keeper took over"),
            "action": move_words(row["action"]),
            "verdict": verdict_words(verdict),
        },
    }


def event_facts(row: dict[str, Any]) -> dict[str, Any]:
    """An event for `--json`, as docs/reference/json.md says, and in words."""
    finished = row["k"] == "finished"
    kind = "action-finished" if finished else row["type"]
    keys = ("key", "ending", "why", "action") if finished else ("body",)
    payload = {key: row[key] for key in keys} if finished else row["body"]
    return {
        "id": f"e{row['seq']}",
        "type": kind,
        "at": row["at"],
        "utc": row["utc"],
        "severity": row.get("sev", "P1" if row.get("ending") == "failed" else "P2"),
        "payload": payload,
        "words": _event_words(kind, payload),
    }


def _event_words(kind: str, payload: dict[str, Any]) -> str:
    match kind:
        case "action-finished":
            why = f": {payload['why']}" if payload["why"] else ""
            return f"{move_words(payload['action'])} – {payload['ending']}{why}"
        case "plan-read":
            steps = ", ".join(f"{n} {state}" for n, state in payload["steps"].items())
            return f"the file says {payload['status']}; steps: {steps or 'none'}"
        case "task-seen":
            why = f" ({payload['why']})" if payload.get("why") else ""
            return f"run {payload['task'] or '(none)'} is {payload['state']}{why}"
        case "step-judged":
            word = "verified" if payload["verified"] else "not verified"
            return f"run {payload['task']} is {word}: {payload['evidence']}"
        case "stop-seen":
            return f"somebody said stop: {payload['why']}"
        case _:
            return kind.replace("-", " ")


def move_words(action: dict[str, Any]) -> str:
    """A move in words."""
    words = str(action["kind"]).replace("-", " ")
    if action.get("step"):
        words = words.removesuffix(" step") + f" step {action['step']}"
    if action.get("attempt"):
        words += f", attempt {action['attempt']}"
    return words


def _status(row: dict[str, Any]) -> str:
    facts = row["facts"] if row["k"] == "finished" else [row]
    return next(
        (str(each["body"]["status"]) for each in facts if each.get("type") == "plan-read"), ""
    )


def in_words(row: dict[str, Any]) -> tuple[str, str]:
    """A record as a code and a sentence; no sentence: nothing that a person looks for."""
    match row.get("k"):
        case "admitted":
            return row["finding"]["code"], row["finding"]["message"]
        case "held":
            verdict = verdict_words(Verdict(word=Word(row["word"]), why=row["why"]))
            return row["finding"]["code"], f"{row['finding']['message']}: {verdict}"
        case "finished":
            return row["ending"], event_facts(row)["words"]
        case "damaged":
            return "damaged", str(row["why"])
        case _:
            return "", ""
