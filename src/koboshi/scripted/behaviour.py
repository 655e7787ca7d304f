"""A coding-agent CLI as a state machine: time and keys go in, a screen and hooks come out.

Nothing here looks at a clock or at the outside: the real program (`program.py`) and a simulation in
virtual time run the same code. `status`, `draft`, `answers`, `forgot`, `progress`, `done`,
`moved_at` … are the truth, which an observer has to guess from `screen()`.
"""

from __future__ import annotations

import json
import re

from .acts import (
    Act,
    Ask,
    Compact,
    Crash,
    Done,
    EndTurn,
    Fail,
    Hang,
    Limit,
    Print,
    Reload,
    Retry,
    Script,
    ScriptError,
    Work,
    load_script,
)
from .dialogs import Dialog, open_dialog
from .drawing import box, footer, hang
from .turns import FULL, Exit, Turns
from .wording import compacting_line, retry_line, spinner_line

__all__ = [
    "Act",
    "Ask",
    "Behaviour",
    "Compact",
    "Crash",
    "Done",
    "EndTurn",
    "Exit",
    "Fail",
    "Hang",
    "Limit",
    "Print",
    "Reload",
    "Retry",
    "Script",
    "ScriptError",
    "Work",
    "load_script",
]

#: What it is asked for its context with, and what it has to say when it is given a note.
_PROBE, _HANDED_OVER = "CTX:<n>%", re.compile(r"the number (\d{5}) between two colons")
_SAVE_SECONDS = 0.5  # a note is short
_OUT_SECONDS = 1.0  # until a turn fails while nothing answers
_COMPACT_SECONDS = 2.0  # for /compact; a Compact act says how long it takes
_SHOWN_CONTEXT = 60  # percent from which on the footer tells
_FRESH_CONTEXT = 3.0  # percent that instructions alone take


