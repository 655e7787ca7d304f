"""New lines of a file that another program appends to; an unchanged file costs one `stat`."""

from __future__ import annotations

from pathlib import Path

#: Bytes read at a time: a poll must be short.
CHUNK = 1 << 20
#: Bytes of a line; longer ones (pictures) are passed over.
LONGEST = 8 << 20
#: Bytes at the end of a file that were there before: enough to know how things stand.
HISTORY = 256 << 10


class Tail:
    """Remembers how far it has read, and the torn line at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rest = b""
        self._skips = False  #: in the middle of a line that is passed over
        try:
            size = path.stat().st_size
        except OSError:
            size = 0
        self._offset = max(0, size - HISTORY)
        self._skips = self._offset > 0

    def last(self, size: int) -> tuple[bytes, ...]:
        """The whole lines at the end of the file, as many as fit into that many bytes."""
        try:
            with self.path.open("rb") as file:
                begin = max(0, file.seek(0, 2) - size)
                file.seek(begin)
                content = file.read(size)
        except OSError:
            return ()
        lines = content.split(b"\n")
        return tuple(lines[1:] if begin else lines)

    def read(self) -> tuple[bytes, ...]:
        """The whole lines since the last call; the rest of a big file comes with the next calls."""
        try:
            size = self.path.stat().st_size
            if size < self._offset:  # somebody began it anew
                self._offset, self._rest, self._skips = 0, b"", False
            if size == self._offset:
                return ()
            with self.path.open("rb") as file:
                file.seek(self._offset)
                content = file.read(CHUNK)
        except OSError:
            return ()
        self._offset += len(content)
        first, *others = content.split(b"\n")
        if not others:
            self._keep(first)
            return ()
        lines = others[:-1] if self._skips else [self._rest + first, *others[:-1]]
        self._rest, self._skips = b"", False
        self._keep(others[-1])
        return tuple(line for line in lines if line.strip())

    def _keep(self, torn: bytes) -> None:
        if not self._skips and len(self._rest) + len(torn) <= LONGEST:
            self._rest += torn
        else:
            self._rest, self._skips = b"", True
