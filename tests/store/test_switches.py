"""What a person said of rules: kept, taken back, and laid over the rules as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.errors import InputError
from koboshi.rules import BUILTIN
from koboshi.store.switches import FILE, Switch, switch, switched, switches_in


def test_kept_and_taken_back(tmp_path: Path) -> None:
    """For the owner's eyes, whole, and by code."""
    state = tmp_path / "state"
    assert switches_in(state) == {}
    switch(state, "RUN001", "observe", 5.0)
    switch(state, "IDL001", "act", 6.0)
    assert switches_in(state) == {
        "RUN001": Switch(mode="observe", utc=5.0),
        "IDL001": Switch(mode="act", utc=6.0),
    }
    assert (state / FILE).stat().st_mode & 0o777 == 0o600
    switch(state, "RUN001", "default", 7.0)
    assert list(switches_in(state)) == ["IDL001"]


def test_what_is_no_word_changes_nothing(tmp_path: Path) -> None:
    """Nor does a file that cannot be read: it would be lost."""
    with pytest.raises(InputError, match="expected one of observe, act, default"):
        switch(tmp_path, "RUN001", "off", 5.0)
    assert not (tmp_path / FILE).exists()
    (tmp_path / FILE).write_text('{"RUN001": {"mode": "of')
    with pytest.raises(InputError, match="cannot be read"):
        switch(tmp_path, "RUN001", "act", 5.0)
    (tmp_path / FILE).write_text('{"RUN001": {"mode": "off", "utc": 1}}')
    with pytest.raises(InputError, match="cannot be read"):
        switches_in(tmp_path)


def test_laid_over_the_rules(tmp_path: Path) -> None:
    """Only those that it names; nothing else of them changes."""
    switch(tmp_path, BUILTIN[0].code, "observe", 5.0)
    rules = switched(BUILTIN, switches_in(tmp_path))

    assert [rule.observes for rule in rules] == [True, *([False] * (len(BUILTIN) - 1))]
    assert rules[1:] == BUILTIN[1:]
    assert (rules[0].code, rules[0].check) == (BUILTIN[0].code, BUILTIN[0].check)
