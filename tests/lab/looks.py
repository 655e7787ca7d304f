"""One look at a stage, for asserting, for a person's eyes, and for keeping."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from koboshi.core.readings import Meaning, Prompt, Reading
from koboshi.observations import ScreenSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look, and what the adapter read in it."""

    seen: ScreenSeen
    reading: Reading

    @property
    def prompt(self) -> Prompt:
        """The question; there must be one."""
        assert self.reading.prompt is not None, shown(self)
        return self.reading.prompt

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """What the options of the question mean, in order."""
        return tuple(option.meaning for option in self.prompt.options)

    @property
    def used(self) -> float | None:
        """Percent of the context in use, when the screen says so."""
        return self.reading.context.used if self.reading.context else None

    @property
    def retrying(self) -> bool:
        """Whether the screen tells of an error that is tried again."""
        return self.reading.error is not None and self.reading.error.retrying


def bare(text: str) -> str:
    """Text as compared: boxes wrap and indent, so white space does not count."""
    return "".join(text.split())


def shown(look: Look) -> str:
    """A look for a person's eyes."""
    seen = look.seen
    facts = f"command={seen.command!r} title={seen.title!r} cursor={seen.cursor}"
    end = f"alive={seen.alive} code={seen.code} signal={seen.signal}"
    return f"{look.reading}\n{facts} {end}\n{'-' * 100}\n{seen.text.rstrip()}\n{'-' * 100}"


def save(look: Look, folder: Path) -> None:
    """Keep a look as a case: what was seen, and what was read in it."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = look.seen
    (folder / "screen.txt").write_text(seen.text, encoding="utf-8")
    (folder / "screen.ansi").write_text(seen.ansi or "", encoding="utf-8")
    facts = {
        "title": seen.title,
        "command": seen.command,
        "cols": seen.cols,
        "rows": seen.rows,
        "cursor": seen.cursor,
        "alive": seen.alive,
        "utc": seen.utc,
        "read": look.reading.status.value,
    }
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / "seen.json").write_text(text + "\n", encoding="utf-8")
