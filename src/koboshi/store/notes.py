"""The hand-over notes of one agent, for people: newest first."""

from __future__ import annotations

import contextlib
import stat
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: Notes that are told, and bytes of each: what koboshi writes is shorter.
MOST, LONGEST = 20, 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note; the keys are a public contract (docs/reference/json.md)."""

    name: str
    utc: float
    text: str

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def notes_in(folder: Path) -> tuple[Note, ...]:
    """The newest notes there; what cannot be read is passed over."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                seen = path.lstat()
                ours = path.suffix == ".md" and path.name[0] != "." and stat.S_ISREG(seen.st_mode)
                if ours:
                    found.append((seen.st_mtime, path))
    found.sort(reverse=True)
    notes = []
    for utc, path in found[:MOST]:
        with contextlib.suppress(OSError), path.open("rb") as file:
            text = file.read(LONGEST).decode("utf-8", "replace")
            notes.append(Note(name=path.stem, utc=round(utc, 3), text=text))
    return tuple(notes)
