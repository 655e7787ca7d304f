"""`koboshi reload`: restart an agent, from inside it or from outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

_EPILOG = """\b
Examples, typed by the agent itself:
  koboshi reload --reason "the new MCP server" --context "at step 3 of 7"
  koboshi reload --fresh --reason "context full" --context-file notes.md
And by a person:
  koboshi reload NAME --reason "new instructions"

\b
Exit codes: 0 it is being restarted · 1 its restart budget is spent
2 no such agent, it is not running, or its words cannot be used
4 the daemon cannot be reached
"""
#: Characters of a reason, and of a context: all of it is typed into the box of the new run.
LONGEST_REASON, LONGEST_CONTEXT = 500, 8000


@click.command(epilog=_EPILOG)
@click.argument("name", required=False)
@click.option("--reason", metavar="TEXT", default="", help="Why; the new run is told.")
@click.option("--context", metavar="TEXT", help="What the new run has to know.")
@click.option("--context-file", metavar="FILE", help="The same from a file; '-' is stdin.")
@click.option("--fresh/--resume", default=False, help="With an empty context, or as it was.")
def reload(
    *, name: str | None, reason: str, context: str | None, context_file: str | None, fresh: bool
) -> None:
    """Restart the agent NAME; inside an agent, that agent itself.

    The command returns at once, and the run ends a moment later, whatever it is doing. The next run
    is told once why it is there: the reason, the context, and how often it was restarted.
    """
    from koboshi.errors import InputError

    from .printing import say

    if context is not None and context_file is not None:
        raise InputError("expected --context or --context-file, not both")
    words = _read(context_file) if context_file else context or ""
    say(ask(name, reason=reason, context=words, fresh=fresh))


def ask(name: str | None, *, reason: str, context: str, fresh: bool) -> str:
    """Have that agent, or the one around us, restarted; what to tell whoever asked."""
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir

    agent, run = who(name)
    known = call(
        state_dir(),
        "reload",
        name=agent,
        run=run,
        reason=" ".join(plain(reason, LONGEST_REASON, "the reason").split()),
        context=plain(context, LONGEST_CONTEXT, "the context"),
        fresh=fresh,
    )
    number = known["run"]["number"]
    return f"{agent}: run {number} ends now; the next one is told why. End your turn here."


def who(name: str | None) -> tuple[str, int]:
    """The agent that is meant, and the run that asks; 0 when a person asks from outside."""
    from koboshi.errors import InputError

    around, number = os.environ.get("KOBOSHI_AGENT", ""), os.environ.get("KOBOSHI_RUN_NUMBER", "")
    if name is None and not around:
        raise InputError(
            "expected the NAME of an agent: this shell is not inside one",
            hint="inside an agent that koboshi started, KOBOSHI_AGENT names it",
        )
    inside = name in (None, around)
    return name or around, int(number) if inside and number.isascii() and number.isdigit() else 0


def plain(text: str, longest: int, what: str) -> str:
    """The text, fit to be typed: no control characters but line ends and tabs."""
    from koboshi.errors import InputError

    kept = "".join(c for c in text if c in "\n\t" or c.isprintable()).strip()
    if len(kept) > longest:
        raise InputError(
            f"expected at most {longest} characters in {what}, not {len(kept)}",
            hint="put them into a file and say its name",
        )
    return kept


def _read(name: str) -> str:
    """A file, or standard input; no more of it than can be used."""
    import sys
    from pathlib import Path

    most = 8 * LONGEST_CONTEXT
    if name == "-":
        return sys.stdin.buffer.read(most).decode(errors="replace")
    return _text(Path(name), most)


def _text(path: Path, most: int) -> str:
    with path.open("rb") as file:
        return file.read(most).decode(errors="replace")
