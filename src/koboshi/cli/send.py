"""`koboshi send`: type a message to an agent."""

from __future__ import annotations

import sys

import click

_EPILOG = """\b
Examples:
  koboshi send NAME "run the tests"
  koboshi send NAME --now "stop that, the branch is wrong"
  git diff | koboshi send NAME -

\b
Exit codes: 0 typed, or waiting for its prompt · 1 not seen to arrive
2 no such agent, or it is not running · 4 the daemon cannot be reached
"""
#: Bytes of a message; more is a file, and belongs into one.
LONGEST = 1 << 20


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.argument("text", nargs=-1, required=True)
@click.option("--now", "at_once", is_flag=True, help="Also while a turn runs: the CLI queues it.")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, 600),
    default=10.0,
    show_default=True,
    help="How long to wait to see it arrive.",
)
def send(*, name: str, text: tuple[str, ...], at_once: bool, wait: float) -> None:
    """Type TEXT to the agent NAME and submit it; `-` reads it from standard input.

    It is typed once, when the agent is at its prompt: never into a dialog, never over a half-typed
    line. If that is not so within --wait, it goes in when it is.
    """
    from koboshi.daemon.control.client import call
    from koboshi.errors import InputError, KoboshiError

    from .printing import say
    from .telling import state_of

    words = " ".join(text)
    if text == ("-",):
        content = sys.stdin.buffer.read(LONGEST + 1)
        words = content.decode("utf-8", "replace").rstrip("\n")
        if len(content) > LONGEST:
            raise InputError(f"expected at most {LONGEST} bytes", hint="send the name of a file")
    came = call(
        state_of(name),
        "send",
        patience=wait + 10.0,
        name=name,
        text=words,
        at_once=at_once,
        wait=wait,
    )
    if came["outcome"] == "done":
        say(f"{name} has it")
    elif came["outcome"] == "waiting":
        if came["trouble"]:
            raise KoboshiError(f"not sent: {came['trouble']}", hint="'koboshi doctor' looks")
        say(f"{name} is {came['status']}; it goes in when {name} is at an empty prompt")
    else:
        raise KoboshiError(f"not sent: {came['why']}", hint=f"'koboshi attach {name}' shows it")
