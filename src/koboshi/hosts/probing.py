"""Which version of a CLI a command line starts: asked of the program itself, once per start."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping

from koboshi.adapters.versions import printed_version
from koboshi.adapters.words import find_program, shell_words

#: Seconds that `--version` may take; Gemini CLI was seen to need more than 10 on a busy machine,
#: and without its version it is not told its session, so that a crash could not be resumed.
PATIENCE = 25.0
_MOST_BYTES = 4096


async def version_of(
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    patience: float = PATIENCE,
) -> str:
    """What the CLI in that command line prints as its version; empty when that cannot be had.

    A program that is not known to take `--version` is not asked: it might begin to work.
    """
    shell, words = shell_words(argv)
    found = find_program(words)
    if found is None or shell:
        return ""
    asked = (*words[: found[1] + 1], "--version")
    try:
        child = await asyncio.create_subprocess_exec(
            *asked,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=env,  # the CLI is looked for where it will be started from
            cwd=cwd,
            start_new_session=True,  # so that what it starts can be ended with it
        )
    except (OSError, ValueError):
        return ""
    try:
        text, _ = await asyncio.wait_for(child.communicate(), patience)
    except TimeoutError:
        return ""
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    return printed_version(text[:_MOST_BYTES].decode("utf-8", "replace"))
