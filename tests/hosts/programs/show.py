r"""Print the arguments (`\e` is ESC, `\n` a newline), then our pid, and wait for ever."""

from __future__ import annotations

import os
import signal
import sys

text = " ".join(sys.argv[1:]).replace("\\e", "\x1b").replace("\\n", "\n").replace("\\a", "\a")
sys.stdout.buffer.write(text.encode())
sys.stdout.write(f"\npid={os.getpid()}.\n")
sys.stdout.flush()
while True:
    signal.pause()
