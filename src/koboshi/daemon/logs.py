"""The daemon's log: a line for people, with what it is about, and how that agent is.

The journal is the truth; the log is for whoever wants to know what the daemon itself was doing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

About = Callable[[], dict[str, Any]]

#: Bytes of one log file, and how many old ones are kept.
SIZE, KEPT = 4 << 20, 3
#: What a log line says besides its message, in this order.
FIELDS = (
    "agent",
    "run",
    "status",
    "health",
    "reasons",
    "rule",
    "action",
    "verdict",
    "reason",
    "pid",
)

_about: ContextVar[About | None] = ContextVar("about", default=None)


def about(who: About) -> None:
    """From here on, in this task and those it starts, log lines are about that agent."""
    _about.set(who)


class Line(logging.Formatter):
    """`2026-11-15T00:03:12Z WARNING agent=api status=unknown health=contradiction …: message`."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever an agent wrote into it; a traceback follows indented."""
        who = _about.get()
        facts = {**(who() if who else {}), **record.__dict__}
        reason, *rows = str(facts.get("reason") or "").split("\n")
        if facts.get("action") == "configure":  # a place in a file, and a caret below it
            facts["reason"] = reason
        else:
            rows = []
        said = [f"{name}={_word(facts[name])}" for name in FIELDS if facts.get(name)]
        when = self.formatTime(record, "%Y-%m-%dT%H:%M:%SZ")
        line = " ".join((when, record.levelname.lower(), *said))
        text = f"{line}: {_word(record.getMessage(), quote=False)}"
        text += "".join(f"\n  {_word(row, quote=False)}" for row in rows)
        if record.exc_info:
            text += "\n  " + self.formatException(record.exc_info).replace("\n", "\n  ")
        return text


def _word(value: object, *, quote: bool = True) -> str:
    """A value on one line; what agents print may hold anything."""
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    text = "".join(char if char.isprintable() else "\ufffd" for char in str(value))
    return f'"{text}"' if quote and " " in text else text


def log_to(path: Path) -> logging.Handler:
    """Write the log there, for the owner's eyes only, and let it grow to a few files."""
    path.touch(mode=0o600, exist_ok=True)
    handler = RotatingFileHandler(path, maxBytes=SIZE, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(Line())
    root = logging.getLogger("koboshi")
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    root.propagate = False
    return handler
