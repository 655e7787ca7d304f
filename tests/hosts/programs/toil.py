"""Write FILE to the terminal as it is, raw, and wait for ever."""

from __future__ import annotations

import os
import signal
import sys
import tty
from pathlib import Path

tty.setraw(0)
data = Path(sys.argv[1]).read_bytes()
while data:
    data = data[os.write(1, data[:65536]) :]
while True:
    signal.pause()
