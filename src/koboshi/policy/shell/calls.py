"""What a command line consists of: values only."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

#: Stands for what is known only when the command runs; a text that holds it itself is refused.
UNKNOWN = "\ue000"
#: Something below a folder, hidden or not: what `find` comes upon.
BELOW = "**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """A word after quotes, braces and `~`; `globs` where the shell would look for files."""

    text: str
    globs: bool = False

    @property
    def known(self) -> bool:
        """Whether the shell would pass on this very text, or names of files that match it."""
        return UNKNOWN not in self.text


#: The folders a relative path may start from; None where that is not known.
Places = frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One program with its words."""

    words: tuple[Argument, ...]
    places: Places
    fed: bool = False  #: reads from a pipe, a here-document or a file
    carrier: bool = False  #: runs another call of the script; its own words need no rule
    step: int = 0  #: its turn among all calls and touches, as far as there is an order

    @property
    def name(self) -> str:
        """The program without its folder, in lower case: some disks do not know the difference."""
        return posixpath.basename(self.words[0].text).lower() if self.words else ""

    @property
    def rest(self) -> tuple[str, ...]:
        """The words behind the program."""
        return tuple(word.text for word in self.words[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A file that a redirect reads or writes."""

    target: Argument
    places: Places
    writes: bool
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All that a command line would do, as far as it can be told."""

    calls: tuple[Call, ...] = ()
    touches: tuple[Touch, ...] = ()
    assigned: tuple[str, ...] = ()  #: variables that are set
    doubts: tuple[str, ...] = ()  #: what cannot be told; never allowed
    ordered: bool = True  #: False: parts of it run at once, or again
