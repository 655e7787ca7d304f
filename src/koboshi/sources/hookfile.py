"""Hook payloads that an agent appended to a file, one JSON object a line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from koboshi.observations import HookFired

#: Bytes read at a time; a line longer than this is no hook.
CHUNK = 1 << 20


class HookFile:
    """Remembers how far it has read. What was there before it was opened is history."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = path.stat().st_size if path.exists() else 0
        self._rest = b""

    def poll(self) -> list[HookFired]:
        """The hooks since the last call; what is no JSON object is passed over."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read(CHUNK)
        except OSError:
            return []
        self._offset += len(content)
        *lines, self._rest = (self._rest + content).split(b"\n")
        if len(self._rest) > CHUNK:
            self._rest = b""
        return [HookFired(payload=p) for line in lines if (p := _payload(line)) is not None]


def _payload(line: bytes) -> dict[str, object] | None:
    try:
        payload = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    return payload if isinstance(payload, dict) else None
