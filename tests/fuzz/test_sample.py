"""A sample of `make fuzz`: hostile screens and hook payloads, without an exception or a key."""

from __future__ import annotations

import pytest

from koboshi.plans import render
from koboshi.policy import dialogs as reading
from koboshi.policy.requests import Request
from tests.fuzz import cases, plans

#: Of each kind; `make fuzz` runs a million in all.
SAMPLE = 400


@pytest.mark.parametrize("kind", [kind for kind, _ in cases.KINDS], ids=lambda kind: kind.__name__)
def test_hostile_input_fools_nobody(kind: object) -> None:
    """Another sample than the big run's beginning: it is drawn by seed."""
    from random import Random  # noqa: PLC0415

    assert callable(kind)
    for seed in range(SAMPLE):
        kind(Random(f"sample {seed}"))


def test_a_reader_that_believes_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer has been seen red: a cut command that counts as whole is found."""

    def naive(prompt: object, _cli: str, cwd: str, _columns: int) -> Request:
        words = str(getattr(prompt, "subject", "")).replace("…", " ").split("\n")[0].strip()
        kind = getattr(prompt, "kind")  # noqa: B009
        return Request(kind=kind, tool="Bash", command=words, cwd=cwd, complete=True)

    monkeypatch.setattr(cases, "request_of_prompt", naive)
    assert reading.request_of_prompt is not naive
    found = [said for seed in range(20_000) if "dialog" in (said := cases.case(seed))]

    assert found


def test_a_plan_that_is_not_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen red, too: a writer that tidies up the ends of lines is found."""
    monkeypatch.setattr(plans, "render", lambda plan: render(plan).replace(" \n", "\n"))
    found = [said for seed in range(3_000) if "(plan)" in (said := cases.case(seed))]

    assert found
