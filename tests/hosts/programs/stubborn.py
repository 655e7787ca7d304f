"""Count SIGTERMs on the screen and go on."""

from __future__ import annotations

import os
import signal

signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"refused "))
os.write(1, b"ready ")
while True:
    signal.pause()
