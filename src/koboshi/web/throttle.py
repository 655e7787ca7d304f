"""How often somebody may be wrong."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Callable

#: Wrong keys within so many seconds after which an address is not listened to.
WRONG, WINDOW = 5, 60.0
#: The same over all addresses: one machine has many.
WRONG_ALL = 50
#: Addresses that are remembered.
ADDRESSES = 1000
_V6_NETWORK = 64  # bits that one household has to itself


class Throttle:
    """Counts wrong keys by address."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()
        self._all: deque[float] = deque(maxlen=WRONG_ALL)

    def wait(self, address: str) -> float:
        """Seconds until that address is listened to again; 0: now."""
        now = self._clock()
        mine = self._wrong.get(_network(address), deque())
        until = mine[0] + WINDOW if len(mine) == WRONG else 0.0
        if len(self._all) == WRONG_ALL:
            until = max(until, self._all[0] + WINDOW)
        return max(0.0, until - now)

    def wrong(self, address: str) -> None:
        """It was wrong once more."""
        name, now = _network(address), self._clock()
        mine = self._wrong.setdefault(name, deque(maxlen=WRONG))
        self._wrong.move_to_end(name)
        mine.append(now)
        self._all.append(now)
        while len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:  # noqa: PLR2004
        return address
    return str(ipaddress.ip_network((parsed, _V6_NETWORK), strict=False))
