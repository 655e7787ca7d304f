"""What may be said about a question: by the list of allowed commands, and by a second opinion.

Rule 1: a second opinion may only be stricter. One that fails, is late or cannot be read is `ask`.
Rule 2: it is a command of the owner's, run by its words and without a shell; the question goes to
its standard input as JSON, so that nothing an agent wrote becomes a part of the command.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from koboshi.core.events import Advice, Stance
from koboshi.core.readings import Meaning, PromptKind
from koboshi.core.view import evolve

if TYPE_CHECKING:
    from koboshi.adapters.story import Written
    from koboshi.core.readings import Prompt

#: Bytes of an opinion.
MOST = 64 * 1024
_STRICTNESS = (Stance.ALLOW, Stance.ASK, Stance.DENY)


#: None: it writes nothing down, or nobody knows where.
Calls = Callable[[], "tuple[Written, ...] | None"]


async def not_known() -> int:
    """How wide a terminal is that nobody looks at."""
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """What is to be judged: a question, and the hook's own words about it where one told of it."""

    prompt: Prompt
    payload: Mapping[str, Any] | None = None
    cwd: str = ""
    allow: tuple[str, ...] = ()  #: commands that the owner listed, word for word
    columns: Callable[[], Awaitable[int]] = not_known  #: of the terminal
    calls: Calls = lambda: None  #: what it has written down and not carried out yet
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


class Line(Protocol):
    """A hook that waits for our word."""

    payload: dict[str, Any]

    async def say(self, words: dict[str, Any]) -> bool:
        """Give it that answer; whether it was taken."""
        ...


Advise = Callable[[Matter], Awaitable[Advice]]


async def by_list(matter: Matter) -> Advice:
    """What the list of allowed commands says: exactly these, once, and nothing else."""
    prompt, payload = matter.prompt, matter.payload
    subject = prompt.subject if payload is None else _command(payload)
    offered = payload is not None or prompt.index_of(Meaning.ONCE) is not None
    if prompt.kind is PromptKind.PERMISSION and offered and subject and subject in matter.allow:
        return Advice(stance=Stance.ALLOW)
    return Advice(stance=Stance.ASK)


def _command(payload: Mapping[str, Any]) -> str:
    given = payload.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else ""


def stricter(one: Advice, other: Advice) -> Advice:
    """The stricter of the two; the first where they agree."""
    ranks = _STRICTNESS.index(one.stance), _STRICTNESS.index(other.stance)
    return one if ranks[0] >= ranks[1] else evolve(other, always=False, text="")


async def second_opinion(
    command: tuple[str, ...], seconds: float, matter: Matter, first: Advice
) -> Advice:
    """What that command says about it."""
    try:
        async with asyncio.timeout(seconds):
            return _read(await _run(command, _told(matter, first), matter.cwd))
    except TimeoutError:
        return _unsaid(f"it took longer than {seconds:g} s")
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        return _unsaid(str(error))


def _unsaid(why: str) -> Advice:
    return Advice(
        stance=Stance.ASK, rule="second opinion", why=f"there is no second opinion: {why}"
    )


def _told(matter: Matter, first: Advice) -> bytes:
    prompt = matter.prompt
    return msgspec.json.encode(
        {
            "kind": prompt.kind.value,
            "question": prompt.question,
            "subject": prompt.subject,
            "tool": prompt.tool,
            "options": [option.text for option in prompt.options],
            "cwd": matter.cwd,
            "payload": matter.payload,
            "verdict": first.stance.value,
            "rule": first.rule,
            "why": first.why,
        }
    )


async def _run(command: tuple[str, ...], told: bytes, cwd: str) -> bytes:
    pipe = asyncio.subprocess.PIPE
    running = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, cwd=cwd or None
    )
    try:
        said, _ = await running.communicate(told)
    finally:
        if running.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                running.kill()
            await running.wait()
    if running.returncode != 0:
        raise ValueError(f"it ended with status {running.returncode}")
    return said[:MOST]


def _read(said: bytes) -> Advice:
    """`{"verdict": "allow" | "ask" | "deny", "why": "…"}`."""
    opinion = msgspec.json.decode(said)
    word = opinion.get("verdict") if isinstance(opinion, dict) else None
    if word not in list(Stance):
        raise ValueError('expected {"verdict": "allow", "ask" or "deny"}')
    why = opinion.get("why")
    told = why[:1000] if isinstance(why, str) else ""
    return Advice(stance=Stance(word), rule="second opinion", why=told)
