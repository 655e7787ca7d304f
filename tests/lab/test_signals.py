"""What the real CLIs tell beside their screens: read by the same sources as in production."""

from __future__ import annotations

import asyncio
import json
import queue
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from koboshi import _hook
from koboshi.adapters.decode import decode
from koboshi.adapters.equipment import Kit
from koboshi.core.engine import World, happen, step
from koboshi.core.events import (
    Body,
    Context,
    HookRead,
    Moment,
    Order,
    OrderGiven,
    Origin,
    RunStarted,
    ScreenRead,
    SignalRead,
    Source,
    Ticked,
)
from koboshi.core.readings import Status
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.daemon.solo import Post, watch_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.observations import Observation
from koboshi.performers import Program
from koboshi.sources.hooksocket import hook_socket
from koboshi.sources.registry import Registry
from koboshi.sources.senses import Senses
from tests.lab.conftest import Stages
from tests.lab.model.server import Model
from tests.lab.model.turns import EVER, Hang, Usage, call, hang, refuse, say
from tests.lab.parts import CLAUDE, CODEX, Part
from tests.lab.stage import Stage

pytestmark = [pytest.mark.lab, pytest.mark.stage]

SESSION = "11111111-2222-4333-8444-555555555555"


class Watch:
    """A run on a stage as koboshi knows it: its screen and every other signal, folded."""

    def __init__(self, stage: Stage, *, session: str = SESSION) -> None:
        self.stage = stage
        self.heard: queue.SimpleQueue[Observation] = queue.SimpleQueue()
        self.told: list[HookRead | SignalRead] = []
        folder = stage.home.folder / "gear"
        folder.mkdir()
        self.kit = Kit(
            agent="a1",
            run=1,
            shim=(sys.executable, "-I", "-S", _hook.__file__),
            folder=str(folder),
            spool=str(folder / "spool"),
            cwd=str(stage.home.cwd),
            around={"HOME": str(stage.home.path)},
        )
        context = Context(agent="a1", agent_type=stage.home.cli)
        self.world = World(view=View(context=context), rules=())
        self.senses = Senses("a1", stage.home.cli, folder / "spool")
        self.session = session

    @property
    def view(self) -> View:
        """What is known."""
        return self.world.view

    def start(self, *args: str) -> None:
        """Start the CLI with its equipment."""
        equipment = self.stage.adapter.equip(args, self.kit)
        for path, text in equipment.files.items():
            Path(path).write_text(text, encoding="utf-8")
        look = self.stage.start(*equipment.argv)
        self.take(RunStarted(run=1, origin=Origin.FIRST, pid=look.seen.pid, session=self.session))

    def look(self) -> View:
        """One round of the watch loop."""
        for seen in self.senses.read(self.view.run):
            self.observe(seen)
        while not self.heard.empty():
            self.observe(self.heard.get())
        look = self.stage.look()
        now = time.monotonic()
        self.take(ScreenRead(run=1, reading=look.reading, digest=look.seen.text, seen_at=now))
        return self.view

    def observe(self, seen: Observation) -> None:
        """One raw look."""
        body = decode(self.stage.adapter, seen)
        if isinstance(body, HookRead | SignalRead):
            self.told.append(body)
        if body is not None:
            self.take(body)

    def until(self, wanted: Callable[[View], bool], what: str, seconds: float = 20) -> View:
        """Look until it is as wanted."""
        deadline = time.monotonic() + seconds
        while not wanted(self.look()):
            if time.monotonic() > deadline:
                told = "\n".join(map(str, self.told))
                clues = "\n".join(map(str, self.view.clues))
                screen = self.stage.look().seen.text
                wrote = self.written()
                pytest.fail(f"no {what}\n{self.view.belief}\n{clues}\n{told}\n{wrote}\n{screen}")
            time.sleep(0.05)
        return self.view

    def written(self) -> str:
        """The session files of Claude Code: what kinds of lines, and of when."""
        files = sorted(self.stage.home.path.glob(".claude/projects/*/*.jsonl"))
        lines = (json.loads(line) for file in files for line in file.read_text().splitlines())
        return "\n".join(f"{line.get('timestamp')} {line.get('type')}" for line in lines)

    def hooks(self) -> list[str]:
        """The hooks that came, by name."""
        return [body.word for body in self.told if isinstance(body, HookRead)]

    def take(self, body: Body) -> None:
        """One more fact."""
        now = Moment(at=time.monotonic(), utc=time.time())
        self.world, _ = step(self.world, happen(self.world, body, now))


