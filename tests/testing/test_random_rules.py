"""Whatever rules somebody writes: the restart budget holds, and so do the other laws."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from koboshi.config.load import parse
from koboshi.rules import BUILTIN
from koboshi.testing import Night, Violation

CONDITIONS = (
    "true",
    'status == "idle"',
    'status == "failed" || status == "working"',
    "age >= 1",
    "turns > 0 && still >= 5",
    "exit_code != 0",
    'count("log", ".", "5m") >= 1',
    'count("log", "(?i)error|saved|done", "1h") >= 2',
    'count("run-started", "", "1h") >= 1',
    "restarts < 100",
)
ACTIONS = (
    '"restart"',
    '"refresh"',
    '{send = "go on"}',
    '"notify"',
    '"escalate"',
    '"debug_collect"',
)
ON = ("", 'on = ["log"]', 'on = ["run-exited", "run-started"]', 'on = ["screen-read"]')


@st.composite
def rule_files(draw: st.DrawFn) -> str:
    """A file of up to six rules."""
    tables = []
    for number in range(draw(st.integers(1, 6))):
        wanted = draw(st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=3))
        rows = (
            "[[rule]]",
            f'code = "OWN{number}"',
            'name = "of-mine"',
            f"when = '''{draw(st.sampled_from(CONDITIONS))}'''",
            f"actions = [{', '.join(wanted)}]",
            f'cooldown = "{draw(st.sampled_from(("0s", "1s", "5m")))}"',
            draw(st.sampled_from(ON)),
        )
        tables.append("\n".join(rows))
    return "\n\n".join(tables)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(rule_files(), st.integers(0, 5000))
def test_no_rule_set_restarts_for_ever(text: str, seed: int) -> None:
    """In a night with faults; an agent that is restarted all the time need not get ready."""
    sheet = parse(text, "k.toml")
    night = Night(seed, (*BUILTIN, *sheet.book.rules))
    try:
        night.run()
    except Violation as violation:
        if not str(violation).startswith("stuck:"):
            raise

    night.laws.check_runs()
    assert sheet.book.rules
    assert night.lives > 0
