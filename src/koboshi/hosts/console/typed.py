"""Which of the bytes from a person's terminal a person has typed.

The terminal itself speaks on the same line: it answers questions, says that the window has the
focus, and that the mouse has moved. None of that is a person at the keyboard. What is in doubt is
taken for a person: to hold still for nothing costs seconds, to type into a person's line does harm.
"""

from __future__ import annotations

import re

#: Longest piece of an unfinished answer that is kept; a longer one counts as typed.
LONGEST = 4096

_CSI_ANSWER = (
    rb"\[(?:"
    rb"[?>=][\d;]*c"  # what the terminal is
    rb"|\d+;\d+R"  # where the cursor is (and Shift-F3, which is given away for it)
    rb"|\??[\d;]*n"  # "I am well", colour scheme
    rb"|\??\d+;\d+\$y"  # whether a mode is set
    rb"|\?\d+u"  # kitty keyboard flags
    rb"|[\d;:]+t"  # sizes
    rb"|[IO]"  # focus
    rb"|<(?:3[2-9]|4\d|5\d|6[0-3]);\d+;\d+[Mm]"  # the mouse has moved: bit 32, and no wheel
    rb"|<\d+;\d+;\d+m"  # a button was let go
    rb"|M[\x40-\x5f\x23][^\x00]{2}"  # the same in the old coding: moved, let go
    rb")"
)
#: OSC, DCS, APC, PM: only a terminal sends strings.
_STRING = rb"[\]P_^][^\x07\x1b]*(?:\x07|\x1b\\)"
_ANSWER = re.compile(rb"\x1b(?:" + _CSI_ANSWER + rb"|" + _STRING + rb")", re.DOTALL)
#: What may become an answer with the next piece. A lone ESC is the key.
_CUT = re.compile(
    rb"\x1b(?:\[[?<>=]?[\d;:]*\$?|\[M[^\x00]{0,2}|[\]P_^][^\x07\x1b]*\x1b?)\Z", re.DOTALL
)


class Typed:
    """Tells typing from a terminal's own words, in whatever pieces they come."""

    def __init__(self) -> None:
        self._cut = b""

    def feed(self, data: bytes) -> bool:
        """Whether a person typed something of this."""
        data = self._cut + data
        cut = _CUT.search(data)
        self._cut = cut[0] if cut and len(cut[0]) <= LONGEST else b""
        whole = data[: len(data) - len(self._cut)]
        return bool(_ANSWER.sub(b"", whole))
