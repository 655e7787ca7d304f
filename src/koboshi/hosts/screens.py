"""A terminal's screen computed from the bytes a program wrote: one small protocol, two engines.

`open_screen` takes pyghostty, else pyavt. Both give what `tmux capture-pane -p` gives: as many
lines as there are rows, without trailing spaces.
"""

from __future__ import annotations

import codecs
import importlib
import re
from typing import Any, Protocol

from koboshi.errors import HostMissing

#: What we let a terminal say back: cursor position, "I am well", its kind, and whether a mode is
#: set. Nothing else: a reply is typed into the program, and kitty keys we could not send.
ANSWERS = re.compile(rb"\x1b\[(\d+;\d+R|0n|[?>][\d;]+c|\?\d+;\d\$y)")

BRACKETED_PASTE = 2004
APPLICATION_CURSOR = 1


class Screen(Protocol):
    """Bytes in, a screen out; no clock, no I/O."""

    def feed(self, data: bytes) -> bytes:
        """Take what the program wrote; returns what its terminal has to answer."""
        ...

    def resize(self, cols: int, rows: int) -> None:
        """Another size."""
        ...

    def text(self) -> str:
        """All rows, joined by newlines, without trailing spaces."""
        ...

    def ansi(self) -> str:
        """The same with colours and attributes as escape sequences."""
        ...

    @property
    def title(self) -> str:
        """The title the program has set."""
        ...

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from zero."""
        ...

    def mode(self, number: int) -> bool:
        """Whether the program has set that DEC private mode (1 and 2004 are known)."""
        ...


def open_screen(cols: int, rows: int) -> Screen:
    """A screen of the best engine that is installed."""
    for engine in (GhosttyScreen, AvtScreen):
        try:
            return engine(cols, rows)
        except (ImportError, OSError):  # OSError: the package is there, its library is not
            continue
    message = "no terminal engine is installed"
    raise HostMissing(message, hint="pip install pyghostty (or pyavt), or use host tmux")


def padded(lines: list[str], rows: int) -> str:
    """Exactly `rows` lines."""
    return "\n".join((lines + [""] * rows)[:rows])


class GhosttyScreen:
    """Screen by libghostty."""

    def __init__(self, cols: int, rows: int) -> None:
        self._core: Any = importlib.import_module("pyghostty.core")
        self._rows = rows
        # One line: no history is ever shown, and libghostty may take 0 for "no limit".
        self._terminal = self._core.Terminal(cols, rows, scrollback=1)
        self._replies: list[bytes] = []
        self._terminal.on_reply(self._replies.append)

    def feed(self, data: bytes) -> bytes:
        """Take what the program wrote; returns what its terminal has to answer."""
        self._terminal.feed(data)
        answer = b"".join(reply for reply in self._replies if ANSWERS.fullmatch(reply))
        self._replies.clear()
        return answer

    def resize(self, cols: int, rows: int) -> None:
        """Another size."""
        self._terminal.resize(cols, rows)
        self._replies.clear()  # a size report, where the program asked for such: not ours to give
        self._rows = rows

    def text(self) -> str:
        """All rows, joined by newlines, without trailing spaces."""
        return padded([line.rstrip(" ") for line in self._terminal.text().split("\n")], self._rows)

    def ansi(self) -> str:
        """The same with colours and attributes as escape sequences."""
        lib, ffi = self._core.lib, self._core.ffi
        options = self._core.init_sized("GhosttyFormatterTerminalOptions")
        options.emit, options.trim = lib.GHOSTTY_FORMATTER_FORMAT_VT, True
        selection = self._visible()  # a name: the options hold only its address
        options.selection = selection
        formatter = ffi.new("GhosttyFormatter*")
        terminal = self._terminal._t[0]  # noqa: SLF001 - the wrapper has no VT format
        made = lib.ghostty_formatter_terminal_new(ffi.NULL, formatter, terminal, options[0])
        self._core.check(made, "formatter_terminal_new")
        try:
            text: str = self._core.read_buf(
                lambda *buffer: lib.ghostty_formatter_format_buf(formatter[0], *buffer)
            )
        finally:
            lib.ghostty_formatter_free(formatter[0])
        return padded(text.split("\r\n"), self._rows)

    def _visible(self) -> Any:  # noqa: ANN401 - a C struct
        cols, rows = self._terminal.size
        selection = self._core.init_sized("GhosttySelection")
        selection.start = self._terminal.ref(0, 0)[0]
        selection.end = self._terminal.ref(cols - 1, rows - 1)[0]
        return selection

    @property
    def title(self) -> str:
        """The title the program has set."""
        title = self._terminal.get("title", "GhosttyString")
        if not title.len:
            return ""
        raw: bytes = self._core.ffi.buffer(title.ptr, title.len)[:]
        return raw.decode(errors="replace")

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from zero."""
        x, y = self._terminal.cursor
        return int(x), int(y)

    def mode(self, number: int) -> bool:
        """Whether the program has set that DEC private mode."""
        return bool(self._terminal.mode(number))


