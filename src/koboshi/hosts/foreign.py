"""Panes on a tmux server that is not ours: which one is meant, and what may be said to it.

Pure functions between values and tmux's words. Nothing here sets an option, a size or a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import keys, panes
from koboshi.hosts.base import Key, Keystroke, Text
from koboshi.hosts.control import Command, quote
from koboshi.hosts.panes import SEPARATOR

FIELDS = (
    *("pane_id", "pane_pid", "pid", "pane_width", "pane_height", "cursor_x", "cursor_y"),
    *("window_index", "pane_index", "session_activity"),
    *("pane_dead", "pane_synchronized", "window_active", "pane_active"),
    *("pane_mode", "session_id", "window_id", "socket_path", "@koboshi_agent"),
    *("session_name", "pane_current_command", "window_name", "pane_title"),
)
_NUMBERS, _FLAGS = slice(1, 10), slice(10, 14)
FORMAT = SEPARATOR.join(f"#{{{field}}}" for field in FIELDS)
LIST: Command = ("list-panes", "-a", "-F", FORMAT)

#: Commands in one call. tmux takes 16 KiB of arguments; a key with all its words has 40 bytes.
AT_ONCE = 100
#: What tmux says when the server is not there; anything else is another trouble.
NO_SERVER = ("no server running", "(No such file or directory)", "(Connection refused)")
#: A server about to leave has no session, and no current target.
LOST = ("can't find", "lost server", "server exited", "no current target", "no sessions")
REFUSED = "koboshi-refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignPane:
    """What tmux says about a pane somebody else made."""

    id: str
    pid: int  #: of what the pane was opened with: a shell, mostly
    server: int  #: pid of the tmux server; ids mean nothing on another
    cols: int
    rows: int
    cursor: tuple[int, int]
    window_index: int
    index: int
    typed_at: int  #: when a person last pressed a key in that session, in whole UTC seconds
    dead: bool
    synchronized: bool  #: what is typed here is typed into its neighbours too
    window_active: bool
    active: bool
    mode: str  #: `copy-mode` while a person scrolls
    tmux_session: str
    window: str
    socket: str
    ours: str  #: the agent's name when koboshi itself made the pane
    session_name: str
    command: str
    window_name: str
    title: str

    @classmethod
    def parse(cls, line: str) -> ForeignPane | None:
        """The pane of one FORMAT line; None for one that is not there: its fields are empty."""
        parts = line.split(SEPARATOR, len(FIELDS) - 1)
        if len(parts) < len(FIELDS) or not all(part.isdecimal() for part in parts[_NUMBERS]):
            return None
        pid, server, cols, rows, x, y, window_index, index, typed = map(int, parts[_NUMBERS])
        dead, synchronized, window_active, active = (part == "1" for part in parts[_FLAGS])
        mode, tmux_session, window, socket, ours, name, command, window_name, title = parts[14:]
        return cls(
            id=parts[0],
            pid=pid,
            server=server,
            cols=cols,
            rows=rows,
            cursor=(x, y),
            window_index=window_index,
            index=index,
            typed_at=typed,
            dead=dead,
            synchronized=synchronized,
            window_active=window_active,
            active=active,
            mode=mode,
            tmux_session=tmux_session,
            window=window,
            socket=socket,
            ours=ours,
            session_name=name,
            command=command,
            window_name=window_name,
            title=title,
        )


def resolve(target: str, lines: Iterable[str]) -> ForeignPane:
    """The one pane a person means: `%12`, `cc`, `cc:1`, `cc:1.0`, `cc:name.%3`, `@2.0`, `:1.0`.

    Exact, unlike tmux itself, which takes `c` for `cc` and a missing pane for the current one.
    """
    known = [pane for line in lines if (pane := ForeignPane.parse(line))]
    found = {pane.id: pane for pane in known if pane.id == target} or _described(target, known)
    if not found:
        there = ", ".join(f"{p.session_name}:{p.window_index}.{p.index}" for p in known[:9])
        raise PlaceGone(f"expected a pane, and {target!r} is none", hint=f"there are: {there}")
    if len(found) > 1:
        names = ", ".join(found)
        raise HostError(f"expected one pane, and {target!r} means several: {names}")
    return next(iter(found.values()))


def _described(target: str, known: list[ForeignPane]) -> dict[str, ForeignPane]:
    session, colon, rest = target.partition(":")
    if session.startswith("@") and not colon:
        session, rest = "", session
    window, dot, pane = rest.rpartition(".")
    names = {window if dot else rest, rest}  # a window's name may hold a dot
    pane = pane if dot else ""
    return {
        each.id: each
        for each in known
        if session.removeprefix("=") in ("", each.session_name, each.tmux_session)
        and any(_is_window(each, name) and _is_pane(each, name, rest, pane) for name in names)
    }


def _is_window(each: ForeignPane, name: str) -> bool:
    if not name:
        return each.window_active
    return name in (str(each.window_index), each.window_name, each.window)


def _is_pane(each: ForeignPane, name: str, rest: str, pane: str) -> bool:
    if name == rest or not pane:
        return each.active
    return pane in (str(each.index), each.id)


def look(pane: str, cut: str) -> list[Command]:
    """Print the facts and both forms of the screen, with a line `cut` before each screen."""
    plain, ansi = panes.capture(pane)
    mark: Command = ("display-message", "-p", cut)
    return [("display-message", "-p", "-t", pane, FORMAT), mark, plain, mark, ansi]


def typed(pane: ForeignPane, strokes: tuple[Keystroke, ...], buffers: list[str]) -> list[Command]:
    """Type strokes, the texts of which stand in `buffers`; all or nothing of each command.

    tmux itself looks right before it types: the same pane, nobody scrolling in it, no neighbours.
    """
    names = iter(buffers)
    said: list[Command] = []
    for stroke in strokes:
        if isinstance(stroke, Key):
            said += panes.press_key(pane.id, stroke.name)
        elif stroke.text:
            said.append(("paste-buffer", "-p", "-r", "-d", "-b", next(names), "-t", pane.id))
    return [_guarded(pane, said[n : n + AT_ONCE]) for n in range(0, len(said), AT_ONCE)]


def _guarded(pane: ForeignPane, said: list[Command]) -> Command:
    condition = f"#{{==:#{{pid}}/#{{pane_pid}},{pane.server}/{pane.pid}}}"
    for field in ("pane_in_mode", "pane_dead", "pane_synchronized"):
        condition = f"#{{&&:#{{?#{{{field}}},0,1}},{condition}}}"
    words = " ; ".join(" ".join(map(quote, command)) for command in said)
    refusal = f"display-message -p {REFUSED}"
    return ("if-shell", "-F", "-t", pane.id, condition, words, refusal)


def check(strokes: tuple[Keystroke, ...]) -> list[str]:
    """The texts to be loaded; refuses what is no text and no key before anything is typed."""
    for stroke in strokes:
        if isinstance(stroke, Key):
            keys.encode(stroke.name)
    return [keys.paste(s.text) for s in strokes if isinstance(s, Text) and s.text]


def reason(pane: ForeignPane, *, agent: str) -> HostError:
    """Why nothing may be typed into that pane now."""
    if pane.mode:
        return HostError(f"the pane is in {pane.mode.replace('-', ' ')}", hint="a person is there")
    if pane.synchronized:
        return HostError("the pane's input goes to other panes too", hint="synchronize-panes is on")
    if pane.dead:
        return HostError(f"the pane of {agent!r} has ended, nothing can be typed")
    return HostError("the pane changed while we typed")
