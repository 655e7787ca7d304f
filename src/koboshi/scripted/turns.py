"""What happens inside a turn: acts begin and end, dialogs open and close, the turn comes to rest.

Start reading at `Turns.advance`: everything that happens by itself happens there, at its own time.
Keys, commands and the screen are in `behaviour.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

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
    Work,
)
from .dialogs import Dialog, open_dialog
from .drawing import Transcript
from .wording import cause, limit_line

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

FULL = 100.0  # percent of the context
_COMPACTED = 10.0  # percent of the context left in use by a summary
_UNSEND_SECONDS = 1.0  # Escape before the first token puts the message back into the box
_HUNG_UP = 129  # exit code after SIGHUP
_INTERRUPTED = "Interrupted · what should it do instead?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How the process ended; exactly one of the two is set."""

    code: int | None = None
    signal: int | None = None


class Turns:
    """The part of a run that needs no keyboard."""

    exit: Exit | None = None
    last_words: Reload | None = None  # what this run leaves to the next one
    _dialog: Dialog | None = None
    _doing: Act | None = None
    _message: str | None = None  # what Escape can still un-send
    _version = 0  # of what is shown, the spinner aside

    def __init__(  # noqa: PLR0913 - keyword-only, most with a default
        self,
        script: Script,
        *,
        session: str,
        progress: int = 0,
        context: float = 3.0,
        resumed: bool,
        now: float,
        utc: float,
        notes: MutableMapping[str, str],
        cols: int = 100,
        rows: int = 30,
        start_seconds: float = 0.3,
        limited_until: float | None = None,
        outage: tuple[float, str] | None = None,
    ) -> None:
        self.script, self.session, self.notes = script, session, notes
        self.resumed, self.context = resumed, context
        self.progress = (
            progress if resumed else 0
        )  # index of the next act, as far as this run knows
        self.done = self._is_finished()
        self.limited_until = limited_until  # epoch seconds; outlives the run that hit it
        self.outage = outage  # until when (epoch seconds) every turn fails, and with which code
        self.draft, self.forgot = "", False
        self.hooks: list[dict[str, Any]] = []
        self.answers: list[tuple[int, str]] = []
        self.cols, self.rows = cols, rows
        self._known = resumed  # whether this run knows how far the work is
        self._state, self._trouble = "starting", ""
        self._before: tuple[str, float | None] = ("", None)  # trouble and limit when the turn began
        self._dialogs = self._turns = 0
        self._queue: list[str] = []
        self._transcript = Transcript(cols)
        self._now, self._utc = now, utc
        self._due: float | None = now + start_seconds
        self._then: Callable[[], None] = self._open
        self._began = self._act_began = self.moved_at = now

    def advance(self, now: float, utc: float) -> None:
        """Let time pass up to `now`; everything due until then happens at its own time."""
        ahead = utc - now
        while self._due is not None and self._due <= now and self.exit is None:
            self._now, self._due = max(self._due, self._now), None
            self._utc = self._now + ahead
            self._then()
        if self.exit is None and now >= self._now:
            self._now, self._utc = now, utc

    def next_at(self) -> float | None:
        """When something happens by itself next; a counting spinner is not something."""
        return None if self.exit else self._due

    def screen(self) -> str:
        """The frame as it stands."""
        raise NotImplementedError

    def _run(self, text: str) -> None:
        raise NotImplementedError

    def _wait(self, seconds: float | None, then: Callable[[], None]) -> None:
        self._due = None if seconds is None else self._now + seconds
        self._then = then

    def _open(self) -> None:
        self._state = "idle"  # starting -> idle
        self._print("✻ ", "  ", f"Scripted agent · session {self.session}")
        if self.resumed:
            self._print("  ⎿ ", "    ", "Session resumed", close=True)
        self._hook("SessionStart", source="resume" if self.resumed else "startup")

    def _is_finished(self) -> bool:
        at = self.progress
        return at > 0 and (at >= len(self.script) or isinstance(self.script[at - 1], Done))

    # --- acts -------------------------------------------------------------------------------------

    def _next_act(self) -> None:
        while self._state == "working" and self.exit is None:
            if self.progress >= len(self.script):
                self._print("● ", "  ", "Nothing is left to do.")
                self.done = True
                self._end()
                return
            if not self._start(self.script[self.progress]):
                return

    def _start(self, act: Act) -> bool:
        """Begin an act; True when it is over at once and the turn goes on."""
        self._doing, self._act_began = act, self._now
        match act:
            case Work(seconds=seconds) | Retry(seconds=seconds) | Compact(seconds=seconds):
                self._wait(seconds, self._finish_timed)
            case Ask():
                self._ask(act)
            case Hang():
                self.progress += 1  # before it hangs: a resumed run must not hang again
                self._wait(None, self._end)
            case Print(lines=lines):
                self.progress += 1
                self._show(lines)
                return True
            case Crash() | Reload() | Limit() | Fail() | EndTurn() | Done():
                self.progress += 1  # before it happens: it happens once
                self._finish_turn(act)
            case _:
                assert_never(act)
        return False

    def _finish_turn(self, act: Crash | Reload | Limit | Fail | EndTurn | Done) -> None:
        match act:
            case Reload():
                self.last_words = act
                self._gone(Exit(code=_HUNG_UP))
            case Crash(code=code, signal=signal):
                self._gone(Exit(code=code) if signal is None else Exit(signal=signal))
            case Limit(seconds=seconds):
                self._hit_limit(float(math.ceil(self._utc + seconds)))
            case Fail(code=code, seconds=seconds):
                self.outage = (self._utc + seconds, code) if seconds else None
                self._hit_error(code)
            case EndTurn():
                self._end()
            case Done():
                self.done = True
                self._print("● ", "  ", "Everything is done.")
                self._end()
            case _:
                assert_never(act)

    def _finish_timed(self) -> None:
        act = self._doing
        self.progress += 1
        if isinstance(act, Compact):
            self._compacted()
        if isinstance(act, Work):
            self.context = min(self.context + act.context, FULL)
            if act.say:
                self._print("● ", "  ", act.say)
            if self.context >= FULL:
                self._hit_full()
                return
        self._next_act()

    def _compacted(self) -> None:
        self.context = min(self.context, _COMPACTED)
        self._transcript.clear()
        self._print("✻ ", "  ", "Conversation compacted (ctrl+o for history)")

    def _show(self, lines: tuple[str, ...]) -> None:
        self._print("● ", "  ", "Read(output)")
        for line in lines:
            self._print("    ", "    ", line, close=True)

    # --- dialogs ----------------------------------------------------------------------------------

    def _ask(self, act: Ask) -> None:
        self._dialogs += 1
        self._dialog = open_dialog(act.kind, self._dialogs, act.command, act)
        self._state = "asking"  # working -> asking
        self._version += 1
        self._tool_hook("PreToolUse", act)
        self._tool_hook("PermissionRequest", act)

    def _choose(self, index: int) -> None:
        if self._dialog is not None and index < len(self._dialog.options):
            self._close(self._dialog.options[index][1], finished=True)

    def _close(self, meaning: str, *, finished: bool) -> None:
        dialog, act = self._dialog, self._doing
        if dialog is None:
            return
        self.answers.append((dialog.number, meaning))
        self._dialog = None
        if not isinstance(act, Ask):  # the picker a person opened: no turn runs
            self._state = "idle"  # asking -> idle
            self._print("  ⎿ ", "    ", "Model kept", close=True)
            return
        self.progress += finished
        self._print("● ", "  ", f"Bash({act.command})")
        self._state = "working"  # asking -> working
        if meaning == "no":
            self._stop_short("  ⎿ ", "    ", _INTERRUPTED, "")
            return
        if meaning == "always":
            word = act.command.partition(" ")[0]
            self._print("  ⎿ ", "    ", f"{word} commands are not asked about again", close=True)
        self._tool_hook("PostToolUse", act)
        self._next_act()

    # --- ends of a turn ---------------------------------------------------------------------------

    def _end(self) -> None:
        self._print("✻ ", "  ", f"Worked for {int(self._now - self._began)}s")
        self._hook("Stop")
        self._rest("")

    def _interrupt(self) -> None:
        if self._message is not None and self._now - self._began < _UNSEND_SECONDS:
            self._transcript.drop()
            self.draft = self._message + self.draft
            trouble, self.limited_until = self._before
            self._rest(trouble)
            return
        self._stop_short("  ⎿ ", "    ", _INTERRUPTED, "")

    def _hit_limit(self, until: float) -> None:
        self.limited_until = until
        self._stop_short("  ⎿ ", "    ", limit_line(until, self._utc), "limited")

    def _hit_error(self, code: str) -> None:
        words = f"API Error: {cause(code)}. Try again in a moment."
        self._stop_short("● ", "  ", words, "failed")

    def _hit_full(self) -> None:
        self._stop_short(
            "  ⎿ ", "    ", "Context limit reached · /compact or /clear to continue", "failed"
        )

    def _stop_short(self, first: str, rest: str, words: str, trouble: str) -> None:
        """End the turn without its usual last line; no Stop hook fires then."""
        self._print(first, rest, words, close=first.startswith(" "))
        if trouble:
            self._hook("StopFailure", error=words)
        self._rest(trouble)

    def _rest(self, trouble: str) -> None:
        self._state, self._trouble = "idle", trouble  # working -> idle, limited, failed
        self._doing, self._message = None, None
        self._version += 1
        self._wait(0.0 if self._queue else None, self._run_queued)

    def _run_queued(self) -> None:
        self._run(self._queue.pop(0))
        if self._state == "idle" and self._queue:
            self._wait(0.0, self._run_queued)

    def mutter(self, text: str, now: float, utc: float) -> None:
        """A background task prints a line, also while a dialog is open."""
        self.advance(now, utc)
        if self.exit is None and self._state != "starting":
            self._print("● ", "  ", text)

    def refuse(self, words: str) -> None:
        """It does not even begin: it says why, and ends."""
        self._state = "idle"
        self._print("● ", "  ", words)
        self._gone(Exit(code=1))

    def kill(self, signal: int, now: float, utc: float) -> None:
        """A signal ends the process; the last frame stays."""
        self.advance(now, utc)
        if self.exit is None:
            self._gone(Exit(signal=signal))

    def _gone(self, how: Exit) -> None:
        self.screen()  # the last frame stays
        self.exit = how
        self._due, self._dialog = None, None

    # --- what it tells ----------------------------------------------------------------------------

    def _print(self, first: str, rest: str, text: str, *, close: bool = False) -> None:
        self._transcript.add(first, rest, text, close=close)
        self.moved_at = self._now
        self._version += 1
        self._message = None  # something came back: Escape cannot un-send any more

    def _hook(self, event: str, **more: object) -> None:
        self.hooks.append({"session_id": self.session, "hook_event_name": event, **more})

    def _tool_hook(self, event: str, act: Ask) -> None:
        use = f"toolu_{self.session}_{self._dialogs}"
        self._hook(event, tool_name="Bash", tool_input={"command": act.command}, tool_use_id=use)
