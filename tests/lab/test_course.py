"""A plan's walk with real agent CLIs: limits, budgets, reviews, new plans."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi.plans import Plan, PlanStatus, parse
from tests.conftest import AgentCli
from tests.lab.conftest import furnished
from tests.lab.limits import LOGIN, codex_used_up, used_up
from tests.lab.model.server import Model
from tests.lab.model.turns import Turn, call, say
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.test_fire import Bench, write
from tests.notices.servers import Webhook

pytestmark = [pytest.mark.lab, pytest.mark.stage]

PLAN = """\
STATUS: IDLE
GOAL: leave a mark

PLAN:
  TOTAL_STEPS: {total}
  CURRENT_STEP: 0
  STEPS:
"""
STEP = "    {n}: [PENDING] make mark {n} → mark{n}.txt\n      VERIFY: test -e mark{n}.txt\n"

Benches = Callable[..., Bench]


@pytest.fixture(params=(*CLAUDE, CODEX), ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """The CLIs that the loop is proved with."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture
def benches(part: Part, model: Model, agent_cli: AgentCli, tmp_path: Path) -> Benches:
    """Makes a repository with a plan of so many steps."""

    def made(steps: int = 1, **room: object) -> Bench:
        home = furnished(part, room, model, agent_cli, tmp_path)
        (home.cwd / "kept.txt").write_text("kept\n")
        home.commit()
        rows = "".join(STEP.format(n=n) for n in range(1, steps + 1))
        (home.cwd / "M1.md").write_text(PLAN.format(total=steps) + rows)
        return Bench(home, tmp_path / "state")

    return made


def walked(bench: Bench, part: Part, *words: str) -> Plan:
    """The plan after `koboshi loop`."""
    stop = str(bench.state.parent / "stop")
    bench.run("loop", "M1.md", "--agent", part.cli, "--stop-file", stop, *words)
    return parse((bench.home.cwd / "M1.md").read_text(encoding="utf-8"))


def mark(bench: Bench, part: Part, n: int) -> tuple[Turn, Turn]:
    """The turns that do a step."""
    return write(part, bench.home.cwd / f"mark{n}.txt", "x"), say(f"Marked {n}.")


def test_a_usage_limit_is_waited_out(part: Part, benches: Benches, model: Model) -> None:
    """Until the time that the CLI tells; no attempt is used up."""
    bench = benches(env=LOGIN) if part.cli == "claude" else benches()
    # Codex prints no seconds: a limit of this minute is over when the minute is.
    resets = int(time.time()) + (15 if part.cli == "claude" else 0)
    limit = used_up("five_hour", resets) if part.cli == "claude" else codex_used_up(resets)
    model.expect(replace(limit, times=1), *mark(bench, part, 1))

    plan = walked(bench, part)

    assert plan.status is PlanStatus.DONE, (plan.last_action, plan.next_action)
    assert plan.results[1].attempts == 1
    assert time.time() >= resets


def test_a_budget_is_kept_or_refused(part: Part, benches: Benches, model: Model) -> None:
    """Claude Code tells what it costs, and is itself told what is left; Codex does not."""
    bench = benches(2)
    model.expect(*mark(bench, part, 1), *mark(bench, part, 2))

    plan = walked(bench, part, "--budget", "0.01")

    assert plan.status is PlanStatus.WAITING
    if part.cli == "codex":
        assert "codex does not tell what it costs" in plan.last_action
        assert model.asked == ()
        return
    assert " of $0.01 are spent" in plan.last_action


def test_tokens_are_told_by_both(part: Part, benches: Benches, model: Model) -> None:
    """One step is paid for, and the second is not begun."""
    bench = benches(2)
    model.expect(*mark(bench, part, 1), *mark(bench, part, 2))

    plan = walked(bench, part, "--token-budget", "100")

    assert plan.status is PlanStatus.WAITING
    assert "of 100 tokens are used up" in plan.last_action
    assert [step.state.value for step in plan.steps] == ["DONE", "PENDING"]


def answered(part: Part, **said: object) -> Turn:
    """A turn that answers in the shape that was asked for."""
    return call("StructuredOutput", **said) if part.cli == "claude" else say(json.dumps(said))


def test_a_reviewer_has_its_say(part: Part, benches: Benches, model: Model) -> None:
    """What it rejects is mended; what it accepts is committed, with its words in RESULTS."""
    bench = benches()
    model.expect(
        *mark(bench, part, 1),
        answered(part, verdict="reject", reasons=["The mark must say y."]),
        write(part, bench.home.cwd / "mark1.txt", "y")
        if part.cli == "codex"
        else call("Bash", command="rm mark1.txt", description="Work"),
        *mark(bench, part, 1),
        answered(part, verdict="accept", reasons=["It says so."]),
    )

    plan = walked(bench, part, "--reviewer", part.cli)

    assert plan.status is PlanStatus.DONE, (plan.last_action, plan.next_action)
    assert plan.results[1].attempts == 2
    assert "A reviewer accepted it: It says so." in plan.results[1].evidence
    told = [request.told for request in model.asked]
    assert any("was not accepted" in each and "must say y" in each for each in told)
    assert any("You review the work" in each and "- mark1.txt" in each for each in told)


def test_steps_that_cannot_be_done_are_planned_anew(
    part: Part, benches: Benches, model: Model
) -> None:
    """What is done stays; the rest is another plan, and the journal tells of it."""
    bench = benches(3)
    steps = [{"do": "mark it otherwise", "verify": ["test -e mark9.txt"], "touch": ["mark9.txt"]}]
    model.expect(
        *mark(bench, part, 1),
        say("It cannot be done."),
        answered(part, steps=steps),
        *mark(bench, part, 9),
    )

    plan = walked(bench, part, "--replan", "1", "--attempts", "1")

    assert plan.status is PlanStatus.DONE, (plan.last_action, plan.next_action)
    assert [step.text for step in plan.steps] == ["make mark 1 → mark1.txt", "mark it otherwise"]
    assert (plan.results[1].summary, plan.results[2].summary) == ("Marked 1.", "Marked 9.")
    (journal,) = bench.state.glob("plans/*/journal.jsonl")
    rows = [json.loads(row) for row in journal.read_text().splitlines()]
    (revised,) = [row for row in rows if row["k"] == "replanned"]
    assert revised["after"] == ["mark it otherwise"]
    assert revised["before"] == ["make mark 2 → mark2.txt", "make mark 3 → mark3.txt"]


def test_people_are_told(part: Part, benches: Benches, model: Model) -> None:
    """Of the step that is done, and of the question about the one that is not."""
    bench = benches(2)
    model.expect(*mark(bench, part, 1), say("All done!"))
    config = bench.home.path / ".config" / "koboshi" / "koboshi.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    with Webhook().open() as hook:
        url = f"json://127.0.0.1:{hook.port}/"
        config.write_text(f'[notify.channels.a]\nurl = "{url}"\nseverity = "P2"\n')

        plan = walked(bench, part, "--attempts", "1")
        told = hook.told("FAILED: step 2 given up")

    assert plan.status is PlanStatus.FAILED
    assert "plan M1.md: step 1 of 2 is done: make mark 1 → mark1.txt. Marked 1." in told
    assert "Needs you: plan M1.md: FAILED: step 2 given up. Step 2 failed once" in told
