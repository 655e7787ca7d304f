"""`koboshi loop FILE`: work through a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi loop M1.md
  koboshi loop M1.md --agent codex --timeout 30m --budget 5
  koboshi loop M1.md -- --permission-mode acceptEdits --model opus

\b
Exit codes: 0 every step is done · 1 it waits for a person, or failed
2 no such plan, or it is damaged · 4 git, an agent or the disk refused
"""


@click.command(epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--agent",
    type=click.Choice(["claude", "codex", "gemini", "opencode"]),
    default="claude",
    show_default=True,
    help="Who works on steps that name nobody.",
)
@click.option("--cwd", type=click.Path(path_type=Path), help="Where; else where FILE is.")
@click.option("--timeout", metavar="TIME", default="60m", show_default=True, help="Of an attempt.")
@click.option(
    "--attempts", type=click.IntRange(1, 99), default=3, show_default=True, help="A step."
)
@click.option("--budget", type=click.FloatRange(min=0), default=0.0, help="US dollars, in all.")
@click.option("--time-budget", metavar="TIME", help="How long in all.")
@click.option("--no-commit", is_flag=True, help="Leave verified work uncommitted.")
@click.option("--stop-file", type=click.Path(path_type=Path), help="Else /tmp/koboshi-stop.")
def start(*, file: Path, cwd: Path | None, stop_file: Path | None, **given: Any) -> None:  # noqa: ANN401
    """Work through the plan FILE, step by step, until it is done or needs you.

    Each step is done by an agent without a terminal, which may change files of the project (and
    what OPTIONS behind '--' allow), verified, and committed. Whoever dies: 'koboshi loop resume'.
    """
    from koboshi.cli.fire import seconds_of
    from koboshi.store.progress import Start

    from .resume import go_on
    from .running import work

    path = file.expanduser().absolute()
    begun = Start(
        path=str(path),
        cwd=str((cwd or path.parent).expanduser().absolute()),
        agent=given["agent"],
        attempts=given["attempts"],
        timeout=seconds_of("--timeout", given["timeout"]) or 0.0,
        commit=not given["no_commit"],
        seconds=seconds_of("--time-budget", given["time_budget"]) or 0.0,
        cost=given["budget"],
        options=given["options"],
    )
    go_on(path)
    work(begun, stop_file)
