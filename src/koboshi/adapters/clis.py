"""What the adapters of the real CLIs share: a manifest reads, a few lines know the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from . import starting
from .equipment import Bare
from .grammar import load, read_screen
from .grammar.answers import keys_to_choose
from .grammar.exits import lost_session, said_goodbye
from .pasted import holds, holds_end
from .speech import Marks, own_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from koboshi.core.readings import Meaning, Prompt, Reading
    from koboshi.observations import ScreenSeen

    from .grammar.manifests import Manifest


class CliAdapter(Bare):
    """Knowledge about one CLI, most of it in its manifest.

    `override` is the user's own manifest, `version` what the CLI printed when it was asked.
    """

    name: str = ""
    offers: ClassVar[tuple[str, ...]] = ("process", "screen", "title")
    hands_over: ClassVar[bool] = True
    #: A screen without styles is read, or refused with `StylesWanted`; never read differently.
    reads_plain: ClassVar[bool] = True
    #: Exit codes that somebody meant: a typed exit, or an asked-for end by a signal.
    clean_codes: ClassVar[frozenset[int]] = frozenset({0})

    def __init__(self, override: str | None = None, version: str = "") -> None:
        self._manifest = load(self.name, override, version)
        self._version = version
        self.tested = self._manifest.versions

    @property
    def manifest(self) -> Manifest:
        """What it reads and starts by."""
        return self._manifest

    def read(self, seen: ScreenSeen) -> Reading:
        """What that screen shows."""
        reading = read_screen(self._manifest, seen)
        strange = self._manifest.strange_version
        return replace(reading, evidence=(*reading.evidence, strange)) if strange else reading

    def own(self, rows: tuple[str, ...]) -> tuple[bool, ...]:
        """Of each row of its transcript, whether these are its own words."""
        blocks = self._manifest.blocks
        marks = Marks(head=blocks.head, user=blocks.user, tool=blocks.tool, tree=blocks.tree)
        return own_rows(rows, marks)

    def argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """A fresh run, under that session id where the CLI takes one."""
        return starting.fresh_argv(self._manifest.start, program, session, self._version)

    def resume_argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """A run that goes on where the session ended; without an id, with the last one."""
        return starting.resumed_argv(self._manifest.start, program, session, self._version)

    def continue_argv(self, *, program: tuple[str, ...]) -> tuple[str, ...]:
        """A run that goes on with the last session of its folder."""
        return starting.continued_argv(self._manifest.start, program, self._version)

    def headless_argv(
        self, *, program: tuple[str, ...], prompt: str, session: str | None = None
    ) -> tuple[str, ...]:
        """One prompt without a terminal, its events printed as JSON."""
        return starting.headless_argv(self._manifest.start, program, prompt, session)

    def session_at_start(self, *, program: tuple[str, ...], session: str) -> str:
        """The id that a fresh run has; empty: the CLI picks one by itself."""
        return starting.session_at_start(self._manifest.start, program, session, self._version)

    def env(self, program: tuple[str, ...]) -> Mapping[str, str]:
        """Variables that keep a run supervisable, but for those the program's words set."""
        return starting.missing_env(self._manifest.start, program)

    def interrupt_keys(self) -> tuple[str, ...]:
        """The keys that end a turn."""
        return self._manifest.interrupt

    @property
    def submit_pause(self) -> float:
        """Seconds to wait between a paste and Enter."""
        return self._manifest.pause

    def holds(self, draft: str, text: str) -> bool:
        """Whether it stands there: in full, as far as there is room, or by words for a paste."""
        box = self._manifest.box
        return holds(draft, text, box.pasted) or holds_end(draft, text, box.scrolled)

    def keys_for(self, prompt: Prompt, choice: Meaning) -> tuple[str, ...] | None:
        """The digit of the option of that meaning, or the way to it; None: there is none."""
        return keys_to_choose(prompt, choice, move=self._manifest.dialog.move)

    def clean_exit(self, code: int | None, signal: int | None) -> bool:
        """Whether the run was ended on purpose."""
        return signal is None and code in self.clean_codes

    def said_goodbye(self, seen: ScreenSeen) -> bool:
        """Whether it left with its last words, and no signal ended it."""
        return said_goodbye(self._manifest, seen.text)

    def lost_session(self, seen: ScreenSeen) -> bool:
        """Whether it did not find the session that it was to go on with."""
        return lost_session(self._manifest, seen.text)

    def exit_text(self) -> str:
        """What is typed to make the agent exit."""
        return self._manifest.words.get("exit", "")
