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
import functools
import re
from asyncio.subprocess import PIPE
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from koboshi.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Seconds for one answer. tmux needs a third of a millisecond; a minute-long stall is no answer.
ANSWER_PATIENCE = 15.0
#: Seconds for the client to go after end of file on its standard input.
LEAVE_PATIENCE = 3.0

#: Characters of a word that is worth remembering; others are pasted once.
_SHORT = 400

Command = tuple[str, ...]


class ConnectionLost(HostError):
    """the connection to tmux was lost"""  # noqa: D415 - it is the message, see errors.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answered command; `own` is False for what tmux ran by itself."""

    said: tuple[str] | tuple[()] = ()  #: all lines in one, if there was any
    failed: bool = False
    own: bool = True

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines."""
        return tuple(self.said[0].split("\n")) if self.said else ()

    @property
    def text(self) -> str:
        """All lines joined."""
        return self.said[0] if self.said else ""


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
        self._lines: list[bytes] = []  # pieces of one or more lines each

    def feed(self, chunk: bytes) -> list[Reply | Notice]:
        """What became complete with this chunk."""
        whole, newline, rest = chunk.rpartition(b"\n")
        if not newline:
            self._partial.append(rest)
            return []
        text = b"".join((*self._partial, whole, newline))
        self._partial = [rest]
        items: list[Reply | Notice] = []
        at = 0
        while at < len(text):
            if self._guard is not None:
                at = self._block(text, at)
            while self._guard is None and (reply := _whole(text, at)):
                items.append(reply[0])
                at = reply[1]
            end = text.find(b"\n", at)
            item = self._line(text[at:end]) if end >= 0 else None
            if item is not None:
                items.append(item)
            at = end + 1 if end >= 0 else len(text)
        return items

    def _block(self, text: bytes, at: int) -> int:
        """Take lines that cannot end the block, all at once; where the first other one begins."""
        if text.startswith(b"%e", at):  # end, error
            return at
        found = text.find(b"\n%e", at)
        last = found if found >= 0 else len(text) - 1
        self._lines.append(text[at:last])
        return last + 1

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
            self._lines.append(line)
            return None
        self._guard = None
        text = b"\n".join(self._lines).decode(errors="replace")
        said = (text,) if self._lines else ()
        return Reply(said=said, failed=word == b"%error", own=rest.endswith(b" 1"))


def _whole(text: bytes, at: int) -> tuple[Reply, int] | None:
    """The block that begins there, and where it ends: nearly all come in one piece."""
    if not text.startswith(b"%begin ", at):
        return None
    head = text.find(b"\n", at)
    guard = text[at + len(b"%begin ") : head]
    tail = b"\n%end " + guard + b"\n"
    end = text.find(tail, head)
    if end < 0 or text.find(b"\n%error " + guard + b"\n", head, end) >= 0:
        return None  # in pieces, or a refusal
    said = (text[head + 1 : end].decode(errors="replace"),) if end > head else ()
    return Reply(said=said, own=guard.endswith(b" 1")), end + len(tail)


def unescape(data: bytes) -> bytes:
    r"""The bytes behind the `\ooo` escapes of an %output notice."""
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes((int(m[1], 8) & 0xFF,)), data)


def quote(word: str) -> str:
    r"""The word for tmux's own command parser, which then sees exactly it.

    Inside double quotes `$` and a leading `~` expand and a newline ends the command: all of these,
    and every control character, go as octal escapes.
    """
    return _quoted_again(word) if len(word) <= _SHORT else _quoted(word)


def _quoted(word: str) -> str:
    if "\0" in word:
        message = "a word for tmux may not hold a NUL"
        raise HostError(message)
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\$~]', lambda m: f"\\{ord(m[0]):03o}", word) + '"'


_quoted_again = functools.lru_cache(maxsize=1024)(_quoted)


def _line_of(command: Command) -> str:
    """One command as tmux reads it; looks say the same ones for ever."""
    return _line(command) if sum(map(len, command)) > _SHORT else _line_again(command)


def _line(command: Command) -> str:
    return " ".join(map(quote, command)) + "\n"


_line_again = functools.lru_cache(maxsize=4096)(_line)


def _fail(answer: asyncio.Future[Any], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
        answer.exception()  # read once, so that an abandoned one is not reported


class Question:
    """Commands that were sent together, and what was answered so far."""

    __slots__ = ("answered", "at", "count", "replies")

    def __init__(self, count: int) -> None:
        loop = asyncio.get_running_loop()
        self.count, self.at = count, loop.time()
        self.replies: list[Reply] = []
        self.answered: asyncio.Future[None] = loop.create_future()


class ControlClient:
    """One `tmux -C` process; answers are matched to commands by their order."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: deque[Question] = deque()
        self._outbox: list[str] = []
        self._patience: asyncio.TimerHandle | None = None
        self._trouble = ""
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
        if not commands:
            return []
        question = Question(len(commands))
        lines = "".join(map(_line_of, commands))
        self._waiting.append(question)
        if not self._outbox:
            # In a moment, with what others ask meanwhile: each write wakes tmux.
            asyncio.get_running_loop().call_soon(self._send)
        self._outbox.append(lines)  # in the order of the questions: no await in between
        if self._patience is None:
            self._watch_for(question)
        await question.answered
        return question.replies

    def _watch_for(self, oldest: Question) -> None:
        """One timer for all who wait: one for each would cost as much as asking."""
        loop = asyncio.get_running_loop()
        self._patience = loop.call_at(oldest.at + ANSWER_PATIENCE, self._run_out)

    def _run_out(self) -> None:
        self._patience = None
        if not self._waiting:
            return
        oldest = self._waiting[0]
        if asyncio.get_running_loop().time() < oldest.at + ANSWER_PATIENCE:
            self._watch_for(oldest)
            return
        self._kill()  # answers that come now would be taken for those of later commands
        self._trouble = "tmux did not answer"

    def _send(self) -> None:
        lines, self._outbox = "".join(self._outbox), []
        if self._process.stdin is not None:
            self._process.stdin.write(lines.encode())

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
            error = ConnectionLost(self._trouble or await self._last_words())
        except ConnectionLost as lost:
            error = lost
            self._kill()
        finally:
            if self._patience is not None:
                self._patience.cancel()
            _fail(self._attached, error)
            for question in self._waiting:
                _fail(question.answered, error)

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
            question = self._waiting[0]
            question.replies.append(reply)
            if len(question.replies) == question.count:
                self._waiting.popleft()
                if not question.answered.done():  # its asker may have given up
                    question.answered.set_result(None)

    async def _last_words(self) -> str:
        stderr = self._process.stderr
        words = (await stderr.read(1000)).decode(errors="replace").strip() if stderr else ""
        return words or "tmux's server ended or sent us away"
