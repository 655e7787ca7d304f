"""Write FILE to the terminal as it is, raw, and end; or read COUNT bytes into FILE, raw."""

from __future__ import annotations

import os
import sys
import tty
from pathlib import Path

tty.setraw(0)
verb, path = sys.argv[1], Path(sys.argv[2])
if verb == "out":
    data = path.read_bytes()
    os.write(1, b"begin:")
    while data:
        data = data[os.write(1, data[:65536]) :]
else:
    os.write(1, b"ready:")
    left = int(sys.argv[3])
    with path.open("wb") as out:
        while left:
            typed = os.read(0, min(left, 65536))
            out.write(typed)
            left -= len(typed)
