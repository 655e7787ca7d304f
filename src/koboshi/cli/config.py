"""`koboshi config`: what is set, where it comes from, and what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi config
  koboshi config NAME
  koboshi config NAME --json | jq '.values[] | select(.from != "default")'
  koboshi config --check
  koboshi config --check koboshi.toml

\b
Exit codes: 0 fine · 1 --check found mistakes
2 no such agent or file · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.option("--check", is_flag=True, help="Only tell what is wrong, in FILE or in all places.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("name", metavar="[NAME|FILE]", required=False)
def config(*, name: str | None, check: bool, as_json: bool) -> None:
    """Show what is set for the agent NAME, and where each value comes from.

    Without NAME: what an agent would get that is started here and now. A file that has changed
    counts from the next time an agent is taken up: started, watched, or after a restart of the
    daemon.
    """
    from .printing import complain, plain, say, to_json

    facts = _file(name) if check and name else _agent(name) if name else _here(plain_names=check)
    if as_json:
        say(to_json(facts))
    elif not check:
        for row in _rows(facts):
            say(plain(row))
    if not as_json:
        for wrong in (*(each["said"] for each in facts["mistakes"]), *facts["notes"]):
            complain(wrong)
    if check and not facts["mistakes"] and not as_json:
        say("no mistakes")
    if check and facts["mistakes"]:
        raise SystemExit(1)


def note(begun: Mapping[str, Any]) -> None:
    """Tell what was not used, and variables that look misspelt; on stderr."""
    from koboshi.config.variables import misspelt

    from .printing import complain

    for each in begun.get("notes", ()):
        complain(each)
    for name, meant in misspelt(os.environ).items():
        complain(_misspelt(name, meant))


def _misspelt(name: str, meant: str) -> str:
    return f"environment: {name} is not known; did you mean {meant!r}?"


def _agent(name: str) -> dict[str, Any]:
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    Roster(state_dir()).entry(name)  # a wrong name starts no daemon
    facts: dict[str, Any] = call(state_dir(), "config", name=name)
    return facts


def _file(name: str) -> dict[str, Any]:
    from koboshi.config.load import read
    from koboshi.config.resolve import mistake_facts
    from koboshi.errors import FileUnreadable

    sheet = read(Path(name))
    if sheet is None:
        raise FileUnreadable(f"{name}: no such file")
    return {"file": name, "mistakes": [mistake_facts(m) for m in sheet.mistakes], "notes": []}


def _here(*, plain_names: bool) -> dict[str, Any]:
    """An agent without a name or a type, in this folder, with this environment."""
    from koboshi.config.resolve import Subject, resolve
    from koboshi.config.variables import misspelt, relevant
    from koboshi.store.manifests import config_dir

    variables = relevant(os.environ, plain=plain_names)
    subject = Subject(agent="", agent_type="", cwd=str(Path.cwd()), variables=variables)
    facts = resolve(subject, config_dir()).facts()
    facts["notes"] += [_misspelt(name, meant) for name, meant in misspelt(os.environ).items()]
    return facts


def _rows(facts: Mapping[str, Any]) -> Iterator[str]:
    from .printing import clip

    values, in_force = facts["values"], facts.get("in_force", {})
    wide = max(len(each["key"]) for each in values)
    room = 24
    for each in values:
        row = f"{each['key']:<{wide}}  {clip(each['shown'], room):<{room}}  {each['from']}"
        if each["key"] in in_force:
            row += f" (in force: {in_force[each['key']]})"
        yield row
