"""Write every byte that is typed to FILE, unchanged; further arguments are printed first."""

from __future__ import annotations

import os
import sys
import tty
from pathlib import Path

tty.setraw(0)
for mode in sys.argv[2:]:
    os.write(1, mode.replace("\\e", "\x1b").encode())
os.write(1, b"ready")
with Path(sys.argv[1]).open("wb", buffering=0) as out:
    while typed := os.read(0, 65536):
        out.write(typed)
