"""Start a child in our process group, print its pid as `child=N.`, and wait for ever."""

from __future__ import annotations

import os
import signal

child = os.fork()
if child:
    os.write(1, f"child={child}.".encode())
while True:
    signal.pause()
