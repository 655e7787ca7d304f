"""`koboshi doctor`: what is installed, what is wrong, and what to do about it."""

from __future__ import annotations

from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi doctor
  koboshi doctor --json | jq '.[] | select(.grade == "wrong")'

\b
Exit codes: 0 nothing is wrong · 1 something is
"""
_MARKS = {"fine": ("✔", "green"), "note": ("·", "yellow"), "wrong": ("✘", "red")}


@click.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def doctor(*, as_json: bool) -> None:
    """Look at tmux, the daemon, the agents, the CLIs and their settings; change nothing."""
    from koboshi.daemon.checkup import Check, Grade, examine
    from koboshi.store.manifests import config_dir
    from koboshi.store.paths import state_dir

    from .printing import columns, paint, plain, say, to_json, wrap

    checks: list[Check] = []
    room = max(30, (columns() or 100) - 14)
    for check in examine(state_dir(), config_dir(), Path.home()):
        checks.append(check)
        if as_json:
            continue
        mark, colour = _MARKS[check.grade.value]
        rows = [*wrap(plain(check.said), room)]
        rows += [*wrap(plain(f"→ {check.fix}"), room)] if check.fix else []
        for number, row in enumerate(rows):
            head = f"{paint(mark, colour)} {check.about:<10} " if number == 0 else " " * 13
            say(f"{head}{row}")
    if as_json:
        fields = ("about", "grade", "said", "fix")
        say(to_json([{name: str(getattr(c, name)) for name in fields} for c in checks]))
    if any(check.grade is Grade.WRONG for check in checks):
        raise SystemExit(1)