@pytest.fixture(params=CLAUDE, ids=lambda part: part.version)
def claude(request: pytest.FixtureRequest, stages: Stages) -> Watch:
    """Claude Code, in each version."""
    return Watch(stages(request.param))


@pytest.fixture
def listened(claude: Watch) -> Iterator[Watch]:
    """The same, with somebody at the socket that the shim sends to."""
    folder = Path(tempfile.mkdtemp(prefix="kb-"))  # the path of a socket must be short
    path = folder / "s"
    claude.kit = replace(claude.kit, socket=str(path))
    ready, done = threading.Event(), threading.Event()

    async def listen() -> None:
        async with hook_socket(path, "a1", claude.heard.put):
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(listen()))
    thread.start()
    try:
        assert ready.wait(10)
        yield claude
    finally:
        done.set()
        thread.join()
        folder.rmdir()


def test_every_signal_of_claude_agrees_over_a_turn(listened: Watch, model: Model) -> None:
    """Hooks through the shim, registry, transcript and status line; nothing is edited."""
    claude = listened
    before = (claude.stage.home.path / ".claude.json").read_text(encoding="utf-8")
    claude.start("--session-id", SESSION)
    usage = Usage(input=50_000, output=100, cache_read=20_000)
    model.expect(say("word " * 100, pace=0.02, usage=usage, trouble=Hang(after=50)))
    claude.stage.say("Count the words.")
    view = claude.until(lambda v: v.status is Status.WORKING, "work")
    for _ in range(30):
        view = claude.look()
        assert view.status is Status.WORKING, (view.belief, claude.stage.look().seen.text)
        time.sleep(0.05)
    claude.until(
        lambda v: getattr(v.clue(Source.REGISTRY), "status", None) is Status.WORKING, "busy"
    )
    claude.until(lambda _: bool(model.asked), "the request: only what hangs is released")
    model.release()

    view = claude.until(
        lambda v: (
            v.status is Status.IDLE
            and getattr(v.sight.context, "source", "") == "statusline"
            and all(c.status is Status.IDLE for c in v.clues)
        ),
        "agreement of all signals",
    )

    assert {clue.source for clue in view.clues} == {
        Source.SCREEN, Source.REGISTRY, Source.HOOK, Source.TRANSCRIPT,
    }  # fmt: skip
    assert view.sight.context is not None
    # 70,000 tokens, of the window that this model has.
    assert view.sight.context.used == pytest.approx(100 * 70_000 / view.sight.window, abs=1)
    written = [b.tokens for b in claude.told if isinstance(b, SignalRead) and b.tokens]
    assert written[-1] == 70_100
    assert {"SessionStart", "UserPromptSubmit", "Stop"} <= set(claude.hooks())
    assert not (claude.stage.home.path / ".claude" / "settings.json").exists()
    assert '"hooks"' not in before


def test_a_question_is_told_by_hook_and_registry(claude: Watch, model: Model) -> None:
    """The registry says waiting, the hook that permission was asked for; the screen asks."""
    claude.start("--session-id", SESSION)
    model.expect(call("Bash", command="touch made.txt", description="Make"), say("Made."))
    claude.stage.say("Make a file.")

    view = claude.until(
        lambda v: (
            v.status is Status.ASKING
            and "PermissionRequest" in claude.hooks()
            and getattr(v.clue(Source.REGISTRY), "status", None) is Status.ASKING
        ),
        "three voices",
    )

    registry = view.clue(Source.REGISTRY)
    assert registry is not None
    assert registry.reason == "registry: waiting (permission prompt)"


