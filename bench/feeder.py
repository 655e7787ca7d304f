"""Draw into terminals from outside: `python feeder.py lines SECONDS TTY…`, `… dialogs COUNT TTY`.

A process of its own, so that what the agents do is not counted as ours, and one for all of them:
a hundred programs that print would disturb the measurement more than what is measured.
Standard library only. For each dialog it prints the moment at which it was on the terminal.
"""

from __future__ import annotations

import os
import random
import sys
import time

WIDTH = 120
RULE = "─" * WIDTH
DASHES = "╌" * WIDTH
HEAD = ["", " ▐▛███▛█   Claude Code v2.1.325", "▝▜██████▀  Opus 5.5 · API Usage Billing", ""]
BOX = [RULE, "❯ ", RULE, "  ⏸ manual mode on · ? for shortcuts"]
#: Rows above the box, and the box below them.
TALL, BOX_AT = 34, 36
#: Seconds that a dialog stays, and how long until the next one.
HOLD, GAP = 0.35, (0.15, 0.25)


def idle(number: int) -> str:
    """The input box, and a transcript that differs each time."""
    rows = [*HEAD, f"❯ step {number}", "", "● done", "", "✻ Cogitated for 0s · done 7:56 AM"]
    return frame([*rows, *[""] * (BOX_AT - 1 - len(rows)), *BOX])


def dialog(number: int) -> str:
    """A permission dialog."""
    command = f"make step-{number}"
    rows = [*HEAD, f"❯ step {number}", "", "● Running a step", f"  ⎿  $ {command}", "", RULE]
    rows += [" Bash command", " Run a step", DASHES, f" {command}", DASHES]
    rows += [" This command requires approval", "", " Do you want to proceed?", " ❯ 1. Yes"]
    rows += [f"   2. Yes, and don’t ask again for: {command} *", "   3. No", "", " Esc to cancel"]
    return frame(rows)


def frame(rows: list[str]) -> str:
    """All rows on a cleared screen."""
    return "\x1b[r\x1b[2J\x1b[H" + "\r\n".join(rows)


def say(tty: int, text: str) -> None:
    """All of it."""
    data = text.encode()
    while data:
        data = data[os.write(tty, data) :]


def lines(seconds: float, ttys: list[int]) -> None:
    """A line a second on each of them, above the box, one after the other."""
    for tty in ttys:
        say(tty, idle(0) + f"\x1b[1;{TALL}r")
    begun, number = time.monotonic(), 0
    while time.monotonic() < begun + seconds:
        text = f"\x1b[{TALL};1H\n● line {number // len(ttys)} of what an agent prints in its turn"
        say(ttys[number % len(ttys)], text)
        number += 1
        time.sleep(max(0.0, begun + number / len(ttys) - time.monotonic()))


def dialogs(count: int, tty: int) -> None:
    """One dialog after the other, each on a new screen; when each was drawn goes to stdout."""
    dice = random.Random(1)
    for number in range(count):
        say(tty, idle(number))
        time.sleep(dice.uniform(*GAP))
        say(tty, dialog(number))
        sys.stdout.write(f"{number} {time.monotonic()}\n")
        sys.stdout.flush()
        time.sleep(HOLD)
    say(tty, idle(count))


if __name__ == "__main__":
    opened = [os.open(path, os.O_WRONLY | os.O_NOCTTY) for path in sys.argv[3:]]
    if sys.argv[1] == "lines":
        lines(float(sys.argv[2]), opened)
    else:
        dialogs(int(sys.argv[2]), opened[0])
