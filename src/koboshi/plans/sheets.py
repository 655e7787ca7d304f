"""A plan file as an outline: which line belongs under which, by how far it is set in."""

from __future__ import annotations

from dataclasses import dataclass

from .lines import Line, plain, split

#: Where a line stands: ("PLAN", "STEPS", "2").
Path = tuple[str, ...]
#: Blanks that a new line is set in by, where the file has no example.
UNIT = "  "


@dataclass(frozen=True, slots=True)
class Sheet:
    """Lines and, for each, the number of the line it belongs under (-1: none)."""

    lines: tuple[Line, ...]
    above: tuple[int, ...]
    below: dict[int, tuple[int, ...]]  #: the other way round; -1: at the margin

    @classmethod
    def of(cls, lines: tuple[Line, ...]) -> Sheet:
        """The outline of those lines; blank lines and comments belong under nothing."""
        above, open_lines = list[int](), list[int]()
        below: dict[int, list[int]] = {}
        for number, line in enumerate(lines):
            if not line.content:
                above.append(-1)
                continue
            while open_lines and lines[open_lines[-1]].indent >= line.indent:
                open_lines.pop()
            above.append(open_lines[-1] if open_lines else -1)
            below.setdefault(above[-1], []).append(number)
            open_lines.append(number)
        return cls(lines, tuple(above), {up: tuple(inner) for up, inner in below.items()})

    @property
    def text(self) -> str:
        """The file."""
        return "".join(line.raw for line in self.lines)

    def under(self, number: int) -> tuple[int, ...]:
        """The lines right under that one; -1: those that stand at the margin."""
        return self.below.get(number, ())

    def all(self, *path: str) -> list[int]:
        """All lines at that path."""
        found = [-1]
        for key in path:
            found = [n for up in found for n in self.under(up) if self.lines[n].key == key]
        return found

    def find(self, *path: str) -> int | None:
        """The first line at that path."""
        return next(iter(self.all(*path)), None)

    def last(self, number: int) -> int:
        """The last line that belongs to that one: itself, or the last under it."""
        end = number
        for each in range(number + 1, len(self.lines)):
            line = self.lines[each]
            if line.content and line.indent <= self.lines[number].indent:
                break
            end = each if line.content else end
        return end

    def words(self, number: int) -> str:
        """What a line says, with the lines under it: a value may go on over several."""
        own = plain(self.lines[number].value)
        rows = [own] if own else []
        if self.last(number) > number:
            inner = self.lines[number + 1 : self.last(number) + 1]
            rows += [line.raw.strip("\ufeff \t\u3000\r\n") for line in inner if line.content]
        return "\n".join(rows)

    def replaced(self, first: int, last: int, lines: tuple[Line, ...]) -> Sheet:
        """With other lines in the place of `first` to `last`; `last < first` inserts."""
        return Sheet.of((*self.lines[:first], *lines, *self.lines[last + 1 :]))

    @property
    def ending(self) -> str:
        """How this file ends its lines."""
        return next((line.ending for line in self.lines if line.ending), "\n")


def sheet(text: str) -> Sheet:
    """The outline of any text."""
    return Sheet.of(split(text))
