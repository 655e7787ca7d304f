"""A program that asks as Claude Code does: `python asker.py WAY COUNT GAP OUT [--settings FILE …]`.

It draws a dialog and takes the time until it is answered: by a key at the terminal (`keys`), or by
what the hook prints that FILE names for it (`hook`). Standard library only. Writes a time a line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import termios
import time
import tty
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from feeder import dialog, frame, idle  # type: ignore[import-not-found]

_PAYLOAD = {
    "session_id": "",
    "cwd": str(Path.cwd()),
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
}


def show(text: str) -> None:
    """Draw it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def by_hook(command: str, number: int) -> None:
    """Call the hook as its CLI would, and wait for what it prints."""
    payload = {**_PAYLOAD, "tool_input": {"command": f"make step-{number}"}}
    said = subprocess.run(  # noqa: S602 - a line for a shell, as in the settings of the CLI
        command, shell=True, input=json.dumps(payload).encode(), capture_output=True, check=True
    )
    decided = json.loads(said.stdout)["hookSpecificOutput"]["decision"]["behavior"]
    assert decided == "allow", decided  # noqa: S101


def by_key() -> None:
    """Wait for the one key that means yes."""
    key = sys.stdin.read(1)
    assert key == "1", key  # noqa: S101


def main() -> None:
    """Ask so often, and write down how long each answer took."""
    way, count, gap, out = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
    command = ""
    if way == "hook":
        settings = Path(sys.argv[sys.argv.index("--settings") + 1])
        hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
        command = hooks["PermissionRequest"][-1]["hooks"][0]["command"]
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    try:
        for number in range(count):
            show(idle(number))
            time.sleep(gap)
            begun = time.monotonic()
            show(dialog(number))
            by_hook(command, number) if way == "hook" else by_key()
            with out.open("a", encoding="ascii") as file:
                file.write(f"{time.monotonic() - begun:.6f}\n")
        show(idle(count))
        time.sleep(1000)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        show(frame([""]))


if __name__ == "__main__":
    main()