def test_clear_moves_the_run_to_a_new_session(listened: Watch) -> None:
    """The hook and the registry both say it; the context of the old one is forgotten."""
    claude = listened
    claude.start("--session-id", SESSION)
    claude.stage.say("Hello.")
    claude.until(lambda v: v.status is Status.IDLE and v.sight.context is not None, "context")
    assert claude.view.run.session == SESSION

    claude.stage.say("/clear")
    claude.until(
        lambda v: v.run.session != SESSION and claude.hooks().count("SessionStart") > 1,
        "another session",
    )
    began = [b for b in claude.told if isinstance(b, HookRead) and b.began]

    assert [b.began for b in began] == ["startup", "clear"]
    assert began[-1].session == claude.view.run.session


def test_an_error_that_ended_the_turn_is_in_the_transcript(claude: Watch, model: Model) -> None:
    """A transcript says failed, as the screen does."""
    claude.start("--session-id", SESSION)
    model.expect(refuse(400, "scripted trouble", times=EVER))
    claude.stage.say("Try.")

    view = claude.until(
        lambda v: getattr(v.clue(Source.TRANSCRIPT), "status", None) is Status.FAILED,
        "the error in the transcript",
    )

    written = view.clue(Source.TRANSCRIPT)
    assert written is not None
    assert written.reason.startswith("error_text: transcript, API error")
    claude.until(lambda v: v.status is Status.FAILED, "failed")


def test_a_killed_process_leaves_a_file_that_is_not_believed(claude: Watch, model: Model) -> None:
    """It says busy for ever; its process is gone."""
    claude.start("--session-id", SESSION)
    model.expect(hang())
    claude.stage.say("Work.")
    claude.until(
        lambda v: getattr(v.clue(Source.REGISTRY), "status", None) is Status.WORKING, "busy"
    )
    pid = claude.view.run.pid
    assert pid is not None
    left = claude.stage.home.path / ".claude" / "sessions" / f"{pid}.json"

    claude.stage.kill()
    claude.stage.wait_status(Status.GONE)
    for seen in claude.senses.read(claude.view.run):
        claude.observe(seen)

    assert json.loads(left.read_text(encoding="utf-8"))["status"] == "busy"
    assert claude.view.clue(Source.REGISTRY) is None
    assert Registry(1, pid).read() is None


def test_the_users_own_status_line_is_shown(claude: Watch) -> None:
    """Ours calls it with the same input, and still learns the session."""
    own = claude.stage.home.folder / "line.sh"
    own.write_text("#!/bin/sh\necho mine: $(head -c 14)\n", encoding="utf-8")
    own.chmod(0o755)
    line = {"statusLine": {"type": "command", "command": shlex.quote(str(own))}}
    claude.start("--session-id", SESSION, "--settings", json.dumps(line))

    claude.stage.wait_text('mine: {"session_id":')


def test_the_left_arrow_does_not_detach_an_equipped_run(claude: Watch) -> None:
    """On an empty box it would fork the session into the background."""
    home = claude.stage.home.path / ".claude.json"
    settings = json.loads(home.read_text(encoding="utf-8"))
    del settings["leftArrowOpensAgents"]
    home.write_text(json.dumps(settings), encoding="utf-8")
    claude.start("--session-id", SESSION)

    claude.stage.key("Left")
    claude.stage.stays(Status.IDLE, 1.0)
    claude.stage.key("Left")
    claude.stage.stays(Status.IDLE, 2.0)

    files = list((claude.stage.home.path / ".claude" / "sessions").glob("*.json"))
    assert len(files) == 1


