"""From an action to a file, a prompt or a program; by the owner's file, and without secrets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from koboshi.config.model import File
from koboshi.config.owned import Owned
from koboshi.core.actions import (
    Action,
    Bundle,
    Command,
    Escalate,
    FixPrompt,
    Mode,
    Notify,
    Send,
    Start,
    Stop,
)
from koboshi.core.events import (
    ActionFinished,
    Ending,
    Order,
    OrderGiven,
    Origin,
    Outcome,
    Severity,
)
from koboshi.daemon.aftermath import Aftermath
from koboshi.daemon.solo import Post
from koboshi.performers import Program, perform, settle
from koboshi.scripted.behaviour import Done, Script, Work
from tests.daemon.lives import SETTINGS, Life
from tests.incidents.test_bundles import unpacked
from tests.store.repositories import Repo
from tests.store.secret_corpus import CORPUS

SCRIPT: Script = (Work(seconds=2.0, say="token=hunter2pass and done"), Done())
BUNDLE = Bundle(about="1.crash", text="exit code 1")


@dataclass
class FakeReach:
    """The owner's file, and who brings bundles out."""

    owned: Owned
    courier: Any = None


class Scene:
    """One agent that is up, and what is made of its incidents."""

    def __init__(self, tmp_path: Path, table: dict[str, Any], mode: Mode = Mode.AUTO) -> None:
        self.life = Life(SCRIPT, settings=replace(SETTINGS, mode=mode))
        self.life.rise()
        self.life.live(3.0)
        assert self.life.supervisor is not None
        self.supervisor = self.life.supervisor
        tmp_path.mkdir()
        self.repo = Repo.made(tmp_path / "repo")
        self.folder = tmp_path / "state" / "agents" / "sim"
        self.folder.mkdir(parents=True)
        env = {"MY_SERVICE_TOKEN": "known-value-of-the-environment"}
        program = Program(argv=("scripted",), cwd=str(self.repo.top), env=env)
        reach = cast("Any", FakeReach(Owned(file=File.model_validate(table))))
        post = Post(
            agent="sim",
            agent_type="scripted",
            program=program,
            state=tmp_path / "state",
            reach=reach,
        )
        self.reach, self.post = reach, post
        self.aftermath = Aftermath(post, reach, self.supervisor)
        self.aftermath.attend()

    def perform(self, action: Action) -> Outcome:
        """Let a performer do it."""
        return asyncio.run(perform(action, self.supervisor.hands))


