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
    from koboshi.demo.timeline import Entry

_COLOURS = {
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

    chosen = _choose(host)
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
    for result in results:
        sign = click.style("✔", fg="green") if result.held else click.style("✘", fg="red")
        click.echo(f"  {sign} {result.text}")
    click.echo(f"\nSee why it did each thing:  koboshi why {agent}")
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
    from koboshi.scripted.drawing import clean, cut

    columns = shutil.get_terminal_size((100, 24)).columns
    mark = click.style(f"{entry.mark:<{_MARK_COLUMNS}}", fg=_COLOURS.get(entry.mark, "yellow"))
    text = cut(clean(entry.text).replace("\n", " "), max(20, columns - _MARK_COLUMNS - 10))
    click.echo(f"{at:6.1f} s {mark} {text}")
