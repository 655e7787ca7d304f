"""The scripted adapter against the scripted agent's own truth."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from koboshi.adapters.registry import adapter
from koboshi.core.readings import Prompt, Reading, Status
from koboshi.observations import ScreenSeen
from koboshi.scripted.behaviour import (
    Ask,
    Behaviour,
    Compact,
    Done,
    EndTurn,
    Fail,
    Limit,
    Retry,
    Work,
)
from tests.adapters.nights import Move, Night, begin, moves, scripts

SCRIPTED = adapter("scripted")


def squeezed(text: str) -> str:
    """Wrapping may lose or gain blanks, and nothing else."""
    return "".join(text.split())


def look(night: Night) -> Reading:
    """What the adapter says now."""
    agent = night.agent
    return SCRIPTED.read(
        ScreenSeen(text=agent.screen(), utc=night.utc, command="python3", alive=agent.exit is None)
    )


def check_prompt(agent: Behaviour, prompt: Prompt | None) -> None:
    """The prompt is the open dialog, word by word."""
    dialog = agent.dialog
    assert (dialog is None) == (prompt is None)
    if dialog is None or prompt is None:
        return
    assert dialog.kind == prompt.kind
    assert dialog.selected == prompt.selected
    assert squeezed(dialog.question) == squeezed(prompt.question)
    assert [squeezed(t) for t, _ in dialog.options] == [squeezed(o.text) for o in prompt.options]
    assert [meaning for _, meaning in dialog.options] == [o.meaning for o in prompt.options]
    if "… +" not in prompt.subject:
        assert squeezed(dialog.subject) == squeezed(prompt.subject)


def check(night: Night) -> bool:
    """Whether the reading was confident; it is never confidently wrong."""
    agent, reading = night.agent, look(night)
    if reading.status is Status.UNKNOWN:
        assert reading.reason
        assert reading.prompt is None
        return False
    assert agent.status == reading.status
    if reading.status is Status.GONE:
        return True
    check_prompt(agent, reading.prompt)
    if reading.context is not None:
        assert int(agent.context) == reading.context.used
    if reading.limit is not None:
        assert agent.limited_until is not None
        if abs(agent.limited_until - night.utc) < 11.5 * 3600:
            assert agent.limited_until == reading.limit.resets_at
    assert (reading.status is Status.LIMITED) == (reading.limit is not None)
    if reading.prompt is None and "[Pasted text" not in reading.draft:
        assert squeezed(agent.draft.translate(_INVISIBLE)) == squeezed(reading.draft)
    return True


_INVISIBLE = dict.fromkeys([*range(0x20), 0x7F]) | {0x20: " ", 0x0A: "\n", 0x09: " "}


@settings(max_examples=300, deadline=None)
@given(script=scripts, played=st.lists(moves, min_size=1, max_size=25), resumed=st.booleans())
def test_reading_is_the_truth_or_unknown(
    script: tuple[object, ...], played: list[Move], *, resumed: bool
) -> None:
    """Whatever the night, a confident reading says what the agent knows about itself."""
    night = begin(script, resumed=resumed)  # type: ignore[arg-type]
    for move in (("wait", 1.0), ("send", "go on"), *played):
        night.move(move)
        check(night)


def test_a_plain_night_is_read_without_a_doubt() -> None:
    """`unknown` is for torn screens, not a way out."""
    script = (
        Work(seconds=3, say="reading"),
        Ask(command="rm -rf build"),
        Ask(command="rm -rf build"),
        EndTurn(),
        Fail(),
        Retry(seconds=5),
        Limit(seconds=60),
        Work(seconds=2, context=70),
        Compact(seconds=3),
        Done(),
    )
    for cols, rows in ((40, 16), (80, 24), (132, 50)):
        night = begin(script, cols=cols, rows=rows)
        confident, seen = [], []
        for _ in range(400):
            confident.append(check(night))
            seen.append(night.agent.status)
            if night.agent.status == "asking":
                night.move(("key", "1"))
            elif night.agent.status in {"idle", "failed", "limited"} and not night.agent.done:
                night.move(("send", "go on"))
            night.move(("wait", 0.3))

        assert night.agent.done
        assert all(confident)
        assert {"starting", "idle", "working", "asking", "limited", "failed"} == set(seen)


def shot(night: Night) -> tuple[list[str], Reading]:
    """The rows, and what they say while the process runs."""
    text = night.agent.screen()
    return text.split("\n"), SCRIPTED.read(ScreenSeen(text=text, command="python3"))


@settings(max_examples=300, deadline=None)
@given(script=scripts, played=st.lists(moves, min_size=2, max_size=15), cut=st.integers(1, 49))
def test_a_torn_screen_never_asks_what_neither_frame_asked(
    script: tuple[object, ...], played: list[Move], cut: int
) -> None:
    """The rows of one frame above those of the next never make up a question or a turn."""
    night = begin(script)  # type: ignore[arg-type]
    night.move(("wait", 1.0))
    night.move(("send", "go on"))
    shots = [shot(night)]
    for move in played:
        if move[0] != "resize":
            night.move(move)
        shots.append(shot(night))
    for (upper, before), (lower, after) in pairwise(shots):
        torn = "\n".join((*upper[:cut], *lower[cut:]))
        reading = SCRIPTED.read(ScreenSeen(text=torn, command="python3"))

        # Idle above, idle below cannot be told from idle: only what keys depend on must hold.
        if reading.status in {Status.ASKING, Status.WORKING}:
            assert reading.status in {before.status, after.status}
        if reading.prompt is not None:
            assert reading.prompt.kind in {p.kind for p in (before.prompt, after.prompt) if p}
            assert reading.prompt.options in [p.options for p in (before.prompt, after.prompt) if p]
