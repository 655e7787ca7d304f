"""`koboshi loop GOAL`, `koboshi loop FILE`: work through a plan, or have one made first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .show import DEFAULT

_EPILOG = """\b
Examples:
  koboshi loop "fix the SIGTERM bug in /edit"
  koboshi loop goal.txt --file plans/edit.md --review
  koboshi loop M1.md
  koboshi loop M1.md --agent codex --timeout 30m --budget 5
  koboshi loop M1.md -- --permission-mode acceptEdits --model opus

\b
Exit codes: 0 every step is done · 1 it waits for a person, or failed
2 no such plan, or it is damaged · 4 git, an agent or the disk refused
"""

#: Characters of the longest name of a file.
_NAME = 4096


@click.command(epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("goal", metavar="GOAL|FILE")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--agent",
    type=click.Choice(["claude", "codex", "gemini", "opencode"]),
    default="claude",
    show_default=True,
    help="Who works on steps that name nobody.",
)
@click.option("--file", type=click.Path(path_type=Path), help="Where a new plan goes; else M1.md.")
@click.option("--constraints", default="", help="What holds for every step of a new plan.")
@click.option("--max-steps", type=click.IntRange(1, 99), default=10, show_default=True)
@click.option("--review", is_flag=True, help="Wait for you when a plan was made.")
@click.option("--cwd", type=click.Path(path_type=Path), help="Where; else where the plan is.")
@click.option("--timeout", metavar="TIME", default="60m", show_default=True, help="Of an attempt.")
@click.option(
    "--attempts", type=click.IntRange(1, 99), default=3, show_default=True, help="A step."
)
@click.option(
    "--reviewer",
    type=click.Choice(["claude", "codex", "gemini", "opencode"]),
    help="Who looks at verified work before it is committed; else nobody.",
)
@click.option(
    "--replan",
    type=click.IntRange(0, 9),
    help="How often other steps may be planned; else 1 for a GOAL, 0 for your own FILE.",
)
@click.option("--budget", type=click.FloatRange(min=0), default=0.0, help="US dollars, in all.")
@click.option("--token-budget", type=click.IntRange(min=0), default=0, help="Tokens, in all.")
@click.option("--time-budget", metavar="TIME", help="How long in all.")
@click.option("--worktree", is_flag=True, help="In a git worktree and branch of its own.")
@click.option("--no-commit", is_flag=True, help="Leave verified work uncommitted.")
@click.option(
    "--message",
    default="",
    metavar="TEMPLATE",
    help="Of a commit: {step}, {number}, {total}, {goal}; \\n begins a line.",
)
@click.option("--push", is_flag=True, help="git push when every step is done.")
@click.option("--report", type=click.Path(path_type=Path), help="Write what came of it there.")
@click.option(
    "--notify",
    type=click.Choice(["steps", "end", "none"]),
    default="steps",
    show_default=True,
    help="What your channels are told of: each step and the end, the end, nothing.",
)
@click.option("--stop-file", type=click.Path(path_type=Path), help="Else /tmp/koboshi-stop.")
def start(*, goal: str, cwd: Path | None, stop_file: Path | None, **given: Any) -> None:  # noqa: ANN401
    """Have a plan made for GOAL, or take the plan FILE, and work through it, step by step.

    A FILE that is no plan holds the goal in words. Each step is done by an agent without a
    terminal, which may change files of the project (and what OPTIONS behind '--' allow), verified,
    and committed. Whoever dies: 'koboshi loop resume'.
    """
    from koboshi.cli.fire import seconds_of
    from koboshi.store.progress import Start

    from .resume import check, go_on
    from .running import work

    path, made = _plan_file(goal, given["agent"], given["file"], given["constraints"])
    begun = Start(
        path=str(path),
        cwd=_where(path, cwd, own=given["worktree"]),
        agent=given["agent"],
        attempts=given["attempts"],
        timeout=seconds_of("--timeout", given["timeout"]) or 0.0,
        commit=not given["no_commit"],
        seconds=seconds_of("--time-budget", given["time_budget"]) or 0.0,
        cost=given["budget"],
        tokens=given["token_budget"],
        options=given["options"],
        max_steps=given["max_steps"],
        review=given["review"],
        push=given["push"],
        reviewer=given["reviewer"] or "",
        replans=int(made) if given["replan"] is None else given["replan"],
        notify=given["notify"],
        message=_template(given["message"]),
        report=str(given["report"].expanduser().absolute()) if given["report"] else "",
        stop_file=str(stop_file.expanduser().absolute()) if stop_file else "",
    )
    check(path)
    work(begun, lambda: go_on(path))


def _template(message: str) -> str:
    """A template for commits, if each of its names is known."""
    import re

    from koboshi.errors import InputError

    known = ("step", "number", "total", "goal")
    other = [name for name in re.findall(r"\{(\w+)\}", message) if name not in known]
    if other:
        names = ", ".join(f"{{{name}}}" for name in known)
        raise InputError(f"'--message': expected {names}, not {{{other[0]}}}")
    if message and not message.replace("\\n", "").strip():
        raise InputError("'--message': expected words, and there are none")
    return message


def _where(path: Path, cwd: Path | None, *, own: bool) -> str:
    """The folder that agents work in."""
    from koboshi.performers.loop.committing import worktree

    folder = (cwd or path.parent).expanduser().absolute()
    return str(worktree(folder, path.stem)) if own else str(folder)


def _plan_file(goal: str, agent: str, file: Path | None, constraints: str) -> tuple[Path, bool]:
    """The plan: the one that was named, or a new one with that goal; whether it is new."""
    from koboshi.errors import InputError
    from koboshi.performers.loop.firing import at_hand
    from koboshi.plans import parse
    from koboshi.plans.lines import one_line
    from koboshi.store.paths import plans_dir, state_dir
    from koboshi.store.planfile import PlanFile

    named = Path(goal).expanduser().absolute() if len(goal) < _NAME else None
    if named is not None and named.is_file():
        found = PlanFile(named, plans_dir(state_dir())).read()
        if found.sheet.find("STATUS") is not None:
            return named, False
        goal = found.sheet.text
    elif goal.endswith(".md") and " " not in goal:
        raise InputError(f"expected a goal, or a plan that is there, not {goal!r}")
    if one_line(goal):
        at_hand(agent)  # or an error, before anything is written
    path = (file or Path(DEFAULT)).expanduser().absolute()
    if path.exists():
        hint = "'koboshi loop resume' goes on with it, '--file' names another"
        raise InputError(f"{path} is there already", hint=hint)
    PlanFile(path, plans_dir(state_dir())).create(parse(_new(goal, constraints)))
    return path, True


def _new(goal: str, constraints: str) -> str:
    from koboshi.errors import InputError
    from koboshi.plans.lines import one_line

    if not one_line(goal):
        raise InputError("expected a goal, and it is empty")
    rows = ["STATUS: IDLE   # IDLE / RUNNING / WAITING / DONE / FAILED", f"GOAL: {one_line(goal)}"]
    rows += [f"CONSTRAINTS: {one_line(constraints)}"] if one_line(constraints) else []
    return "\n".join(rows) + "\n"
