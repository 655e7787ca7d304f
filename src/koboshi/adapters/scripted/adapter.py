"""Knowledge about the scripted agent, on top of its manifest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from koboshi.adapters import manifest
from koboshi.adapters.equipment import Bare
from koboshi.adapters.grammar.answers import keys_to_choose
from koboshi.adapters.pasted import holds
from koboshi.adapters.screens import read_screen
from koboshi.adapters.speech import Marks, own_rows

if TYPE_CHECKING:
    from koboshi.core.readings import Meaning, Prompt, Reading
    from koboshi.observations import ScreenSeen

_PASTED = re.compile(r"\[Pasted text #\d+(?: \+(?P<breaks>\d+) lines)?\]")


_MARKS = Marks(
    head=re.compile(r"^[●✻✽>] "),
    user=re.compile(r"^> "),
    tool=re.compile(r"^● [A-Z]\w+\("),
    tree=re.compile(r"^  ⎿ "),
)


class ScriptedAdapter(Bare):
    """Knowledge about the scripted agent."""

    name = "scripted"

    def __init__(self) -> None:
        self._manifest = manifest.load(self.name)

    def read(self, seen: ScreenSeen) -> Reading:
        """What that screen shows."""
        return read_screen(self._manifest, seen)

    def own(self, rows: tuple[str, ...]) -> tuple[bool, ...]:
        """Of each row of its transcript, whether these are its own words."""
        return own_rows(rows, _MARKS)

    def argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """A fresh run, under the session id that it can be resumed by."""
        return (*program, "--session", session)

    def resume_argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """A run that goes on where the session ended."""
        return (*program, "--resume", session)

    def session_at_start(self, *, program: tuple[str, ...], session: str) -> str:  # noqa: ARG002
        """Always ours."""
        return session

    def interrupt_keys(self) -> tuple[str, ...]:
        """One Escape."""
        return ("Escape",)

    @property
    def submit_pause(self) -> float:
        """It takes Enter at once."""
        return 0.0

    def holds(self, draft: str, text: str) -> bool:
        """Whether it stands there, in full or by the words that stand for a long paste."""
        return holds(draft, text, _PASTED)

    def keys_for(self, prompt: Prompt, choice: Meaning) -> tuple[str, ...] | None:
        """The digit of the option of that meaning; None: there is none."""
        return keys_to_choose(prompt, choice)

    def save_text(self, name: str) -> str:
        """What is typed to save the work under that name."""
        return self._manifest.words.save.format(name=name)

    def load_text(self, name: str) -> str:
        """What is typed to load what was saved under that name."""
        return self._manifest.words.load.format(name=name)

    def saved(self, lines: tuple[str, ...], name: str) -> bool:
        """Whether the last save typed under that name is confirmed below it."""
        words = self._manifest.words
        return _confirmed(lines, words.echo + self.save_text(name), words.saved.format(name=name))

    def loaded(self, lines: tuple[str, ...], name: str) -> bool:
        """Whether the last load typed under that name is confirmed below it."""
        words = self._manifest.words
        return _confirmed(lines, words.echo + self.load_text(name), words.loaded.format(name=name))

    def exit_text(self) -> str:
        """What is typed to make the agent exit."""
        return self._manifest.words.exit


def _confirmed(lines: tuple[str, ...], typed: str, confirmation: str) -> bool:
    # The same words may stand further up, from an earlier save: only what follows the echo counts.
    for start in range(len(lines) - 1, -1, -1):
        if _stands_at(lines, start, typed):
            return any(_stands_at(lines, at, confirmation) for at in range(start + 1, len(lines)))
    return False


def _stands_at(lines: tuple[str, ...], start: int, text: str) -> bool:
    """Whether the text stands there, alone, whatever way it was wrapped."""
    wanted, seen = text.replace(" ", ""), ""
    if not text.startswith(lines[start][:2]):
        return False
    for line in lines[start:]:
        seen += line.replace(" ", "")
        if len(seen) >= len(wanted):
            return seen == wanted
    return False
