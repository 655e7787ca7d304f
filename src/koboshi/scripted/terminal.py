"""A raw terminal: keys come in under their tmux names, frames go out, the old state comes back."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import termios
import tty

_KEYS = {
    "\r": "Enter",
    "\x1b": "Escape",
    "\x03": "C-c",
    "\x04": "C-d",
    "\x15": "C-u",
    "\x7f": "BSpace",
    "\x08": "BSpace",
    "\t": "Tab",
    "\x1b[A": "Up",
    "\x1b[B": "Down",
    "\x1b[C": "Right",
    "\x1b[D": "Left",
    "\x1bOA": "Up",
    "\x1bOB": "Down",
}
_PASTE = re.compile("\x1b\\[200~(.*?)\x1b\\[201~", re.DOTALL)
#: A paste whose end, or a sequence whose last byte, is still on its way; a lone ESC is the key.
_UNFINISHED = re.compile("\x1b\\[200~.*|\x1b\\[[0-9;?]*$", re.DOTALL)
_PIECE = re.compile("\x1b(?:\\[[0-9;?]*[@-~]|O[A-Z])|[^\x00-\x09\x0b-\x1f\x7f]+|.", re.DOTALL)

#: What was heard: ("key", its tmux name), ("type", text) or ("paste", text).
Heard = tuple[str, str]


class Ears:
    """Bytes of a terminal as keys, typed text and pastes; keeps what is not complete yet."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def hear(self, chunk: bytes) -> list[Heard]:
        """What these bytes say."""
        text = self._rest + self._decode.decode(chunk)
        self._rest = ""
        heard: list[Heard] = []
        at = 0
        for paste in _PASTE.finditer(text):
            heard += _keys(text[at : paste.start()])
            heard.append(("paste", paste[1].replace("\r\n", "\n").replace("\r", "\n")))
            at = paste.end()
        tail = text[at:]
        unfinished = _UNFINISHED.search(tail)
        if unfinished:
            self._rest, tail = tail[unfinished.start() :], tail[: unfinished.start()]
        return heard + _keys(tail)


def _keys(text: str) -> list[Heard]:
    heard: list[Heard] = []
    for piece in _PIECE.findall(text):
        name = _KEYS.get(piece)
        if name:
            heard.append(("key", name))
        elif piece >= " " or piece == "\n":
            heard.append(("type", piece))
    return heard


class Terminal:
    """The controlling terminal, raw until `restore`."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._before = termios.tcgetattr(source)
        self._drawn: list[str] = []
        self._title = ""
        tty.setraw(source)
        self._write("\x1b[?2004h\x1b[H\x1b[2J")

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            return os.get_terminal_size(self._sink)
        except OSError:
            return (80, 24)

    def draw(self, frame: str, title: str, cursor: tuple[int, int], *, anew: bool = False) -> None:
        """Show a frame: only rows that changed are written, in one go."""
        rows = frame.split("\n")
        out = "" if title == self._title else f"\x1b]2;{title}\x07"
        if anew:
            out += "\x1b[2J"
            self._drawn = []
        for index in range(max(len(rows), len(self._drawn))):
            row = rows[index] if index < len(rows) else ""
            if index >= len(self._drawn) or self._drawn[index] != row:
                out += f"\x1b[{index + 1};1H\x1b[2K{row}"
        if out:
            # No wrapping by the terminal meanwhile: its idea of widths may differ from ours.
            self._write(
                f"\x1b[?25l\x1b[?7l{out}\x1b[?7h\x1b[{cursor[1] + 1};{cursor[0] + 1}H\x1b[?25h"
            )
        self._drawn, self._title = rows, title

    def restore(self) -> None:
        """Give the terminal back as it was, the cursor under what was drawn."""
        with contextlib.suppress(OSError, termios.error):  # the terminal itself may be gone
            self._write(f"\x1b[{max(len(self._drawn), 1)};1H\x1b[?2004l\r\n")
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._before)

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._sink, data) :]
