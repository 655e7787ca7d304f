"""Keys to the page: tickets, sessions and tokens. Only their hashes are written down.

- a ticket opens the door once, within minutes, and becomes a session: it is what a link carries;
- a session is a browser's, in a cookie that no script can read;
- a token is a program's, in a header.

Each may steer or only read. `koboshi serve --link` adds a ticket while the server runs: the file is
looked at again whenever it changed.
"""

from __future__ import annotations

import contextlib
import enum
import fcntl
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from koboshi.errors import KoboshiError
from koboshi.store.shelves import make_private, write_whole

if TYPE_CHECKING:
    from pathlib import Path

_DAY = 86_400.0
#: Bytes of chance in a key: nobody guesses 256 bits, however often they may try.
CHANCE = 32
#: Keys that are remembered; the oldest go first.
MOST = 200


class Kind(enum.StrEnum):
    """What a key is for."""

    TICKET = "ticket"  #: Opens the door once, and becomes a session
    SESSION = "session"  #: A browser that came in
    TOKEN = "token"  #: A program  # noqa: S105 - its name

    @property
    def life(self) -> float:
        """Seconds that it is good for."""
        return {Kind.TICKET: 900.0, Kind.SESSION: 30 * _DAY, Kind.TOKEN: 365 * _DAY}[self]


class Scope(enum.StrEnum):
    """What its holder may do."""

    READ = "read"  #: Look
    STEER = "steer"  #: Look, and give orders


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One key as it is written down."""

    hash: str
    kind: Kind
    scope: Scope
    expires: float


def hashed(secret: str) -> str:
    """What is written down of a key; it has enough chance in it to need no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


def csrf_of(secret: str) -> str:
    """What a page has to say with every change; only who was given the session's answers knows."""
    return hmac.new(secret.encode(), b"koboshi csrf", hashlib.sha256).hexdigest()


class Keys:
    """The keys of one state folder."""

    def __init__(self, state: Path, clock: Callable[[], float]) -> None:
        self._path = state / "web" / "keys.json"
        self._clock = clock
        self._seen: tuple[int, int] | None = None
        self._known: dict[str, Key] = {}

    def make(self, kind: Kind, scope: Scope) -> str:
        """A new key; this is the only time that it is told."""
        secret = secrets.token_urlsafe(CHANCE)
        key = Key(hash=hashed(secret), kind=kind, scope=scope, expires=self._clock() + kind.life)
        with self._changing() as keys:
            keys[key.hash] = key
        return secret

    def find(self, secret: str, kind: Kind) -> Key | None:
        """The key, if it is one of that kind and still good."""
        return self.good(hashed(secret), kind)

    def good(self, hash_: str, kind: Kind) -> Key | None:
        """The key with that hash, if it is one of that kind and still good."""
        self._refresh()
        key = self._known.get(hash_)
        fits = key is not None and key.kind is kind and key.expires > self._clock()
        return key if fits else None

    def redeem(self, secret: str) -> tuple[str, Key] | None:
        """A session for a ticket, which is used up by that; None for anything else."""
        with self._changing() as keys:
            key = keys.get(hashed(secret))
            if key is None or key.kind is not Kind.TICKET:
                return None
            del keys[key.hash]
            session = secrets.token_urlsafe(CHANCE)
            expires = self._clock() + Kind.SESSION.life
            made = Key(hash=hashed(session), kind=Kind.SESSION, scope=key.scope, expires=expires)
            keys[made.hash] = made
            return session, made

    def drop(self, hash_: str) -> None:
        """That key is good no more."""
        with self._changing() as keys:
            keys.pop(hash_, None)

    def forget(self) -> int:
        """No key is good any more; how many there were."""
        with self._changing() as keys:
            count = len(keys)
            keys.clear()
        return count

    # -- the file ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Key]]:
        """The keys that are still good, to be changed; written as a whole afterwards."""
        make_private(self._path.parent)
        with (self._path.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._refresh()
            now = self._clock()
            keys = {h: key for h, key in self._known.items() if key.expires > now}
            yield keys
            kept = list(keys.values())[-MOST:]
            write_whole(self._path, msgspec.json.encode(kept))
            self._seen = None

    def _refresh(self) -> None:
        try:
            found = self._path.stat()
            seen = (found.st_mtime_ns, found.st_ino)
            if seen != self._seen:
                keys = msgspec.json.decode(self._path.read_bytes(), type=list[Key])
                self._known, self._seen = {key.hash: key for key in keys}, seen
        except FileNotFoundError:
            self._known, self._seen = {}, None
        except msgspec.MsgspecError as error:
            hint = "'koboshi serve --forget' makes a new one; everybody has to come in again"
            raise KoboshiError(f"{self._path} cannot be read: {error}", hint=hint) from error
