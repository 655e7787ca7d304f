"""What a program has switched on in a terminal, and the bytes that switch it off again, or on anew.

Nothing is altered on the way: this only listens. What is not known to be on is not switched off,
because some switches do harm when they were not on: leaving the alternate screen moves the cursor.
"""

from __future__ import annotations

import re

#: The alternate screen, by the number the program used.
ALTERNATE = (1049, 1047, 47)
#: Off at rest: cursor keys, reverse video, origin, margins, mouse in its kinds, focus, paste,
#: colour scheme and size reports. Left alone: what terminals begin with differently (1007, 2027).
OFF_AT_REST = (
    *(1, 5, 6, 9, 66, 69),
    *(1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016),
    *(2004, 2031, 2048),
)
#: Not among those above, because programs switch them with each frame: put back in any case.
CURSOR, SYNC = 25, 2026
WRAP = 7

_SEQUENCE = re.compile(
    rb"\x1b\[\?(?P<modes>[\d;]+)(?P<set>[hl])"
    rb"|\x1b\[>(?P<push>\d*)(?:;\d*)?u"
    rb"|\x1b\[<(?P<pop>\d*)u"
    rb"|\x1b\[=(?P<flags>\d*)(?:;\d*)?u"
    rb"|\x1b\[>4(?:;(?P<other>\d+))?m"
    rb"|\x1b\[(?P<margins>[\d;]*)r"
    rb"|\x1b\[(?P<shape>\d*) q"
    rb"|\x1b\]9;4;(?P<progress>\d)"
    rb"|\x1b(?P<keypad>[=>])"
    rb"|\x1b(?P<reset>c)"
)
#: The beginning of one of those at the end of a piece.
_CUT = re.compile(rb"\x1b(?:\[[?<=>]?[\d;]{0,64} ?|\](?:9(?:;(?:4;?)?)?)?)?\Z")


class Modes:
    """Remembers what is on."""

    def __init__(self) -> None:
        self._cut = b""
        self._clear()

    def _clear(self) -> None:
        self._on: set[int] = set()
        self._no_wrap = self._hidden = self._synced = self._margins = self._keypad = False
        self._alternate = 0  #: the number it was entered by
        self._other_keys = self._shape = b""
        self._progress = False
        #: Kitty keyboard flags, pushed; each of the two screens has a stack of its own.
        self._keys: dict[bool, list[bytes]] = {False: [], True: []}

    def feed(self, data: bytes) -> None:
        """Take what the program wrote, in whatever pieces."""
        if self._cut:
            data = self._cut + data
        end = 0
        for match in _SEQUENCE.finditer(data):
            end = match.end()
            self._note(match)
        cut = _CUT.search(data, max(end, len(data) - 80))
        self._cut = cut[0] if cut else b""

    def _note(self, match: re.Match[bytes]) -> None:
        kind, value = match.lastgroup, match[match.lastgroup or 0]
        if kind == "set":
            for number in match["modes"].split(b";"):
                self._switch(int(number or 0), on=value == b"h")
        elif kind == "margins":
            self._margins = value.strip(b";") != b""
        elif kind == "shape":
            self._shape = value if value not in (b"", b"0") else b""
        elif kind == "progress":
            self._progress = value != b"0"
        elif kind == "keypad":
            self._keypad = value == b"="
        elif kind == "reset":
            self._clear()
        else:
            self._note_keys(match)

    def _note_keys(self, match: re.Match[bytes]) -> None:
        stack = self._keys[bool(self._alternate)]
        if match["push"] is not None:
            stack.append(match["push"] or b"0")
            del stack[:-16]  # no terminal keeps more
        elif match["pop"] is not None:
            count = int(match["pop"] or 1)
            del stack[max(0, len(stack) - count) :]
        elif match["flags"] is not None:
            stack[-1:] = [match["flags"] or b"0"]
        else:  # a bare `CSI > 4 m` has no group at all: back to what the terminal began with
            self._other_keys = (match["other"] or b"").lstrip(b"0")

    def _switch(self, number: int, *, on: bool) -> None:
        if number in ALTERNATE:
            self._alternate = number if on else 0
        elif number == CURSOR:
            self._hidden = not on
        elif number == SYNC:
            self._synced = on
        elif number == WRAP:
            self._no_wrap = not on
        elif number in OFF_AT_REST:
            (self._on.add if on else self._on.discard)(number)

    @property
    def alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return bool(self._alternate)

    def undo(self) -> bytes:
        """What puts a terminal back to rest from here, also in the middle of a sequence.

        CAN drops a half-sent string (a clipboard cut short would be stored), ST ends it where CAN
        does not. The keyboard comes before the screen is left: the other screen has its own.
        """
        parts = [b"\x18\x1b\\\x1b[?2026l"]
        parts += [b"\x1b[?%dl" % number for number in sorted(self._on)]
        parts += [b"\x1b[>4m"] if self._other_keys else []
        parts += [b"\x1b>"] if self._keypad else []
        parts += [b"\x1b[0 q"] if self._shape else []
        parts += [b"\x1b]9;4;0\x07"] if self._progress else []
        if self._alternate:
            parts += [self._pop(on_alternate=True), b"\x1b[r" if self._margins else b""]
            parts += [b"\x1b[?%dl" % self._alternate]
        elif self._margins:
            parts += [b"\x1b7\x1b[r\x1b8"]  # it moves the cursor home
        parts += [self._pop(on_alternate=False)]
        parts += [b"\x1b[?7h"] if self._no_wrap else []
        return b"".join((*parts, b"\x1b[?25h\x1b[m\x0f\x1b(B"))

    def redo(self) -> bytes:
        """What brings a terminal at rest to where the program believes it to be."""
        parts = [self._push(on_alternate=False)]
        if self._alternate:
            parts += [b"\x1b[?%dh" % self._alternate, self._push(on_alternate=True)]
        parts += [b"\x1b[?%dh" % number for number in sorted(self._on)]
        parts += [b"\x1b[>4;%sm" % self._other_keys] if self._other_keys else []
        parts += [b"\x1b="] if self._keypad else []
        parts += [b"\x1b[%s q" % self._shape] if self._shape else []
        parts += [b"\x1b[?7l"] if self._no_wrap else []
        parts += [b"\x1b[?25l"] if self._hidden else []
        return b"".join(parts)

    def _pop(self, *, on_alternate: bool) -> bytes:
        depth = len(self._keys[on_alternate])
        return b"\x1b[<%du" % depth if depth else b""

    def _push(self, *, on_alternate: bool) -> bytes:
        return b"".join(b"\x1b[>%su" % flags for flags in self._keys[on_alternate])
