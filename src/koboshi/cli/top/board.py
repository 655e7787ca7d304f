"""What the board says of an agent, in words: no terminal here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from koboshi.cli.ls import STATUS_COLOURS, age, note, status_word
from koboshi.cli.printing import clock, plain
from koboshi.wording import many

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


def facts(each: Known, now: float, step: str = "") -> list[str]:
    """What the page's card says of it, too, where it is known."""
    run, limit, tasks = each.get("run"), each.get("limit"), each.get("tasks")
    restarts, progress, cost = each.get("restarts"), each.get("progress"), each.get("cost")
    began = run.get("started") if run and run.get("exit") is None else None
    told = [
        f"up {age(now - began)}" if began else "",
        many(restarts, "restart") if restarts else "",
        limit_words(limit, now) if limit else "",
        progress["text"] if progress else "",
        step,
        f"tasks {tasks['done']} of {tasks['done'] + tasks['left']}" if tasks else "",
        f"${cost:.2f}" if cost else "",
        "paused" if each.get("paused") else "",
    ]
    return [words for words in told if words]


def limit_words(limit: dict[str, Any], now: float) -> str:
    """`session limit: 12m left, until 10:23:31`."""
    resets = limit.get("resets_at")
    if not resets:
        return f"{limit['kind']} limit"
    left = f"{age(resets - now)} left, until {clock(resets)}" if resets > now else "over"
    return f"{limit['kind']} limit: {left}"


def details(each: Known, now: float, step: str = "") -> Iterator[str]:
    """The rows about the agent that was chosen; what is missed least comes last."""
    health = ", ".join(each.get("health", {}).get("reasons", ())).replace("_", " ")
    reason = str(each.get("reason", "")).replace("_", " ")
    yield plain(f"{each['agent']}  {each['type']}  {each['cwd']}  mode {each['mode']}")
    yield plain("  ".join(filter(None, (f"because: {reason}" if reason else "", health))))
    question = each.get("question")
    if question:
        yield plain(f"asks: {question['question']}  {question['subject']}".rstrip())
        yield from (plain(f"  {n}. {o['text']}") for n, o in enumerate(question["options"], 1))
    for asked in each.get("asked") or ():
        yield plain(f"asks you: {asked['question']}")
        yield from (plain(f"  {n}. {text}") for n, text in enumerate(asked["options"], 1))
    more = facts(each, now, step)
    if more:
        yield plain(" · ".join(more))
    for row in each.get("evidence") or ():
        yield plain(f"  │ {row}")