Make = Callable[..., Scene]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Scenes; what is under way in them ends with the test."""
    made: list[Scene] = []

    def scene(table: dict[str, Any], mode: Mode = Mode.AUTO) -> Scene:
        made.append(Scene(tmp_path / str(len(made)), table, mode))
        return made[-1]

    yield scene
    for each in made:
        each.life.fall()


def test_a_bundle_holds_what_tells_of_it(make: Make) -> None:
    """And names itself in the outcome."""
    scene = make({})
    journal = scene.folder / "journal"
    journal.mkdir()
    for name in scene.life.shelf.names():
        (journal / name).write_bytes(scene.life.shelf.read(name))
    outcome = scene.perform(BUNDLE)

    assert outcome.ending is Ending.DONE
    found = unpacked(Path(outcome.why))
    assert set(found) == {
        *("incident.json", "screen.txt", "versions.json", "chain.txt", "journal.jsonl"),
        *("output.log", "monitor.log", "transcript.jsonl", "processes.txt", "system.json"),
        *("git.txt", "config.json"),
    } | ({"screen.ansi"} & set(found))
    assert json.loads(found["incident.json"])["what"] == "exit code 1"
    assert "run 1 started (first)" in found["chain.txt"]
    assert "start run 1 (first) – admitted" in found["chain.txt"]
    assert "## branch\nmain" in found["git.txt"]
    assert json.loads(found["config.json"])["agent"]["idle_after"] == 20.0
    assert scene.supervisor.world.view.context.agent in found["incident.json"]


def test_every_part_of_a_bundle_has_what_it_is_for(make: Make) -> None:
    """The end of logs and transcript, git, machine, versions, configuration."""
    scene = make({"incidents": {"lines": 5}, "notify": {"quiet": "22:00-07:00"}})
    scene.repo.write("kept.txt", "one\n")
    scene.repo.git("add", "kept.txt")
    scene.repo.git("commit", "-qm", "keep one")
    scene.repo.write("kept.txt", "one\ntwo\n")
    scene.repo.write("new.txt", "x\n")
    logs = scene.folder.parent.parent / "logs"
    logs.mkdir()
    many = "".join(f"row {n}\n" for n in range(500))
    (logs / "scripted_sim_20261115.log").write_text(many)
    (logs / "monitor_sim.log").write_text(many)
    scene.supervisor.hands.transcript = lambda: tuple(f'{{"n": {n}}}'.encode() for n in range(50))
    found = unpacked(Path(scene.perform(BUNDLE).why))
    system, versions = json.loads(found["system.json"]), json.loads(found["versions.json"])

    assert found["output.log"].split() == [w for n in range(495, 500) for w in ("row", f"{n}")]
    assert found["monitor.log"] == found["output.log"]
    assert found["transcript.jsonl"].split("\n") == [f'{{"n": {n}}}' for n in range(45, 50)]
    assert "M\tkept.txt" in found["git.txt"]
    assert "## new files\nnew.txt" in found["git.txt"]
    assert "1 file changed, 1 insertion(+)" in found["git.txt"]
    assert "keep one" in found["git.txt"].partition("## log")[2]
    assert {"platform", "load", "memory", "disks", "python"} <= set(system)
    assert set(versions) == {"koboshi", "agent_type", "cli", "argv"}
    assert json.loads(found["config.json"])["owner"]["quiet"] == "22:00-07:00"


def test_a_bundle_goes_to_storage_where_one_is_named(make: Make) -> None:
    """What came of the first try is in the outcome."""
    given: list[tuple[str, ...]] = []

    class Courier:
        async def bring(self, path: Path, agent: str, key: str) -> str:
            given.append((path.suffix, agent, key))
            return "uploaded"

    scene = make({"incidents": {"upload": "s3://nights/api"}})
    scene.reach.courier = Courier()

    assert scene.perform(BUNDLE).why.endswith(".tar.gz; uploaded")
    assert given == [(".gz", "sim", "1.crash.bundle")]


def test_no_secret_reaches_a_bundle_or_a_prompt(make: Make) -> None:
    """Planted where agents leave them: in output, transcript, git, and the environment."""
    scene = make({"incidents": {"lines": 100_000}})
    planted = "\n".join(text for _, text in CORPUS.values())
    planted += "\nknown-value-of-the-environment\n"
    logs = scene.folder.parent.parent / "logs"
    logs.mkdir()
    (logs / "scripted_sim_20261115.log").write_text(planted)
    (logs / "monitor_sim.log").write_text(planted)
    scene.supervisor.hands.transcript = lambda: tuple(
        json.dumps({"text": text}).encode() for _, text in CORPUS.values()
    )
    for n, (_, text) in enumerate(CORPUS.values()):
        if "\n" not in text and "/" not in text and len(text) < 90:
            scene.repo.write(f"new {n} {text}", "x")
    said = [
        *unpacked(Path(scene.perform(BUNDLE).why)).values(),
        Path(scene.perform(FixPrompt(about="1.x", text=planted)).why).read_text(),
        asyncio.run(scene.aftermath.prompt(planted)),
    ]

    everything = "\n".join(said)
    assert len(everything) > len(planted)
    assert [kind for kind, (secret, _) in CORPUS.items() if secret in everything] == []
    assert "known-value-of-the-environment" not in everything


def test_a_prompt_is_written_and_handed_over(make: Make) -> None:
    """Typed when the agent is at its prompt; not in the mode `observe`, and not unasked."""
    for wanted, mode, handed in (
        (True, Mode.KEEP, 1),
        (True, Mode.OBSERVE, 0),
        (False, Mode.AUTO, 0),
    ):
        scene = make({"incidents": {"hand_over": wanted}}, mode=mode)
        outcome = scene.perform(FixPrompt(about="1.x", text="exit code 1"))
        path, _, more = outcome.why.partition("; ")

        assert "exit code 1" in Path(path).read_text()
        assert more == ("handed over" if handed else "")
        assert len(scene.supervisor.world.view.outbox) == handed


def test_a_prompt_that_was_handed_over_reaches_the_run_after_a_crash(make: Make) -> None:
    """The agent is gone before it could be typed."""
    scene = make({"incidents": {"hand_over": "run"}}, mode=Mode.KEEP)
    scene.life.agent.end(9)
    scene.perform(FixPrompt(about="1.x", text="exit code 1"))
    scene.life.live(90.0)

    assert scene.supervisor.world.view.run.number == 2
    [text] = [each for each in scene.life.sent if "root cause" in each]
    assert "exit code 1" in text


CLAUDE = """#!/bin/sh
for last; do :; done
printf '%s' "$last" > given; pwd > where; printf '%s' "$MY_SERVICE_TOKEN" > token
cat <<'EOF'
{"type": "result", "subtype": "success", "is_error": false, "result": "mended", "session_id": "s"}
EOF
"""


def test_a_prompt_has_what_its_log_has_not_yet(make: Make) -> None:
    """Logs are written a moment later, and the last line is the one that matters."""
    scene = make({})
    *rows, last = scene.supervisor.world.view.context.lines
    logs = scene.folder.parent.parent / "logs"
    logs.mkdir()
    (logs / "scripted_sim_20261115.log").write_text(
        "".join(f"2026-11-15T01:00:00Z {row}\n" for row in ("long ago", *rows))
    )
    text = asyncio.run(scene.aftermath.prompt("exit code 1"))
    shown = [row.partition("Z ")[2] or row for row in text.split("```")[1].split("\n")[1:-1]]

    assert shown == ["long ago", *map(str.rstrip, rows), last.rstrip()]


def test_a_prompt_is_handed_to_a_fresh_run_without_a_terminal(make: Make, tmp_path: Path) -> None:
    """In the agent's folder, with its environment; one, and not another a moment later."""
    scene = make({"incidents": {"hand_over": "headless"}}, mode=Mode.KEEP)
    cli = tmp_path / "claude"
    cli.write_text(CLAUDE)
    cli.chmod(0o755)
    program = replace(scene.post.program, argv=(str(cli), "--resume", "s1"))
    post = replace(scene.post, agent_type="claude", program=program)
    Aftermath(post, scene.reach, scene.supervisor).attend()
    spawned: list[Coroutine[Any, Any, None]] = []
    scene.life.runtime.spawn = spawned.append  # type: ignore[method-assign, assignment]

    outcome = scene.perform(FixPrompt(about="1.x", text="exit code 1"))
    again = scene.perform(FixPrompt(about="2.x", text="exit code 1"))
    (work,) = spawned
    asyncio.run(work)
    body = scene.life.heard[-1].body

    path, _, said = outcome.why.partition("; ")
    assert said.startswith("handed to task_")
    assert (scene.repo.top / "given").read_text() == Path(path).read_text()
    assert (scene.repo.top / "where").read_text().strip() == str(scene.repo.top)
    assert (scene.repo.top / "token").read_text() == "known-value-of-the-environment"
    assert "not handed over: task_" in again.why
    assert isinstance(body, ActionFinished)
    assert body.outcome.ending is Ending.DONE
    assert body.outcome.why.endswith("finished: mended")
    assert scene.supervisor.world.view.outbox == ()


