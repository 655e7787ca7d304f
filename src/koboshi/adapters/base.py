"""Adapter: what koboshi must know about one agent CLI, and nothing about how to reach it.

Everything here is a pure function of its arguments. A decoder has no memory (law 3): two equal
looks give two equal readings, whatever came between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from koboshi.core.events import SignalRead
    from koboshi.core.readings import Meaning, Prompt, Reading
    from koboshi.observations import ScreenSeen, Signal

    from .equipment import Equipment, Kit
    from .story import Story

#: Programs that mean "the agent has exited" when they stand in the foreground of its pane.
SHELLS = frozenset(
    {
        "sh",
        "bash",
        "zsh",
        "fish",
        "dash",
        "ksh",
        "tcsh",
        "csh",
        "nu",
        "ash",
        "elvish",
        "xonsh",
        "pwsh",
    }
)


#: Programs that show files: while one is in the foreground, the screen is not the agent's.
VIEWERS = frozenset(
    {
        *("less", "more", "most", "man", "bat", "cat", "tail", "view", "vi", "vim", "nvim"),
        *("nano", "emacs", "helix", "hx", "micro", "kak", "htop", "top", "watch"),
    }
)


class Adapter(Protocol):
    """Knowledge about one CLI."""

    name: str
    offers: ClassVar[tuple[str, ...]]  #: the signals by which it can be known
    hands_over: ClassVar[bool]  #: asked for a note in words; else it has a command that saves
    tested: str  #: versions whose screens were tested, such as ">=2.1,<3"; empty: any

    def read(self, seen: ScreenSeen) -> Reading:
        """What that screen shows."""
        ...

    def own(self, rows: tuple[str, ...]) -> tuple[bool, ...]:
        """Of each row of its transcript, whether these are its own words."""
        ...

    def signal(self, seen: Signal) -> SignalRead | None:
        """What something beside the screen says; None: nothing, or it has no such thing."""
        ...

    def equip(self, argv: tuple[str, ...], kit: Kit) -> Equipment:
        """What a run is given so that it tells of itself; the user's own files stay as they are."""
        ...

    def argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """How a fresh run is started, under that session id where the CLI takes one."""
        ...

    def resume_argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """How a run is started that goes on where the session ended."""
        ...

    def continue_argv(self, *, program: tuple[str, ...]) -> tuple[str, ...]:
        """How a run is started that goes on with the last session of its folder."""
        ...

    def headless_argv(
        self, *, program: tuple[str, ...], prompt: str, session: str | None = None
    ) -> tuple[str, ...]:
        """How one prompt is run without a terminal; that session goes on where one is named."""
        ...

    def session_at_start(self, *, program: tuple[str, ...], session: str) -> str:
        """The id that `argv` with that session begins; empty: the CLI picks one by itself."""
        ...

    def env(self, program: tuple[str, ...]) -> Mapping[str, str]:
        """Variables that keep a run supervisable, but for those the program's words set."""
        ...

    def interrupt_keys(self) -> tuple[str, ...]:
        """The keys that end a turn; empty: none are known.

        Each is pressed for itself, `submit_pause` apart: two Escapes at once are another key.
        """
        ...

    @property
    def submit_pause(self) -> float:
        """Seconds to wait between a paste and Enter."""
        ...

    def story(self, lines: Iterable[bytes]) -> Story:
        """What those lines of its transcript tell."""
        ...

    def holds(self, draft: str, text: str) -> bool:
        """Whether a box that shows that draft holds that text and nothing else."""
        ...

    def keys_for(self, prompt: Prompt, choice: Meaning) -> tuple[str, ...] | None:
        """The keys that pick the option of that meaning; None: there is no such option."""
        ...

    def clean_exit(self, code: int | None, signal: int | None) -> bool:
        """Whether an exit with that status was meant by somebody."""
        ...

    def said_goodbye(self, seen: ScreenSeen) -> bool:
        """Whether the last words above a shell's prompt are those of a CLI that was told to go."""
        ...

    def lost_session(self, seen: ScreenSeen) -> bool:
        """Whether the last words on the screen are that the session to go on with is not there."""
        ...

    def save_text(self, name: str) -> str:
        """What is typed to save the work under that name."""
        ...

    def load_text(self, name: str) -> str:
        """What is typed to load what was saved under that name."""
        ...

    def saved(self, lines: tuple[str, ...], name: str) -> bool:
        """Whether these transcript lines confirm the save."""
        ...

    def loaded(self, lines: tuple[str, ...], name: str) -> bool:
        """Whether these transcript lines confirm the load."""
        ...

    def exit_text(self) -> str:
        """What is typed to make the agent exit."""
        ...
