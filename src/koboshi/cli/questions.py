"""`koboshi questions`: what waits for a person."""

from __future__ import annotations

import time
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi questions
  koboshi questions --json | jq -r '.[].id'

\b
Exit codes: 0 fine · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def questions(*, as_json: bool) -> None:
    """List the questions that agents wait with, oldest first, with what each is about.

    `koboshi answer ID yes|no|always` answers one.
    """
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    from .printing import say, to_json

    state = state_dir()
    found = call(state, "questions") if Roster(state).entries() else []
    if as_json:
        say(to_json(found))
    elif not found:
        say("nobody asks anything")
    for each in found if not as_json else ():
        _print(each)


def _print(each: dict[str, Any]) -> None:
    from .ls import age
    from .printing import paint, plain, say

    since = age(time.time() - each["since"])
    say(f"{paint(each['id'], 'bold')}  {plain(each['question'])}  ({since})")
    for row in each["shown"] or [each["subject"]]:
        say(f"    {plain(row)}")
    options = " | ".join(plain(option["text"]) for option in each["options"])
    why = each["left_to_person"] or (each["policy"] or {}).get("why") or ""
    for label, text in (("options", options), ("why you", why), ("answered", each["ordered"])):
        if text:
            say(f"  {label}: {plain(text)}")