def test_two_prompts_at_once_start_one_run(make: Make, tmp_path: Path) -> None:
    """Two rules speak of the same crash."""
    scene = make({"incidents": {"hand_over": "headless"}}, mode=Mode.KEEP)
    cli = tmp_path / "claude"
    cli.write_text("#!/bin/sh\necho one >> started\n")
    cli.chmod(0o755)
    post = replace(
        scene.post, agent_type="claude", program=replace(scene.post.program, argv=(str(cli),))
    )
    Aftermath(post, scene.reach, scene.supervisor).attend()
    spawned: list[Coroutine[Any, Any, None]] = []
    scene.life.runtime.spawn = spawned.append  # type: ignore[method-assign, assignment]

    async def both() -> list[str]:
        asked = [FixPrompt(about=f"{n}.x", text="exit code 1") for n in (1, 2)]
        came = await asyncio.gather(*(perform(each, scene.supervisor.hands) for each in asked))
        return sorted(each.why.partition("; ")[2].split()[0] for each in came)

    assert asyncio.run(both()) == ["handed", "not"]
    (work,) = spawned
    asyncio.run(work)
    assert (scene.repo.top / "started").read_text() == "one\n"
    body = scene.life.heard[-1].body
    assert isinstance(body, ActionFinished)
    assert body.outcome.ending is Ending.FAILED


