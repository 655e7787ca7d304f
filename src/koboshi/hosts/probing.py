"""Which version of a CLI a command line starts: asked of the program itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

from koboshi.adapters.versions import printed_version
from koboshi.adapters.words import find_program, shell_words

#: Seconds that `--version` may take; Gemini CLI was seen to need more than 10 on a busy machine,
#: and without its version it is not told its session, so that a crash could not be resumed.
PATIENCE = 25.0
_MOST_BYTES = 4096
_PACKAGE = "package.json"


def fingerprint(
    argv: tuple[str, ...], *, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> str:
    """Files that tell one version of that CLI from the next; empty when none can.

    A binary changes with its version. A script of a package does not need to: the package's own
    file does. Any other script may start whatever it likes, and so may a launcher such as `npx`.
    """
    shell, words = shell_words(argv)
    found = find_program(words)
    if found is None or shell or found[1] > 0:
        return ""
    path = os.environ.get("PATH") if env is None else env.get("PATH")
    word = str(Path(cwd or ".", words[0])) if "/" in words[0] else words[0]
    try:
        return "\n".join(map(_stamp, _files(Path(shutil.which(word, path=path) or ""))))
    except (OSError, ValueError):
        return ""


def _files(place: Path) -> tuple[Path, ...]:
    program = place.resolve(strict=True)
    with program.open("rb") as file:
        first = file.readline(_MOST_BYTES)
    if not first.startswith(b"#!"):
        return (program,)
    packages = (above / _PACKAGE for above in program.parents if b"node" in first)
    package = next((each for each in packages if each.exists()), None)
    return (program, package) if package is not None else ()


def _stamp(path: Path) -> str:
    """Npm gives files a time of its own, the same for every version: the change time is ours."""
    found = path.stat()
    facts = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return f"{path} {' '.join(map(str, facts))}"


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
