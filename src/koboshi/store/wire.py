"""Values ⇄ JSON lines. The only place that knows how an event, a decision or a world is written.

msgspec encodes the core's dataclasses as they are. Unions of dataclasses carry a name (`type` for
bodies, `kind` for actions) and are decoded in two steps, because msgspec cannot tag dataclasses.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

import msgspec

from koboshi.core.actions import ACTION_KINDS, Action, Mode
from koboshi.core.engine import Decision, World
from koboshi.core.events import (
    BODY_TYPES,
    ActionFinished,
    Body,
    Context,
    Event,
    Moment,
    Outcome,
    Severity,
)
from koboshi.core.gate import Claim, Ledger, Verdict, Word
from koboshi.core.rules import Finding, Rule
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.errors import JournalDamaged, JournalTooNew, SnapshotDamaged

#: Grows when an older koboshi could misread what a newer one writes.
VERSION = 1

_json = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
#: What reading something else than a record ends in; junk may nest deeply or hold 1e999.
NOT_A_RECORD = (
    msgspec.MsgspecError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_APART = ("past", "rare", "settings")
_VIEW_HINTS = {k: v for k, v in get_type_hints(View).items() if k not in _APART}


def _encode(value: Any) -> bytes:  # noqa: ANN401 - whatever msgspec encodes
    """JSON of it; half a surrogate pair, which no encoding has, becomes a question mark."""
    try:
        return _json(value)
    except UnicodeEncodeError:
        return _json(_printable(msgspec.to_builtins(value)))


def _printable(value: Any) -> Any:  # noqa: ANN401 - builtins, of any shape
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_printable(k): _printable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(v) for v in value]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """Which start of the machine, and what was added to its monotonic clock to make `at`.

    Within one boot the monotonic clock goes on whoever dies: the wall clock need not be believed.
    """

    id: str = ""
    shift: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """First line of a segment: who writes, and all that was known at that moment."""

    agent: str
    now: Moment
    world: dict[str, Any]
    checksum: int
    boot: Boot = Boot()
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An event; an outcome is written as `finished`."""

    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A decision: `admitted`, or `held` with the reason."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """From here on the action may have reached the outside; before, it certainly had not."""

    key: str
    now: Moment


Record = Opened | Seen | Judged | Touched


# -- writing ----------------------------------------------------------------------------------


def _action(action: Action) -> dict[str, Any]:
    return {"kind": action.kind, **msgspec.to_builtins(action)}


def opened_line(world: World, now: Moment, touched: tuple[str, ...], boot: Boot) -> bytes:
    """The line that begins a segment."""
    image = world_image(world)
    head = {
        "k": "opened",
        "v": VERSION,
        "agent": world.view.context.agent,
        "at": now.at,
        "utc": now.utc,
        "boot": boot,
        "touched": touched,
        "crc": zlib.crc32(_encode(image)),
        "world": image,
    }
    return _encode(head) + b"\n"


def seen_line(event: Event) -> bytes:
    """An event as a line. The context is not written: folding the journal gives it back."""
    now, body = event.now, event.body
    if isinstance(body, ActionFinished):
        return (
            _encode(
                {
                    "k": "finished",
                    "seq": event.seq,
                    "at": now.at,
                    "utc": now.utc,
                    "key": body.key,
                    "ending": body.outcome.ending,
                    "why": body.outcome.why,
                    "action": _action(body.action),
                    **({"advice": body.outcome.advice} if body.outcome.advice else {}),
                }
            )
            + b"\n"
        )
    head = {"k": "seen", "seq": event.seq, "at": now.at, "utc": now.utc}
    return _encode({**head, "type": event.type, "sev": event.severity, "body": body}) + b"\n"


def judged_line(decision: Decision) -> bytes:
    """A decision as a line."""
    verdict = decision.verdict
    return (
        _encode(
            {
                "k": "admitted" if verdict.admitted else "held",
                "at": decision.now.at,
                "utc": decision.now.utc,
                "cause": decision.cause,
                "word": verdict.word,
                "why": verdict.why,
                "finding": decision.finding,
                "action": _action(decision.action),
            }
        )
        + b"\n"
    )


def touched_line(key: str, now: Moment) -> bytes:
    """The mark that goes before the first touch of the outside."""
    return _encode({"k": "touched", "at": now.at, "utc": now.utc, "key": key}) + b"\n"


def world_image(world: World) -> dict[str, Any]:
    """A world as plain values; rules are code and are not written."""
    view = world.view
    image = {f.name: getattr(view, f.name) for f in fields(View)}
    for name in ("past", "rare"):
        image[name] = [(_decode(seen_line(e)), e.context) for e in getattr(view, name)]
    ledger = world.ledger
    claims = [
        {"action": _action(c.action), "at": c.at, "outcome": c.outcome}
        for c in ledger.claims.values()
    ]
    return {
        "seq": world.seq,
        "view": msgspec.to_builtins(image),
        "claims": msgspec.to_builtins(claims),
        "last": ledger.last,
        "skipped": ledger.skipped,
        "noted": msgspec.to_builtins(ledger.noted),
    }


# -- reading ----------------------------------------------------------------------------------


def _moment(raw: dict[str, Any]) -> Moment:
    return Moment(at=float(raw["at"]), utc=float(raw["utc"]))


def read_action(raw: dict[str, Any]) -> Action:
    """An action as it was written."""
    kind = raw["kind"]
    return msgspec.convert({k: v for k, v in raw.items() if k != "kind"}, ACTION_KINDS[kind])


def _read_body(raw: dict[str, Any]) -> Body:
    if raw["k"] == "finished":
        said = {key: raw[key] for key in ("ending", "why", "advice") if key in raw}
        outcome = msgspec.convert(said, Outcome)
        return ActionFinished(key=raw["key"], action=read_action(raw["action"]), outcome=outcome)
    return msgspec.convert(raw["body"], BODY_TYPES[raw["type"]])


def _read_event(raw: dict[str, Any], context: Context) -> Event:
    return Event(seq=int(raw["seq"]), now=_moment(raw), body=_read_body(raw), context=context)


def _read_decision(raw: dict[str, Any]) -> Decision:
    return Decision(
        finding=msgspec.convert(raw["finding"], Finding),
        action=read_action(raw["action"]),
        verdict=Verdict(word=Word(raw["word"]), why=raw["why"]),
        cause=int(raw["cause"]),
        now=_moment(raw),
    )


def _read_opened(raw: dict[str, Any]) -> Opened:
    version = raw["v"]
    if not isinstance(version, int) or version > VERSION:
        raise JournalTooNew(
            f"expected a journal of version {VERSION} or older, not {version!r}",
            hint="a newer koboshi wrote it: update koboshi to read it",
        )
    return Opened(
        agent=raw["agent"],
        now=_moment(raw),
        world=raw["world"],
        checksum=raw["crc"],
        boot=msgspec.convert(raw["boot"], Boot),
        touched=tuple(raw["touched"]),
    )


def read_line(line: bytes, context: Context) -> Record:
    """One line of a journal; `JournalDamaged` when it is none."""
    try:
        raw = _decode(line)
        match raw["k"]:
            case "opened":
                return _read_opened(raw)
            case "seen" | "finished":
                return Seen(event=_read_event(raw, context))
            case "admitted" | "held":
                return Judged(decision=_read_decision(raw))
            case "touched":
                return Touched(key=raw["key"], now=_moment(raw))
            case other:
                raise JournalDamaged(f"expected a record of a known kind, not {other!r}")
    except NOT_A_RECORD as error:
        raise JournalDamaged(f"expected a journal record, not {line[:60]!r} ({error})") from error


def read_world(opened: Opened, rules: tuple[Rule, ...], settings: Settings | None = None) -> World:
    """The world a segment begins with; `settings` replace the ones it was written with."""
    image = opened.world
    try:
        if zlib.crc32(_encode(image)) != opened.checksum:
            raise SnapshotDamaged("expected the snapshot to match its checksum, and it does not")
        return _build_world(image, rules, settings)
    except NOT_A_RECORD as error:
        raise SnapshotDamaged(f"expected a snapshot of an agent ({error})") from error


def _build_world(
    image: dict[str, Any], rules: tuple[Rule, ...], settings: Settings | None
) -> World:
    raw = dict(image["view"])
    history = raw.pop("past") if "past" in raw else raw.pop("history")  # its name at first
    kept = _read_settings(raw.pop("settings"))
    known = {k: v for k, v in raw.items() if k in _VIEW_HINTS}
    parts: dict[str, Any] = {k: msgspec.convert(v, _VIEW_HINTS[k]) for k, v in known.items()}
    events = tuple(_read_past(each, parts["context"]) for each in history)
    rare = tuple(_read_past(each, parts["context"]) for each in raw.get("rare", ()))
    view = View(**parts, settings=settings or kept, past=events, rare=rare)
    claims = {}
    for entry in image["claims"]:
        action = read_action(entry["action"])
        outcome = msgspec.convert(entry["outcome"], Outcome | None)
        claims[action.key] = Claim(action=action, at=float(entry["at"]), outcome=outcome)
    ledger = Ledger(
        claims=claims,
        last=dict(image["last"]),
        skipped={k: _read_skipped(v) for k, v in image["skipped"].items()},
        noted={k: Word(w) for k, w in image["noted"].items()},
    )
    return World(view=view, rules=rules, ledger=ledger, seq=int(image["seq"]))


def _read_skipped(raw: Any) -> tuple[float, int]:  # noqa: ANN401 - as it was written
    """When, and how often; the first journals knew only when."""
    at, times = raw if isinstance(raw, list) else (raw, 1)
    return float(at), int(times)


def _read_past(raw: Any, context: Context) -> Event:  # noqa: ANN401 - as it was written
    """An event with its context; the first journals had none beside it."""
    if isinstance(raw, dict):
        return _read_event(raw, context)
    event, then = raw
    return _read_event(event, msgspec.convert(then, Context))


def _read_settings(raw: dict[str, Any]) -> Settings:
    """Settings as written; keys that this koboshi does not know are left out."""
    known = {f.name for f in fields(Settings)}
    values = {k: v for k, v in raw.items() if k in known}
    values["mode"] = Mode(values["mode"])
    return msgspec.convert(values, Settings)


def event_facts(event: Event) -> dict[str, Any]:
    """An event for `--json`: id, type, time, severity, payload and context."""
    payload = msgspec.to_builtins(event.body)
    if isinstance(event.body, ActionFinished):
        payload["action"] = _action(event.body.action)  # with its kind
    return {
        "id": event.id,
        "type": event.type,
        "at": event.now.at,
        "utc": event.now.utc,
        "severity": Severity(event.severity).value,
        "payload": payload,
        "context": msgspec.to_builtins(event.context),
    }
