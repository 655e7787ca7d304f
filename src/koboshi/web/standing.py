"""One page per state folder: whether it is served, and where.

The kernel's lock is the truth and goes with whoever holds it; the file that is locked says where
the page is. What a server that died has written there says nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil

from koboshi.errors import KoboshiError
from koboshi.store.shelves import make_private

#: Seconds that a lock is tried for: who looks whether a page is served holds it for a moment.
TRIES = 0.5
#: Seconds more where whoever the file names is dead.
LOOKS = 10.0
#: Seconds for a server that was told to end.
ENDS = 10.0
#: Seconds by which two tellings of one process's birth may differ.
SAME_BIRTH = 1.0
_AGAIN = 0.02
#: Bytes of the file.
_LONG = 1024


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A page that is served."""

    pid: int
    birth: float = 0.0  #: when that process began: a pid alone is soon another's
    base: str = ""  #: its address; empty: it is only about to be


class Taken(KoboshiError):
    """The page of this state folder is served already."""

    def __init__(self, known: Standing) -> None:
        super().__init__(
            f"the page is at {known.base or 'an address not told yet'} already (pid {known.pid})",
            hint="'koboshi serve --link' lets one more browser in, 'koboshi serve --stop' ends it",
        )


class Claim:
    """The right to serve the page."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.tell("")

    def tell(self, base: str) -> None:
        """It is served there from now on."""
        me = psutil.Process()
        known = Standing(pid=me.pid, birth=me.create_time(), base=base)
        # Filled up and written at once: nobody reads half of it, nor the rest of an older one.
        os.pwrite(self._descriptor, msgspec.json.encode(known).ljust(_LONG), 0)


@contextlib.contextmanager
def alone(state: Path) -> Iterator[Claim]:
    """Be the only one who serves the page; `Taken` says where it is served."""
    make_private(state / "web")
    descriptor = os.open(_path(state), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + TRIES
        while not _locked(descriptor, fcntl.LOCK_EX):
            known, late = _read(descriptor), time.monotonic() - deadline
            # Somebody who only looks has it: that is over soon, though not always in a moment.
            if late > (0.0 if _process(known) else LOOKS):
                raise Taken(known)
            time.sleep(_AGAIN)
        yield Claim(descriptor)
    finally:
        os.close(descriptor)


def standing(state: Path) -> Standing | None:
    """Who serves the page; None: nobody."""
    try:
        descriptor = os.open(_path(state), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return None if _locked(descriptor, fcntl.LOCK_SH) else _read(descriptor)
    finally:
        os.close(descriptor)


def stop(state: Path) -> Standing | None:
    """End whoever serves the page; None: nobody did."""
    known = standing(state)
    if known is None or known.pid == 0:
        return None
    server = _process(known)
    if server is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            server.terminate()
    deadline = time.monotonic() + ENDS
    while standing(state) is not None:
        if time.monotonic() > deadline:
            raise KoboshiError(f"the page's server did not end (pid {known.pid})")
        time.sleep(_AGAIN)
    return known


def _path(state: Path) -> Path:
    return state / "web" / "server.lock"


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _process(known: Standing) -> psutil.Process | None:
    """The server itself; None: it has ended, whoever has its pid now."""
    try:
        found = psutil.Process(known.pid)
        return found if abs(found.create_time() - known.birth) < SAME_BIRTH else None
    except psutil.Error:  # nobody's, or somebody else's, who does not tell
        return None


def _read(descriptor: int) -> Standing:
    try:
        return msgspec.json.decode(os.pread(descriptor, 4 * _LONG, 0), type=Standing)
    except msgspec.MsgspecError:
        return Standing(pid=0)  # it has the lock, and has not said anything yet
