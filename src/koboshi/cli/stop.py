"""`koboshi stop`: end an agent."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi stop NAME
  koboshi stop NAME --force

\b
Exit codes: 0 it has ended · 1 it has not · 2 no such agent
4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="SIGKILL at once; nothing is saved.")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, 600),
    default=45.0,
    show_default=True,
    help="How long to wait to see it end.",
)
def stop(*, names: tuple[str, ...], force: bool, wait: float) -> None:
    """End the agents NAME and all they started, and leave them ended.

    At its prompt an agent gets its own exit command; else, and after that, SIGTERM and SIGKILL.
    """
    from koboshi.daemon.control.client import call
    from koboshi.errors import KoboshiError

    from .printing import say
    from .telling import state_of

    left = []
    for name in names:
        state = state_of(name)
        came = call(state, "stop", patience=wait + 10.0, name=name, force=force, wait=wait)
        if came["outcome"] in ("done", "was-ended"):
            how = "had ended already" if came["outcome"] == "was-ended" else came["why"]
            say(f"{name}: {how}")
        else:
            left.append(f"{name} ({came['why'] or came['trouble'] or 'still ending'})")
    if left:
        raise KoboshiError(f"not ended: {', '.join(left)}", hint="'koboshi stop --force' kills it")
