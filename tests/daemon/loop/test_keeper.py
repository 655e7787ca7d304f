"""The loop from a person's plan file to DONE, and everything that goes wrong on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.daemon.loop.keeper import STOP_FILE
from koboshi.plans import PlanStatus, StepState, parse
from koboshi.store.progress import Start
from tests.daemon.loop.stages import Theatre


@pytest.fixture
def theatre(tmp_path: Path) -> Theatre:
    """A project with a plan of three steps."""
    return Theatre(tmp_path)


def states(theatre: Theatre) -> list[str]:
    """The states of the steps."""
    return [step.state.value for step in theatre.plan().steps]


def test_a_plan_is_worked_through(theatre: Theatre) -> None:
    """Each step verified, committed with only its own files, and recorded."""
    theatre.repo.write("mine.txt", "a person's, not committed\n")

    ran = theatre.loop("M1.md")

    plan = theatre.plan()
    assert (ran.returncode, plan.status) == (0, PlanStatus.DONE), ran.stderr
    assert states(theatre) == ["DONE", "DONE", "DONE"]
    assert theatre.commits() == [
        "write a.txt → a.txt",
        "write b.txt → b.txt",
        "write c.txt → c.txt",
    ]
    assert [plan.results[n].verified for n in (1, 2, 3)] == [True] * 3
    assert [plan.results[n].attempts for n in (1, 2, 3)] == [1] * 3
    head = theatre.repo.git("rev-parse", "--short", "HEAD").decode().strip()
    assert plan.results[3].commit == head
    assert theatre.repo.git("status", "--porcelain").decode().split() == [
        "??", "M1.md", "??", "mine.txt",
    ]  # fmt: skip
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "3"]
    told = theatre.calls()[1]["told"]
    assert "三つのファイルを作る" in told
    assert "keep it small" in told
    assert "- step 1, write a.txt → a.txt: All done." in told
    assert theatre.calls()[0]["argv"][:2] == ["--permission-mode", "acceptEdits"]
    assert theatre.path.read_text().startswith("STATUS: DONE                 # IDLE / RUNNING")
    assert theatre.repo.git("for-each-ref", "refs/koboshi") == b""


def test_the_numbers_that_hold_unless_somebody_says_otherwise() -> None:
    """As the documentation has them; whoever resumes an older plan has them, too."""
    start = Start(path="M1.md", cwd=".")

    assert (start.max_steps, start.attempts, start.timeout) == (10, 3, 3600.0)
    assert (start.commit, start.push, start.review, start.notify) == (True, False, False, "steps")
    assert (start.cost, start.tokens, start.seconds) == (0.0, 0, 0.0)
    assert str(STOP_FILE) == "/tmp/koboshi-stop"


def test_verified_work_may_be_left_uncommitted(theatre: Theatre) -> None:
    """The next step is still compared with what the one before left."""
    ran = theatre.loop("M1.md", "--no-commit")

    plan = theatre.plan()
    assert (ran.returncode, plan.status) == (0, PlanStatus.DONE), ran.stderr
    assert theatre.commits() == []
    assert [plan.results[n].commit for n in (1, 2, 3)] == [""] * 3
    assert all(plan.results[n].evidence.startswith("1 file(s) changed") for n in (1, 2, 3))


def test_a_step_may_have_attempts_of_its_own(theatre: Theatre) -> None:
    """RETRIES below it goes over what holds for all."""
    theatre.edit("TOUCH: a.txt", "TOUCH: a.txt\n      RETRIES: 1")
    theatre.play({"1": [{}, {"write": {"a.txt": "alpha\n"}}]})

    theatre.loop("M1.md")

    assert theatre.plan().status is PlanStatus.FAILED
    assert len(theatre.calls()) == 1


@pytest.mark.parametrize("status", ["IDLE", "RUNNING", "DONE"])
def test_an_answer_to_nothing_changes_nothing(theatre: Theatre, status: str) -> None:
    """A plan that is done is not begun anew by a word too many."""
    theatre.edit("STATUS: IDLE", f"STATUS: {status}")
    text = theatre.path.read_text()

    ran = theatre.loop("answer", "yes")

    assert (ran.returncode, ran.stderr) == (2, f"koboshi: M1.md is {status}: it asks nothing\n")
    assert theatre.path.read_text() == text
    assert theatre.calls() == []


def test_a_commit_says_what_a_person_wants(theatre: Theatre) -> None:
    """By a template; a name that is not known is said before anything is begun."""
    wrong = theatre.loop("M1.md", "--message", "{stp}")
    assert (wrong.returncode, theatre.calls()) == (2, [])
    assert "expected {step}, {number}, {total}, {goal}, not {stp}" in wrong.stderr

    ran = theatre.loop("M1.md", "--message", "[{number}/{total}] {step}\\n\\n{goal}")

    assert ran.returncode == 0, ran.stderr
    assert theatre.commits()[1] == "[2/3] write b.txt → b.txt"
    assert "\n\n三つのファイルを作る\n" in theatre.repo.git("log", "-1", "--format=%B").decode()


def test_a_question_is_repeated_until_it_is_answered(theatre: Theatre) -> None:
    """Nothing is begun and nothing is written by whoever only says: go on."""
    theatre.edit("STATUS: IDLE", "STATUS: WAITING")
    asks = "LAST_ACTION: looked at the code\nNEXT_ACTION: keep the old API?\n"
    theatre.path.write_text(theatre.path.read_text() + asks)
    text = theatre.path.read_text()

    ran = theatre.loop("resume")

    assert ran.returncode == 1
    assert "M1.md is WAITING: looked at the code" in ran.stderr
    assert "keep the old API?; 'koboshi loop answer' goes on" in ran.stderr
    assert (theatre.path.read_text(), theatre.calls()) == (text, [])
    assert theatre.loop("answer", "yes").returncode == 0


def test_an_agent_finds_itself_in_the_file(theatre: Theatre) -> None:
    """TASK_ID, pid, time and command are there before it runs."""
    look = 'cp M1.md "$PLAYER/seen"; echo $PPID > "$PLAYER/pid"'
    theatre.play({"1": [{"sh": look, "write": {"a.txt": "alpha\n"}}]})

    assert theatre.loop("M1.md").returncode == 0

    seen = parse((theatre.folder / "seen").read_text(encoding="utf-8")).current
    assert seen.pid == int((theatre.folder / "pid").read_text())
    assert seen.task_id
    assert seen.spawned
    assert seen.command


def test_a_lie_is_caught_and_corrected(theatre: Theatre) -> None:
    """It says that it is done and has done nothing, then the wrong thing, then the right one."""
    theatre.play({"2": [{}, {"write": {"b.txt": "wrong\n"}}, {"write": {"b.txt": "beta\n"}}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "2", "2", "3"]
    assert "No file was changed. `grep -q beta b.txt` ended" in theatre.calls()[2]["told"]
    assert "`grep -q beta b.txt` ended with exit code 1" in theatre.calls()[3]["told"]
    assert theatre.plan().results[2].attempts == 3
    assert len(theatre.commits()) == 3


def test_a_step_that_strays_is_refused(theatre: Theatre) -> None:
    """It changed what it must not touch, and is told so."""
    stray = {"write": {"a.txt": "alpha\n", "docs/b.md": "x"}}
    theatre.play({"1": [stray, {"sh": "rm -r docs; touch a.txt"}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert "Changed outside of what it may touch (a.txt): docs/b.md." in theatre.calls()[1]["told"]
    assert not (theatre.repo.top / "docs").exists()


def test_three_failures_are_a_question_that_can_be_answered(theatre: Theatre) -> None:
    """FAILED with what was tried; an answer goes on from there."""
    theatre.play({"2": [{"code": 3, "says": None}] * 3 + [{"write": {"b.txt": "beta\n"}}]})

    failed = theatre.loop("M1.md")
    plan = theatre.plan()
    again = theatre.loop("resume")
    answered = theatre.loop("answer", "write beta into it")

    assert failed.returncode == 1
    assert (plan.status, plan.steps[1].state) == (PlanStatus.FAILED, StepState.FAILED)
    assert plan.next_action.startswith("Step 2 failed 3 times: The run failed: it ended with exit")
    assert "What shall be different?" in failed.stderr
    failures = [f"attempt {n}: The run failed: it ended with exit" for n in (1, 2, 3)]
    for said, expected in zip(plan.results[2].tried.split(" | "), failures, strict=True):
        assert said.startswith(expected)
    assert again.returncode == 1
    assert "M1.md is FAILED: step 2 given up" in again.stderr
    assert answered.returncode == 0, answered.stderr
    assert [call["step"] for call in theatre.calls()] == ["1", "2", "2", "2", "2", "3"]
    assert "answered:\nwrite beta into it" in theatre.calls()[4]["told"]


def test_a_failure_from_before_does_not_block(theatre: Theatre) -> None:
    """A test that failed before the step may go on failing; a new one may not."""
    check = "echo 'FAILED tests/old.py::test_x'; grep -q beta b.txt || echo 'FAILED new'; exit 1"
    theatre.edit("VERIFY: grep -q beta b.txt", f"VERIFY: {check}")
    theatre.play({"2": [{"write": {"b.txt": "beta\n"}}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr

    theatre.edit("STATUS: DONE", "STATUS: RUNNING")
    theatre.edit("3: [DONE] write c.txt → c.txt", "3: [PENDING] break it")
    broken = "test -e broken && echo 'FAILED tests/new.py'; echo 'FAILED tests/old.py'; exit 1"
    theatre.edit("3: [PENDING] break it\n", f"3: [PENDING] break it\n      VERIFY: {broken}\n")
    theatre.play({"3": [{"write": {"broken": ""}}]})
    ran = theatre.loop("resume")

    assert ran.returncode == 1
    assert "failures that were not there before: FAILED tests/new.py." in theatre.plan().next_action


def test_a_denied_permission_is_a_failed_attempt(theatre: Theatre) -> None:
    """Although it ends with exit code 0, and the file is there."""
    denied = {"permission_denials": [{"tool_name": "Bash"}]}
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}, "says": denied}, {}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert "The run failed: it was not allowed: Bash." in theatre.calls()[1]["told"]
    assert theatre.plan().results[1].attempts == 2


def test_a_timeout_is_a_failed_attempt(theatre: Theatre) -> None:
    """Stopped, counted, told."""
    theatre.edit("TOUCH: a.txt", "TOUCH: a.txt\n      TIMEOUT: 1s")
    theatre.play({"1": [{"sh": "sleep 60"}, {"write": {"a.txt": "alpha\n"}}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert "it took longer than 1s" in theatre.calls()[1]["told"]


def test_a_cli_that_is_not_there_is_said_so(theatre: Theatre) -> None:
    """The plan waits; nothing counts as tried."""
    theatre.edit("TOUCH: a.txt", "TOUCH: a.txt\n      AGENT: gemini")

    ran = theatre.loop("M1.md")

    assert ran.returncode == 1
    assert "'gemini' was not found" in ran.stderr
    assert (theatre.plan().status, states(theatre)[0]) == (PlanStatus.WAITING, "PENDING")
    assert not theatre.plan().results[1].attempts


def test_a_step_may_expect_no_change(theatre: Theatre) -> None:
    """And then a change is wrong."""
    theatre.edit("TOUCH: a.txt", "TOUCH: none")
    theatre.edit("VERIFY: grep -q alpha a.txt\n      ", "")
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}}, {"sh": "rm a.txt"}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    assert "No change was expected, and there is: a.txt." in theatre.calls()[1]["told"]
    assert theatre.plan().results[1].commit == ""


def test_keys_and_long_speeches_stay_out_of_the_file(theatre: Theatre) -> None:
    """What an agent said goes where people and repositories see it."""
    said = {"result": "done with sk-ant-REDACTED " + "x" * 9000}
    theatre.play({"1": [{"write": {"a.txt": "alpha\n"}, "says": said}]})

    ran = theatre.loop("M1.md")

    assert ran.returncode == 0, ran.stderr
    summary = theatre.plan().results[1].summary
    assert summary.startswith("done with ")
    assert "0123456789" not in theatre.path.read_text()
    assert len(summary) < 2100
