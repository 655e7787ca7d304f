"""`koboshi answer`: answer a question that an agent waits with."""

from __future__ import annotations

import os

import click

_EPILOG = """\b
Examples:
  koboshi answer a1:3.2 yes
  koboshi answer a1:3.2 "no: use pnpm here"
  koboshi answer a1:3.2 "The second one"
  koboshi answer a1:3.2 "Auth, Logs"

\b
Exit codes: 0 answered, or on its way · 1 not answered, or too late
2 no such agent or option · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("question", metavar="ID")
@click.argument("text", metavar="ANSWER")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, 600),
    default=10.0,
    show_default=True,
    help="How long to wait to see what comes of it.",
)
def answer(*, question: str, text: str, wait: float) -> None:
    """Answer the question ID (see `koboshi questions`) with ANSWER.

    ANSWER is `yes` (this once), `no`, `no: WHY` (the agent is told), `always`, or the words of an
    option (several with commas between, where boxes are ticked); to an agent's own question (Claude
    Code's form with a row to type into, the tool `ask_human` with an ID such as a1:ask2) any words.
    The first answer wins: who comes late is told so. It goes through the agent's hook where one
    waits, else by keys.
    """
    from koboshi.daemon.control.client import call
    from koboshi.errors import InputError, KoboshiError

    from .printing import say
    from .telling import state_of

    if "KOBOSHI_RUN_NUMBER" in os.environ:
        raise InputError("an agent does not answer questions: that is a person's")
    name = question.partition(":")[0]
    came = call(state_of(name), "answer", patience=wait + 10.0, id=question, text=text, wait=wait)
    if came["outcome"] == "done":
        say(f"{name}: {came['why']}")
    elif came["outcome"] == "waiting":
        say(f"{name} is {came['status']}; it is answered as soon as that can be done safely")
    else:
        raise KoboshiError(f"not answered: {came['why']}", hint=f"'koboshi attach {name}' shows it")
