"""koboshi demo: a bad night, compressed, with a real terminal."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from koboshi.demo.run import Result
    from koboshi.demo.timeline import Entry

_COLOURS = {
    "agent": "cyan",
    "done": "green",
    "failed": "red",
    "kill -9": "red",
    "run": "cyan",
    "koboshi": "cyan",
    "sees": "bright_black",
    "skipped": "bright_black",
}
_MARK_COLUMNS = 8


@click.command()
@click.option(
    "--host",
    type=click.Choice(["auto", "tmux", "pty"]),
    default="auto",
    help="Where the agent's terminal lives; auto is tmux, or a PTY where tmux is missing.",
)
@click.option("--keep", is_flag=True, help="Keep the demo's work folder.")
def demo(host: str, *, keep: bool) -> None:
    r"""Watch koboshi bring a scripted agent through a bad night, in under 90 seconds.

    Exits 0 only if everything that should have happened did, read back from the journal.

    \b
    Example:
      koboshi demo
    """
    from koboshi.demo.run import Demo, end_server
    from koboshi.store.paths import state_dir
    from koboshi.store.shelves import make_private

    chosen = _choose(host)
    make_private(state_dir())  # if there is no place for a journal, say so before anything starts
    agent = f"{time.strftime('demo-%m%d-%H%M%S')}-{os.getpid()}"  # two may begin in one second
    work = Path(tempfile.mkdtemp(prefix="koboshi-demo-"))
    run = Demo(agent=agent, state=state_dir(), work=work, host=chosen)
    click.echo(f"koboshi demo: agent {agent!r} in a real {chosen}; a night in under 90 seconds\n")
    for ending in (signal.SIGTERM, signal.SIGHUP):  # a closed window clears up like Ctrl-C
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    try:
        run.run(_show)
        results = run.results()
    finally:
        if chosen == "tmux":
            end_server(work)
        if not keep:
            shutil.rmtree(work, ignore_errors=True)
    click.echo(f"\nThe night took {run.seconds():.0f} s. Read back from the journal, the agent\n")
    _report(results)
    click.echo(f"\nSee why it did each thing:  {sys.argv[0]} why {agent}")
    if keep:
        click.echo(f"Work folder: {work}")
    if not all(result.held for result in results):
        sys.exit(1)


def _choose(host: str) -> str:
    if host != "auto":
        return host
    if shutil.which("tmux"):
        return "tmux"
    click.echo("tmux is not installed: the demo runs in a PTY, and the agent ends with koboshi.")
    return "pty"


def _show(at: float, entry: Entry) -> None:
    from .printing import columns, plain, wrap

    lead = _MARK_COLUMNS + 10
    rows = list(wrap(plain(entry.text).replace("\n", " "), max((columns() or 100) - lead, 16)))
    mark = click.style(f"{entry.mark:<{_MARK_COLUMNS}}", fg=_COLOURS.get(entry.mark, "yellow"))
    click.echo(f"{at:6.1f} s {mark} {rows[0]}")
    for row in rows[1:]:
        click.echo(" " * lead + row)


def _report(results: list[Result]) -> None:
    from .printing import columns, wrap

    for result in results:
        sign = click.style("✔", fg="green") if result.held else click.style("✘", fg="red")
        first, *more = wrap(result.text, max((columns() or 100) - 4, 16))
        click.echo(f"  {sign} {first}")
        for row in more:
            click.echo(f"    {row}")
