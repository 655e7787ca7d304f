"""Put a terminal back when the one who changed it was killed: `python -I -S guardian.py`.

Standard output is the terminal, standard input a pipe from the one who changes it: one JSON object
per line, the newest of each kind counts. A last word `done` means that all is in order. The end of
the pipe without it means that its writer is dead, however it died: the kernel closes what a killed
process held.

Standard library only. In a session of its own: no signal of the terminal or its jobs comes here,
and the kernel lets us change a terminal that is not ours to control.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import termios
import time
from typing import Any

#: Seconds for the terminal to take what puts it back.
PATIENCE = 2.0
#: A shell that was quicker has drawn its prompt where nobody sees it any more.
WORDS = b"\nkoboshi was killed; the terminal has been put back\n"
SURVIVED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGTTOU)


def main() -> None:
    """Listen until the end of the pipe; then see whether anything is to be done."""
    for number in SURVIVED:
        signal.signal(number, signal.SIG_IGN)
    told: dict[str, Any] = {}
    for line in sys.stdin.buffer:
        with contextlib.suppress(ValueError):  # killed in the middle of a line
            told.update(json.loads(line))
    if not told.get("done"):
        put_back(1, told)


def put_back(terminal: int, told: dict[str, Any]) -> None:
    """The line first, then what it shows.

    Whoever waits for the killed one wakes up now, too. A shell that waits for it directly sets the
    line itself; one behind a script takes the line as it finds it, so we had better be the first.
    """
    with contextlib.suppress(termios.error, OSError, KeyError):
        # A shell may have been quicker and have set the line up for its own editing by now.
        if thaw(told["raw"])[:4] == termios.tcgetattr(terminal)[:4]:
            termios.tcsetattr(terminal, termios.TCSANOW, thaw(told["cooked"]))
    send(terminal, told.get("undo", "").encode("latin-1") + WORDS)


def send(terminal: int, data: bytes) -> None:
    """Write without ever waiting for long: the terminal may be stuck."""
    deadline = time.monotonic() + PATIENCE
    with contextlib.suppress(OSError):
        while data and select.select([], [terminal], [], max(0.0, deadline - time.monotonic()))[1]:
            try:
                data = data[os.write(terminal, data) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return


def freeze(attributes: list[Any]) -> list[Any]:
    """Termios attributes as JSON can hold them."""
    return [
        *attributes[:6],
        [c if isinstance(c, int) else c.decode("latin-1") for c in attributes[6]],
    ]


def thaw(attributes: list[Any]) -> list[Any]:
    """The same back."""
    characters = [c if isinstance(c, int) else c.encode("latin-1") for c in attributes[6]]
    return [*attributes[:6], characters]


if __name__ == "__main__":
    main()
