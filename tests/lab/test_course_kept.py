"""The daemon goes on with a plan of a real agent CLI, whoever was killed before."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from koboshi.plans import Plan, PlanStatus, parse
from koboshi.store.progress import Progress
from tests.conftest import AgentCli
from tests.lab.conftest import furnished
from tests.lab.model.server import Model
from tests.lab.model.turns import say, stall
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.test_course import PLAN, STEP
from tests.lab.test_fire import Bench, write

pytestmark = [pytest.mark.lab, pytest.mark.stage]

#: Seconds for what needs a process or two to start, on a machine that is busy.
PATIENCE = 60.0


@dataclass
class Post:
    """A plan of three steps, and who works on it."""

    bench: Bench
    part: Part
    ours: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The plan."""
        return self.bench.home.cwd / "M1.md"

    @property
    def plan(self) -> Plan:
        """What the file says, which is valid at every instant."""
        plan = parse(self.path.read_text(encoding="utf-8"))
        assert plan.faults == ()
        return plan

    @property
    def progress(self) -> Progress:
        """What belongs to the plan, beside its file."""
        return Progress(self.bench.state, self.path)

    def loop(self) -> subprocess.Popen[bytes]:
        """`koboshi loop` in the environment of the CLI."""
        stop = str(self.bench.state.parent / "stop")
        words = ["loop", "M1.md", "--agent", self.part.cli, "--stop-file", stop]
        return self._begin([sys.executable, "-m", "koboshi", *words], self.bench.env)

    def daemon(self) -> subprocess.Popen[bytes]:
        """A daemon as after a reboot: it finds no agent CLI by itself, and no key for one."""
        names = ("HOME", "KOBOSHI_STATE", "PYTHONPATH")
        env = {name: self.bench.env[name] for name in names}
        argv = [sys.executable, "-m", "koboshi.daemon.service"]
        return self._begin(argv, {**env, "PATH": "/usr/bin:/bin"})

    def kept_by(self, who: subprocess.Popen[bytes]) -> None:
        """Wait until that one works on the plan."""
        until(lambda: self.progress.lock.read_text().strip() == str(who.pid))

    def _begin(self, argv: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        nothing = subprocess.DEVNULL
        begun = subprocess.Popen(
            argv, cwd=self.bench.home.cwd, env=env, stdin=nothing, stdout=nothing, stderr=nothing
        )
        self.ours.append(begun)
        return begun


@pytest.fixture(params=(CLAUDE[-1], CODEX), ids=lambda part: part.key)
def part(request: pytest.FixtureRequest) -> Part:
    """The two that the loop is proved with."""
    chosen = request.param
    assert isinstance(chosen, Part)
    return chosen


@pytest.fixture
def post(part: Part, model: Model, agent_cli: AgentCli, tmp_path: Path) -> Iterator[Post]:
    """A repository with the plan; whoever works on it is gone afterwards."""
    home = furnished(part, {}, model, agent_cli, tmp_path)
    (home.cwd / "kept.txt").write_text("kept\n")
    home.commit()
    for name, value in (("user.name", "t"), ("user.email", "t@localhost")):
        subprocess.run(["git", "config", name, value], cwd=home.cwd, check=True)
    (home.cwd / "M1.md").write_text(PLAN.format(total=3) + "".join(STEP.format(n=n) for n in N))
    made = Post(Bench(home, tmp_path / "state"), part)
    yield made
    model.release()
    for each in made.ours:
        kill(each)


N = (1, 2, 3)


def kill(who: subprocess.Popen[bytes]) -> None:
    """As the kernel does it."""
    who.kill()
    who.wait(30)


def until(so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, "not so in time"
        time.sleep(0.02)


def test_the_daemon_goes_on_whoever_was_killed(post: Post, part: Part, model: Model) -> None:
    """First the loop in a terminal, then the daemon itself: DONE, each step verified once."""
    cwd = post.bench.home.cwd
    model.expect(
        write(part, cwd / "mark1.txt", "x"),
        stall("Marked one at last.", after=1),
        write(part, cwd / "mark2.txt", "x"),
        stall("Marked two at last.", after=1),
        write(part, cwd / "mark3.txt", "x"),
        say("Marked three."),
    )
    loop = post.loop()
    until(lambda: len(model.asked) == 2)  # step 1 is under way
    kill(loop)
    first = post.plan.current.pid

    assert first is not None
    assert psutil.pid_exists(first)
    daemon = post.daemon()
    post.kept_by(daemon)
    assert post.plan.current.pid == first
    model.release()
    until(lambda: len(model.asked) == 4)  # step 2 is, by the daemon
    second = post.plan.current.pid
    assert second not in (None, first)
    kill(daemon)
    model.release()  # and its end nobody sees
    until(lambda: not alive(second))
    again = post.daemon()
    post.kept_by(again)
    until(lambda: post.plan.status is not PlanStatus.RUNNING)

    plan = post.plan
    assert plan.status is PlanStatus.DONE, (plan.last_action, plan.next_action)
    assert [plan.results[n].attempts for n in N] == [1, 1, 1]
    assert [plan.results[n].verified for n in N] == [True] * 3
    assert [plan.results[n].summary for n in N] == [
        "Marked one at last.",
        "Marked two at last.",
        "Marked three.",
    ]
    assert verified(post) == {1: 1, 2: 1, 3: 1}
    assert commits(post) == ["x", *(step.text for step in plan.steps)]
    assert model.waiting == 0


def test_after_a_reboot_the_step_is_fired_again(post: Post, part: Part, model: Model) -> None:
    """All are killed at once, the agent too; what was verified is not run again."""
    cwd = post.bench.home.cwd
    mark = write(part, cwd / "mark2.txt", "x")
    model.expect(
        *(write(part, cwd / "mark1.txt", "x"), say("Marked one.")),
        *(mark, stall("Marked two at last.", after=1)),
        *(mark, say("Marked two again.")),
        *(write(part, cwd / "mark3.txt", "x"), say("Marked three.")),
    )
    loop = post.loop()
    until(lambda: len(model.asked) == 4)
    pid = post.plan.current.pid
    assert pid is not None
    loop.kill()
    agent = psutil.Process(pid)
    ours = [
        each
        for each in (*agent.parents()[:1], agent)
        if str(post.bench.state) in " ".join((*each.cmdline(), *each.environ().values()))
    ]
    for each in ours:  # the recorder of the run first: it would live to tell of the agent's end
        each.kill()
    loop.wait(30)
    until(lambda: not alive(pid))
    model.release()
    post.kept_by(post.daemon())
    until(lambda: post.plan.status is not PlanStatus.RUNNING)

    plan = post.plan
    assert plan.status is PlanStatus.DONE, (plan.last_action, plan.next_action)
    assert [plan.results[n].summary for n in N] == [
        "Marked one.",
        "Marked two again.",
        "Marked three.",
    ]
    assert [plan.results[n].verified for n in N] == [True] * 3
    assert commits(post) == ["x", *(step.text for step in plan.steps)]
    assert len(model.asked) == 8  # step 1 once, step 2 twice


def alive(pid: int | None) -> bool:
    """Whether that process runs; one that nobody waited for does not."""
    try:
        return pid is not None and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def verified(post: Post) -> Counter[int]:
    """How often each step was verified, by the journal."""
    rows = post.progress.notebook.all()
    ended = [row for row in rows if row["k"] == "finished" and row["ending"] == "done"]
    return Counter(
        each["action"]["step"] for each in ended if each["action"]["kind"] == "verify-step"
    )


def commits(post: Post) -> list[str]:
    """What is committed, oldest first."""
    words = ["git", "log", "--reverse", "--format=%s"]
    ran = subprocess.run(words, cwd=post.bench.home.cwd, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()
