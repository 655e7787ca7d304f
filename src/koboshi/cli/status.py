"""`koboshi status NAME`: one agent, and on what evidence."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi status NAME
  koboshi status NAME --json | jq .signals

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(*, name: str, as_json: bool) -> None:
    """Tell what the agent NAME is doing, since when, and on what evidence."""
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    from .printing import columns, plain, say, to_json, wrap

    Roster(state_dir()).entry(name)  # a wrong name starts no daemon
    known = call(state_dir(), "status", name=name)
    if as_json:
        say(to_json(known))
        return
    room = columns() or 100
    for label, words in _facts(known):
        head = f"{label:<9} " if label else " " * 10
        for number, row in enumerate(wrap(plain(words), max(20, room - 10))):
            say((head if number == 0 else " " * 10) + row)


def _facts(known: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from .ls import age, note

    yield "agent", f"{known['agent']} ({known['type']}, {known['host']}, mode {known['mode']})"
    since = f" for {age(time.time() - known['since'])}" if "since" in known else ""
    yield "status", f"{known['status']}{since}: {known['reason'].replace('_', ' ') or 'seen'}"
    extra = note(known)
    if extra and extra != known["reason"].replace("_", " "):
        yield "", extra
    if "health" in known:
        words = (known["health"]["level"], *known["health"]["reasons"])
        yield "health", ", ".join(words).replace("_", " ")
    for line in known.get("evidence", ()):
        yield "evidence", line
    for signal in known.get("signals", ()):
        seen = f"{signal['source']} says {signal['status']}, {age(signal['age'])} ago"
        reason = signal["reason"].replace("_", " ")
        yield "signal", f"{seen}: {reason}" if reason else seen
    yield from _run_facts(known)
    if known.get("context") is not None:
        yield "context", f"{known['context']:.0f} % used"
    for option in (known.get("question") or {}).get("options", ()):
        yield "option", f"{option['text']} ({option['meaning']})"
    yield from _told_facts(known)
    if known.get("draft"):
        yield "draft", known["draft"]
    if known.get("messages"):
        yield "messages", f"{known['messages']} to be typed"
    if known.get("under_way"):
        yield "doing", ", ".join(known["under_way"])
    if "budget" in known:
        budget = known["budget"]
        yield "restarts", f"{budget['used']} of {budget['of']} in {age(budget['period'])}"
    yield "command", " ".join(known["argv"]) or "not known"
    yield "folder", known["cwd"]


def _told_facts(known: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the agent says through its tools."""
    from .ls import age

    for asked in known.get("asked") or ():
        yield "asks you", f"{asked['question']} (koboshi answer {asked['id']} …)"
    told = known.get("progress")
    if told:
        yield "progress", f"{told['text']} ({age(time.time() - told['at'])} ago)"


def _run_facts(known: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from .ls import age

    run = known.get("run")
    if not run:
        return
    words = f"{run['number']} ({run['origin']}) in {run['place']}, pid {run['pid']}"
    yield "run", f"{words}, for {age(time.time() - run['started'])}"
    if run["session"]:
        yield "session", run["session"]
    ended = run["exit"]
    if ended:
        how = f"exit code {ended['code']}" if ended["code"] is not None else "exit code not known"
        if ended["signal"] is not None:
            how = f"signal {ended['signal']}"
        yield "ended", f"{how}{', as meant' if ended['meant'] else ''}"
