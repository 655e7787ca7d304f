"""`koboshi record`: the screen of an agent as a case for a test."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi record NAME
  koboshi record NAME --to tests/cases/screens/claude/asking-new-dialog

\b
Exit codes: 0 written · 2 no such agent, or the folder is there already
4 its terminal or the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--to", type=click.Path(path_type=Path), help="The folder to make; else one here.")
def record(*, name: str, to: Path | None) -> None:
    """Write what the agent NAME shows now into a folder, with secrets masked.

    The folder is a test case: screen.txt and screen.ansi (the screen), seen.json (what tmux said
    of it) and expected.json (how koboshi reads it). If it reads wrongly, correct that file.
    """
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir
    from koboshi.store.roster import Roster

    from .printing import say

    Roster(state_dir()).entry(name)
    seen = call(state_dir(), "screen", name=name)
    reading = _reading(seen)
    folder = to or Path(f"{name}-{reading['status']}-{time.strftime('%Y%m%d-%H%M%S')}")
    _write(folder, seen, reading)
    say(f"{folder}: read as {reading['status']} ({reading['reason']})")
    say("Look it over before you share it: keys, addresses and names were masked where they")
    say("looked like some. If koboshi read the screen wrongly, correct expected.json.")


def _reading(seen: dict[str, Any]) -> dict[str, Any]:
    from koboshi.observations import ScreenSeen
    from koboshi.store.manifests import adapter_in, config_dir

    from .inspect import contract

    cursor = tuple(seen["cursor"]) if seen["cursor"] else None
    facts = {k: v for k, v in seen.items() if k not in ("type", "cursor")}
    reader = adapter_in(config_dir(), seen["type"], "").adapter
    return contract(reader.read(ScreenSeen(**facts, cursor=cursor)))


def _write(folder: Path, seen: dict[str, Any], reading: dict[str, Any]) -> None:
    from koboshi.errors import InputError

    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{folder} is there already", hint="choose another with --to") from None
    facts = {k: seen[k] for k in ("utc", "title", "command", "cols", "rows", "cursor", "alive")}
    files = {
        "screen.txt": seen["text"],
        "screen.ansi": seen["ansi"] or "",
        "seen.json": json.dumps({**facts, "agent": seen["type"]}, ensure_ascii=False) + "\n",
        "expected.json": json.dumps(reading, ensure_ascii=False, indent=2) + "\n",
    }
    for name, content in files.items():
        if content:
            (folder / name).write_text(content, encoding="utf-8", errors="backslashreplace")
