"""What the board says of an agent, in words: no terminal here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from koboshi.cli.ls import STATUS_COLOURS, age, note, status_word
from koboshi.cli.printing import clock, plain

HEAD = ("", "NAME", "STATUS", "FOR", "RUN", "CONTEXT", "")
#: A shape for each status: colours are not seen by everybody.
SHAPES = {
    "working": "●",
    "starting": "◌",
    "idle": "○",
    "asking": "?",
    "limited": "◔",
    "failed": "✗",
    "gone": "✗",
    "unknown": "·",
    "stopped": "■",
    "released": "–",
}
#: Cells of a gauge.
_GAUGE = 8

Known = dict[str, Any]


def waits(each: Known) -> bool:
    """Whether it does not get on without a person."""
    down = status_word(each) in ("failed", "gone")
    return bool(each.get("question") or each.get("asked") or each.get("given_up") or down)


def ordered(agents: Iterable[Known]) -> list[Known]:
    """Who waits for a person first, then by name."""
    return sorted(agents, key=lambda each: (not waits(each), each["agent"]))


def cells(each: Known, now: float) -> tuple[str, ...]:
    """A row: safe to show, whatever an agent wrote."""
    run, context, word = each.get("run"), each.get("context"), status_word(each)
    row = (
        SHAPES.get(word, "·"),
        each["agent"],
        word,
        age(now - each["since"]) if "since" in each else "",
        str(run["number"]) if run else "",
        gauge(context) if context is not None else "",
        note(each),
    )
    return tuple(plain(cell) for cell in row)


def colour(each: Known) -> str:
    """Of its status."""
    return STATUS_COLOURS.get(status_word(each), "")


def gauge(percent: float) -> str:
    """`████····  52 %`."""
    full = min(_GAUGE, max(0, round(percent / 100 * _GAUGE)))
    return f"{'█' * full}{'·' * (_GAUGE - full)} {percent:3.0f} %"


def details(each: Known) -> Iterator[str]:
    """The rows about the agent that was chosen."""
    health = ", ".join(each.get("health", {}).get("reasons", ())).replace("_", " ")
    reason = str(each.get("reason", "")).replace("_", " ")
    yield plain(f"{each['agent']}  {each['type']}  {each['cwd']}  mode {each['mode']}")
    yield plain("  ".join(filter(None, (f"because: {reason}" if reason else "", health))))
    for row in each.get("evidence") or ():
        yield plain(f"  │ {row}")
    limit = each.get("limit")
    if limit and limit.get("resets_at"):
        yield plain(f"{limit['kind']} limit until {clock(limit['resets_at'])}")
    question = each.get("question")
    if question:
        yield plain(f"asks: {question['question']}  {question['subject']}".rstrip())
        yield from (plain(f"  {n}. {o['text']}") for n, o in enumerate(question["options"], 1))
    for asked in each.get("asked") or ():
        yield plain(f"asks you: {asked['question']}")
        yield from (plain(f"  {n}. {text}") for n, text in enumerate(asked["options"], 1))
