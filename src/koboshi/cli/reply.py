"""`koboshi reply`: answer what an agent asks through its tool `ask_human`."""

from __future__ import annotations

import os
import time
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi reply
  koboshi reply NAME "use port 8080"
  koboshi reply NAME:ask2 yes

\b
Exit codes: 0 fine · 1 nobody asks that any more · 2 no such agent
4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("question", metavar="[NAME|ID]", required=False)
@click.argument("text", metavar="[ANSWER]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of what waits.")
def reply(*, question: str | None, text: tuple[str, ...], as_json: bool) -> None:
    """Answer the question that the agent NAME waits with; without NAME, list what waits.

    The agent asked it through its tool `ask_human`, and gets ANSWER as that tool's result.
    """
    from koboshi.daemon.control.client import call
    from koboshi.errors import InputError

    from .printing import say, to_json
    from .telling import state_of

    if question is None:
        found = _waiting()
        if as_json:
            say(to_json(found))
        for each in found if not as_json else ():
            _print(each)
        if not found and not as_json:
            say("nobody asks you anything")
        return
    if "KOBOSHI_RUN_NUMBER" in os.environ:
        raise InputError("an agent does not answer agents: that is a person's")
    if not text:
        raise InputError("expected an answer", hint=f'koboshi reply {question} "…"')
    name = question.partition(":")[0]
    call(state_of(name), "reply", id=question, text=" ".join(text))
    say(f"{name} has your answer")


def _waiting() -> list[dict[str, Any]]:
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    state = state_dir()
    found = call(state, "ls") if Roster(state).entries() else []
    return [{"agent": each["agent"], **ask} for each in found for ask in each.get("asked", ())]


def _print(each: dict[str, Any]) -> None:
    from .ls import age
    from .printing import paint, plain, say

    say(f"{paint(each['id'], 'bold')}  ({age(time.time() - each['since'])})")
    for row in each["question"].split("\n"):
        say(f"    {plain(row)}")
    if each["options"]:
        say(f"  options: {plain(' | '.join(each['options']))}")
