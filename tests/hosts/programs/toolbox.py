"""Like an agent with tools: a shell in our group and one in a session of its own; their pids."""

from __future__ import annotations

import os
import signal
import subprocess

near = subprocess.Popen(["sh", "-c", "sleep 1000; true"])
far = subprocess.Popen(["sh", "-c", "sleep 1000; true"], start_new_session=True)
os.write(1, f"agent={os.getpid()}. near={near.pid}. far={far.pid}. all\r\n".encode())
while True:
    signal.pause()
