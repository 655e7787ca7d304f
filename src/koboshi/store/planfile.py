"""A plan file on disk. It belongs to people: they edit it while koboshi works by it.

Rule 1: it is written by rename, whole, under a lock: whoever reads it finds a plan at every moment.
Rule 2: what a person saved is never overwritten. Our changes are made in their text; where both
changed the same, the plan waits for them, and the file shows both.
Rule 3: a damaged file is reported and left alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from koboshi.errors import FileUnreadable, KoboshiError, PlanDamaged
from koboshi.plans import Merged, Plan, merge, parse, render, waiting

from .shelves import make_private, write_beside
from .swapping import swap

#: Bytes of the longest plan: a thousand steps with their results.
LARGEST = 1 << 20
#: How often a person may save between our look and our write before we give up, for now.
TRIES = 20
#: Seconds a file must have been still before it is read: an editor may write it in pieces.
SETTLED = 0.3

_Sign = tuple[int, int, int]


class PlanFile:
    """One plan file; `locks` is a folder of our own, so that none lies in the person's project."""

    def __init__(self, path: Path, locks: Path) -> None:
        self.path = Path(os.path.realpath(path))  # a link stays a link
        name = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        self._lock = locks / f"{name}.lock"

    def read(self) -> Plan:
        """The plan, also a damaged one; only a file that is no text at all is an error."""
        return parse(self._bytes().decode("utf-8", "surrogateescape"))

    def sound(self) -> Plan:
        """The plan; a damaged one is an error that names each fault."""
        plan = self.read()
        if plan.faults:
            raise PlanDamaged(str(self.path), tuple(str(fault) for fault in plan.faults))
        return plan

    def create(self, plan: Plan) -> None:
        """Write a new file; one that is there is an error."""
        with self._locked():
            made = write_beside(self.path, _encoded(plan), mode=0o644)
            try:
                os.link(made, self.path)  # unlike a rename it never replaces
            except FileExistsError:
                raise KoboshiError(f"{self.path} is there already") from None
            finally:
                made.unlink()

    def save(self, base: Plan, ours: Plan, *, waits: bool = True) -> Merged:
        """Make the changes from `base` to `ours` in the file as it is now; what came of it.

        With clashes the file waits for a person; not `waits`: nothing is written then, for whoever
        asks is that person. Raises, and changes nothing, where it is damaged.
        """
        with self._locked():
            self._sweep()
            for _ in range(TRIES):
                theirs = self.sound()
                merged = merge(base, ours, theirs)
                if merged.clashes and not waits:
                    return merged
                plan = waiting(merged) if merged.clashes else merged.plan
                if render(plan) == render(theirs) or self._replaced(theirs, plan):
                    return Merged(plan=plan, clashes=merged.clashes)
        raise KoboshiError(f"{self.path} was written by somebody else all the time")

    def sign(self) -> _Sign | None:
        """Something that changes when the file does; None while there is none."""
        try:
            seen = self.path.stat()
        except OSError:
            return None
        return seen.st_ino, seen.st_mtime_ns, seen.st_size

    def _replaced(self, old: Plan, new: Plan) -> bool:
        """Whether the new text is there, in the place of exactly the old one."""
        mode = stat.S_IMODE(self.path.stat().st_mode)
        made = write_beside(self.path, _encoded(new), mode=mode)
        try:
            if swap(made, self.path):
                if made.read_bytes() != _encoded(old):
                    self._given_back(made, _encoded(new))
                    return False
            elif self._bytes() == _encoded(old):
                made.replace(self.path)
            else:
                return False
            _sync(self.path.parent)
            return True
        finally:
            made.unlink(missing_ok=True)

    def _given_back(self, made: Path, placed: bytes) -> None:
        """Somebody saved in between: theirs goes back, and so on until ours comes out."""
        for _ in range(TRIES):
            theirs = made.read_bytes()
            swap(made, self.path)
            if made.read_bytes() == placed:
                return
            placed = theirs

    def _bytes(self) -> bytes:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise FileUnreadable(f"expected a plan, {self.path}: {reason}") from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileUnreadable(f"expected a plan, {self.path} is no regular file")
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise FileUnreadable(
                f"expected a plan of at most {LARGEST} bytes, {self.path} has more"
            )
        return content

    def owns(self, path: Path) -> bool:
        """Whether that is the file, or what a writer that was killed left beside it."""
        if path.parent != self.path.parent:
            return False
        left = rf"\.{re.escape(self.path.name)}\.[0-9a-f]{{8}}"
        return path.name == self.path.name or re.fullmatch(left, path.name) is not None

    def sweep(self) -> None:
        """Remove what writers that were killed left beside it."""
        with self._locked():
            self._sweep()

    def _sweep(self) -> None:
        for each in self.path.parent.iterdir():
            if each != self.path and self.owns(each):
                each.unlink(missing_ok=True)  # nobody else writes now

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        make_private(self._lock.parent)
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class PlanWatch:
    """Tells of a person's edits, each once, when the file has been still for a moment."""

    def __init__(self, file: PlanFile) -> None:
        self._file = file
        self._known = file.sign()
        self._fresh: _Sign | None = None
        self._since = 0.0

    def wrote(self) -> None:
        """The file is ours as it is now."""
        self._known = self._file.sign()

    def edited(self, now: float) -> bool:
        """Whether somebody else changed it since; `now` is any clock that goes on."""
        sign = self._file.sign()
        if sign == self._known:
            self._fresh = None
            return False
        if sign != self._fresh:
            self._fresh, self._since = sign, now
        if now - self._since < SETTLED:
            return False
        self._known = sign
        return True


def _encoded(plan: Plan) -> bytes:
    return render(plan).encode("utf-8", "surrogateescape")


def _sync(folder: Path) -> None:
    """A new name is durable only when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
