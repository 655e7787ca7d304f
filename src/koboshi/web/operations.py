"""What can be asked of the page's API, as a table: routes, checks and description come from it.

Each operation is one verb of the daemon; the answer is what the verb says, which is what `--json`
prints (docs/reference/json.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

#: Seconds that the first look at all journals or at a long transcript may take.
READS = 30.0
#: Seconds that an order is watched for what comes of it.
WATCHED = 10.0


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """No more than the word."""


class Send(msgspec.Struct, forbid_unknown_fields=True):
    """A message to be typed."""

    text: str
    at_once: bool = False


class Stop(msgspec.Struct, forbid_unknown_fields=True):
    """How an agent is ended."""

    force: bool = False


class Reload(msgspec.Struct, forbid_unknown_fields=True):
    """Why an agent is restarted, and what its next run has to know."""

    reason: str = ""
    context: str = ""
    fresh: bool = False


class Mode(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a rule acts: `act`, `observe`, or `default`, which takes back what was said."""

    mode: str


class About(msgspec.Struct, forbid_unknown_fields=True):
    """What a bundle is about."""

    text: str = ""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to a question: `yes`, `always`, `no`, or an option's words."""

    text: str


class PlanAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """The answer to what a plan asks, in words."""

    text: str


class PlanEdit(msgspec.Struct, forbid_unknown_fields=True):
    """The text of a plan as it was read, and as it shall be."""

    base: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A value behind the `?` of an address."""

    kind: Callable[[str], Any]
    schema: dict[str, Any]
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing to ask: under which address, and which verb answers."""

    id: str
    method: str
    path: str
    verb: str
    summary: str
    body: type[msgspec.Struct] | None = None
    query: dict[str, Query] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)  #: said to the verb in any case
    patience: float = 0.0  #: seconds that the verb may wait
    longest: int = 1 << 16  #: bytes of a body: a message of some pages

    @property
    def names(self) -> tuple[str, ...]:
        """What stands in braces in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


AGENT = "/api/agents/{name}"
PLAN = "/api/plans/{id}"
#: Bytes of an edit: the longest plan there is, twice.
LONGEST_EDIT = 3 << 20
_WAIT = {"wait": WATCHED}
_SECONDS = Query(
    kind=float,
    schema={"type": "number", "exclusiveMinimum": 0, "maximum": 1_209_600},
    summary="how far back",
)
_COUNT = Query(
    kind=int, schema={"type": "integer", "minimum": 1, "maximum": 200}, summary="how many"
)
_AGENT = Query(kind=str, schema={"type": "string"}, summary="only of this agent")
_SEVERITY = Query(
    kind=str, schema={"type": "string", "enum": ["P0", "P1", "P2"]}, summary="the least severe"
)
_EVENT = Query(kind=str, schema={"type": "string"}, summary="only about this event, such as e42")


def _get(id_: str, path: str, verb: str, summary: str, **query: Query) -> Operation:
    patience = READS if verb in ("incidents", "rules", "spending") else 0.0
    return Operation(
        id=id_,
        method="GET",
        path=path,
        verb=verb,
        summary=summary,
        query=query,
        patience=patience,
    )


def _order(
    word: str, summary: str, body: type[msgspec.Struct] = Nothing, *, watched: bool = True
) -> Operation:
    return Operation(
        id=word,
        method="POST",
        path=f"{AGENT}/{word}",
        verb=word,
        summary=summary,
        body=body,
        fixed=_WAIT if watched else {},
        patience=WATCHED if watched else 30.0,
    )


def _simple(word: str, summary: str) -> Operation:
    return Operation(
        id=word,
        method="POST",
        path=f"{AGENT}/{word}",
        verb="order",
        summary=summary,
        body=Nothing,
        fixed={"order": word},
    )


OPERATIONS: tuple[Operation, ...] = (
    _get("agents", "/api/agents", "ls", "all agents, as `koboshi ls --json`"),
    _get("agent", AGENT, "status", "one agent, as `koboshi status NAME --json`"),
    _get("timeline", f"{AGENT}/timeline", "timeline", "its past, to be drawn", seconds=_SECONDS),
    _get(
        "why", f"{AGENT}/why", "why", "its decisions, as `koboshi why`", count=_COUNT, event=_EVENT
    ),
    _get("history", f"{AGENT}/history", "history", "its runs, as `koboshi history NAME --json`"),
    _get("spending", f"{AGENT}/spending", "spending", "its tokens and cost", seconds=_SECONDS),
    _get("notes", f"{AGENT}/notes", "notes", "its hand-over notes, newest first"),
    _get("bundles", f"{AGENT}/bundles", "bundles", "its bundles, newest first"),
    _get("prompts", f"{AGENT}/prompts", "prompts", "its fix prompts, newest first"),
    _get(
        "incidents",
        "/api/incidents",
        "incidents",
        "what rules found, as `koboshi incidents --json`",
        name=_AGENT,
        seconds=_SECONDS,
        severity=_SEVERITY,
        count=_COUNT,
    ),
    Operation(
        id="bundle",
        method="POST",
        path=f"{AGENT}/bundle",
        verb="bundle",
        summary="collect a bundle now, as `koboshi bundle NAME`",
        body=About,
        patience=80.0,
    ),
    _get("rules", "/api/rules", "rules", "every rule, as `koboshi rules --json`", seconds=_SECONDS),
    Operation(
        id="rule",
        method="POST",
        path="/api/rules/{code}",
        verb="rule",
        summary="let a rule observe or act, as `koboshi rules CODE --set`",
        body=Mode,
        patience=20.0,
    ),
    _order("send", "type a message when it can be typed", Send),
    _order("stop", "end it and all it started", Stop),
    _order("save", "note its work down when it is at rest"),
    _order("refresh", "hand its work over to a fresh run: save, exit, start, load"),
    _order("start", "start it again", watched=False),
    _order("reload", "restart it; fresh: with an empty context", Reload, watched=False),
    _simple("pause", "keep looking, touch nothing"),
    _simple("resume", "end of the pause"),
    _simple("acknowledge", "spent budgets and old escalations are forgiven"),
)


def _about_plan(
    word: str, summary: str, body: type[msgspec.Struct] = Nothing, *, watched: bool = True
) -> Operation:
    return Operation(
        id=f"plan-{word}",
        method="POST",
        path=f"{PLAN}/{word}",
        verb=f"plan-{word}",
        summary=summary,
        body=body,
        fixed=_WAIT if watched else {},
        patience=WATCHED,
        longest=1 << 16 if watched else LONGEST_EDIT,
    )


PLANS: tuple[Operation, ...] = (
    _get("plans", "/api/plans", "plans", "all plans, as `koboshi loop ls --json`"),
    _get("plan", PLAN, "plan", "one plan, with what its file says"),
    _get("plan-why", f"{PLAN}/why", "plan-why", "decisions about it", count=_COUNT),
    _about_plan("stop", "stop it at once, its agent included"),
    _about_plan("resume", "let it go on"),
    _about_plan("answer", "answer what it asks; it goes on", PlanAnswer),
    _about_plan("edit", "change its text; refused where it conflicts", PlanEdit, watched=False),
)

ANSWER = Operation(
    id="answer",
    method="POST",
    path="/api/questions/{id}/answer",
    verb="answer",
    summary="answer a question that waits",
    body=Answer,
    fixed=_WAIT,
    patience=WATCHED,
)
QUESTIONS = _get(
    "questions", "/api/questions", "questions", "what waits for a person, oldest first"
)
#: What only a daemon offers that has the verb for it.
EXTRA: tuple[Operation, ...] = (ANSWER,)
EVERY: tuple[Operation, ...] = (*OPERATIONS, QUESTIONS, *EXTRA, *PLANS)
