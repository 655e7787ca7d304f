"""Bundles: all that tells of one incident in one `.tar.gz`, without secrets, and not for ever.

Rule 1: every part is redacted as a whole, and only then cut: half a secret is not recognised.
Rule 2: the end of a part is what matters; what was cut off is said at its beginning.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from koboshi.store.shelves import make_private, write_whole

SUFFIX = ".tar.gz"
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of a bundle."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a bundle gets, and how many are kept for how long."""

    part: int = 512 << 10  #: bytes of one part
    total: int = 4 << 20  #: bytes of all parts, before they are packed
    keep: int = 20
    keep_for: float = 30 * 86400.0


def pack(
    folder: Path,
    name: str,
    parts: Iterable[Part],
    mask: Callable[[str], str],
    *,
    utc: float,
    bounds: Bounds,
) -> Path:
    """Write the bundle of that name, then drop old ones; OSError when the disk refuses."""
    content = io.BytesIO()
    left = bounds.total
    # Not tarfile's own gzip: it would write the name of a file of this machine into the header.
    with (
        gzip.GzipFile(fileobj=content, mode="wb", filename="", mtime=int(utc)) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for part in parts:
            text = cut(mask(part.text).encode("utf-8", "backslashreplace"), min(bounds.part, left))
            left = max(0, left - len(text))
            entry = tarfile.TarInfo(f"{name}/{part.name}")
            entry.size, entry.mtime, entry.mode = len(text), int(utc), 0o600
            archive.addfile(entry, io.BytesIO(text))
    make_private(folder)
    path = folder / f"{name}{SUFFIX}"
    write_whole(path, content.getvalue())
    prune(folder, utc, bounds)
    return path


def cut(content: bytes, most: int) -> bytes:
    """The end of it, from the beginning of a line on."""
    if len(content) <= most:
        return content
    gone = f"[… {len(content) - most} bytes before this were cut off]\n".encode()
    rest = content[len(content) - max(0, most - len(gone)) :]
    return gone + rest[rest.find(b"\n") + 1 :] if most > len(gone) else b""


def prune(folder: Path, utc: float, bounds: Bounds, *, suffix: str = SUFFIX) -> None:
    """Drop what is too old or too many; the newest always stays, and what is not ours too."""
    found = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if is_ours(path.name, suffix) and not path.is_symlink():
                found.append((path.stat().st_mtime, path))
    found.sort(reverse=True)
    for n, (made, path) in enumerate(found):
        if n and (n >= bounds.keep or utc - made > bounds.keep_for):
            with contextlib.suppress(OSError):
                path.unlink()


def is_ours(name: str, suffix: str = SUFFIX) -> bool:
    """Whether a file of that name is one that koboshi wrote."""
    return name.endswith(suffix) and _NAME.fullmatch(name.removesuffix(suffix)) is not None


def tail(path: Path, most: int) -> str:
    """The end of a file, from the beginning of a line on; OSError when it cannot be read."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - most))
        content = stream.read(most)
    if size > most:
        content = content[content.find(b"\n") + 1 :]
    return content.decode("utf-8", "backslashreplace")
