"""One case of each kind: it must not raise, and nothing may be answered that was not asked so."""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random

from koboshi.adapters.asking import asked, decision
from koboshi.adapters.decode import decode
from koboshi.adapters.registry import adapter
from koboshi.core.actions import Answer, Mode
from koboshi.core.engine import World, happen, step
from koboshi.core.events import Moment, Origin, RunStarted
from koboshi.core.readings import Meaning, PromptKind
from koboshi.core.settings import Settings
from koboshi.observations import HookFired, ScreenSeen
from koboshi.policy.dialogs import request_of_prompt
from koboshi.policy.hooks import request_of_hook
from koboshi.sources.envelopes import unpack
from tests.adapters.spoofs import frames, place, printed, written
from tests.core.worlds import blank
from tests.fuzz import dialogs, payloads, plans

CLAUDE = adapter("claude")
NOW = Moment(at=10.0, utc=1_793_000_000.0)


class Fooled(AssertionError):
    """Something was taken for what it is not."""


def hook(random: Random) -> None:
    """A line at the hooks' socket, up to what is known and decided afterwards."""
    told = payloads.payload(random)
    seen = unpack(payloads.line(random, told), agent="a1", utc=2.0)
    asked(told)
    request = request_of_hook(told)
    choice = random.choice(list(Meaning))
    answer = decision(told, choice, text=random.choice(("", "npm test")))
    allows = answer and answer["hookSpecificOutput"]["decision"]["behavior"] != "deny"
    if allows and choice is Meaning.NO:
        raise Fooled(f"a no that allows: {told}")
    if request is not None and request.complete and not isinstance(told.get("tool_input"), dict):
        raise Fooled(f"complete without an input: {told}")
    if not isinstance(seen, HookFired):
        return
    body = decode(CLAUDE, seen)
    if body is not None:
        _, decided = step(_world(), happen(_world(), body, NOW))
        if any(isinstance(each.action, Answer) for each in decided):
            raise Fooled(f"answered without a judgement: {told}")


@functools.cache
def _world() -> World:
    world = blank(Settings(mode=Mode.AUTO))
    started = RunStarted(run=1, origin=Origin.FIRST, session="s1")
    return step(world, happen(world, started, Moment(at=1.0, utc=1.0)))[0]


def dialog(random: Random) -> None:
    """A dialog about a hostile command: allowed is only what was asked, whole and to the letter."""
    command = dialogs.hostile(random)
    seen = dialogs.drawn(random, command)
    prompt = CLAUDE.read(seen).prompt
    if prompt is None or prompt.kind is not PromptKind.PERMISSION:
        return
    request = request_of_prompt(prompt, "claude", "/srv/app", seen.cols)
    believed = request.complete and request.command in dialogs.ALLOWED
    if believed and dialogs.shown(command).strip() != request.command:
        raise Fooled(f"{command!r} was taken for {request.command!r}")


@functools.cache
def _places(status: str) -> tuple[tuple[ScreenSeen, int], ...]:
    return tuple((seen, place("claude", seen)) for _, seen in frames("claude", status))


def spoof(random: Random) -> None:
    """Pieces of dialogs in what an agent or a tool prints: no question, and so no key."""
    seen, at = random.choice(_places(random.choice(("idle", "working"))))
    made = random.choice(written())
    start = random.randrange(len(made.rows))
    other = random.choice(written()).rows
    rows = (*made.rows[start : start + random.randint(1, 30)], *other[-random.randint(1, 12) :])
    way = random.choice(("answer", "tool"))
    shown = printed("claude", way, type(made)(name=made.name, rows=rows))
    text = seen.text.rstrip("\n").split("\n")
    whole = [*text[:at], "", *shown, "", *text[at:]]
    high = seen.rows or len(text)
    look = ScreenSeen(
        text="\n".join(whole[-high:]), at=1.0, cols=seen.cols, rows=high, command=seen.command
    )
    prompt = CLAUDE.read(look).prompt
    if prompt is not None:
        raise Fooled(f"taken for a question: {prompt} in\n{look.text}")


def plan(random: Random) -> None:
    """A plan file after accidents: kept to the byte, told by line, and never made worse."""
    text = plans.damaged(random)
    said = plans.wrong(text)
    if said:
        raise Fooled(f"{said} in\n{text!r}")


#: Which share of the cases is of each kind: a screen costs fifty times as much as a payload.
KINDS: tuple[tuple[Callable[[Random], None], float], ...] = (
    (hook, 0.70),
    (plan, 0.10),
    (dialog, 0.12),
    (spoof, 0.08),
)


def case(seed: int) -> str:
    """What went wrong in that case; empty: nothing."""
    random = Random(seed)
    kinds, shares = zip(*KINDS, strict=True)
    [kind] = random.choices(kinds, shares)
    try:
        kind(random)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"case {seed} ({kind.__name__}): {type(error).__name__}: {error}"
    return ""
