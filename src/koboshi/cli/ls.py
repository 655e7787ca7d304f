"""`koboshi ls`: all agents, a line each."""

from __future__ import annotations

import time
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi ls
  koboshi ls --json | jq -r '.[] | select(.status == "asking") | .agent'

\b
Exit codes: 0 fine · 4 the daemon cannot be reached
"""
_HEAD = ("NAME", "TYPE", "STATUS", "FOR", "RUN", "CONTEXT", "")
#: Columns of a terminal below which what matters least is left out.
NARROW = 60
STATUS_COLOURS = {
    "working": "green",
    "idle": "cyan",
    "starting": "cyan",
    "asking": "yellow",
    "limited": "yellow",
    "failed": "red",
    "gone": "red",
    "unknown": "yellow",
}


@click.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def ls(*, as_json: bool) -> None:
    """List the agents, what each is doing, and since when."""
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    from .printing import say, to_json

    state = state_dir()
    # Nobody to look after: no reason to start a daemon.
    found = call(state, "ls") if Roster(state).entries() else []
    if as_json:
        say(to_json(found))
    elif not found:
        say(
            "no agents yet; 'koboshi run -- claude' starts one, 'koboshi watch TARGET' takes one on"
        )
    else:
        _table([_row(each) for each in found], [each["status"] for each in found])


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    run, context = each.get("run"), each.get("context")
    return (
        each["agent"],
        each["type"],
        status_word(each),
        age(time.time() - each["since"]) if "since" in each else "",
        str(run["number"]) if run else "",
        f"{context:.0f} %" if context is not None else "",
        note(each),
    )


def status_word(each: dict[str, Any]) -> str:
    """The status as people call it: an end that was meant is not a mishap."""
    if not each["watched"]:
        return "released"
    if each["status"] == "gone" and (each.get("halted") or _meant(each)):
        return "stopped"
    return str(each["status"])


def _meant(each: dict[str, Any]) -> bool:
    ended = (each.get("run") or {}).get("exit")
    return bool(ended and ended["meant"])


def note(each: dict[str, Any]) -> str:
    """What a person should know of it, in a few words."""
    from .printing import clock

    if each["trouble"]:
        return str(each["trouble"])
    if each.get("given_up"):
        return "gave up: see 'koboshi why', then 'koboshi ack'"
    for asked in each.get("asked") or ():
        return f"asks you: {asked['question']}"
    question, limit = each.get("question"), each.get("limit")
    if question:
        return f"asks: {question['question']} {question['subject']}".rstrip()
    if limit:
        until = f" until {clock(limit['resets_at'])}" if limit["resets_at"] else ""
        return f"{limit['kind']} limit{until}"
    if each.get("paused"):
        return "paused"
    if each["status"] in ("unknown", "failed", "gone") and status_word(each) != "stopped":
        return str(each["reason"]).replace("_", " ")
    return ""


def age(seconds: float) -> str:
    """`5s`, `12m`, `3h`, `2d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _table(rows: list[tuple[str, ...]], statuses: list[str]) -> None:
    from koboshi.adapters.text import width

    from .printing import clip, columns, paint, plain, say

    cells = [tuple(plain(cell) for cell in row) for row in rows]
    sizes = [max(map(width, column)) for column in zip(_HEAD, *cells, strict=True)]
    shown = [n for n in range(len(_HEAD)) if any(row[n] for row in cells)]
    room = columns()
    if room is not None and room < NARROW:
        shown = [n for n in shown if _HEAD[n] not in ("TYPE", "RUN")]  # the note says more
    for row, status in zip([_HEAD, *cells], ["", *statuses], strict=True):
        line = "  ".join(row[n] + " " * (sizes[n] - width(row[n])) for n in shown).rstrip()
        line = line if room is None else clip(line, room)
        # The colour goes to the line's status word only; the rest is read by everybody.
        word = row[2]
        tinted = line.replace(word, paint(word, STATUS_COLOURS.get(status, "")), 1)
        say(tinted if status else paint(line, "dim"))
