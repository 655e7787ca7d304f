"""Addresses of notification channels: `${VAR}` from the environment, and whether one can be used.

Rule 1: an address may hold secrets. It is never part of a message, a log or an error; its scheme
and the names of its variables are.
Rule 2: what is secret in it comes from the environment: a configuration is shown, copied and kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

#: The scheme that is ours; all others are apprise's.
VOICE = "voicevox"
#: Where VOICEVOX listens by itself.
VOICE_PORT = 50021
#: Characters of an address.
LONGEST = 4000

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def names(address: str) -> tuple[str, ...]:
    """The variables that the address takes from the environment."""
    return tuple(dict.fromkeys(_VARIABLE.findall(address)))


def scheme(address: str) -> str:
    """All of an address that may be shown."""
    word = address.partition("://")[0]
    return word if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]{0,30}", word) else "an address"


def expanded(address: str, environment: Mapping[str, str]) -> str:
    """The address with its variables; KeyError names one that is not set.

    A variable that is the whole address is taken as it is; one that is a part of it stays a part:
    a password with an `@` in it must not end where the host begins.
    """
    if whole := _VARIABLE.fullmatch(address):
        return environment[whole[1]]
    return _VARIABLE.sub(lambda found: quote(environment[found[1]], safe="/:+=,;~*!"), address)


def secrets(address: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """What of the environment stands in that address, for whoever has to mask it."""
    found = [environment.get(name, "") for name in names(address)]
    plain = [value for value in found if value]
    return tuple({*plain, *(quote(value, safe="/:+=,;~*!") for value in plain)})


def objection(address: str, environment: Mapping[str, str] | None = None) -> str:
    """What is expected in its place, where it cannot be used; empty: it can."""
    around = os.environ if environment is None else environment
    missing = [name for name in names(address) if not around.get(name)]
    if missing:
        return f"{missing[0]} to be set in the environment (the daemon's: koboshi daemon restart)"
    url = expanded(address, around)
    if len(url) > LONGEST:
        return f"an address of at most {LONGEST} characters"
    if url.startswith(f"{VOICE}://"):
        return _voice_objection(url)
    return _apprise_objection(url, bare=not names(address))


def _voice_objection(url: str) -> str:
    expected = f"{VOICE}://HOST:PORT?speaker=NUMBER"
    try:
        parts = urlsplit(url)
        port = parts.port
        speaker = parse_qs(parts.query).get("speaker", ["0"])[0]
    except ValueError:
        return expected
    right = parts.hostname and port != 0 and speaker.isascii() and speaker.isdigit()
    return "" if right else expected


def _apprise_objection(url: str, *, bare: bool) -> str:
    """`add()` says no by returning False; so it is asked here, and not when something burns."""
    made = channel_of(url)
    if made is None:
        return "an address that apprise can use here (its list: 'apprise --details')"
    if bare and made.url(privacy=True) != made.url(privacy=False):
        return "the secret part of the address from the environment, such as ${NAME}"
    return ""


def channel_of(url: str) -> Any:  # noqa: ANN401 - apprise's, which is imported late
    """What apprise makes of that address; None when it can do nothing with it."""
    import logging  # noqa: PLC0415 - with the next
    from contextlib import suppress  # noqa: PLC0415

    import apprise  # noqa: PLC0415 - 0.15 s, for those who have a channel

    # It tells of addresses in its own log, secrets and all.
    logging.getLogger("apprise").propagate = False
    with suppress(TypeError, ValueError):
        return apprise.Apprise.instantiate(url, suppress_exceptions=True)
    return None
