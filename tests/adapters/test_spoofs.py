"""Nothing that an agent prints is taken for its program: no question, limit, work, or end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.readings import Reading, Status
from koboshi.observations import ScreenSeen
from tests.adapters.spoofs import CLIS, PRINTED, frames, printed, with_spoof, written

WAYS = [(agent, way) for agent in CLIS for way in PRINTED[agent]]


def told(reading: Reading) -> str:
    """A reading in a line, for a person."""
    return f"{reading.status.value} ({reading.reason}) {reading.evidence[:2]}"


def tried(agent: str, way: str, status: str) -> list[tuple[str, Reading, Reading]]:
    """Every spoof printed into every frame of that status: its name, as it was, as it is."""
    read = adapter(agent).read
    found = []
    for case, look in frames(agent, status):
        for spoof in written():
            for styled in (True, False):
                plain = look if styled else replace(look, ansi=None)
                if styled and not look.ansi:
                    continue
                seen = with_spoof(agent, look, printed(agent, way, spoof), styled=styled)
                name = f"{case} + {spoof.name}{'' if styled else ' (plain)'}"
                found.append((name, read(plain), read(seen)))
    return found


def _plainly(agent: str, name: str) -> set[Status]:
    """Without attributes an error of OpenCode, a grey text in a panel, is like what a tool said."""
    return {Status.FAILED} if agent == "opencode" and "(plain)" in name else set()


@pytest.mark.parametrize(("agent", "way"), WAYS)
def test_what_is_printed_above_a_waiting_box_changes_nothing(agent: str, way: str) -> None:
    """It waits; or, where an answer may be growing, nobody knows. The numbers are the notice's."""
    wrong = [
        f"{name}: {told(now)}"
        for name, was, now in tried(agent, way, "idle")
        if now.status not in {Status.IDLE, Status.UNKNOWN, *_plainly(agent, name)}
        or (now.prompt, now.limit) != (None, None)
        or (now.error is not None and now.status is not Status.FAILED)
        or now.context != was.context
        or now.draft != was.draft
    ]

    assert wrong == [], f"{len(wrong)} of {len(tried(agent, way, 'idle'))}"


@pytest.mark.parametrize(("agent", "way"), WAYS)
def test_what_is_printed_above_a_spinner_changes_nothing(agent: str, way: str) -> None:
    """It works, whatever it shows."""
    wrong = [
        f"{name}: {told(now)}"
        for name, was, now in tried(agent, way, "working")
        if now.status not in {was.status, Status.UNKNOWN} or now.prompt or now.limit
    ]

    assert wrong == []


@pytest.mark.parametrize(("agent", "way"), WAYS)
def test_what_is_printed_above_a_question_is_no_part_of_it(agent: str, way: str) -> None:
    """Options, selection and subject are the dialog's own; in doubt there is no subject."""
    wrong = []
    for name, was, now in tried(agent, way, "asking"):
        if now.status is Status.UNKNOWN and now.prompt is None:
            continue
        same = now.prompt and was.prompt and now.prompt.options == was.prompt.options
        subject = now.prompt.subject if now.prompt else ""
        if not same or subject not in {"", was.prompt.subject if was.prompt else ""}:
            wrong.append(f"{name}: {told(now)} {subject!r}")

    assert wrong == []


PROGRAMS = ("less", "vim", "cat", "man", "python3", "ssh", "tail", "")


@pytest.mark.parametrize("command", PROGRAMS)
def test_any_program_may_show_anything(command: str) -> None:
    """Of a program that is not known nothing is believed but its end."""
    for spoof in written():
        seen = ScreenSeen(text="\n".join(spoof.rows), command=command, cols=100, rows=40)
        reading = adapter("generic").read(seen)

        assert (reading.prompt, reading.limit, reading.error) == (None, None, None)
        if command:
            assert reading.status is Status.UNKNOWN, (spoof.name, told(reading))


@pytest.mark.parametrize("agent", CLIS)
@pytest.mark.parametrize(
    "below", [":", "(END)", "~\n~\n-- INSERT --", "notes.md lines 1-40/90 44%"]
)
def test_a_pager_over_the_agent_asks_nothing(agent: str, below: str) -> None:
    """An editor or a pager in the agent's pane: neither a question nor a limit."""
    for spoof in written():
        text = "\n".join((*spoof.rows[-38:], below))
        reading = adapter(agent).read(ScreenSeen(text=text, command="less", cols=100, rows=40))

        assert reading.status not in {Status.LIMITED, Status.GONE}, (spoof.name, told(reading))
        assert reading.prompt is None, (spoof.name, told(reading))