def test_an_agent_that_has_no_such_run_is_told_of(make: Make) -> None:
    """And nothing is started while nobody may do anything."""
    scene = make({"incidents": {"hand_over": "headless"}}, mode=Mode.KEEP)
    post = replace(scene.post, agent_type="generic")
    Aftermath(post, scene.reach, scene.supervisor).attend()
    outcome = scene.perform(FixPrompt(about="1.x", text="exit code 1"))

    assert outcome.ending is Ending.DONE
    assert outcome.why.endswith("not handed over: a generic agent has no run without a terminal")
    watching = make({"incidents": {"hand_over": "headless"}}, mode=Mode.OBSERVE)
    assert "hand" not in watching.perform(FixPrompt(about="1.x", text="exit code 1")).why


def test_a_template_that_is_not_there_is_a_failure_with_words(make: Make, tmp_path: Path) -> None:
    """And nothing worse."""
    scene = make({"incidents": {"template": str(tmp_path / "missing")}})
    outcome = scene.perform(FixPrompt(about="1.x", text="exit code 1"))

    assert outcome.ending is Ending.FAILED
    assert "missing" in outcome.why


def test_a_command_gets_the_facts(make: Make, tmp_path: Path) -> None:
    """Reason, event, severity, details, context; what it says is in the journal."""
    got = tmp_path / "got"
    commands = {"page": {"run": ["/bin/sh", "-c", f"cat > {got}; echo fine; exit $0", "0"]}}
    scene = make({"commands": commands})
    outcome = scene.perform(Command(about="1.x", name="page", text="exit code 1"))
    facts = json.loads(got.read_text())

    assert outcome == Outcome(ending=Ending.DONE, why="ended with 0: fine")
    assert set(facts) == {"reason", "eventId", "severity", "details", "context"}
    assert facts["details"]["action"]["kind"] == "command"
    assert facts["context"]["agent"] == "sim"
    assert facts["eventId"].startswith("e")


@pytest.mark.parametrize(
    ("program", "ending", "why"),
    [
        ({"shell": "echo no; exit 3"}, Ending.FAILED, "ended with 3: no"),
        ({"run": ["/nowhere/at/all"]}, Ending.FAILED, "could not be started"),
        ({"shell": "sleep 30", "timeout": 0.2}, Ending.FAILED, "killed after 0.2 s"),
    ],
)
def test_a_command_that_fails_is_seen(
    make: Make, program: dict[str, Any], ending: Ending, why: str
) -> None:
    """With its code and its words."""
    scene = make({"commands": {"page": program}})
    outcome = scene.perform(Command(about="1.x", name="page", text="t"))

    assert outcome.ending is ending
    assert why in outcome.why


def test_a_program_gets_no_secrets_and_whole_json(make: Make, tmp_path: Path) -> None:
    """Masked value by value: a quote behind a secret stays a quote."""
    got = tmp_path / "got"
    scene = make({"commands": {"page": {"shell": f"cat > {got}"}}})
    planted = "\n".join(f'"{text}"' for _, text in CORPUS.values()) + '\ntoken=abcdefgh\\"'
    scene.perform(Command(about="1.x", name="page", text=planted))
    said = got.read_text()

    assert json.loads(said)["details"]["action"]["name"] == "page"
    assert [kind for kind, (secret, _) in CORPUS.items() if secret in said] == []


def test_a_channel_is_in_a_bundle_without_its_address(make: Make) -> None:
    """Its name, its kind, what goes there."""
    channels = {"hook": {"url": "json://127.0.0.1/some-path"}}
    scene = make({"notify": {"channels": channels}, "actions": {"start": {"shell": "true"}}})
    owner = json.loads(unpacked(Path(scene.perform(BUNDLE).why))["config.json"])["owner"]

    assert owner["channels"] == {"hook": {"url": "json://…", "severity": "P1"}}
    assert owner["actions"] == {"start": "after"}


