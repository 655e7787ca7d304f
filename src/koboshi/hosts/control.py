"""A client of tmux's control mode: commands in, answers out, over one pipe.

`Parser` is pure. `ControlClient` owns the process `tmux -C …`; nothing here knows about agents.

Traps (tmux 3.3a):

- Only a block with flags 1 answers a command of ours; the block of the attach itself has flags 0.
- A block may hold lines that begin with `%`: it ends only where time, number and flags agree.
- One line must be one command: `source-file` and `a ; b` answer with several blocks.
- An empty line detaches the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from asyncio.subprocess import PIPE
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koboshi.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Seconds for one answer. tmux needs a third of a millisecond; a minute-long stall is no answer.
ANSWER_PATIENCE = 15.0
#: Seconds for the client to go after end of file on its standard input.
LEAVE_PATIENCE = 3.0

Command = tuple[str, ...]


class ConnectionLost(HostError):
    """the connection to tmux was lost"""  # noqa: D415 - it is the message, see errors.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answered command; `own` is False for what tmux ran by itself."""

    lines: tuple[str, ...] = ()
    failed: bool = False
    own: bool = True

    @property
    def text(self) -> str:
        """All lines joined."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something tmux said unasked; `rest` stays bytes: %output may cut a character in two."""

    name: str
    rest: bytes = b""


class Parser:
    """Control-mode bytes to replies and notices; chunks may be cut anywhere."""

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._guard: bytes | None = None  # what follows "%begin " of the open block
        self._lines: list[str] = []

    def feed(self, chunk: bytes) -> list[Reply | Notice]:
        """What became complete with this chunk."""
        head, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._partial.append(head)
            return []
        lines = [b"".join((*self._partial, head)), *rest.split(b"\n")]
        self._partial = [lines.pop()]
        return [item for line in lines if (item := self._line(line)) is not None]

    def _line(self, line: bytes) -> Reply | Notice | None:
        if self._guard is not None:
            return self._inside(line)
        name, _, rest = line.partition(b" ")
        if name == b"%begin":
            self._guard, self._lines = rest, []
            return None
        if not name.startswith(b"%"):
            # A screen that imitates the end of a block would leave its other lines here.
            message = f"expected a line of tmux's control mode, not {line[:60]!r}"
            raise ConnectionLost(message)
        return Notice(name=name[1:].decode(errors="replace"), rest=rest)

    def _inside(self, line: bytes) -> Reply | None:
        word, _, rest = line.partition(b" ")
        if rest != self._guard or word not in (b"%end", b"%error"):
            self._lines.append(line.decode(errors="replace"))
            return None
        self._guard = None
        lines, own = tuple(self._lines), rest.endswith(b" 1")
        return Reply(lines=lines, failed=word == b"%error", own=own)


def unescape(data: bytes) -> bytes:
    r"""The bytes behind the `\ooo` escapes of an %output notice."""
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes((int(m[1], 8) & 0xFF,)), data)


def quote(word: str) -> str:
    r"""The word for tmux's own command parser, which then sees exactly it.

    Inside double quotes `$` and a leading `~` expand and a newline ends the command: all of these,
    and every control character, go as octal escapes.
    """
    if "\0" in word:
        message = "a word for tmux may not hold a NUL"
        raise HostError(message)
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\$~]', lambda m: f"\\{ord(m[0]):03o}", word) + '"'


class ControlClient:
    """One `tmux -C` process; answers are matched to commands by their order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: deque[asyncio.Future[Reply]] = deque()
        self._attached: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, argv: Sequence[str], env: Mapping[str, str]) -> ControlClient:
        """Start the client and wait until it is attached."""
        # Its own session: a Ctrl-C meant for the supervisor must not end it.
        process = await asyncio.create_subprocess_exec(
            *argv, env=dict(env), stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
        client = cls(process)
        try:
            async with asyncio.timeout(ANSWER_PATIENCE):
                first = await client._attached
        except BaseException as error:
            await client.close()
            if isinstance(error, TimeoutError):
                message = "tmux did not answer"
                raise ConnectionLost(message) from error
            raise
        if first.failed:
            await client.close()
            raise HostError(first.text, hint="koboshi needs tmux 3.2 or newer")
        return client

    @property
    def pid(self) -> int:
        """The pid of the client process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether commands can still be asked."""
        return not self._reader.done()

    async def ask(self, *commands: Command) -> list[Reply]:
        """Send all commands at once and wait for all answers, which may be refusals."""
        if not self.alive or self._process.stdin is None:
            raise ConnectionLost
        loop = asyncio.get_running_loop()
        answers = [loop.create_future() for _ in commands]
        lines = "".join(" ".join(map(quote, command)) + "\n" for command in commands)
        self._waiting.extend(answers)
        self._process.stdin.write(lines.encode())  # never partly: no await between queue and write
        try:
            async with asyncio.timeout(ANSWER_PATIENCE):
                return list(await asyncio.gather(*answers))
        except TimeoutError as error:
            self._kill()  # answers that come now would be taken for those of later commands
            await asyncio.wait([self._reader])
            message = "tmux did not answer"
            raise ConnectionLost(message) from error

    async def close(self) -> None:
        """Detach and let the client process go; the server is not touched."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(LEAVE_PATIENCE):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()
        await asyncio.wait([self._reader])

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _read(self) -> None:
        """Read for ever; whatever ends it, nobody is left waiting."""
        error = ConnectionLost()
        try:
            await self._pump()
            error = ConnectionLost(await self._last_words())
        except ConnectionLost as lost:
            error = lost
            self._kill()
        finally:
            for answer in (self._attached, *self._waiting):
                if not answer.done():
                    answer.set_exception(error)
                    answer.exception()  # read once, so that an abandoned one is not reported

    async def _pump(self) -> None:
        stdout = self._process.stdout
        parser = Parser()
        while stdout is not None and (chunk := await stdout.read(1 << 18)):
            for item in parser.feed(chunk):
                if isinstance(item, Reply):
                    self._answer(item)

    def _answer(self, reply: Reply) -> None:
        if not reply.own:
            if not self._attached.done():
                self._attached.set_result(reply)
        elif self._waiting:
            answer = self._waiting.popleft()
            if not answer.done():  # its asker may have given up
                answer.set_result(reply)

    async def _last_words(self) -> str:
        stderr = self._process.stderr
        words = (await stderr.read(1000)).decode(errors="replace").strip() if stderr else ""
        return words or "tmux's server ended or sent us away"