#: What avt knows nothing of: titles, modes that concern input, and questions.
_SEEN = re.compile(
    rb"\x1b\][02];(?P<title>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    rb"|\x1b\[\?(?P<modes>[\d;]+)(?P<set>[hl])"
    rb"|\x1b\[(?P<ask>6n|5n|0?c)"
    rb"|(?P<reset>\x1bc)"
)
#: The beginning of one of those at the end of a chunk.
_CUT = re.compile(rb"\x1b(?:\](?:[^\x07\x1b]{0,4096}\x1b?)?|\[[?\d;]{0,64})?\Z")


class AvtScreen:
    """Screen by asciinema's avt."""

    def __init__(self, cols: int, rows: int) -> None:
        self._avt: Any = importlib.import_module("avt")
        self._vt = self._avt.Vt(cols, rows, 0)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rows = rows
        self._cut = b""
        self._modes: set[int] = set()
        self._title = ""

    def feed(self, data: bytes) -> bytes:
        """Take what the program wrote; returns what its terminal has to answer."""
        data = self._cut + data
        answer, fed = b"", len(self._cut)  # the cut piece has been fed already
        end = 0
        for match in _SEEN.finditer(data):
            end = match.end()
            self._vt.feed_str(self._decoder.decode(data[fed:end]))  # the cursor as of the question
            fed = max(fed, end)
            answer += self._note(match)
        self._vt.feed_str(self._decoder.decode(data[fed:]))
        cut = _CUT.search(data, end)
        self._cut = cut[0] if cut else b""
        return answer

    def resize(self, cols: int, rows: int) -> None:
        """Another size."""
        self._vt.resize(cols, rows)
        self._rows = rows

    def _note(self, match: re.Match[bytes]) -> bytes:
        if match["title"] is not None:
            self._title = match["title"].decode(errors="replace")
        elif match["modes"]:
            numbers = {int(number) for number in match["modes"].split(b";") if number}
            self._modes = self._modes | numbers if match["set"] == b"h" else self._modes - numbers
        elif match["reset"]:
            self._modes = set()
        elif match["ask"] == b"6n":
            x, y = self.cursor
            return b"\x1b[%d;%dR" % (y + 1, x + 1)
        elif match["ask"]:
            return b"\x1b[0n" if match["ask"] == b"5n" else b"\x1b[?62;22c"
        return b""

    def text(self) -> str:
        """All rows, joined by newlines, without trailing spaces."""
        return padded([line.text.rstrip(" ") for line in self._vt.view()], self._rows)

    def ansi(self) -> str:
        """The same with colours and attributes as escape sequences."""
        return padded([self._ansi_line(line) for line in self._vt.view()], self._rows)

    def _ansi_line(self, line: Any) -> str:  # noqa: ANN401 - avt.Line
        pieces: list[str] = []
        style = ""
        for cell in line.cells:
            new = self._style(cell.pen)
            if new != style and cell.width:
                pieces.append(f"\x1b[0{new}m")
                style = new
            pieces.append(cell.char if cell.width else "")
        if style:
            pieces.append("\x1b[0m")
        return "".join(pieces).rstrip(" ")

    def _style(self, pen: Any) -> str:  # noqa: ANN401 - avt.Pen
        flags = (
            *((pen.bold, 1), (pen.faint, 2), (pen.italic, 3), (pen.underline, 4)),
            *((pen.blink, 5), (pen.inverse, 7), (pen.strikethrough, 9)),
        )
        codes = [f";{code}" for on, code in flags if on]
        codes += (self._colour(38, pen.foreground), self._colour(48, pen.background))
        return "".join(codes)

    def _colour(self, base: int, colour: Any) -> str:  # noqa: ANN401 - avt.Color
        if colour is None:
            return ""
        if isinstance(colour, self._avt.Color.RGB):
            return f";{base};2;{colour[0]};{colour[1]};{colour[2]}"
        return f";{base};5;{colour[0]}"

    @property
    def title(self) -> str:
        """The title the program has set."""
        return self._title

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from zero."""
        return self._vt.cursor.col, self._vt.cursor.row

    def mode(self, number: int) -> bool:
        """Whether the program has set that DEC private mode."""
        return number in self._modes
