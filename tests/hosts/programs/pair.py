"""Two processes like Gemini's: the outer is deaf to SIGTERM, and ends when the inner has."""

from __future__ import annotations

import os
import signal
import sys

inner = os.fork()
if not inner:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    os.write(1, f"inner={os.getpid()}.".encode())
    while True:
        signal.pause()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.waitpid(inner, 0)
sys.exit(0)
