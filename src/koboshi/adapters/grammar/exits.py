"""Whether the agent is gone: positive evidence only, never one character.

The process decides where it is known: a shell in the foreground, or a pane that says it is dead.
A dead agent's last frame stays on the screen with its spinner, and a living one may print what a
shell would; so the screen is asked only when the foreground program is not known to be the agent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from koboshi.adapters.base import SHELLS

from .turns import first_match

if TYPE_CHECKING:
    from .frames import Frame
    from .manifests import Manifest

_PANE_DEAD = re.compile(r"^Pane is dead(?: \((?:status|signal) [^()]{1,80}\))?$")
_PROMPT = re.compile(
    r"^(?:\([^()]{1,60}\) ?)?(?:"
    r"[\w.-]{1,64}@[\w.-]{1,255}[: ][^$#%>]{0,300}[$#%>]"
    r"|\[[\w.-]{1,64}@[\w.-]{1,255} [^\]]{1,300}\][$#%]"
    r"|(?:ba|z|da|k|a|c|tc)?sh-\d[\d.]{0,8}[$#]"
    r"|➜ {1,2}\S{1,300}(?: git:\([^()]{1,200}\))?(?: [✗✔])?"
    r"|└─+[╼>]? ?[$#]"
    r")$"
)
_BARE_PROMPT = re.compile(r"^[$#%❯➜›»>]$")
_DRAWN_OVER = re.compile(r"^(?P<prompt>[^─]{1,300}?) ?─{10,}$")
_SIGNALLED = re.compile(
    r"^(?:[❯>›]\s)?(?:zsh: )?(?:Killed|Terminated|Hangup|Quit|Aborted|Segmentation fault"
    r"|killed {1,8}\S.*)(?: \(core dumped\))?$"
)
_TAIL = 8  # rows: an exit line, a blank, a prompt of two lines


def read_gone(manifest: Manifest, frame: Frame) -> tuple[str, str] | None:
    """The reason and the row that proves it; None while the agent may be alive."""
    seen, rows = frame.seen, frame.rows
    last = rows[-1] if rows else ""
    if not seen.alive or _PANE_DEAD.match(last):
        return "process_ended", last
    command = seen.command.strip().lstrip("-").rpartition("/")[2]
    if command in SHELLS:
        return "shell_prompt", _waiting_row(frame)
    if command and manifest.command.match(command):
        return None
    return _gone_by_screen(manifest, rows)


def _gone_by_screen(manifest: Manifest, rows: list[str]) -> tuple[str, str] | None:
    tail = [row for row in rows[-_TAIL:] if row]
    if not tail:
        return None
    if _PROMPT.match(tail[-1]):
        return "shell_prompt", tail[-1]
    exited = first_match(manifest.sign("exit"), tail[-5:])
    if exited is not None and (tail[-1] == exited.line or _BARE_PROMPT.match(tail[-1])):
        return "exit_line", exited.line
    signalled = next((row for row in tail if _SIGNALLED.match(row)), "")
    over = next((row for row in tail if _is_drawn_over(row, bare=bool(signalled))), "")
    if signalled and (over or _BARE_PROMPT.match(tail[-1])):
        return "shell_prompt", over or tail[-1]
    return ("shell_prompt", over) if over else None


def said_goodbye(manifest: Manifest, text: str) -> bool:
    """Whether the last rows are what the CLI says when it leaves, and a shell's prompt."""
    tail = [row.rstrip() for row in text.split("\n") if row.strip()][-_TAIL:]
    if any(_SIGNALLED.match(row) for row in tail):
        return False
    return first_match(manifest.sign("exit"), tail[-5:]) is not None


def lost_session(manifest: Manifest, text: str) -> bool:
    """Whether the last rows say that there is no such session, also where the words wrap."""
    tail = [row.rstrip() for row in text.split("\n") if row.strip()][-_TAIL:]
    return first_match(manifest.sign("lost"), [*tail, "".join(tail)]) is not None


def is_prompt(row: str) -> bool:
    """Whether the row is what a shell shows when it waits."""
    return _PROMPT.match(row) is not None


def _is_drawn_over(row: str, *, bare: bool) -> bool:
    """Whether a shell drew its prompt over a rule of the dead frame."""
    found = _DRAWN_OVER.match(row)
    if found is None:
        return False
    return is_prompt(found["prompt"]) or (bare and _BARE_PROMPT.match(found["prompt"]) is not None)


def _waiting_row(frame: Frame) -> str:
    """The row the shell waits in: where the cursor is, or what looks most like a prompt."""
    rows, cursor = frame.rows, frame.seen.cursor
    if cursor is not None and 0 <= cursor[1] < len(rows) and rows[cursor[1]]:
        return rows[cursor[1]]
    last = rows[-1] if rows else ""
    return next((row for row in reversed(rows) if _PROMPT.match(row)), last)
