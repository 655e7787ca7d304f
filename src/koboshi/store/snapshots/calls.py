"""git by one process per call, with an environment of our own and a time limit.

Rule 1: no variable of the caller's that begins with `GIT_` reaches git, and none that could hold a
key: only those in `_KEPT`.
Rule 2: git is never looked for in the worktree. A `.` on the PATH would start what lies there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from koboshi.errors import GitError, GitMissing, NoWorktree

_KEPT = ("HOME", "XDG_CONFIG_HOME", "TMPDIR")
#: For every call: git's own words, nobody to ask, nothing to fetch, paths as they are.
_ALWAYS = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
#: Without the user's and the machine's settings: filters (LFS) mostly stand there.
_SEALED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
#: Over the repository's own settings, where those must be read: nothing of it is executed, and the
#: private refs get no reflog.
OVERRIDES = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.logAllRefUpdates": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}
#: Seconds that a killed git gets to leave. One that waits for a dead disk does not.
_LEAVES = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What git printed."""

    out: bytes
    err: bytes


class Git:
    """Calls of git until a deadline."""

    def __init__(self, patience: float) -> None:
        path = os.environ.get("PATH", os.defpath).split(os.pathsep)
        self._path = os.pathsep.join(entry for entry in path if entry.startswith("/"))
        program = shutil.which("git", path=self._path)
        if program is None:
            raise GitMissing
        self._program = program
        self._patience = patience
        self._deadline = time.monotonic() + patience

    def environment(
        self, own: Mapping[str, str], settings: Mapping[str, str], *, sealed: bool = True
    ) -> dict[str, str]:
        """The whole environment of a call; `settings` win over every file."""
        env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        env |= {"PATH": self._path, **_ALWAYS, **(_SEALED if sealed else {}), **own}
        env["GIT_CONFIG_COUNT"] = str(len(settings))
        for n, (key, value) in enumerate(settings.items()):
            env |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        return env

    def call(self, *words: str, env: Mapping[str, str], cwd: Path, feed: bytes = b"") -> Answer:
        """Run git to its end; a refusal is a GitError in git's words."""
        try:
            child = subprocess.Popen(
                [self._program, *words],
                env=env,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # what it starts is ended with it
            )
        except OSError as error:
            raise NoWorktree(f"{cwd}: {(error.strerror or str(error)).lower()}") from error
        try:
            out, err = child.communicate(feed, max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise GitError(f"git took longer than {self._patience:g} s") from None
        finally:
            if child.returncode is None:
                _end(child)
        if child.returncode:
            raise _refusal(words[0], child.returncode, err)
        return Answer(out=out, err=err)


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_LEAVES)


def _refusal(verb: str, code: int, err: bytes) -> GitError:
    said = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    if any("not a git repository" in line for line in said):
        return NoWorktree("not a git repository")
    if code < 0:
        return GitError(f"git {verb} was ended by {signal.Signals(-code).name}")
    # The first complaint is the cause; `fatal:` after it often only says that it gave up.
    told = next((line for line in said if line.startswith(("error:", "fatal:"))), "")
    words = told.partition(": ")[2] or (said[0] if said else "without a word")
    return GitError(f"git {verb} refused: {words}")
