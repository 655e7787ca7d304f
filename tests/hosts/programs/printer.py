"""Print N numbered lines to standard output and one to standard error, then end with code M."""

from __future__ import annotations

import os
import sys

lines, code = int(sys.argv[1]), int(sys.argv[2])
sys.stdout.write("".join(f"line {n} 日本\n" for n in range(1, lines + 1)))
sys.stdout.flush()
sys.stderr.write(f"tty={int(any(map(os.isatty, range(3))))}. session={os.getsid(0)}.\n")
sys.exit(code)
