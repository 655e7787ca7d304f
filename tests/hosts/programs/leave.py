"""Say goodbye on the screen, then end with exit code N, or by signal N when it is negative.

A second argument is how many lines come before that.
"""

from __future__ import annotations

import os
import sys

number = int(sys.argv[1])
lines = int(sys.argv[2]) if len(sys.argv) > 2 else 3
sys.stdout.write("\x1b]2;last title\a" + "line\r\n" * lines + "goodbye")
sys.stdout.flush()
if number < 0:
    os.kill(os.getpid(), -number)
sys.exit(number)
