"""`koboshi serve`: the process that shows the page."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from koboshi.daemon.control.visitor import Visitor
from koboshi.errors import HostError, InputError, KoboshiError

from . import links
from .app import Premises, made
from .feed import Feed
from .keys import Keys, Kind, Scope
from .standing import Standing, alone, standing, stop

__all__ = ["Place", "Standing", "alone", "checked", "forget", "invite", "listening", "run"]
__all__ += ["standing", "stop", "ticket", "token"]

#: Connections at a time: viewers hold one each.
CONNECTIONS = 500
#: Seconds that open streams are given when we leave.
LEAVES = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the page is, and how it is reached."""

    host: str
    port: int
    url: str = ""  #: as a tunnel shows it
    cert: Path | None = None
    key: Path | None = None
    plain: bool = False  #: others may listen in

    @property
    def base(self) -> str:
        """The address for browsers."""
        if self.url:
            return links.public(self.url)[0]
        return links.base(self.host, self.port, tls=self.cert is not None)


def checked(place: Place) -> Place:
    """The place, if it is not open to whoever listens in."""
    if (place.cert is None) is not (place.key is None):
        raise InputError("expected --cert and --key together")
    if not links.is_loopback(place.host) and place.cert is None and not place.plain:
        raise InputError(
            f"{place.host} can be reached by others, and without TLS whoever listens in gets in",
            hint="leave --host out and use a tunnel, or give --cert and --key, or --plain-http",
        )
    if place.cert is not None and place.key is not None:
        certified(place.cert, place.key)
    return place


def certified(cert: Path, key: Path) -> None:
    """Refuse a certificate and a key that could not be used, before anybody comes."""

    def locked() -> str:
        raise InputError(f"{key} is locked with a passphrase", hint="nobody is here to say it")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, locked)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError(f"{key} is not the key of the certificate {cert}") from None
        raise InputError(
            f"expected a certificate and its private key in PEM, not {cert} and {key}",
            hint=f"TLS says: {(error.reason or str(error)).lower().replace('_', ' ')}",
        ) from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{cert} or {key} cannot be read: {why}") from None


def ticket(state: Path, scope: Scope) -> str:
    """A new way in, for one browser."""
    return Keys(state, time.time).make(Kind.TICKET, scope)


def token(state: Path, scope: Scope) -> str:
    """A new way in, for a program."""
    return Keys(state, time.time).make(Kind.TOKEN, scope)


def forget(state: Path) -> int:
    """Nobody is let in with what they have."""
    keys = state / "web" / "keys.json"
    try:
        return Keys(state, time.time).forget()
    except KoboshiError:
        keys.unlink(missing_ok=True)
        return 0


def invite(base: str, state: Path, scope: Scope, say: Callable[[str], None]) -> None:
    """Print a link that opens the door once, and its picture where there is a terminal."""
    link = links.login(base, ticket(state, scope))
    may = "look on" if scope is Scope.READ else "look on and steer"
    say(
        f"this link lets one browser in to {may}; it works once, for {Kind.TICKET.life / 60:g} min:"
    )
    say(link)
    if sys.stdout.isatty():
        say(links.qr(link))


def listening(host: str, port: int) -> socket.socket:
    """A socket at that address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # who comes before the app is up waits a moment, and is not refused
    except OSError as error:
        listener.close()
        why = (error.strerror or str(error)).lower()
        named = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
        hint = "--host is an address of this machine" if named else "another --port may be free"
        raise HostError(f"{host}:{port} cannot be listened at: {why}", hint=hint) from error
    return listener


class Server(uvicorn.Server):
    """Ends open streams before it waits for everybody to leave."""

    def __init__(self, config: uvicorn.Config, feed: Feed) -> None:
        super().__init__(config)
        self._feed = feed

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Leave."""
        self._feed.end()
        await super().shutdown(sockets)


def run(place: Place, listener: socket.socket, state: Path) -> None:
    """Serve until told to end."""
    names = (links.public(place.url)[1],) if place.url else ()
    secure = place.base.startswith("https:")
    premises = Premises(
        daemon=Visitor(state),
        keys=Keys(state, time.time),
        clock=time.monotonic,
        names=(place.host, *names),
        secure=secure,
    )
    feed = Feed(premises.daemon)
    config = uvicorn.Config(
        made(premises, feed),
        access_log=False,  # nobody reads it, and addresses are people's
        log_level="error",  # what is no HTTP is only warned of, and anybody can send that
        server_header=False,
        proxy_headers=False,  # anybody can write them
        ws="none",
        lifespan="on",
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=LEAVES,
        ssl_certfile=place.cert,
        ssl_keyfile=place.key,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_ours)
    Server(config, feed).run(sockets=[listener])


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a word of the server's is about us, and not about who hung up (see door) or waits.

    Who asked when we were told to end, and is not answered in time, hears nothing: no mistake.
    """
    waited = record.exc_info is not None and record.exc_info[0] is asyncio.CancelledError
    others = ("without completing response", "timeout graceful shutdown exceeded")
    return not waited and not any(words in record.getMessage() for words in others)
