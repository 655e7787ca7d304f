"""A note that a run has from its start: who gets one, and what is typed then."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.adapters.equipment import BRIEF
from koboshi.core.actions import Load, Start
from koboshi.core.events import Ending, Origin
from koboshi.core.settings import Settings
from koboshi.core.view import Refreshing, Stage, evolve
from koboshi.performers import Gear, briefs, handover
from tests.performers.benches import Bench
from tests.performers.test_handover import NAME, Noted, said

START = Start(run=1, origin=Origin.FRESH, session="s2", nth=0)
LOAD = Load(run=1, name=NAME, nth=0)
MARK = handover.number(NAME, "load")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An agent in the middle of a refresh, its note written."""
    made = Bench()
    made.hands.adapter = Noted()
    made.hands.program = replace(made.hands.program, gear=Gear(folder=tmp_path))
    refresh = Refreshing(nth=1, why="full", stage=Stage.STARTING, note=NAME)
    made.view = evolve(made.view, refresh=refresh)
    handover.keep(made.hands, NAME, "go on with the parser")
    return made


def take_brief(tmp_path: Path) -> None:
    """What the shim leaves behind when it has printed the brief of run 1."""
    (tmp_path / "run-1").mkdir()
    (tmp_path / "run-1" / f"{BRIEF}.told").touch()


def test_a_fresh_run_of_a_refresh_gets_its_note(bench: Bench) -> None:
    """With a number that stands nowhere else."""
    brief = briefs.brief_for(START, bench.hands)

    assert brief.startswith(f"Hand-over note number {MARK} for run 1 of this work.")
    assert brief.endswith("go on with the parser")
    assert not handover.proven(brief, NAME)
    assert str(MARK) not in briefs.reminder(1)


@pytest.mark.parametrize(
    ("start", "refresh"),
    [
        (evolve(START, origin=Origin.RESUMED), {}),
        (evolve(START, origin=Origin.FIRST), {}),
        (START, {"stage": Stage.LOADING}),
        (START, {"note": ""}),
        (START, {"note": "ckpt-that-nobody-wrote"}),
    ],
)
def test_others_get_none(bench: Bench, start: Start, refresh: dict[str, object]) -> None:
    """A session that goes on knows it all; and what is not there cannot be told."""
    known = bench.view.refresh
    assert known is not None
    bench.view = evolve(bench.view, refresh=evolve(known, **refresh))

    assert briefs.brief_for(start, bench.hands) == ""


def test_who_has_a_command_that_loads_gets_none(bench: Bench) -> None:
    """The owner's way is the owner's."""
    settings = Settings(save_text="/sc-save {name}", load_text="/sc-load {name}")
    bench.view = evolve(bench.view, settings=settings)

    assert briefs.brief_for(START, bench.hands) == ""


def test_a_run_that_took_its_brief_is_only_asked_to_go_on(bench: Bench, tmp_path: Path) -> None:
    """The note is not told twice, and the number comes back."""
    take_brief(tmp_path)
    bench.hands.transcript = lambda: (said(f":{MARK}: going on."),)

    assert bench.perform(LOAD).ending is Ending.DONE
    assert "go on with the parser" not in bench.sent[0]
    assert "was given to you when this session began" in bench.sent[0]


@pytest.mark.parametrize("nth", [0, 1])
def test_a_run_without_its_brief_is_told_in_words(bench: Bench, tmp_path: Path, nth: int) -> None:
    """It was not taken, or what came of it proved nothing."""
    if nth:
        take_brief(tmp_path)
    bench.hands.transcript = lambda: (said(f":{MARK}: going on."),)

    assert bench.perform(evolve(LOAD, nth=nth)).ending is Ending.DONE
    assert "go on with the parser" in bench.sent[0]


@pytest.mark.parametrize("before", [True, False])
def test_a_brief_that_is_not_taken_is_withdrawn(
    bench: Bench, tmp_path: Path, *, before: bool
) -> None:
    """Whoever runs its hook later finds nothing; an earlier try to start it may have taken one."""
    if before:
        take_brief(tmp_path)
    (tmp_path / "run-1").mkdir(exist_ok=True)
    (tmp_path / "run-1" / BRIEF).touch()
    bench.hands.transcript = lambda: (said(f":{MARK}: going on."),)

    assert not briefs.was_told(LOAD, bench.hands)
    assert bench.perform(LOAD).ending is Ending.DONE
    assert "go on with the parser" in bench.sent[0]
    assert list((tmp_path / "run-1").iterdir()) == []


def test_a_brief_is_waited_for(bench: Bench, tmp_path: Path) -> None:
    """The prompt stands there before the hooks of the start have run."""
    (tmp_path / "run-1").mkdir()
    brief = tmp_path / "run-1" / BRIEF
    brief.touch()
    bench.runtime.spawn(later(bench, lambda: brief.rename(brief.with_name(f"{BRIEF}.told"))))
    bench.hands.transcript = lambda: (said(f":{MARK}: going on."),)

    assert bench.perform(LOAD).ending is Ending.DONE
    assert "go on with the parser" not in bench.sent[0]


async def later(bench: Bench, act: Callable[[], object]) -> None:
    """That happens in two seconds."""
    await bench.runtime.sleep(2.0)
    act()


@pytest.mark.parametrize("given", [True, False])
def test_the_transcript_proves_it_where_the_number_is_forgotten(
    bench: Bench, tmp_path: Path, *, given: bool
) -> None:
    """The model was told, and has answered; a hook of somebody else's is no proof."""
    take_brief(tmp_path)
    told = briefs.brief_for(START, bench.hands) if given else "Be kind."
    line = {
        "type": "attachment",
        "attachment": {
            "type": "hook_additional_context",
            "hookEvent": "SessionStart",
            "content": [told],
        },
    }
    bench.hands.transcript = lambda: (json.dumps(line).encode(), said("I know what to do."))

    assert (bench.perform(LOAD).ending is Ending.DONE) == given
