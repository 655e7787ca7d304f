"""`koboshi serve`: the page."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

_EPILOG = """\b
Examples:
  koboshi serve
  koboshi serve -d
  koboshi serve --url https://my.tailnet.example
  koboshi serve --link --read-only

\b
Exit codes: 0 it was told to end · 1 it is served already
2 what was given cannot be used, or the web parts are not installed:
  pip install 'koboshi[web]' · 4 the port or the daemon cannot be used
"""
PORT = 8790


@click.command(epilog=_EPILOG)
@click.option("--port", type=click.IntRange(0, 65535), help=f"Listen there; else {PORT}.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen at this address.")
@click.option("--url", default="", metavar="URL", help="The address a tunnel shows it under.")
@click.option("--cert", type=click.Path(exists=True, dir_okay=False), help="TLS certificate (PEM).")
@click.option("--key", type=click.Path(exists=True, dir_okay=False), help="Its private key.")
@click.option("--plain-http", "plain", is_flag=True, help="Others may listen in; I know.")
@click.option("-d", "--detach", is_flag=True, help="Serve in the background, and come back.")
@click.option("--stop", is_flag=True, help="End the server of the page.")
@click.option("--link", is_flag=True, help="Print a link for one more browser, and end.")
@click.option("--no-link", is_flag=True, help="Print no link at the start.")
@click.option("--token", is_flag=True, help="Print a token for a program, and end.")
@click.option("--read-only", "reads", is_flag=True, help="The link or token may only look.")
@click.option("--forget", is_flag=True, help="Everybody has to come in again; end.")
def serve(**options: Any) -> None:  # noqa: ANN401 - click's values
    """Show all agents on a page, for a browser or a phone, and take orders from there.

    It listens on this machine only, once for all agents. Whoever opens it needs the link that is
    printed at the start, or by --link: it lets one browser in, once. A phone reaches it through a
    tunnel (docs/web.md).
    """
    from koboshi.store.paths import state_dir

    from . import page
    from .printing import say

    _one_of(options, "stop", "link", "token", "forget", "detach")
    server, scope = page.web("server"), page.web("keys").Scope
    state = state_dir()
    may = scope.READ if options["reads"] else scope.STEER
    if options["forget"]:
        say(f"{server.forget(state)} keys are good no more")
    elif options["token"]:
        say(server.token(state, may))
    elif options["stop"]:
        ended = server.stop(state)
        say(f"the page at {ended.base}/ is served no more" if ended else "no page was served")
    elif options["link"]:
        server.invite(page.address(server, state, options), state, may, say)
    elif options["detach"]:
        page.shown(server, state, may, options)
    else:
        _serve(server, options, may)


def _serve(server: Any, options: dict[str, Any], may: Any) -> None:  # noqa: ANN401
    """Serve, until told to end."""
    from koboshi.store.paths import state_dir

    from . import page
    from .printing import say

    state, place = state_dir(), page.place(server, options)
    with server.alone(state) as claim:
        listener = server.listening(place.host, place.port)
        place = dataclasses.replace(place, port=listener.getsockname()[1])
        page.have_daemon(state)
        say(f"the page is at {place.base}/ until Ctrl-C")
        if not options["no_link"]:
            server.invite(place.base, state, may, say)
        _flush()
        claim.tell(place.base)
        server.run(place, listener, state)


def _one_of(options: dict[str, Any], *names: str) -> None:
    """Refuse two of these together: each is something else to be done."""
    given = [f"--{name}" for name in names if options[name]]
    if len(given) > 1:
        from koboshi.errors import InputError

        raise InputError(f"expected one of {', '.join(given)} at a time")


def _flush() -> None:
    import sys

    sys.stdout.flush()
