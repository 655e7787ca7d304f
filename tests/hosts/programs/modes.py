r"""Print the arguments (`\e` is ESC), then echo each byte that is typed, raw; q ends with code 7.

The size of the terminal is printed at first and at each SIGWINCH; k kills it, t tells its tty.
"""

from __future__ import annotations

import os
import signal
import sys
import tty
from pathlib import Path


def tell_size(*_: object) -> None:
    """Columns and rows, as the program sees them."""
    size = os.get_terminal_size()
    os.write(1, f"size={size.columns}x{size.lines}.".encode())


tty.setraw(0)
signal.signal(signal.SIGWINCH, tell_size)
for argument in sys.argv[1:]:
    os.write(1, argument.replace("\\e", "\x1b").replace("\\a", "\a").encode())
tell_size()
while typed := os.read(0, 65536):
    if typed == b"q":
        sys.exit(7)
    if typed == b"k":
        os.kill(os.getpid(), signal.SIGKILL)
    if typed == b"t":
        os.write(1, f"tty={os.ttyname(0)}. cwd={Path.cwd()}.".encode())
    os.write(1, b"<" + typed.hex().encode() + b">")
