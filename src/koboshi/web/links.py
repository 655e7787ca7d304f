"""Addresses of the page, and the picture of one for a phone's camera."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from koboshi.errors import InputError

#: Nobody is there; a socket that is turned towards it tells our own address in the network.
_FAR = ("192.0.2.1", 9)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def base(host: str, port: int, *, tls: bool) -> str:
    """The address of a server that listens there, as a browser needs it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - everywhere; compared, not bound
        host = own_address()
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{port}"


def own_address() -> str:
    """This machine's address in its network; no byte is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
        try:
            towards.connect(_FAR)
        except OSError:
            return "127.0.0.1"
        return str(towards.getsockname()[0])


def public(url: str) -> tuple[str, str]:
    """The address a tunnel gives us, and the name in it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise InputError(f"expected an address such as 'https://my.machine', not {url!r}")
    return f"{parts.scheme}://{parts.netloc}", parts.hostname


def login(base_url: str, ticket: str) -> str:
    """The link that opens the door once; what stands behind the `#` is sent to no server."""
    return f"{base_url}/#login={ticket}"


def qr(link: str) -> str:
    """The link as a picture for a terminal."""
    import io  # noqa: PLC0415 - only who has a terminal needs a picture

    import segno  # noqa: PLC0415

    drawn = io.StringIO()
    segno.make(link, micro=False, error="l").terminal(drawn, compact=True, border=2)
    return drawn.getvalue()
