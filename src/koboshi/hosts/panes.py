"""What we say to tmux and what it says about panes: pure functions between values and commands."""

from __future__ import annotations

import functools
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts import keys
from koboshi.hosts.base import Key

if TYPE_CHECKING:
    from koboshi.hosts.base import Keystroke, Launch, Place
    from koboshi.hosts.control import Command, Reply

HUB = "koboshi-hub"
HUB_TEXT = "koboshi watches from here. Its agents are the other sessions: press C-b s to choose."
#: The hub's program ends at once: its pane stays, dead, and costs no process. `no-output`: a
#: client that stops reading blocks the agents otherwise. `ignore-size`: looking resizes nothing.
ATTACH = (
    *("new-session", "-A", "-s", HUB, "-n", "hub", "-x", "80", "-y", "24"),
    *("-f", "no-output,ignore-size", "printf", "%s\\n", HUB_TEXT),
)

SEPARATOR = "␞"  # printable: tmux may replace control characters
#: What a look asks for; the first of them tells the runs of all agents apart.
LOOKED_AT = (
    "@koboshi_folder",
    "pane_dead",
    "pane_width",
    "pane_height",
    "cursor_x",
    "cursor_y",
    "session_activity",
    "session_last_attached",
    "pane_current_command",
    "pane_title",
)
FIELDS = ("pane_id", "@koboshi_run", "session_id", "@koboshi_agent", *LOOKED_AT)
FORMAT = SEPARATOR.join(f"#{{{field}}}" for field in FIELDS)
SERVER_FORMAT = f"#{{pid}}{SEPARATOR}#{{socket_path}}"
#: Kept by the server: to read three hundred characters anew costs it as much as to follow them.
LOOK = "@koboshi_look"

