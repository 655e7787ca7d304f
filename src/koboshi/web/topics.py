"""Topics: values by key, with a number for each change. A viewer is a number, not a queue.

Whoever is slow is told of what is so now, not of all that was so in between: nothing is kept for
anybody, however many they are, and what many are told at once is put into words once.
"""

from __future__ import annotations

import json
from typing import Any

#: Keys whose values are times of the same clock, told a little differently each time.
TIMES = ("since", "started", "resets_at")
#: Seconds that such times may differ and still be the same.
SAME = 1.5


def alike(old: Any, new: Any, key: str = "") -> bool:  # noqa: ANN401 - JSON values
    """Whether nobody could see a difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(alike(old[k], new[k], k) for k in old)
    if key in TIMES and isinstance(old, float | int) and isinstance(new, float | int):
        return abs(old - new) < SAME
    return bool(old == new)


class Topic:
    """What is told under one name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = 0
        self._items: dict[str, tuple[int, Any]] = {}
        self._gone: dict[str, int] = {}
        self._frames: dict[int, bytes] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __len__(self) -> int:
        return len(self._items)

    def values(self) -> list[Any]:
        """What is so now."""
        return [value for _, value in self._items.values()]

    def put(self, key: str, value: Any) -> bool:  # noqa: ANN401 - a JSON value
        """That is so from now on; whether that is news."""
        known = self._items.get(key)
        if known is not None and alike(known[1], value):
            return False
        self._turn()
        self._items[key] = (self.version, value)
        self._gone.pop(key, None)
        return True

    def drop(self, key: str) -> bool:
        """There is no such thing any more; whether that is news."""
        if self._items.pop(key, None) is None:
            return False
        self._turn()
        self._gone[key] = self.version
        return True

    def keep(self, keys: set[str]) -> bool:
        """Nothing but these is there; whether that is news."""
        return sum(self.drop(key) for key in list(self._items) if key not in keys) > 0

    def _turn(self) -> None:
        self.version += 1
        self._frames.clear()

    def since(self, version: int) -> bytes:
        """What a viewer who knows that version has to be told; 0: everything."""
        frame = self._frames.get(version)
        if frame is None:
            items = {key: value for key, (at, value) in self._items.items() if at > version}
            gone = [key for key, at in self._gone.items() if at > version] if version else []
            said = {"full": version == 0, "items": items, "gone": gone}
            frame = self._frames[version] = sse(self.name, said, self.version)
        return frame


def sse(event: str, value: Any, number: int | None = None) -> bytes:  # noqa: ANN401 - JSON
    """One server-sent event; JSON has no line ends in it."""
    head = f"id: {number}\n" if number is not None else ""
    words = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{head}event: {event}\ndata: {words}\n\n".encode("utf-8", "backslashreplace")