class Behaviour(Turns):
    """One run of the scripted agent.

    `resumed=False` knows nothing of earlier runs until `/load`: `progress` counts from 0 then.
    """

    _ahead = ""  #: what stood in the box when something was pasted behind it
    _frame = ""
    _frame_key = (-1, "")

    # --- the truth --------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """The status word an all-knowing observer would use."""
        if self.exit is not None:
            return "gone"
        return self._trouble if self._trouble and self._state == "idle" else self._state

    @property
    def dialog(self) -> Dialog | None:
        """The open dialog."""
        return self._dialog

    @property
    def prompt_number(self) -> int | None:
        """Which dialog of this run is open, counted from 1."""
        return self._dialog.number if self._dialog else None

    @property
    def queued(self) -> tuple[str, ...]:
        """Messages that wait for the end of this turn."""
        return tuple(self._queue)

    @property
    def title(self) -> str:
        """The terminal's title: a spinner while a turn runs; a dialog looks like idle."""
        if self._state != "working":
            return "✳ scripted"
        return "⠂ scripted" if int(self._now) % 2 else "⠐ scripted"

    # --- keys -------------------------------------------------------------------------------------

    def type(self, text: str, now: float, utc: float) -> None:
        """Printable text arrives at once, as `send-keys -l` sends it; newlines stay in the box."""
        self.advance(now, utc)
        if self.exit is not None:
            return
        if self._dialog is None:
            self._edit(self.draft + text)
        elif len(text) == 1 and text in "123456789":
            self._choose(int(text) - 1)

    def paste(self, text: str, now: float, utc: float) -> None:
        """A bracketed paste arrives: into the box, never into a dialog."""
        self.advance(now, utc)
        if self.exit is None and self._dialog is None:
            self._ahead = self.draft
            self._edit(self.draft + text)

    def key(self, name: str, now: float, utc: float) -> None:
        """One key arrives, under its tmux name; a single character is typed."""
        self.advance(now, utc)
        if self.exit is not None:
            return
        if len(name) == 1:
            self.type(name, now, utc)
        elif self._dialog is not None:
            self._dialog_key(self._dialog, name)
        else:
            self._box_key(name)

    def decide(self, number: int, meaning: str, now: float, utc: float) -> bool:
        """What a hook said about that dialog; False: it is not open any more, and nothing is done.

        A refusal through a hook does not end the turn: the model reads why and goes on.
        """
        self.advance(now, utc)
        dialog, act = self._dialog, self._doing
        if self.exit is not None or dialog is None or dialog.number != number:
            return False
        if meaning == "no" and isinstance(act, Ask):
            self.answers.append((dialog.number, meaning))
            self._dialog, self._state = None, "working"  # asking -> working
            self.progress += 1
            self._print("● ", "  ", f"Bash({act.command})")
            self._print("  ⎿ ", "    ", "Denied by PermissionRequest hook", close=True)
            self._next_act()
        else:
            self._close(meaning, finished=True)
        return True

    def resize(self, cols: int, rows: int) -> None:
        """The terminal has another size now."""
        self.cols, self.rows = cols, rows
        self._transcript.resize(cols)
        self._version += 1

    def _dialog_key(self, dialog: Dialog, name: str) -> None:
        if name == "Enter":
            self._choose(dialog.selected)
        elif name in {"Up", "Down"}:
            step = 1 if name == "Down" else -1
            dialog.selected = (dialog.selected + step) % len(dialog.options)
            self._version += 1
        elif name in {"Escape", "C-c"}:
            self._close("no", finished=False)

    def _box_key(self, name: str) -> None:
        match name:
            case "Enter" if self._state == "starting":
                self._edit(self.draft + "\n")  # Enter before the first paint is a newline
            case "Enter":
                self._submit()
            case "Escape" | "C-c" if self._state == "working":
                self._interrupt()
            case "C-u" | "C-c":
                self._edit("")
            case "C-d" if not self.draft and self._state == "idle":
                self._leave()
            case "BSpace":
                self._edit(self.draft[:-1])
            case "Space":
                self._edit(self.draft + " ")
            case _:  # a key that does nothing here
                pass

    def _edit(self, draft: str) -> None:
        self.draft = draft
        self._version += 1

    def _submit(self) -> None:
        text = self.draft.strip()
        if not text:
            return
        self._edit("")
        if self._state == "working" or self._queue:
            self._queue.append(text)
        else:
            self._run(text)

    # --- messages and slash commands --------------------------------------------------------------

    def _run(self, text: str) -> None:
        word, _, name = text.partition(" ")
        self._print("> ", "  ", text)
        match word:
            case "/exit":
                self._leave()
            case "/clear":
                self._transcript.clear()
                self._trouble, self.context, self._known = "", _FRESH_CONTEXT, False
                self._print("✻ ", "  ", "Conversation cleared")
            case "/model":
                self._dialogs += 1
                self._dialog, self._state = (
                    open_dialog("picker", self._dialogs),
                    "asking",
                )  # idle -> asking
            case "/save" | "/load" | "/compact" | "/continue":
                self._turn(text, word, name.strip())
            case _ if word.startswith("/"):
                self._print("● ", "  ", f"Unknown command: {word}")
            case _:
                self._turn(text, "", "")

    def _turn(self, text: str, word: str, name: str) -> None:
        self._before = (self._trouble, self.limited_until)
        if self._refuses(word):
            return
        self._state, self._trouble, self._began = "working", "", self._now  # idle -> working
        self._turns += 1
        self._message, self._doing = text, None
        self._hook("UserPromptSubmit", prompt=text)
        outage = self.outage
        if outage is not None and self._utc < outage[0]:
            self._wait(_OUT_SECONDS, lambda: self._hit_error(outage[1]))
            return
        match word:
            case "/save":
                self._wait(_SAVE_SECONDS, lambda: self._save(name))
            case "/load":
                self._load(name)
            case "/compact":
                self._doing = Compact(seconds=_COMPACT_SECONDS)
                self._wait(_COMPACT_SECONDS, self._compact_and_end)
            case _ if _PROBE in text:
                self._print("● ", "  ", f"CTX:{self.context:.0f}%")
                self._end()
            case _:
                self._heed_note(text)
                self._recall()
                self._next_act()

    def _refuses(self, word: str) -> bool:
        if self.limited_until is not None and self._utc < self.limited_until:
            self._hit_limit(self.limited_until)
            return True
        if self.context >= FULL and word != "/compact":
            self._hit_full()
            return True
        self.limited_until = None
        return False

    def _heed_note(self, text: str) -> None:
        """A note in words: it goes on with what that names, or with what it saved itself last."""
        if (found := _HANDED_OVER.search(text)) is None:
            return
        self._print("● ", "  ", f":{found[1]}: I have the note.")
        if not self._known:
            named = [name for name in self.notes if name in text] or list(self.notes)
            self._known, self.progress = True, self._noted(named[-1] if named else "") or 0
            self.done = self._is_finished()

    def _recall(self) -> None:
        if self._known:
            return
        self._known, self.progress, self.done = True, 0, False
        others = (note for note in self.notes.values() if self.session not in note)
        self.forgot = self.forgot or any(others)

    def _compact_and_end(self) -> None:
        self._compacted()
        self._end()

    def _save(self, name: str) -> None:
        self.notes[name] = json.dumps({"progress": self.progress, "session": self.session})
        self._print("● ", "  ", f"Saved {name}")
        self._end()

    def _noted(self, name: str) -> int | None:
        """How far it had come by that note; None: it is not there, or damaged."""
        try:
            return max(int(json.loads(self.notes[name])["progress"]), 0)
        except (KeyError, ValueError, TypeError):
            return None

    def _load(self, name: str) -> None:
        progress = self._noted(name)
        if progress is None:
            self._print("● ", "  ", f"No such note: {name}")
            self._end()
            return
        self.progress = progress
        self._known, self.done = True, self._is_finished()
        self._print("● ", "  ", f"Loaded {name}")
        self._next_act()

    def _leave(self) -> None:
        self._hook("SessionEnd", reason="prompt_input_exit")
        self._print("  ⎿ ", "    ", f"Bye. Come back with --resume {self.session}", close=True)
        self._gone(Exit(code=0))

    # --- what it shows ----------------------------------------------------------------------------

    def screen(self) -> str:
        """The frame as it stands; blank at the start, the last one after the end."""
        if self.exit is not None or self._state == "starting":
            return self._frame
        spinner = self._spinner() if self._state == "working" else ""
        if self._frame_key != (self._version, spinner):
            self._frame_key = (self._version, spinner)
            self._frame = self._draw(spinner)
        return self._frame

    def _spinner(self) -> str:
        act, seconds = self._doing, int(self._now - self._began)
        if isinstance(act, Retry):
            return retry_line(act, self._now - self._act_began)
        if isinstance(act, Compact):
            return compacting_line(seconds)
        return spinner_line(self._turns, seconds, len(self._queue))

    def _draw(self, spinner: str) -> str:
        if self._dialog is not None:
            live = ["", *self._dialog.rows(self.cols, self.rows)]
        else:
            used = int(self.context)
            right = f"{used}% context used" if used >= _SHOWN_CONTEXT else ""
            left = "esc to interrupt" if spinner else "? for shortcuts"
            live = ["", *hang("", "  ", spinner, self.cols - 2), ""] if spinner else [""]
            live += [*box(self.draft, self.cols, self._ahead), footer(left, right, self.cols)]
        room = self.rows - len(live)
        above = self._transcript.rows[-room:] if room > 0 else []
        return "\n".join((*above, *live)[-self.rows :])