#: Arguments of one `set-option` each. `window-size manual` is absent on purpose: as a global option
#: it crashes the server of tmux 3.3a at the first new-session; `resize-window` sets it per window.
OPTIONS: tuple[Command, ...] = (
    ("-s", "exit-empty", "off"),
    ("-s", "escape-time", "10"),
    ("-s", "focus-events", "on"),
    ("-s", LOOK, SEPARATOR.join(f"#{{{field}}}" for field in LOOKED_AT)),
    ("-g", "default-terminal", "tmux-256color"),
    ("-g", "history-limit", "5000"),
    ("-g", "remain-on-exit", "on"),
    ("-gq", "remain-on-exit-format", ""),  # else a line is drawn over the last screen
    ("-g", "automatic-rename", "off"),
    ("-g", "allow-rename", "off"),
    ("-g", "status-left", "[koboshi #S] "),
    ("-g", "status-left-length", "50"),
    # What has no room is cut on its left, and a bare "d leaves" would be typed to the agent.
    ("-g", "status-right", "C-b d leaves#{?#{e|<:#{client_width},70},,#, the agent goes on}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a look finds out about a pane besides its screen."""

    folder: str
    dead: bool
    cols: int
    rows: int
    cursor: tuple[int, int]
    typed_at: int | None  #: when a person last pressed a key there, in whole UTC seconds
    command: str
    title: str

    @classmethod
    def parse(cls, line: str) -> Shown | None:
        """What one line of LOOKED_AT says; None when there is no such pane, or it is not ours."""
        # The title comes last and takes the rest: an agent may put anything there.
        parts = line.split(SEPARATOR, len(LOOKED_AT) - 1)
        if len(parts) < len(LOOKED_AT) or not all(map(str.isdecimal, parts[2:7])):
            return None
        folder, dead, cols, rows, x, y, typed, attached, command, title = parts
        return cls(
            folder=folder.replace("/", "_"),  # the agent could have set it
            dead=dead == "1",
            cols=int(cols),
            rows=int(rows),
            cursor=(int(x), int(y)),
            # A session counts its making as activity; without a terminal nobody types.
            typed_at=int(typed) if attached else None,
            command=command,
            title=title,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """What tmux says about one pane of ours."""

    id: str
    agent: str
    run: int
    tmux_session: str
    shown: Shown

    @classmethod
    def parse(cls, line: str) -> Pane | None:
        """The pane of one FORMAT line; None when it is not ours."""
        pane_id, *rest = line.split(SEPARATOR, len(FIELDS) - len(LOOKED_AT))
        shown = Shown.parse(rest.pop()) if rest else None
        if shown is None or not rest[0].isdecimal():
            return None
        run, session, agent = rest
        return cls(id=pane_id, agent=agent, run=int(run), tmux_session=session, shown=shown)

    @property
    def folder(self) -> str:
        """The name of its run's folder."""
        return self.shown.folder


def check(launch: Launch) -> None:
    """Refuse what no terminal could be found again by, or started with."""
    if not launch.argv:
        message = f"nothing to start for {launch.agent!r}"
        raise HostError(message)
    if not launch.agent or keys.unsendable(launch.agent) or SEPARATOR in launch.agent:
        message = f"expected a name without control characters, not {launch.agent!r}"
        raise HostError(message)
    if launch.run < 0:
        message = f"expected a run number, not {launch.run}"
        raise HostError(message)


def checked(reply: Reply, place: Place) -> Pane:
    """The pane, if it is there and still belongs to that run."""
    # display-message does not fail for a pane that is not there: it prints empty fields.
    pane = None if reply.failed else Pane.parse(reply.text)
    if pane is None or (pane.id, pane.agent, pane.run) != (place.id, place.agent, place.run):
        message = f"terminal {place.id} of {place.agent!r} run {place.run} is gone"
        raise PlaceGone(message)
    return pane


@functools.lru_cache(maxsize=1024)
def looked(line: str) -> Shown | None:
    """Looked at again and again, most panes say the same of themselves."""
    return Shown.parse(line)


def done(replies: list[Reply]) -> list[Reply]:
    """The same replies, or the first refusal as an exception."""
    for reply in replies:
        if reply.failed and reply.text.startswith("can't find"):
            raise PlaceGone(reply.text)
        if reply.failed:
            message = f"tmux refused: {reply.text}"
            raise HostError(message)
    return replies


def describe(pane: str) -> Command:
    """Print FORMAT for one pane."""
    return ("display-message", "-p", "-t", pane, FORMAT)


def look_at(pane: str) -> Command:
    """Print LOOKED_AT for one pane; nothing where somebody took the option away."""
    return ("display-message", "-p", "-t", pane, f"#{{E:{LOOK}}}")


def capture(pane: str) -> tuple[Command, Command]:
    """Print the screen, plain and with its colours."""
    plain = ("capture-pane", "-p", "-t", pane)
    return plain, (*plain, "-e")


def mark(pane: str, launch: Launch, folder: str) -> list[Command]:
    """Give a new pane its size, and the names by which it is found again."""
    size = ("-x", str(launch.cols), "-y", str(launch.rows))
    facts = {"agent": launch.agent, "run": str(launch.run), "folder": folder}
    return [
        ("resize-window", "-t", pane, *size),
        *(("set-option", "-p", "-t", pane, f"@koboshi_{k}", v) for k, v in facts.items()),
    ]


def press(pane: str, strokes: tuple[Keystroke, ...]) -> list[Command]:
    """Type keystrokes into a pane."""
    # A pane in copy mode eats keys, and a paste into it is not bracketed: leave it first.
    commands: list[Command] = [("copy-mode", "-q", "-t", pane)]
    for stroke in strokes:
        commands += (
            press_key(pane, stroke.name) if isinstance(stroke, Key) else paste(pane, stroke.text)
        )
    return commands


def press_key(pane: str, name: str) -> list[Command]:
    """Press one key."""
    keys.encode(name)  # refuses what tmux would type letter by letter
    literal = ("-l",) if len(name) == 1 else ()
    return [("send-keys", "-t", pane, *literal, "--", name)]


def paste(pane: str, text: str) -> list[Command]:
    """Paste text in one piece, through a buffer of its own."""
    text = keys.paste(text)
    if not text:
        return []
    name = f"koboshi-{secrets.token_hex(6)}"
    return [
        ("set-buffer", "-b", name, "--", text),
        # -r: line ends are carriage returns already, -p: bracketed if asked for, -d: leave nothing
        ("paste-buffer", "-p", "-r", "-d", "-b", name, "-t", pane),
    ]
