"""Waiting: bundles that have to be uploaded, on disk until they are, whoever dies.

A file for each. Where it goes is not in it: the owner's file says that, at the time of each try.
"""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from koboshi.store.shelves import make_private, write_whole

#: Their place in the state folder.
FOLDER = "uploads"
#: Seconds to the second try; it doubles. The longest pause, and how long it is tried at all.
FIRST, LONGEST, FOR = 5.0, 900.0, 3 * 86400.0
#: Uploads that may wait; more, and the oldest is given up.
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A bundle on its way."""

    path: str
    agent: str
    key: str  #: of the action that made it
    since: float
    due: float
    tries: int = 0
    why: str = ""  #: the last try did not work

    @property
    def name(self) -> str:
        """Of its file; no two bundles have one."""
        return f"{zlib.crc32(self.path.encode(errors='replace')):08x}-{Path(self.path).name}.json"


@dataclass(slots=True)
class Waiting:
    """All of them, in one folder."""

    folder: Path
    _known: dict[str, Parcel] | None = field(default=None, init=False)

    def parcels(self) -> list[Parcel]:
        """Oldest first; what another process left is read once."""
        if self._known is None:
            found = [_read(path) for path in sorted(self.folder.glob("*.json"))]
            self._known = {each.name: each for each in found if each is not None}
        return sorted(self._known.values(), key=lambda each: each.since)

    def put(self, parcel: Parcel) -> tuple[Parcel, ...]:
        """Keep it; those that are given up for it."""
        self.parcels()
        make_private(self.folder)
        write_whole(self.folder / parcel.name, msgspec.json.encode(parcel))
        self._all[parcel.name] = parcel
        extra = tuple(self.parcels()[:-MOST])
        for each in extra:
            self.drop(each)
        return extra

    def drop(self, parcel: Parcel) -> None:
        """It is there, or given up."""
        self._all.pop(parcel.name, None)
        with contextlib.suppress(OSError):  # tried once more by the next process
            (self.folder / parcel.name).unlink(missing_ok=True)

    def failed(self, parcel: Parcel, why: str, now: float) -> Parcel | None:
        """To be tried again later; None: it is given up."""
        if now - parcel.since > FOR:
            self.drop(parcel)
            return None
        pause = min(LONGEST, FIRST * 2.0 ** min(parcel.tries, 20))
        later = replace(parcel, tries=parcel.tries + 1, due=now + pause, why=why)
        self._all[later.name] = later
        with contextlib.suppress(OSError):  # the one that is there says when it was tried before
            write_whole(self.folder / later.name, msgspec.json.encode(later))
        return later

    @property
    def _all(self) -> dict[str, Parcel]:
        if self._known is None:
            self._known = {}
        return self._known


def _read(path: Path) -> Parcel | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Parcel)
    except (OSError, msgspec.DecodeError):
        return None
