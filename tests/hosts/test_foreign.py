"""Which pane is meant: exactly one, or an error that says what there is."""

from __future__ import annotations

import pytest

from koboshi.errors import HostError, PlaceGone
from koboshi.hosts.calls import refusal
from koboshi.hosts.foreign import FIELDS, ForeignPane, resolve
from koboshi.hosts.panes import SEPARATOR


def line(pane: str, where: str, *, current: bool = False, title: str = "t") -> str:
    """A pane as tmux lists it; `where` is session, window index, its name and pane index."""
    session, window, name, index = where.split()
    facts = dict.fromkeys(FIELDS, "0")
    facts |= {"pane_id": pane, "session_name": session, "window_index": window, "pane_title": title}
    facts |= {"window_name": name, "pane_index": index, "session_id": f"${session}"}
    facts |= {"window_active": str(int(current)), "pane_active": str(int(index == "0"))}
    facts |= {"window_id": f"@{session}{window}", "pane_mode": "", "@koboshi_agent": ""}
    return SEPARATOR.join(facts.values())


LINES = [
    line("%1", "cc 0 vim 0"),
    line("%2", "cc 1 claude 0", current=True),
    line("%3", "cc 1 claude 1", current=True),
    line("%12", "ccx 1 v1.0 0", current=True),
    line("%4", "7 0 a 0", current=True),
]


@pytest.mark.parametrize(
    ("target", "pane"),
    [
        ("%12", "%12"),
        ("cc", "%2"),
        ("cc:", "%2"),
        ("=cc:1.0", "%2"),
        ("cc:1.0", "%2"),
        ("cc:1.1", "%3"),
        ("cc:1", "%2"),
        ("cc:0", "%1"),
        ("cc:1.", "%2"),
        ("cc:vim", "%1"),
        ("cc:claude.1", "%3"),
        ("cc:claude.%3", "%3"),
        ("cc:.1", "%3"),
        ("ccx:v1.0", "%12"),
        ("$cc:0.0", "%1"),
        ("@cc1", "%2"),
        ("7", "%4"),
        (":vim", "%1"),
    ],
)
def test_a_target_means_one_pane(target: str, pane: str) -> None:
    """The forms that tmux knows."""
    assert resolve(target, LINES).id == pane


@pytest.mark.parametrize(
    "target", ["c", "%1x", "%99", "cc:2", "cc:1.7", "cc:cla", "nobody:1.0", "@99", "%"]
)
def test_a_target_that_is_nearly_one_is_none(target: str) -> None:
    """tmux itself would take the next best; there somebody else may work."""  # noqa: D403
    with pytest.raises(PlaceGone, match="expected a pane") as caught:
        resolve(target, LINES)
    assert "cc:1.0" in caught.value.hint


@pytest.mark.parametrize("target", [":0.0", "", ":"])
def test_a_target_that_means_several_is_refused(target: str) -> None:
    """Better asked than guessed."""
    with pytest.raises(HostError, match="several"):
        resolve(target, LINES)


def test_a_pane_that_is_not_there_has_empty_fields() -> None:
    """And a title may hold anything, our separator too."""
    assert ForeignPane.parse(SEPARATOR.join("" for _ in FIELDS)) is None
    assert ForeignPane.parse("") is None
    pane = ForeignPane.parse(line("%1", "cc 0 vim 0", title=f"a{SEPARATOR}b"))
    assert pane is not None
    assert pane.title == f"a{SEPARATOR}b"


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("no server running on /tmp/x", True),
        ("error connecting to /tmp/x (No such file or directory)", True),
        ("error connecting to /tmp/x (Connection refused)", True),
        ("error connecting to /tmp/x (Permission denied)", False),
        ("can't find pane: %5", True),
        ("server exited unexpectedly", True),
        ("no current target", True),  # seen in the moment between the last pane and the exit
        ("unknown command: foo", False),
        ("", False),
    ],
)
def test_gone_is_told_from_other_trouble(said: str, *, gone: bool) -> None:
    """What is gone ends a run; what is only in trouble is asked again."""
    assert isinstance(refusal(said), PlaceGone) == gone
