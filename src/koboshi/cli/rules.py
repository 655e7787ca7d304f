"""`koboshi rules`: the list of rules, and the page of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds of which is told what rules came to.
_WEEK = 7 * 86_400.0
_EPILOG = """\b
Examples:
  koboshi rules
  koboshi rules CTX001
  koboshi rules context-nearly-full --json
  koboshi rules IDL001 --set observe

\b
Exit codes: 0 fine · 2 no such rule · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("code", required=False)
@click.option(
    "--set",
    "mode",
    type=click.Choice(["observe", "act", "default"]),
    help="Let the rule CODE observe or act from now on, for all agents; default: as its file says.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list, or one object.")
def rules(*, code: str | None, mode: str | None, as_json: bool) -> None:
    """List the rules, or show the page of the rule CODE (its code or its name).

    Built in, of plug-ins, of your own koboshi.toml, of the one in this folder and of those of your
    agents' projects; with where each is from, whether it acts or observes, and what it came to in
    the last week. What --set says is kept by koboshi; it changes no file of yours.
    """
    from .printing import COLUMNS, columns, say, to_json

    room = columns() or COLUMNS
    if mode is not None:
        _set(code, mode)
    listed = _listed()
    if code is not None:
        found = _found(listed, code)
        say(to_json(found) if as_json else "\n".join(_page(found, room)))
        return
    if as_json:
        say(to_json(listed))
        return
    for each in listed:
        say("\n".join(_entry(each, room)))


def _set(code: str | None, mode: str) -> None:
    from koboshi.daemon.control.client import call
    from koboshi.errors import InputError
    from koboshi.store.paths import state_dir

    if code is None:
        raise InputError("expected the code of a rule to set", hint="koboshi rules CODE --set …")
    _found(_listed(), code)  # a wrong code starts no daemon
    call(state_dir(), "rule", code=code, mode=mode)


def _listed() -> list[dict[str, Any]]:
    """All rules, from the files: no daemon is needed."""
    import time
    from pathlib import Path

    from koboshi.daemon import standing
    from koboshi.incidents.findings import opened
    from koboshi.store.manifests import config_dir
    from koboshi.store.paths import agents, state_dir
    from koboshi.store.roster import Roster

    from .printing import complain

    state = state_dir()
    folders = [str(Path.cwd()), *(e.cwd for e in Roster(state).entries() if e.watched)]
    for each in standing.troubles(config_dir(), folders[:1]):
        complain(each)
    readers = opened(state, agents(state), {})
    since = time.time() - _WEEK
    return standing.told(state, config_dir(), folders, readers, since=since)


def _found(listed: list[dict[str, Any]], code: str) -> dict[str, Any]:
    from koboshi.errors import UnknownRule

    for each in listed:
        if code.upper() == each["code"].upper() or code.lower() == each["name"]:
            return each
    hint = "'koboshi rules' lists them"
    raise UnknownRule(f"expected a rule code such as 'RUN001', not {code!r}", hint=hint)


def _entry(rule: dict[str, Any], room: int) -> Iterator[str]:
    from koboshi.core.events import Severity

    from .colours import SEVERITY_COLOURS
    from .printing import paint, plain, wrap

    head = f"{rule['code']} {rule['severity']} {rule['name']}"
    told = (_brought(rule), "" if rule["mode"] == "act" else rule["mode"])
    more = "".join(f" ({each})" for each in told if each)
    yield paint(head, SEVERITY_COLOURS[Severity[rule["severity"]]]) + more
    for row in wrap(plain(rule["summary"]), room - 4):
        yield f"    {row}"


def _page(rule: dict[str, Any], room: int) -> Iterator[str]:
    from .printing import paint, plain, wrap

    yield paint(f"{rule['code']} {rule['name']} ({rule['severity']})", "bold")
    yield from (f"from {each}" for each in [_brought(rule)] if each)  # a path is not broken
    yield ""
    yield from wrap(plain(rule["summary"]), room)
    for heading in ("why", "example", "safety"):
        yield ""
        yield paint(heading.capitalize(), "bold")
        for paragraph in rule[heading].split("\n\n"):
            for row in wrap(plain(" ".join(paragraph.split())), room - 2):
                yield f"  {row}"
    yield ""
    yield paint("Now", "bold")
    for text in _now(rule):
        for row in wrap(plain(text), room - 2):
            yield f"  {row}"


def _brought(rule: dict[str, Any]) -> str:
    """Who brought it; empty: it comes with koboshi."""
    return "" if rule["origin"] in ("built in", "plan") else str(rule["origin"])


def _now(rule: dict[str, Any]) -> Iterator[str]:
    from .printing import clock, day

    said = rule["switched"]
    by = f", as you said on {day(said['utc'])} (its own: {rule['own_mode']})" if said else ""
    yield f"Mode: {rule['mode']}{by}; {rule['origin']}."
    counts = f"found {rule['found']}, done {rule['done']}, held back {rule['would']}"
    yield f"In the last week: {counts}."
    example = rule["example_would"]
    if example:
        when = f"{day(example['utc'])} {clock(example['utc'])}"
        yield f"Held back last: {example['words']} ({example['agent']}, {when}: {example['why']})"
