"""Start a child in our process group, print its pid as `child=N.`, and wait for ever.

The child ignores SIGHUP: only a signal to the whole group ends it.
"""

from __future__ import annotations

import os
import signal

signal.signal(signal.SIGHUP, signal.SIG_IGN)
child = os.fork()
if child:
    os.write(1, f"child={child}.".encode())
while True:
    signal.pause()