def test_a_command_that_nobody_configured_fails(make: Make) -> None:
    """It names those that are; and one in doubt is not run again."""
    scene = make({"commands": {"page": {"shell": "true"}}})
    action = Command(about="1.x", name="pgae", text="t")

    assert scene.perform(action).why == "no command 'pgae' is configured (there: page)"
    doubt = asyncio.run(settle(action, scene.supervisor.hands, touched=True))
    assert doubt == Outcome(ending=Ending.FAILED, why="in doubt: it may have run")


def test_a_hook_comes_after_an_action_and_nobody_waits_for_it(make: Make) -> None:
    """What came of it is an event of its own; what was skipped has no hook."""
    scene = make({"actions": {"notify": {"shell": "cat; echo heard; exit 4", "timeout": 5}}})
    action = Notify(about="1.x", text="t", severity=Severity.P0)
    spawned: list[Coroutine[Any, Any, None]] = []
    scene.life.runtime.spawn = spawned.append  # type: ignore[method-assign, assignment]

    assert scene.perform(action) == Outcome(ending=Ending.DONE, why="told")
    scene.aftermath.after(action, Outcome(ending=Ending.SKIPPED, why="not now"))
    (work,) = spawned
    asyncio.run(work)
    body = scene.life.heard[-1].body

    assert isinstance(body, ActionFinished)
    assert body.key == "1.x.notify.[actions.notify].command"
    assert body.outcome.ending is Ending.FAILED
    assert body.outcome.why.startswith("ended with 4: {")
    assert body.outcome.why.endswith("heard")


def test_a_hook_in_the_place_of_an_action_decides_what_came_of_it(make: Make) -> None:
    """0 is done; the action itself is not performed."""
    table = {"actions": {"notify": {"shell": "cat >/dev/null; echo mine", "when": "instead"}}}
    scene = make(table)
    outcome = scene.perform(Notify(about="1.x", text="t", severity=Severity.P0))

    assert outcome == Outcome(ending=Ending.DONE, why="hook ended with 0: mine")
    assert "t" not in scene.life.announced
    assert not scene.aftermath.replaced(Stop(run=1, about="x"))


@pytest.mark.parametrize(
    ("name", "action", "reason"),
    [
        ("send", Send(run=1, text="look at the tests", about="x"), "send 'look at the tests'"),
        ("command", Command(about="1.x", name="page", text="exit code 1"), "page"),
        ("debug_collect", BUNDLE, "exit code 1"),
        ("generate_prompt", FixPrompt(about="1.x", text="exit code 1"), "exit code 1"),
        ("escalate", Escalate(about="1.x", text="look at it"), "look at it"),
    ],
)
@pytest.mark.parametrize("code", [0, 3])
def test_every_action_of_a_rule_is_done_by_a_program_instead(
    make: Make, tmp_path: Path, name: str, action: Action, reason: str, code: int
) -> None:
    """It gets the facts, its exit code is the outcome, and nothing else happens."""
    got = tmp_path / "got"
    run = ["/bin/sh", "-c", f"cat > {got}; echo mine; exit {code}"]
    scene = make({"actions": {name: {"run": run, "when": "instead"}}})
    sent = list(scene.life.sent)
    outcome = scene.perform(action)
    facts = json.loads(got.read_text())

    ending = Ending.FAILED if code else Ending.DONE
    assert outcome == Outcome(ending=ending, why=f"hook ended with {code}: mine")
    assert (scene.life.sent, scene.life.announced) == (sent, [])
    assert not (scene.folder / "bundles").exists()
    assert set(facts) == {"reason", "eventId", "severity", "details", "context"}
    assert reason in facts["reason"]
    assert facts["details"]["action"]["kind"] == action.kind


