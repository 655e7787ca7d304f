"""`koboshi bundle`."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples:
  koboshi bundle NAME
  koboshi bundle NAME --about "it edits the wrong files"

\b
Exit codes: 0 fine · 2 no such agent · 4 the daemon cannot be reached
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--about", default="", help="What it is about; goes into the bundle.")
def bundle(*, name: str, about: str) -> None:
    """Put all that tells of the agent NAME into one .tar.gz, and print its path.

    Events and decisions, screens, output, transcript, processes, machine, git, configuration;
    secrets are masked. Look into it before you give it away.
    """
    from koboshi.daemon.control.client import call

    from .printing import plain, say
    from .telling import state_of

    told = call(state_of(name), "bundle", patience=90.0, name=name, text=about)
    say(plain(told["said"]))
