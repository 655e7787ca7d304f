"""One look as rows: the text, the terminal's width, and attributes where they were captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.text import rows_of, width
from koboshi.errors import StylesWanted

from .sidebars import SIDEBAR, cut_sidebar
from .styles import StyledRows
from .toasts import cut_scrollbar, cut_toast

if TYPE_CHECKING:
    from koboshi.observations import ScreenSeen

    from .styles import Style

_MOST_COLUMNS = 1000
_LEAST_COLUMNS = 40  # narrower is not a terminal but a cut text


class Frame:
    """A screen's rows, without trailing blanks; `columns` is measured where it is not told.

    StylesWanted when an attribute is asked for that was not captured but could be.
    """

    __slots__ = ("_styled", "columns", "rows", "seen", "sidebar", "toast")

    def __init__(self, seen: ScreenSeen, *, toasts: bool = False) -> None:
        self.seen = seen
        # A no-break space looks like any other; no terminal is wider than the cut.
        self.rows = rows_of(seen.text.replace("\xa0", " "))
        if max(map(len, self.rows), default=0) > _MOST_COLUMNS:
            self.rows = [row[:_MOST_COLUMNS] for row in self.rows]
        self.columns = (
            seen.cols if seen.cols > 0 else max([_LEAST_COLUMNS, *(map(width, self.rows))])
        )
        self.sidebar: list[str] = []  #: what it tells beside the transcript
        self.toast = ""  #: what the program tells in passing
        if toasts:
            self.rows, self.toast = cut_toast(self.rows, self.columns)
            self.rows, self.sidebar = cut_sidebar(self.rows, self.columns)
            self.columns -= SIDEBAR if self.sidebar else 0
            self.rows = cut_scrollbar(self.rows, self.columns)
        self._styled: StyledRows | None = None

    @property
    def has_styles(self) -> bool:
        """Whether attributes were captured."""
        return bool(self.seen.ansi)

    def styles(self, index: int, text: str) -> set[Style]:
        """The styles `text` is drawn in on that row; empty when that is not known."""
        if self.seen.plain and text.strip():
            raise StylesWanted
        if not self.seen.ansi or not text.strip():
            return set()
        if self._styled is None:
            self._styled = StyledRows(self.seen.ansi.replace("\xa0", " "))
        return self._styled.styles(index, text)

    def is_faint(self, index: int, text: str) -> bool | None:
        """Whether all of `text` is dim or grey there; None when that is not known."""
        styles = self.styles(index, text)
        if not styles:
            return None
        # The cursor stands on a placeholder's first character and draws it inverted.
        return any(s.faint for s in styles) and all(s.faint or s.inverse for s in styles)

    def is_coloured(self, index: int, text: str) -> bool | None:
        """Whether all of `text` is drawn in a colour there; None when that is not known."""
        styles = self.styles(index, text)
        return all(style.coloured for style in styles) if styles else None
