"""`koboshi report`: gather, then print, or write a page."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.reports.values import Report

_EPILOG = """\b
Examples:
  koboshi report
  koboshi report NAME --since 90m
  koboshi report --html report.html --brief
  koboshi report --json | jq '.agents[] | {agent, needs}'

\b
Exit codes: 0 fine · 2 no such agent or time · 4 the page cannot be written
"""


@click.command(epilog=_EPILOG)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--since", metavar="TIME", default="12h", show_default=True, help="The last 90m, 12h, 2d …"
)
@click.option(
    "--html", "page", metavar="FILE", type=click.Path(path_type=Path), help="Write a page, too."
)
@click.option("--brief", is_flag=True, help="A line for each agent, for a message or a mail.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report(
    *, names: tuple[str, ...], since: str, page: Path | None, brief: bool, as_json: bool
) -> None:
    """Tell what each agent did: all of them, or those that are named.

    How its time went, restarts and refreshes with their reasons, questions and who answered them,
    errors, commits, and what needs you now. It is read from the journals and needs no daemon.
    """
    from koboshi.cli.events import duration
    from koboshi.cli.printing import say, to_json
    from koboshi.reports.facts import facts
    from koboshi.reports.gathering import gather
    from koboshi.store.paths import known_journal_dir, state_dir

    state, now = state_dir(), time.time()
    for name in names:
        known_journal_dir(state, name)
    found = masked(state, gather(state, names, since=now - duration(since), until=now))
    if page is not None:
        _write(page, found)
    if as_json:
        say(to_json(facts(found)))
    elif brief:
        _tell(found)
    elif page is not None:
        say(f"{page}: written")
    else:
        _print(found)


def masked(state: Path, found: Report) -> Report:
    """The same without secrets: a report is handed on."""
    import msgspec

    from koboshi.daemon.control.masking import Masks
    from koboshi.reports.values import Report
    from koboshi.store.roster import Roster

    told = Masks(Roster(state)).value("", msgspec.to_builtins(found))
    return msgspec.convert(told, type=Report)


def _tell(found: Report) -> None:
    from koboshi.cli.printing import plain, say
    from koboshi.reports.summary import summary

    for line in summary(found) or ["no agent did anything then"]:
        say(plain(line))


def _print(found: Report) -> None:
    from koboshi.cli.printing import COLUMNS, columns, say

    from .words import rows

    for row in rows(found, columns() or COLUMNS):
        say(row)


def _write(path: Path, found: Report) -> None:
    """As a whole or not at all; for the owner's eyes: it quotes what agents asked."""
    from koboshi.reports.page import page

    text = page(found)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        # Its own name, not that of the file beside it.
        raise OSError(error.errno, error.strerror, str(path)) from error
