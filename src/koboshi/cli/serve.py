"""`koboshi serve`: the page."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi serve
  koboshi serve --url https://my.tailnet.example
  koboshi serve --link --read-only

\b
Exit codes: 0 it was told to end
2 what was given cannot be used, or the web parts are not installed:
  pip install 'koboshi[web]' · 4 the port or the daemon cannot be used
"""
PORT = 8790


@click.command(epilog=_EPILOG)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen at this address.")
@click.option("--url", default="", metavar="URL", help="The address a tunnel shows it under.")
@click.option("--cert", type=click.Path(exists=True, dir_okay=False), help="TLS certificate (PEM).")
@click.option("--key", type=click.Path(exists=True, dir_okay=False), help="Its private key.")
@click.option("--plain-http", "plain", is_flag=True, help="Others may listen in; I know.")
@click.option("--link", is_flag=True, help="Print a link for one more browser, and end.")
@click.option("--token", is_flag=True, help="Print a token for a program, and end.")
@click.option("--read-only", "reads", is_flag=True, help="The link or token may only look.")
@click.option("--forget", is_flag=True, help="Everybody has to come in again; end.")
def serve(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Show all agents on a page, for a browser or a phone, and take orders from there.

    It listens on this machine only. Whoever opens it needs the link that is printed at the start,
    or by --link: it lets one browser in, once. A phone reaches it through a tunnel (docs/web.md).
    """
    from koboshi.errors import InputError
    from koboshi.store.paths import state_dir

    from .printing import say

    try:
        # By name: the page stands beside the command line, and neither is built on the other.
        server = importlib.import_module("koboshi.web.server")
        scope = importlib.import_module("koboshi.web.keys").Scope
    except ModuleNotFoundError as error:
        raise InputError(
            f"the page needs {error.name}, which is not installed",
            hint="pip install 'koboshi[web]'",
        ) from None
    state = state_dir()
    may = scope.READ if options["reads"] else scope.STEER
    place = _place(server, options)
    if options["forget"]:
        say(f"{server.forget(state)} keys are good no more")
    elif options["token"]:
        say(server.token(state, may))
    elif options["link"]:
        server.invite(place, state, may, say)
    else:
        listener = server.listening(place.host, place.port)
        place = dataclasses.replace(place, port=listener.getsockname()[1])
        _have_daemon(state)
        say(f"the page is at {place.base}/ until Ctrl-C")
        server.invite(place, state, may, say)
        _flush()
        server.run(place, listener, state)


def _have_daemon(state: Path) -> None:
    """Start a daemon if there is none, but not as a child: nobody here would see it end."""
    import subprocess
    import sys

    from koboshi.daemon.control.client import call_running
    from koboshi.errors import DaemonError

    if call_running(state, "ping") is not None:
        return
    words = [sys.executable, "-m", "koboshi", "daemon", "start"]
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if ran.returncode != 0:
        raise DaemonError("the daemon did not start", hint=ran.stderr.decode(errors="replace"))


def _flush() -> None:
    import sys

    sys.stdout.flush()


def _place(server: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - not imported before
    paths = {name: Path(options[name]) if options[name] else None for name in ("cert", "key")}
    words = {name: options[name] for name in ("host", "port", "url", "plain")}
    return server.checked(server.Place(**words, **paths))
