"""Save and load by the owner's own commands: typed, seen to work, or told in words after all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.core.actions import Checkpoint, Load
from koboshi.core.events import Ending
from koboshi.core.settings import Settings
from koboshi.core.view import evolve
from koboshi.performers import Gear, handover
from tests.performers.benches import Bench
from tests.performers.test_handover import Noted, said

NAME = "ckpt-20261115-031502-r3"
SAVE = Checkpoint(run=1, name=NAME, about="refresh1.0")
LOAD = Load(run=1, name=NAME, nth=0)


def bench_with(folder: Path, **settings: str) -> Bench:
    """An agent at its prompt whose owner has commands for it."""
    made = Bench()
    made.hands.adapter = Noted()
    made.hands.program = replace(made.hands.program, gear=Gear(folder=folder))
    made.view = evolve(made.view, settings=Settings(**settings))  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize("text", ["/save {name}", "/save"])
def test_the_command_goes_in_with_the_name_and_its_word_is_looked_for(
    tmp_path: Path, text: str
) -> None:
    """The name stands below the command, too: that is the agent's own word."""
    bench = bench_with(tmp_path, save_text=text)

    result = bench.perform(SAVE)

    assert (result.ending, result.why) == (Ending.DONE, "saved: by its command")
    assert bench.sent[0] == f"'/save {NAME}'"
    assert (tmp_path / "notes" / "a-LAST").read_text() == f"{NAME}\n"


def test_a_command_that_the_agent_does_not_have_saves_nothing(tmp_path: Path) -> None:
    """Some CLIs repeat what was given to it: that is no confirmation."""
    bench = bench_with(tmp_path, save_text="/sc-save {name}")

    result = bench.perform(SAVE)

    assert result.ending is Ending.FAILED
    assert "has no such command" in result.why
    assert not (tmp_path / "notes").exists()


def test_an_announcement_is_no_save(tmp_path: Path) -> None:
    """While the turn runs, the name may be what it is about to do."""
    bench = bench_with(tmp_path, save_text="save as {name}")
    bench.hands.transcript = lambda: (said(f"I will save it as {NAME}."),)

    assert bench.perform(SAVE).ending is Ending.DONE
    assert bench.status == "idle"


def test_a_file_that_is_there_is_a_save(tmp_path: Path) -> None:
    """Whatever the agent says about it."""
    bench = bench_with(tmp_path, save_text="write it to {file}")
    path = tmp_path / "notes" / f"{NAME}.md"
    path.parent.mkdir()
    path.write_text("half of the parser is done\n")

    result = bench.perform(SAVE)

    assert result.why == "saved: by its command"
    assert bench.sent[0] == f"'write it to {path}'"
    assert path.read_text() == "half of the parser is done\n"


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    """The path in the echo of the command proves nothing, nor does an empty file."""
    bench = bench_with(tmp_path, save_text="write it to {file}")
    path = tmp_path / "notes" / f"{NAME}.md"
    path.parent.mkdir()
    path.write_text("\n")

    assert bench.perform(SAVE).ending is Ending.FAILED


def test_the_last_try_writes_the_note_and_it_is_told_in_words(tmp_path: Path) -> None:
    """The agent's own store does not have it."""
    bench = bench_with(tmp_path, save_text="/sc-save {name}", load_text="/sc-load {name}")
    bench.hands.transcript = lambda: (said("Two tests still fail."),)

    assert bench.perform(evolve(SAVE, last=True)).ending is Ending.DONE
    assert bench.sent == []
    bench.perform(LOAD)
    assert "Two tests still fail." in bench.sent[0]
    assert "/sc-load" not in bench.sent[0]


def test_where_no_note_can_be_written_the_last_try_is_the_command(tmp_path: Path) -> None:
    """There is no folder for notes: the agent's own store is all there is."""
    bench = bench_with(tmp_path, save_text="/save {name}")
    bench.hands.program = replace(bench.hands.program, gear=None)

    result = bench.perform(evolve(SAVE, last=True))

    assert (result.ending, bench.sent[0]) == (Ending.DONE, f"'/save {NAME}'")


def test_what_was_saved_by_command_is_loaded_by_command(tmp_path: Path) -> None:
    """Under the name that was kept."""
    bench = bench_with(tmp_path, save_text="/save {name}", load_text="/load {name}")
    bench.perform(SAVE)
    bench.sent.clear()

    result = bench.perform(LOAD)

    assert (result.ending, result.why) == (Ending.DONE, "loaded: by its command")
    assert bench.sent[0] == f"'/load {NAME}'"


def test_a_load_in_doubt_that_nobody_sees_is_done_again(tmp_path: Path) -> None:
    """What else stands on the screen is no answer to it."""
    bench = bench_with(tmp_path, save_text="/save {name}", load_text="/load {name}")
    bench.say("go")
    bench.wait(20.0)

    assert bench.settle(LOAD).ending is Ending.SKIPPED


def test_a_load_that_says_that_there_is_no_such_name_fails(tmp_path: Path) -> None:
    """It names it, too."""
    bench = bench_with(tmp_path, save_text="/save {name}", load_text="/load {name}")

    assert bench.perform(LOAD).ending is Ending.FAILED
    assert bench.perform(evolve(LOAD, nth=1)).ending is Ending.FAILED


def test_a_load_counts_whatever_comes_after_it(tmp_path: Path) -> None:
    """The turn that it began may fail at once."""
    bench = bench_with(tmp_path, save_text="/save {name}", load_text="/load {name}")
    bench.perform(SAVE)
    bench.hands.transcript = lambda: (said(f"Loaded {NAME}.\nNow a tool failed."),)

    assert bench.perform(LOAD).why == "loaded: by its command"


def test_a_load_that_the_agent_does_not_have_fails(tmp_path: Path) -> None:
    """The new run knows nothing then."""
    bench = bench_with(tmp_path, save_text="/save {name}", load_text="/sc-load {name}")
    bench.perform(SAVE)

    assert bench.perform(LOAD).ending is Ending.FAILED


def test_without_a_command_that_loads_the_new_run_is_told_of_the_save(tmp_path: Path) -> None:
    """In words: how it was saved."""
    bench = bench_with(tmp_path, save_text="/save {name}")
    bench.perform(SAVE)
    bench.sent.clear()

    bench.perform(LOAD)

    assert f"The work was saved with: /save {NAME}" in bench.sent[0]


def test_a_load_by_file_takes_any_note(tmp_path: Path) -> None:
    """Also one that koboshi wrote."""
    bench = bench_with(tmp_path, load_text="read {file} and go on")
    handover.keep(bench.hands, NAME, "note")

    bench.perform(LOAD)

    assert bench.sent[0] == f"'read {tmp_path / 'notes' / NAME}.md and go on'"


@pytest.mark.parametrize("saved", [True, False])
def test_a_save_in_doubt_is_settled_by_looking(tmp_path: Path, *, saved: bool) -> None:
    """The confirmation is on the screen, or the command is given again."""
    bench = bench_with(tmp_path, save_text="/save {name}")
    if saved:
        bench.say(f"/save {NAME}")
        bench.wait(5.0)

    assert bench.settle(SAVE).ending is (Ending.DONE if saved else Ending.SKIPPED)
