"""The entry point, and the one place where an error becomes a message and an exit code.

Rule 1: nothing is imported here that `koboshi --version` does not need; click alone takes four
times as long as Python itself. The commands stand in `group`.
Rule 2: what a person or a machine did wrong is a sentence on stderr, never a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from koboshi import __version__
from koboshi.errors import KoboshiError

#: The surroundings failed: the disk is full, a file may not be read, a terminal is not there.
SURROUNDINGS = 4
#: What a shell says of a program that SIGINT ended.
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is in docs/reference/cli.md."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        _hush()
        return INTERRUPTED
    except BrokenPipeError:
        _hush()
        return 0
    except KoboshiError as error:
        return _complain(str(error), error.hint, error.exit_code)
    except OSError as error:
        _hush()
        return _complain(sentence(error), "", SURROUNDINGS)


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        sys.stdout.write(f"koboshi {__version__}\n")
        return 0
    from .group import run

    return run(arguments)


def sentence(error: OSError) -> str:
    """What the machine objected to, and about which file."""
    reason = error.strerror or str(error) or type(error).__name__
    reason = reason[:1].lower() + reason[1:]
    return f"{os.fsdecode(error.filename)}: {reason}" if error.filename else reason


def _complain(message: str, hint: str, code: int) -> int:
    from .printing import complain

    complain(message, hint)
    return code


def _hush() -> None:
    """What is still buffered goes nowhere, quietly: nobody reads, or the disk is full."""
    try:
        stdout = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout)
    except (OSError, ValueError):
        return  # stdout is not a file
