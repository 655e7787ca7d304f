"""A second pair of eyes on a simulated night: the disk and the border, line by line and key by key.

`laws.Laws` sees what the agent really does and nothing of what was decided; a night can be quiet
and still have broken the order of things. `Watch` puts the two together:

- a key is admitted once; only the outcome `skipped` gives it back (law 2);
- one pair of hands: no action is admitted while another reaches into the terminal;
- admitted decisions, marks and outcomes are durable when they are written (law 5);
- a key, a signal or a start reaches the outside only for an action that was admitted and marked;
- one decision answers one question: never a second key under the same action, and an answer that
  was pressed never comes out as `skipped`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.core.actions import ACTION_KINDS, HANDS
from koboshi.hosts.base import Key

from .disk import MemoryShelf
from .laws import Laws, Violation
from .outside import Outside

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.hosts.base import Keystroke, Launch, Place

    from .hosts import FakeHost

_DURABLE = ("admitted", "touched", "finished")


class WatchedShelf(MemoryShelf):
    """A memory shelf that shows each record once it is on the disk."""

    def __init__(self, outside: Outside, record: Callable[[dict[str, Any], bool], None]) -> None:
        super().__init__(outside)
        self._record = record

    def append(self, name: str, content: bytes, *, sync: bool) -> None:
        """Add to a segment, and show what was added."""
        before = len(self.segments[name])
        try:
            super().append(name, content, sync=sync)
        finally:  # also when the supervisor is killed right after
            if len(self.segments[name]) > before:
                for raw in content.splitlines():
                    self._record(msgspec.json.decode(raw), sync)


class Watch:
    """Watches one night; raises `Violation` at the moment something is out of order."""

    def __init__(self, host: FakeHost, outside: Outside, laws: Laws | None = None) -> None:
        self._laws = laws
        self.flying: dict[str, str] = {}  #: key → kind, admitted and without an outcome
        self.spent: set[str] = set()  #: keys that came out done or failed
        self.touched: set[str] = set()
        self.pressed: dict[str, int | None] = {}  #: answer key → number of the question it closed
        self.entered: set[str] = set()  #: messages that were submitted
        self.shelf = WatchedShelf(outside, self.record)
        self._host = host
        self._typing, self._ending = host.on_type, host.on_end
        host.on_type, host.on_typed = self.typing, self.typed
        host.on_end = self.ending
        self._start = host.start
        host.start = self.starting  # type: ignore[method-assign]

    # -- the disk -------------------------------------------------------------------------------

    def record(self, raw: dict[str, Any], sync: bool) -> None:  # noqa: FBT001
        """One record was written."""
        kind = raw["k"]
        if kind in _DURABLE and not sync:
            raise Violation(f"{kind} was written and is not durable: {raw}")
        if kind == "admitted":
            self._admitted(_key(raw["action"]), raw["action"]["kind"])
            if self._laws is not None:
                self._minded(raw["action"], self._laws)
        elif kind == "touched":
            if raw["key"] not in self.flying:
                raise Violation(f"{raw['key']} reaches the outside and was never admitted")
            self.touched.add(raw["key"])
        elif kind == "finished":
            self._finished(raw["key"], raw["ending"])

    def _minded(self, action: dict[str, Any], laws: Laws) -> None:
        if action.get("cure"):
            laws.curing()
        if action.get("about", "").startswith("outage"):
            laws.telling_of_outage(_key(action))
        if action.get("about", "").endswith(".left"):
            laws.telling_of_tools()
        if action["kind"] == "send":
            laws.saying(action["about"])
        if action.get("forced"):
            laws.forced = _key(action)

    def _admitted(self, key: str, kind: str) -> None:
        if key in self.flying or key in self.spent:
            raise Violation(f"{key} was admitted a second time")
        hands = [k for k, other in self.flying.items() if issubclass(ACTION_KINDS[other], HANDS)]
        if hands and issubclass(ACTION_KINDS[kind], HANDS):
            raise Violation(f"{key} was admitted while {hands} had the terminal")
        self.flying[key] = kind

    def _finished(self, key: str, ending: str) -> None:
        kind = self.flying.pop(key, None)
        if kind is None:
            raise Violation(f"{key} came out and was never admitted")
        self.touched.discard(key)
        if self._laws is not None and self._laws.forced == key:
            self._laws.forced = ""
        if ending != "skipped":
            self.spent.add(key)
        elif key in self.entered:
            raise Violation(f"{key} was entered, and given back as if it had not been")
        elif key in self.pressed:
            raise Violation(f"{key} was pressed, and given back as if it had not been")

    # -- the border -----------------------------------------------------------------------------

    def _hand(self, what: str) -> str:
        """The one action that may reach the outside now."""
        marked = [
            key
            for key, kind in self.flying.items()
            if key in self.touched and issubclass(ACTION_KINDS[kind], HANDS)
        ]
        if len(marked) != 1:
            raise Violation(f"{what} with no decision on the disk: {marked}")
        return marked[0]

    def typing(self, strokes: tuple[Keystroke, ...]) -> None:
        """Keys are about to leave."""
        self._typing(strokes)
        key = self._hand(f"keys sent ({strokes})")
        if self.flying[key] != "answer" or not self._chooses(strokes[-1]):
            return
        if key in self.pressed:
            raise Violation(f"{key} was pressed a second time")
        running = self._host.agent.running
        self.pressed[key] = running.prompt_number if running else None

    def typed(self, strokes: tuple[Keystroke, ...]) -> None:
        """Keys have arrived."""
        key = self._hand(f"keys arrived ({strokes})")
        if self.flying[key] == "send" and strokes[-1] == Key(name="Enter"):
            self.entered.add(key)

    def ending(self, force: bool) -> None:  # noqa: FBT001
        """A signal is about to leave."""
        self._ending(force)
        self._hand("a signal sent")

    async def starting(self, launch: Launch) -> Place:
        """A process is about to start."""
        self._hand(f"run {launch.run} started")
        return await self._start(launch)

    def _chooses(self, stroke: Keystroke) -> bool:
        return isinstance(stroke, Key) and (len(stroke.name) == 1 or stroke.name == "Enter")


def _key(raw: dict[str, Any]) -> str:
    values = {name: value for name, value in raw.items() if name != "kind"}
    key: str = ACTION_KINDS[raw["kind"]](**values).key
    return key
