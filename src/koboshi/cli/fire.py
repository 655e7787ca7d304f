"""`koboshi fire`: an agent without a terminal, started and left to itself."""

from __future__ import annotations

from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi fire "fix the failing test in tests/test_api.py"
  koboshi fire --agent codex --cwd ~/api --timeout 30m "update the docs"
  koboshi fire "run the linter" -- --permission-mode acceptEdits
  koboshi check --wait $(koboshi fire "write CHANGES.md")

\b
Exit codes: 0 started · 2 it cannot be started so · 4 the disk refused
"""


@click.command(epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("instruction")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--agent",
    type=click.Choice(["claude", "codex", "gemini", "opencode"]),
    default="claude",
    show_default=True,
    help="Which CLI.",
)
@click.option("--cwd", type=click.Path(path_type=Path), help="Where it works; else here.")
@click.option("--timeout", metavar="TIME", help="When it is ended: 90s, 45m, 1h; else never.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def fire(
    *,
    instruction: str,
    options: tuple[str, ...],
    agent: str,
    cwd: Path | None,
    timeout: str | None,
    as_json: bool,
) -> None:
    """Start an agent on INSTRUCTION without a terminal, and print its TASK_ID at once.

    It outlives this command and koboshi. What it may do is what its own settings allow, what
    OPTIONS behind '--' add, and what your [answers] say; nobody can be asked.
    'koboshi check TASK_ID' tells how it is doing.
    """
    import asyncio

    from koboshi.performers.loop.firing import Charge
    from koboshi.performers.loop.firing import fire as start
    from koboshi.store.paths import state_dir

    from .printing import say, to_json

    charge = Charge(
        instruction=instruction,
        agent=agent,
        cwd=(cwd or Path.cwd()).expanduser().absolute(),
        program=(agent, *options),
        timeout=seconds_of("--timeout", timeout),
    )
    fired = asyncio.run(start(state_dir(), charge))
    say(to_json({"task": fired.task, "diff": bool(fired.before)}) if as_json else fired.task)


def seconds_of(option: str, text: str | None) -> float | None:
    """The time that an option says; None where it is not given."""
    from koboshi.config.durations import seconds
    from koboshi.errors import InputError

    if text is None:
        return None
    found = seconds(text)
    if not found:
        raise InputError(f"{option}: expected a time such as 90s, 45m or 1h, not {text!r}")
    return found
