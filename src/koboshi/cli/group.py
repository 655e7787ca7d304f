"""`koboshi COMMAND`: the commands by name; a module is imported when its command is called."""

from __future__ import annotations

import importlib
import keyword
import os
import sys
from dataclasses import dataclass

import click

from koboshi import __version__

from .printing import complain

#: Columns of the names in the list of commands; a longer one has a row of its own.
_COLUMN = 9
#: A word on the command line that cannot be used.
USAGE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A command that is not imported yet; `help` is what the list of commands says of it."""

    module: str
    attribute: str
    help: str


def _own(name: str) -> str:
    """The name of its module and its function: some words are Python's."""
    return f"{name}_" if keyword.iskeyword(name) else name


VERBS: dict[str, Verb] = {
    name: Verb(module=f"koboshi.cli.{_own(name)}", attribute=_own(name), help=text)
    for name, text in {
        "answer": "Answer a question that waits for a person.",
        "ack": "Say that you saw to it: budgets and escalations are forgiven.",
        "answers": "Say what would be answered to an agent, and which rule says so.",
        "attach": "Show an agent's terminal in this one.",
        "bundle": "Put all that tells of an agent into one file, without secrets.",
        "check": "Tell how a fired task is doing, or what came of it.",
        "config": "Show what is set, and where it comes from; check a file.",
        "daemon": "Show, start, stop or restart koboshi's daemon.",
        "demo": "Live through one bad night in at most 90 seconds.",
        "detach": "Take every terminal off an agent's.",
        "doctor": "Tell what is installed, what is wrong, and what to do about it.",
        "events": "Print what was seen of an agent, oldest first.",
        "fire": "Start an agent without a terminal; prints its TASK_ID.",
        "history": "List the runs of an agent: session, beginning, end, and why.",
        "import": "Turn the configuration of a codexHaltMonitor into a koboshi.toml.",
        "init": "Set up a project for koboshi, or undo that.",
        "install-service": "Bring the daemon and the plans back after a reboot.",
        "incidents": "List what rules found of agents, and what came of it.",
        "inspect": "Say what a screen shows.",
        "lint": "Run the rules over a log or a journal.",
        "loop": "Work through a plan, step by step; show one.",
        "ls": "List the agents and what each is doing.",
        "mcp": "Serve tools to an agent: restart_me, hand_over, ask_human …",
        "metrics": "Count what happened: restarts, actions, time in each status.",
        "mode": "Say how much koboshi may do to an agent.",
        "notify": "Try the channels that reach you; send a word on them.",
        "pause": "Keep looking at an agent, touch nothing.",
        "prompt": "Write a prompt that asks an agent to mend another's trouble.",
        "questions": "List the questions that wait for a person.",
        "record": "Write an agent's screen into a folder, as a case for a test.",
        "refresh": "Hand an agent over to a fresh run, with a note.",
        "reload": "Restart an agent and tell it why; agents call it themselves.",
        "release": "Look after an agent no more; it goes on.",
        "replay": "Decide a journal again and show what would differ.",
        "report": "Tell what each agent did, and what needs you now.",
        "resume": "End a pause.",
        "rm": "Strike ended agents from the list.",
        "rules": "List the rules, or show the page of one.",
        "run": "Start an agent and look after it.",
        "send": "Type a message to an agent.",
        "serve": "Show all agents on a page, for a browser or a phone.",
        "snapshots": "List, take or restore snapshots of uncommitted work.",
        "start": "Start an agent again.",
        "status": "Tell what an agent is doing, and on what evidence.",
        "stop": "End an agent and all it started.",
        "top": "Show the agents live, and steer them by keys.",
        "watch": "Look after an agent in a pane of your own tmux.",
        "why": "Tell why something was done, or was not.",
    }.items()
}
#: A command whose name is no name of a module.
VERBS["install-service"] = Verb(
    module="koboshi.cli.service",
    attribute="install_service",
    help=VERBS["install-service"].help,
)

_EPILOG = """\b
Examples:
  koboshi run -- claude
  koboshi watch cc:1.0
  koboshi ls
  koboshi why NAME

\b
Exit codes: 0 fine · 1 a difference or a failed check was found
2 the input cannot be used · 3 the journal cannot be used
4 a terminal, the disk or a permission is missing · 130 Ctrl-C
"""


class LazyGroup(click.Group):
    """Knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All commands, by name."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        command: click.Command = getattr(importlib.import_module(verb.module), verb.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without importing what is listed."""
        with formatter.section("Commands"):
            rows = [(name, VERBS[name].help) for name in self.list_commands(ctx)]
            formatter.write_dl(rows, col_max=_COLUMN)


@click.group(cls=LazyGroup, epilog=_EPILOG)
@click.version_option(__version__, message="koboshi %(version)s")
def koboshi() -> None:
    """Keep coding agents on their feet while nobody watches."""


def run(arguments: list[str]) -> int:
    """Run one command; click's own complaints look like all others."""
    if "_KOBOSHI_COMPLETE" in os.environ:
        koboshi.main(arguments, prog_name="koboshi")  # completion of the shell; does not return
    _lenient()
    try:
        # Not `koboshi.main`: it writes a line of its own at Ctrl-C.
        with koboshi.make_context("koboshi", arguments or ["--help"]) as context:
            koboshi.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)  # a page for people, not a sentence
        return USAGE
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "koboshi"
        complain(_lower(error.format_message()), f"try '{path} --help'")
        return USAGE
    except click.ClickException as error:
        complain(_lower(error.format_message()))
        return USAGE
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    return 0


def _lenient() -> None:
    """A stream that cannot say a character says its number; help pages are not ASCII."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _lower(message: str) -> str:
    message = " ".join(message.split())  # click sets lists of choices on rows of their own
    return message[:1].lower() + message[1:].rstrip(".")
