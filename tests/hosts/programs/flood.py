"""Print N megabytes as fast as the terminal takes them, then say so, and wait for ever.

With a second argument it waits for a line first.
"""

from __future__ import annotations

import signal
import sys

if sys.argv[2:]:
    sys.stdin.readline()
line = b"0123456789 abcdefghij \x1b[31mred\x1b[0m " * 3 + b"\r\n"
block = line * (1 + (1 << 20) // len(line))
for _ in range(int(sys.argv[1])):
    sys.stdout.buffer.write(block)
sys.stdout.buffer.write(b"flood done")
sys.stdout.flush()
while True:
    signal.pause()
