"""What lines above a dialog prove."""

from __future__ import annotations

import pytest

from koboshi.core.readings import added, ran_between

ABOVE = ("> go", "● step")


@pytest.mark.parametrize(
    ("lines", "ran"),
    [
        (ABOVE, False),
        ((*ABOVE, "● a background task has ended"), False),
        ((*ABOVE, "● Bash(npm test)"), True),
        ((*ABOVE, "● Bash(npm", "  test)"), True),  # wrapped at a narrow screen
        (("● step", "● Bash(npm test)"), True),  # the first line has scrolled away
        (("✻ compacted", "● Bash(npm test)"), False),  # rebuilt: nothing tells what is new
    ],
)
def test_only_the_call_itself_proves_that_it_ran(lines: tuple[str, ...], *, ran: bool) -> None:
    """Anything can be printed above an open dialog."""
    assert ran_between(ABOVE, lines, "npm test") is ran


def test_a_dialog_about_nothing_proves_nothing() -> None:
    """An empty subject is in every line."""
    assert not ran_between(ABOVE, (*ABOVE, "anything"), "")


def test_what_was_added_is_told_or_nothing() -> None:
    """None where the transcript was rebuilt."""
    assert added(ABOVE, (*ABOVE, "new")) == ("new",)
    assert added(ABOVE, ("other",)) is None
    assert added((), ("all",)) == ("all",)