def test_a_hook_that_comes_first_is_waited_for_and_decides_nothing(make: Make) -> None:
    """What came of it is in the journal before the action is done; a failure is seen there."""
    scene = make({"actions": {"notify": {"shell": "echo first; exit 5", "when": "before"}}})
    outcome = scene.perform(Notify(about="1.x", text="t", severity=Severity.P0))
    body = scene.life.heard[-1].body

    assert outcome == Outcome(ending=Ending.DONE, why="told")
    assert isinstance(body, ActionFinished)
    assert body.action == Command(
        about="1.x.notify", name="[actions.notify]", text="before tell a person: t"
    )
    assert body.outcome == Outcome(ending=Ending.FAILED, why="ended with 5: first")


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("restart", Start(run=2, origin=Origin.RESUMED, session="s1")),
        ("notify", Notify(about="1.x", text="exit code 1", severity=Severity.P0)),
        ("debug_collect", BUNDLE),
        ("generate_prompt", FixPrompt(about="1.x", text="exit code 1")),
        ("escalate", Escalate(about="1.x", text="look at it")),
        ("send", Send(run=1, text="look at the tests", about="x")),
        ("command", Command(about="1.x", name="page", text="exit code 1")),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_every_action_of_a_rule_is_extended_by_a_program(
    make: Make, tmp_path: Path, when: str, name: str, action: Action
) -> None:
    """It gets the facts; that it failed, what it printed and its name are in the journal."""
    got = tmp_path / "got"
    hook = {"run": ["/bin/sh", "-c", f"cat > {got}; echo mine; exit 3"], "when": when}
    scene = make({"actions": {name: hook}})
    work: list[Coroutine[Any, Any, None]] = []
    scene.life.runtime.spawn = work.append  # type: ignore[method-assign, assignment]
    if when == "before":
        asyncio.run(scene.aftermath.before(action))
    else:
        scene.aftermath.after(action, Outcome(ending=Ending.DONE, why="told"))
        asyncio.run(work.pop())
    facts, body = json.loads(got.read_text()), scene.life.heard[-1].body

    assert set(facts) == {"reason", "eventId", "severity", "details", "context"}
    assert facts["details"]["action"]["kind"] == action.kind
    assert (facts["details"]["outcome"] is None) == (when == "before")
    assert isinstance(body, ActionFinished)
    assert isinstance(body.action, Command)
    assert body.action.name == f"[actions.{name}]"
    assert body.action.text.startswith(f"{when} ")
    assert body.outcome == Outcome(ending=Ending.FAILED, why="ended with 3: mine")


def test_a_program_in_the_place_of_a_restart_knows_what_would_be_started(
    make: Make, tmp_path: Path
) -> None:
    """The first start of an agent is none, and is koboshi's."""
    got = tmp_path / "got"
    table = {"actions": {"restart": {"shell": f"cat > {got}; exit 1", "when": "instead"}}}
    scene = make(table)
    scene.life.agent.end(9)
    again = Start(run=2, origin=Origin.RESUMED, session="s1")

    assert not scene.aftermath.replaced(Start(run=1, origin=Origin.FIRST))
    assert scene.aftermath.replaced(again)
    outcome = asyncio.run(scene.aftermath.instead(again))
    assert outcome == Outcome(ending=Ending.FAILED, why="hook ended with 1")
    assert json.loads(got.read_text())["details"]["argv"] == ["scripted", "--resume", "s1"]


def test_orders_of_a_prompt_go_by_the_journal(make: Make) -> None:
    """What is handed over is an order like a person's."""
    scene = make({"incidents": {"hand_over": True}}, mode=Mode.KEEP)
    scene.perform(FixPrompt(about="1.x", text="exit code 1 " * 9999))
    orders = [e.body for e in scene.life.heard if isinstance(e.body, OrderGiven)]

    assert orders[-1].order is Order.SEND
    assert "root cause" in orders[-1].text
    assert len(orders[-1].text) < 8000


def test_a_bug_in_a_bundle_does_not_end_the_supervision(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a failure like others."""
    scene = make({"commands": {"page": {"shell": "true"}}})

    def broken(*_: object, **__: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("koboshi.daemon.collecting.pack", broken)
    monkeypatch.setattr("koboshi.daemon.aftermath.ran", broken)

    assert scene.perform(BUNDLE).why == "KeyError: 'a bug'"
    assert scene.perform(Command(about="x", name="page", text="t")).why == "KeyError: 'a bug'"
