"""Adapters by name, and what the scripted and the generic one propose."""

from __future__ import annotations

import pytest

from koboshi.adapters.registry import adapter, names
from koboshi.core.readings import Meaning, Option, Prompt, PromptKind
from koboshi.errors import InputError, UnknownAgent
from koboshi.observations import ScreenSeen
from koboshi.scripted.behaviour import EndTurn, Work
from tests.adapters.nights import begin

SCRIPTED, GENERIC = adapter("scripted"), adapter("generic")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    """The message is what a person reads."""
    with pytest.raises(
        UnknownAgent,
        match="expected one of claude, codex, gemini, generic, opencode, scripted, not 'clod'",
    ) as caught:
        adapter("clod")

    assert isinstance(caught.value, InputError)


def test_names_are_sorted_and_each_has_an_adapter() -> None:
    """The list people see is the list that works."""
    assert names() == ("claude", "codex", "gemini", "generic", "opencode", "scripted")
    assert list(names()) == [adapter(name).name for name in names()]


def options(*meanings: Meaning, keys: str = "") -> tuple[Option, ...]:
    """Options of those meanings, with or without digits."""
    return tuple(
        Option(text=m.value, meaning=m, key=keys[i] if keys else "") for i, m in enumerate(meanings)
    )


@pytest.mark.parametrize(
    ("given", "selected", "choice", "expected"),
    [
        (options(Meaning.ONCE, Meaning.ALWAYS, Meaning.NO, keys="123"), 0, Meaning.NO, ("3",)),
        (options(Meaning.NO, Meaning.ONCE, keys="12"), 0, Meaning.ONCE, ("2",)),
        (options(Meaning.ONCE, Meaning.NO), 0, Meaning.NO, ("Down", "Enter")),
        (options(Meaning.ONCE, Meaning.ALWAYS, Meaning.NO), 2, Meaning.ONCE, ("Up", "Up", "Enter")),
        (options(Meaning.ONCE, Meaning.NO), 0, Meaning.ONCE, ("Enter",)),
        (options(Meaning.ONCE, Meaning.NO), None, Meaning.ONCE, None),
        (options(Meaning.ONCE, Meaning.NO, keys="12"), 0, Meaning.ALWAYS, None),
    ],
)
def test_keys_follow_the_meaning_not_the_position(
    given: tuple[Option, ...],
    selected: int | None,
    choice: Meaning,
    expected: tuple[str, ...] | None,
) -> None:
    """A digit where there is one, arrows from the selected row otherwise."""
    prompt = Prompt(kind=PromptKind.PERMISSION, question="?", options=given, selected=selected)

    assert expected == SCRIPTED.keys_for(prompt, choice)
    assert GENERIC.keys_for(prompt, choice) is None


def test_a_menu_a_person_opened_is_never_answered() -> None:
    """The person is still there."""
    prompt = Prompt(
        kind=PromptKind.PICKER, question="?", options=options(Meaning.ONCE, keys="1"), selected=0
    )

    assert SCRIPTED.keys_for(prompt, Meaning.ONCE) is None


def lines(night_cols: int, *sent: str) -> tuple[str, ...]:
    """The transcript after these messages."""
    night = begin((Work(seconds=1), EndTurn()), cols=night_cols)
    night.move(("wait", 1.0))
    for text in sent:
        night.move(("send", text))
        night.move(("wait", 3.0))
    return SCRIPTED.read(ScreenSeen(text=night.agent.screen())).lines


@pytest.mark.parametrize("cols", [40, 100])
def test_a_save_is_confirmed_below_its_echo_only(cols: int) -> None:
    """An earlier save of the same name does not confirm this one."""
    name = "a-rather-long-name-of-a-hand-over-note-1"

    assert SCRIPTED.saved(lines(cols, SCRIPTED.save_text(name)), name)
    assert SCRIPTED.loaded(lines(cols, SCRIPTED.save_text(name), SCRIPTED.load_text(name)), name)
    assert not SCRIPTED.loaded(lines(cols, SCRIPTED.load_text(name)), name)
    assert not SCRIPTED.saved(lines(cols, SCRIPTED.save_text(name + "x")), name)
    assert not SCRIPTED.saved((*lines(cols, SCRIPTED.save_text(name)), "> /save " + name), name)
    assert not SCRIPTED.saved(("● Saved " + name,), name)


def test_only_zero_is_a_clean_exit() -> None:
    """A signal or a code was not meant by anybody we know."""
    for known in (SCRIPTED, GENERIC):
        assert known.clean_exit(0, None)
        assert not known.clean_exit(1, None)
        assert not known.clean_exit(None, 9)
        assert not known.clean_exit(None, None)


def test_a_run_names_its_session() -> None:
    """The generic one knows of none."""
    assert SCRIPTED.argv(program=("x",), session="s1") == ("x", "--session", "s1")
    assert SCRIPTED.resume_argv(program=("x",), session="s1") == ("x", "--resume", "s1")
    assert GENERIC.argv(program=("x",), session="s1") == ("x",)
    assert GENERIC.resume_argv(program=("x",), session="s1") == ("x",)
