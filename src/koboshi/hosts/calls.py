"""tmux by one short-lived process per call, for a server on which we may not be seen.

A control client is quicker (0.3 ms against 5 ms), but it has to attach, and that shows: in
`list-clients`, as "(attached)" in `list-sessions`, in the session's environment, and it fires the
user's `client-attached` hooks (all seen with tmux 3.3a). A call without a session leaves no trace.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence

from koboshi.errors import HostError, HostMissing, PlaceGone
from koboshi.hosts.control import ANSWER_PATIENCE, Command
from koboshi.hosts.foreign import LOST, NO_SERVER


class TmuxCalls:
    """Commands to one server; `server` are the words that name it: `-L name` or `-S path`."""

    def __init__(self, server: Sequence[str], *, tmux: str, env: Mapping[str, str]) -> None:
        self._server = tuple(server)
        self._tmux = tmux
        self._env = dict(env)

    async def say(self, *commands: Command, stdin: bytes = b"") -> str:
        """All commands in one process, one after the other; what they print."""
        program = shutil.which(self._tmux)
        if program is None:
            raise HostMissing(f"{self._tmux!r} was not found", hint="install tmux 3.2 or newer")
        words = [word for command in commands for word in (";", *command)][1:]
        process = await asyncio.create_subprocess_exec(
            *(program, "-u", *self._server, *words),
            env=self._env,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(ANSWER_PATIENCE):
                out, err = await process.communicate(stdin)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            if isinstance(error, TimeoutError):
                raise HostError("tmux did not answer") from error
            raise
        if process.returncode:
            raise refusal(err.decode(errors="replace").strip())
        return out.decode(errors="replace")


def refusal(said: str) -> HostError:
    """The error for what tmux said."""
    if any(word in said for word in (*NO_SERVER, *LOST)):
        return PlaceGone(said)
    return HostError(f"tmux refused: {said or 'without a word'}")
