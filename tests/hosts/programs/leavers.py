"""Start processes that move away from us in every way, print their pids, and wait for ever.

- `daemon`: its own session, its parent dead, deaf to all that can be ignored
- `orphan`: in our session, its parent dead, in a group of its own
- `bare`:   a tool's shell: its own session and an empty environment

A first argument `leave` ends us once they run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys


def wait_deaf() -> None:
    """Ignore what can be ignored, say so, and wait."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.write(ready, b".")
    while True:
        signal.pause()


def fork_away(*, session: bool) -> int:
    """A grandchild whose parent is gone; its pid."""
    read_end, write_end = os.pipe()
    middle = os.fork()
    if not middle:
        if session:
            os.setsid()
        else:
            os.setpgid(0, 0)
        last = os.fork()
        if last:
            os.write(write_end, str(last).encode())
            os._exit(0)
        wait_deaf()
    os.waitpid(middle, 0)
    return int(os.read(read_end, 20))


here, ready = os.pipe()
pids = {"daemon": fork_away(session=True), "orphan": fork_away(session=False)}
code = f"import os, signal\nos.write({ready}, b'.')\nwhile True:\n signal.pause()"
bare = subprocess.Popen(
    [sys.executable, "-I", "-S", "-c", code], start_new_session=True, env={}, pass_fds=(ready,)
)
pids["bare"] = bare.pid
for _ in pids:
    os.read(here, 1)
os.write(1, " ".join(f"{name}={pid}." for name, pid in pids.items()).encode() + b" all\r\n")
if sys.argv[1:] == ["leave"]:
    os._exit(3)
while True:
    signal.pause()
