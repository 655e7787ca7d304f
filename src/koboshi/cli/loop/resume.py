"""`koboshi loop resume [FILE]`, `answer`, `stop`, `logs`: a plan that was begun before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .show import DEFAULT

if TYPE_CHECKING:
    from koboshi.store.planfile import PlanFile
    from koboshi.store.progress import Start

_EPILOG = """\b
Examples:
  koboshi loop resume
  koboshi loop answer "use the old API" plans/M1.md

\b
Exit codes: 0 every step is done · 1 it waits for a person, or failed
2 no such plan, or it is damaged · 4 git, an agent or the disk refused
"""
_FILE = click.Path(path_type=Path)


@click.command(epilog=_EPILOG)
@click.argument("file", type=_FILE, default=DEFAULT)
@click.option("--all", "every", is_flag=True, help="Every plan that is RUNNING and left alone.")
@click.option("--jobs", type=click.IntRange(1, 64), default=4, show_default=True, help="At a time.")
def resume(*, file: Path, every: bool, jobs: int) -> None:
    """Go on with the plan FILE where it was, whoever died; M1.md unless another is named."""
    from koboshi.daemon.loop.orders import may_resume

    from .many import resume_all
    from .running import follow, work

    if every:
        resume_all(jobs)
        return
    path = file.expanduser().absolute()
    may_resume(_file(path))
    if not follow(_started(path)):
        work(_started(path), lambda: go_on(path))


@click.command(epilog=_EPILOG)
@click.argument("text")
@click.argument("file", type=_FILE, default=DEFAULT)
def answer(*, text: str, file: Path) -> None:
    """Answer what the plan asked, and go on; the step has all its attempts again."""
    from koboshi.daemon.loop import orders
    from koboshi.errors import InputError

    from .running import work

    path = file.expanduser().absolute()
    if not text.strip():
        raise InputError("expected an answer, and it is empty")
    work(_started(path), lambda: orders.answer(_file(path), text))


@click.command()
@click.argument("file", type=_FILE, default=DEFAULT)
def stop(*, file: Path) -> None:
    """Stop the plan FILE at once, its agent included; 'koboshi loop resume' goes on."""
    from koboshi.cli.printing import say
    from koboshi.errors import KoboshiError
    from koboshi.plans import PlanStatus
    from koboshi.store.paths import state_dir
    from koboshi.store.progress import Progress
    from koboshi.store.shelves import make_private

    from .running import halt

    path = file.expanduser().absolute()
    plan = _file(path).read()
    if plan.status is not PlanStatus.RUNNING and not plan.faults:
        raise KoboshiError(f"{path.name} is {plan.status.value}: there is nothing to stop")
    progress = Progress(state_dir(), path)
    make_private(progress.folder)
    progress.stop_file.touch()
    halt(_started(path))
    say(f"stopped: {path.name} is {_file(path).sound().status.value}")


@click.command()
@click.argument("file", type=_FILE, default=DEFAULT)
def edit(*, file: Path) -> None:
    """Open the plan FILE in your editor, and say what is wrong with it afterwards."""
    path = file.expanduser().absolute()
    _file(path).read()  # or an error that says why not
    click.edit(filename=str(path))
    _file(path).sound()


@click.command()
@click.argument("file", type=_FILE, default=DEFAULT)
@click.option("--json", "as_json", is_flag=True, help="Print an object per line.")
def logs(*, file: Path, as_json: bool) -> None:
    """Print what was decided about the plan FILE, and why, oldest first."""
    from koboshi.cli.printing import clock, day, plain, say, to_json
    from koboshi.store.paths import state_dir
    from koboshi.store.planjournal import in_words
    from koboshi.store.progress import Progress

    for record in Progress(state_dir(), file.expanduser().absolute()).notebook.all():
        if as_json:
            say(to_json(record))
            continue
        utc = float(record.get("utc", 0.0))
        code, said = in_words(record)
        if said:
            say(plain(f"{day(utc)} {clock(utc)} {code:<8} {said}"))


def go_on(path: Path) -> None:
    """Set the plan RUNNING."""
    from koboshi.daemon.loop import orders

    orders.go_on(_file(path))


def check(path: Path) -> None:
    """Say what is the matter, if it is not a person's to say that the plan goes on."""
    from koboshi.daemon.loop.orders import may_go_on

    may_go_on(_file(path))


def _file(path: Path) -> PlanFile:
    from koboshi.store.paths import plans_dir, state_dir
    from koboshi.store.planfile import PlanFile

    return PlanFile(path, plans_dir(state_dir()))


def _started(path: Path) -> Start:
    """As it was started before; a plan that never was is started as usual."""
    from koboshi.store.paths import state_dir
    from koboshi.store.progress import Progress, Start

    known = Progress(state_dir(), path).start()
    return known or Start(path=str(path), cwd=str(path.parent))