def test_codex_tells_its_session_turns_and_tokens(stages: Stages, model: Model) -> None:
    """The rollout that its process has open names the session; nobody gave it one."""
    codex = Watch(stages(CODEX), session="made-up")
    codex.start()
    usage = Usage(input=50_000, output=100)
    model.expect(say("word " * 60, pace=0.02, usage=usage, trouble=Hang(after=30)))
    codex.stage.say("Count the words.")
    codex.until(
        lambda v: getattr(v.clue(Source.TRANSCRIPT), "status", None) is Status.WORKING, "a turn"
    )
    codex.until(lambda _: bool(model.asked), "the request: only what hangs is released")
    model.release()
    view = codex.until(
        lambda v: (
            v.sight.context is not None
            and getattr(v.clue(Source.TRANSCRIPT), "status", None) is Status.IDLE
        ),
        "tokens and the end of the turn",
    )

    [rollout] = (codex.stage.home.path / ".codex" / "sessions").rglob("*.jsonl")
    assert view.run.session != "made-up"
    assert view.run.session in rollout.name
    assert view.sight.context is not None
    assert view.sight.context.source == "transcript"
    # (50,100 - 12,000) of (258,400 - 12,000)
    assert view.sight.context.used == pytest.approx(15.5, abs=0.1)


@pytest.mark.parametrize("hooks", ["shim", "http"])
@pytest.mark.parametrize("part", CLAUDE, ids=lambda part: part.key)
def test_a_supervisor_equips_and_hears_what_it_starts(
    part: Part, hooks: str, stages: Stages
) -> None:
    """The whole way: settings file, socket or port, registry, transcript, status line, journal."""
    stage = stages(part)
    with tempfile.TemporaryDirectory(prefix="kb-") as state:
        program = Program(argv=stage.home.command(), cwd=str(stage.home.cwd))
        settings = Settings(hooks=hooks)
        post = Post(
            agent="a1", agent_type="claude", program=program, state=Path(state), settings=settings
        )
        deadline = time.monotonic() + 40
        asked: list[bool] = []

        def enough(supervisor: Supervisor) -> bool:
            view = supervisor.world.view
            sources = {clue.source for clue in view.clues}
            if view.status is Status.IDLE and Source.REGISTRY in sources and not asked:
                said = OrderGiven(order=Order.SEND, by="test", text="Hello.")
                asked.append(supervisor.take(said))
            heard = {Source.SCREEN, Source.REGISTRY, Source.HOOK, Source.TRANSCRIPT} <= sources
            known.append(view)
            # The transcript may tell of the context before the status line, which counts more.
            context = view.sight.context
            best = context is not None and context.source == "statusline"
            rests = view.status is Status.IDLE
            return (heard and best and rests) or time.monotonic() > deadline

        known: list[View] = []
        stage.run(watch_over(post, stage.host, enough=enough))
        view = known[-1]
        folder = Path(state) / "agents" / "a1"
        words = {event.body.word for event in view.past if isinstance(event.body, HookRead)}

        assert view.status is Status.IDLE, view.clues
        assert view.sight.context is not None
        assert view.sight.context.source == "statusline"
        assert words & {"UserPromptSubmit", "Stop"}
        given = json.loads((folder / "run-1" / "claude-settings.json").read_text())
        assert given["hooks"]["Stop"][-1]["hooks"][0]["type"] == {"shim": "command"}.get(
            hooks, hooks
        )
        assert not (folder / "hooks.spool").exists()


def test_time_alone_names_a_contradiction(claude: Watch) -> None:
    """A registry that says busy over an idle screen that stands still: unknown."""
    claude.start("--session-id", SESSION)
    view = claude.until(lambda v: v.status is Status.IDLE and len(v.clues) > 1, "idle")
    claude.take(SignalRead(run=1, source=Source.REGISTRY, status=Status.WORKING, reason="r"))
    now = Moment(at=time.monotonic() + 60, utc=time.time())
    claude.world, _ = step(claude.world, happen(claude.world, Ticked(), now))

    assert view.status is Status.IDLE
    assert claude.view.status is Status.UNKNOWN
    assert claude.view.belief.reason == (
        "contradiction: the screen says idle, the registry says working"
    )
