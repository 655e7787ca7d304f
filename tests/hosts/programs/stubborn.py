"""Show every SIGTERM on the screen and go on; a hang-up is ignored."""

from __future__ import annotations

import os
import signal

signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"refused "))
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.write(1, b"ready ")
while True:
    signal.pause()
