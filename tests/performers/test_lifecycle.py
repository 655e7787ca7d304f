"""Stop and Start: the end of one run, the beginning of the next; and the words in between."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from koboshi.adapters.claude.story import read_story
from koboshi.adapters.decode import decode
from koboshi.adapters.scripted import ScriptedAdapter
from koboshi.adapters.story import Story
from koboshi.core.actions import ACTION_KINDS, Escalate, Notify, Refresh, Start, Stop
from koboshi.core.events import Ending, Origin, Outcome, RunExited, RunStarted, Severity
from koboshi.core.settings import Settings
from koboshi.core.view import Exit, Refreshing, Stage, evolve
from koboshi.errors import HostError
from koboshi.hosts.base import Keystroke, Launch, Place
from koboshi.performers import PERFORMERS, programs
from koboshi.scripted.behaviour import Done, Script, Work
from koboshi.testing.agents import QuickAdapter
from tests.performers.benches import ASK, Bench

STOP = Stop(run=1, about="refresh1.0")
FRESH = Start(run=2, origin=Origin.FRESH, session="s2")
RESUME = Start(run=2, origin=Origin.RESUMED, session="s1")
LONG: Script = (Work(seconds=600.0, say="x"), Done())


def outcome(ending: str, why: str) -> Outcome:
    """How it came out."""
    return Outcome(ending=Ending(ending), why=why)


def test_every_action_has_a_performer_and_a_way_to_settle_it() -> None:
    """No kind is forgotten."""
    assert set(PERFORMERS) == set(ACTION_KINDS)


# -- stop -----------------------------------------------------------------------------------------


def test_an_agent_is_asked_to_exit_first() -> None:
    """Its own way; no signal is needed."""
    bench = Bench()

    assert bench.perform(STOP) == outcome("done", "exited by itself")
    assert (bench.sent, bench.ended, bench.status) == (["'/exit'", "Enter"], [], "gone")
    assert bench.marks == ["1.refresh1.0.stop"]


class Stubborn:
    """An agent that does not end by what it does not hear."""

    def __init__(self, bench: Bench, *deaf: int) -> None:
        self._agent = bench.agent
        self._deaf = deaf

    def key(self, name: str) -> None:
        """Enter does nothing but empty the box."""
        self._agent.key("C-u" if name == "Enter" else name)

    def end(self, signal: int) -> None:
        """A signal, unless it does not hear that one."""
        if signal not in self._deaf:
            self._agent.end(signal)

    def __getattr__(self, name: str) -> object:
        return getattr(self._agent, name)


@pytest.mark.parametrize(
    ("deaf", "why", "ended"),
    [
        ((), "done: ended by SIGTERM", [False]),
        ((15,), "done: ended by SIGKILL", [False, True]),
        ((15, 9), "failed: it did not end, not even by SIGKILL", [False, True]),
    ],
)
def test_what_does_not_exit_is_ended_harder_and_harder(
    deaf: tuple[int, ...], why: str, ended: list[bool]
) -> None:
    """SIGTERM after its time, SIGKILL after that."""
    bench = Bench()
    bench.host.agent = Stubborn(bench, *deaf)  # type: ignore[assignment]

    result = bench.perform(STOP)

    assert (f"{result.ending}: {result.why}", bench.ended) == (why, ended)


def test_what_has_ended_is_not_ended_again() -> None:
    """Nothing is sent to a gone process."""
    bench = Bench()
    bench.agent.end(9)

    assert bench.perform(STOP) == outcome("done", "had ended already")
    assert (bench.sent, bench.ended, bench.marks) == ([], [], [])


def test_an_open_question_keeps_it_up() -> None:
    """It is left alone until it is answered; so is a person's line."""
    bench, other = Bench(ASK), Bench()
    bench.ask()
    other.agent.paste("please als")

    for each in (bench, other):
        assert each.perform(STOP) == outcome("skipped", "not at an empty prompt")
        assert (each.sent, each.ended) == ([], [])


ORDERED = Stop(run=1, about="order1", ordered=True)


def test_an_ordered_stop_exits_and_ends_what_is_left() -> None:
    """A tool's shell outlives the agent: asked to end, then ended."""
    bench = Bench()

    assert bench.perform(ORDERED) == outcome("done", "exited by itself")
    assert (bench.sent, bench.ended) == (["'/exit'", "Enter"], [False, True])


def test_an_ordered_stop_waits_for_nobody() -> None:
    """In a turn, or before an open question, nothing is typed; it is ended by signals."""
    working, bench = Bench(LONG), Bench(ASK)
    working.say("go")
    bench.ask()

    for each in (working, bench):
        each.sent.clear()
        assert each.perform(ORDERED) == outcome("done", "ended by SIGTERM")
        assert (each.sent, each.ended) == ([], [False, False, True])


def test_a_forced_stop_types_nothing_and_asks_nothing() -> None:
    """SIGKILL at once."""
    bench = Bench()

    result = bench.perform(Stop(run=1, about="order1", ordered=True, force=True))

    assert result == outcome("done", "ended by SIGKILL")
    assert (bench.sent, bench.ended) == ([], [True, False, True])


def test_another_run_is_not_ended() -> None:
    """The fence of an action is its run."""
    bench = Bench()
    bench.agent.end(9)
    bench.start(2)

    assert bench.perform(STOP) == outcome("skipped", "run 1 is over")


# -- start ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "word"), [(FRESH, "--session s2"), (RESUME, "--resume s1")])
def test_a_run_is_started_and_told_of(action: Start, word: str) -> None:
    """Fresh under a new session, or with the one before it; the old terminal is put away."""
    bench = Bench()
    bench.agent.end(9)
    starts: list[str] = []
    begin = bench.agent.start

    def seen(argv: tuple[str, ...]) -> object:
        starts.append(" ".join(argv))
        return begin(argv)

    bench.host.agent = _Starting(bench, seen)  # type: ignore[assignment]
    result = bench.perform(action)

    assert (result, starts) == (outcome("done", "started as pid 2"), [f"scripted {word}"])
    assert bench.told == [
        RunStarted(run=2, origin=action.origin, place="%2", pid=2, session=action.session)
    ]
    assert bench.hands.place is not None
    assert (bench.hands.place.run, bench.marks) == (2, ["2.start0"])
    assert [p.run for p in bench.run(bench.host.find("a"))] == [2]


def test_a_run_is_started_with_what_keeps_it_supervisable() -> None:
    """Its variables are the adapter's; a session that the CLI picks is not made up."""
    bench = Bench()
    bench.agent.end(9)
    bench.hands.adapter = Strict()
    launches: list[Launch] = []
    begin = bench.host.start

    async def seen(launch: Launch) -> Place:
        launches.append(launch)
        return await begin(launch)

    bench.host.start = seen  # type: ignore[method-assign]
    bench.perform(FRESH)

    assert [launch.env for launch in launches] == [{"A": "1"}]
    assert [body.session for body in bench.told if isinstance(body, RunStarted)] == [""]


def test_in_a_users_pane_the_variables_are_typed_too() -> None:
    """By `env`, which every shell can start."""
    bench = in_a_pane()
    bench.hands.adapter = Strict()
    bench.perform(RESUME)

    assert bench.sent[0] == "'env A=1 scripted --resume s1'"


class Strict(ScriptedAdapter):
    """A CLI that needs a variable, and picks its own session."""

    def env(self, program: tuple[str, ...]) -> dict[str, str]:  # noqa: ARG002
        """One."""
        return {"A": "1"}

    def session_at_start(self, *, program: tuple[str, ...], session: str) -> str:  # noqa: ARG002
        """Not known."""
        return ""


class _Starting:
    """The agent, with its start watched."""

    def __init__(self, bench: Bench, start: object) -> None:
        self._agent = bench.agent
        self.start = start

    def __getattr__(self, name: str) -> object:
        return getattr(self._agent, name)


def test_no_run_is_started_beside_a_living_one() -> None:
    """Never two processes on one session."""
    bench = Bench()

    assert bench.perform(FRESH) == outcome("skipped", "run 1 is still alive")
    assert (bench.marks, bench.told, len(bench.host.starts)) == ([], [], 1)


def test_no_run_is_resumed_after_one_that_ended_as_meant() -> None:
    """The goodbye on the screen was seen before the end of the process was."""
    bench = Bench()
    assert bench.perform(STOP) == outcome("done", "exited by itself")
    bench.marks.clear()

    assert bench.perform(RESUME) == outcome("skipped", "run 1 ended as meant")
    assert (bench.marks, bench.told, len(bench.host.starts)) == ([], [], 1)


def test_a_run_that_is_there_already_is_taken() -> None:
    """It was started and nobody wrote it down."""
    bench = Bench()
    bench.agent.end(9)
    bench.start(2)

    assert bench.perform(FRESH) == outcome("done", "was there already")
    assert len(bench.host.starts) == 2


def in_a_pane() -> Bench:
    """An agent in a pane the user had before, gone, with its shell in the foreground."""
    bench = Bench(own=False)
    bench.agent.end(9)
    return bench


def test_in_a_users_pane_the_command_is_typed_into_its_shell() -> None:
    """The one exception: shell in the foreground, its line empty."""
    bench = in_a_pane()

    result = bench.perform(RESUME)

    assert result == outcome("done", "restarted in its pane")
    assert bench.sent == ["'scripted --resume s1'", "Enter"]
    assert bench.hands.place is not None
    assert (bench.hands.place.run, bench.hands.place.id) == (2, "%1")


@pytest.mark.parametrize("in_doubt", [False, True])
def test_in_a_users_pane_a_session_that_is_not_found_is_a_run_that_ended(in_doubt: bool) -> None:  # noqa: FBT001
    """Otherwise the same session would be tried again until the budget is spent."""
    bench = in_a_pane()
    bench.hands.adapter = QuickAdapter()
    bench.agent.lost.add("s1")
    if in_doubt:
        bench.agent.start(("scripted", "--resume", "s1"))

    result = bench.settle(RESUME) if in_doubt else bench.perform(RESUME)

    assert result.ending is Ending.DONE
    assert [type(body) for body in bench.told] == [RunStarted]
    seen = replace(bench.run(bench.hands.look()).seen, run=2)
    assert decode(bench.hands.adapter, seen) == RunExited(run=2, lost=True)


def test_a_shell_line_that_a_person_began_is_left_alone() -> None:
    """No key is sent."""
    bench = in_a_pane()
    bench.host.person("git sta")

    assert bench.perform(RESUME) == outcome("skipped", "the shell's line is not empty")
    assert (bench.sent, bench.host.shell_line) == ([], "git sta")


def test_without_a_shell_in_the_foreground_nothing_is_typed() -> None:
    """Something covers it: no shell was proven."""
    bench = in_a_pane()
    bench.agent.start(("scripted", "--session", "s9"))
    bench.host.veil(600.0)

    assert bench.perform(RESUME) == outcome("skipped", "no shell is in the foreground")
    assert bench.sent == []


def test_a_persons_key_on_the_shells_line_keeps_enter_back() -> None:
    """Typed between our look and our command: the line is not ours alone any more."""
    bench = in_a_pane()
    note = bench.host.on_type

    def person_was_quicker(strokes: tuple[Keystroke, ...]) -> None:
        note(strokes)
        if len(bench.sent) == 1:
            bench.host.person("git sta")

    bench.host.on_type = person_was_quicker
    result = bench.perform(RESUME)

    assert "Enter" not in bench.sent
    assert result.ending is Ending.FAILED


def test_an_agent_that_is_up_again_in_its_pane_is_taken() -> None:
    """A person started it by hand, or our command took longer than we waited."""
    bench = Bench(own=False)

    result = bench.perform(RESUME)

    assert (result.ending, bench.sent) == (Ending.DONE, [])
    assert [b.run for b in bench.told if isinstance(b, RunStarted)] == [2]


# -- in doubt -------------------------------------------------------------------------------------


def test_a_start_in_doubt_that_is_there_was_done() -> None:
    """Found by its number."""
    bench = Bench()
    bench.agent.end(9)
    bench.start(2)

    assert bench.settle(FRESH) == outcome("done", "in doubt; found there")
    assert [b.run for b in bench.told if isinstance(b, RunStarted)] == [2]


def test_a_start_in_doubt_that_is_not_there_is_done_again() -> None:
    """Nothing was started."""
    bench = Bench()
    bench.agent.end(9)

    assert bench.settle(FRESH) == outcome("skipped", "in doubt; no such run is there")
    assert bench.told == []


def test_a_start_in_doubt_in_a_users_pane() -> None:
    """Running: it was done. A shell: it is done again."""
    up, down = Bench(own=False), in_a_pane()

    assert up.settle(RESUME) == outcome("done", "in doubt; found running")
    assert down.settle(RESUME) == outcome("skipped", "in doubt; the shell is in the foreground")


def test_our_own_command_on_a_shells_line_only_needs_enter() -> None:
    """Killed between the command and Enter: it would look like a person's line for ever."""
    bench = in_a_pane()
    bench.host.person("scripted --resume s1")

    result = bench.settle(RESUME)

    assert (result.ending, bench.sent) == (Ending.DONE, ["Enter"])
    assert bench.status != "gone"


def test_a_stop_in_doubt_finishes_its_own_word() -> None:
    """`/exit` in the box is ours: Enter, and see it end."""
    bench = Bench()
    bench.agent.paste("/exit")

    assert bench.settle(STOP) == outcome("done", "in doubt; it has ended")
    assert bench.sent == ["Enter"]


def test_a_stop_in_doubt_whose_run_is_up_is_done_again() -> None:
    """Ending is safe to do again."""
    bench, over = Bench(), Bench()
    over.hands.place = None

    assert bench.settle(STOP) == outcome("skipped", "in doubt; it is still up")
    assert over.settle(STOP) == outcome("done", "in doubt; the run is over")


def test_a_refresh_that_was_decided_has_begun() -> None:
    """It is state in the view: decided anew, it would be a second one."""
    refresh = Refresh(run=1, nth=1, why="error 401", cure=True)

    assert Bench().settle(refresh, touched=False) == outcome("done", "begun")


def test_a_start_or_stop_that_was_not_begun_may_be_decided_again() -> None:
    """Without the mark nothing was touched."""
    for action in (STOP, FRESH):
        assert Bench().settle(action, touched=False).ending is Ending.SKIPPED


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action",
    [Notify(about="x", text="hello", severity=Severity.P2), Escalate(about="x", text="hello")],
)
def test_telling_announces_once_and_in_doubt_again(action: Notify | Escalate) -> None:
    """Telling twice is better than not telling; no key is sent."""
    bench = Bench()

    assert bench.perform(action) == outcome("done", "told")
    assert (bench.announced, bench.marks, bench.sent) == (["hello"], [action.key], [])
    assert bench.settle(action).ending is Ending.SKIPPED


def test_a_refresh_begins_without_touching_anything() -> None:
    """Its stages are actions of their own."""
    bench = Bench()

    assert bench.perform(Refresh(run=1, nth=1, why="old")) == outcome("done", "begun")
    assert (bench.sent, bench.marks) == ([], [])


def test_an_old_terminal_that_cannot_be_removed_does_not_fail_the_start() -> None:
    """The new run is up, and that is what was asked for."""
    bench = Bench()
    bench.agent.end(9)

    async def stubborn(place: Place) -> None:
        raise HostError(f"expected {place.id!r} to be removable")

    bench.host.forget = stubborn  # type: ignore[method-assign]

    assert bench.perform(FRESH).ending is Ending.DONE


def test_a_run_is_not_ended_under_a_person_who_types() -> None:
    """Law 10: their words stand behind ours in the box, and no signal follows."""
    bench = Bench()
    note = bench.host.on_type

    def person_goes_on(strokes: tuple[Keystroke, ...]) -> None:
        note(strokes)
        if len(bench.sent) == 1:
            bench.host.tricks[bench.host.looks + 1] = lambda: bench.agent.paste(" wait")

    bench.host.on_type = person_goes_on
    result = bench.perform(STOP)

    assert (result.ending, bench.ended) == (Ending.FAILED, [])
    assert bench.status == "idle"


# -- the owner's own lines ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "action", "argv", "session"),
    [
        ({}, FRESH, ("scripted", "--session", "s2"), "s2"),
        ({"start_command": "scripted -x 'a b'"}, FRESH, ("scripted", "-x", "a b"), "s2"),
        ({"start_command": "scripted -x"}, RESUME, ("scripted", "-x", "--resume"), "s1"),
        ({"restart_command": "scripted -r"}, RESUME, ("scripted", "-r", "--resume"), "s1"),
        ({"restart_command": "scripted -r"}, FRESH, ("scripted", "--session"), "s2"),
        ({"start_command": "cd x && scripted"}, FRESH, ("/bin/sh", "-c", "cd x && scripted"), ""),
        ({"start_command": "scripted 'x"}, FRESH, ("/bin/sh", "-c", "scripted 'x"), ""),
        ({"start_command": "scripted $X"}, FRESH, ("/bin/sh", "-c", "scripted $X"), ""),
        ({"start_command": "x"}, evolve(FRESH, origin=Origin.FIRST), ("scripted",), "s2"),
    ],
)
def test_later_runs_start_as_their_owner_wants(
    settings: dict[str, str], action: Start, argv: tuple[str, ...], session: str
) -> None:
    """What names the session is added, where that is possible."""
    bench = Bench()
    bench.view = evolve(bench.view, settings=Settings(**settings))  # type: ignore[arg-type]

    assert programs.argv(action, bench.hands)[: len(argv)] == argv
    assert programs.session(action, bench.hands) == session


# -- others ---------------------------------------------------------------------------------------


def answering(*answers: tuple[str, ...]) -> Callable[[object], Awaitable[tuple[str, ...]]]:
    """Who is there, question by question; the last answer stays."""
    left = list(answers)

    async def answer(_: object) -> tuple[str, ...]:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def crashed() -> Bench:
    """Run 1 was killed."""
    bench = Bench()
    bench.agent.end(9)
    return bench


@pytest.mark.parametrize("own", [True, False])
def test_a_session_that_is_open_elsewhere_is_not_gone_on_with(*, own: bool) -> None:
    """Both would write into it; a person has to see to it."""
    bench = Bench(own=own)
    bench.agent.end(9)
    bench.hands.session_users = answering(("4711 claude --resume s1",))

    result = bench.perform(RESUME)

    assert result.ending is Ending.SKIPPED
    assert result.why == "its session is open elsewhere: 4711 claude --resume s1"
    assert bench.status == "gone"


@pytest.mark.parametrize("own", [True, False])
def test_a_session_that_is_about_to_be_opened_elsewhere_is_left_to_that_one(*, own: bool) -> None:
    """Two that look at the same time would both see nobody; the lock is free again afterwards."""
    bench, held = Bench(own=own), ["s1"]
    bench.agent.end(9)

    @contextlib.contextmanager
    def lock(session: str) -> Iterator[bool]:
        ours = session not in held
        if ours:
            held.append(session)
        yield ours
        if ours:
            held.remove(session)

    bench.hands.session_lock = lock
    first = bench.perform(RESUME)
    held.clear()
    second = bench.perform(RESUME)

    assert first.ending is Ending.SKIPPED
    assert first.why == "its session is about to be opened elsewhere"
    assert second.ending is Ending.DONE
    assert held == []


def test_a_fresh_session_is_nobodys() -> None:
    """Nobody needs to be asked about it."""
    bench = crashed()
    bench.hands.session_users = answering(("4711 claude",))

    assert bench.perform(FRESH).ending is Ending.DONE


def started_after(bench: Bench, action: Start) -> RunStarted:
    """What is told of the new run."""
    assert bench.perform(action).ending is Ending.DONE
    [told] = [body for body in bench.told if isinstance(body, RunStarted)]
    return told


def test_what_outlived_a_crash_is_told_of() -> None:
    """And left alone."""
    bench = crashed()
    bench.hands.left_running = answering(("12 make",))

    assert started_after(bench, RESUME).left == ("12 make",)
    assert bench.ended == []


@pytest.mark.parametrize("exited", [Exit(signal=9), Exit(code=0, meant=True)])
def test_what_outlived_a_crash_in_a_refresh_is_told_of(exited: Exit) -> None:
    """The run that was to load the note crashed; one that was told to end left nothing."""
    bench = Bench()
    bench.agent.end(9)
    refresh = Refreshing(nth=1, why="old", stage=Stage.STARTING, note="note")
    run = evolve(bench.view.run, exit=exited)
    bench.view = evolve(bench.view, run=run, refresh=refresh)
    bench.hands.left_running = answering(("12 make",))

    assert started_after(bench, FRESH).left == (() if exited.meant else ("12 make",))


def test_what_outlived_a_crash_is_ended_where_its_owner_wants_that() -> None:
    """With what is left of its terminal; what goes on all the same is told of."""
    bench = crashed()
    bench.view = evolve(bench.view, settings=Settings(leftovers="end"))
    bench.hands.left_running = answering(("12 make", "13 sh"), ("13 sh",))

    assert started_after(bench, RESUME).left == ("13 sh",)
    assert bench.ended == [False, True]


@pytest.mark.parametrize("action", [evolve(RESUME, ordered=True), evolve(FRESH, ordered=True)])
def test_a_restart_that_was_asked_for_leaves_everything_as_it_is(action: Start) -> None:
    """Whoever asked knows what runs."""
    bench = crashed()
    bench.view = evolve(bench.view, settings=Settings(leftovers="end"))
    bench.hands.left_running = answering(("12 make",))

    assert started_after(bench, action).left == ()
    assert bench.ended == []


class Writing(ScriptedAdapter):
    """The scripted agent as if it wrote down what Claude Code does."""

    def story(self, lines: Iterable[bytes]) -> Story:
        """What its transcript tells."""
        return read_story(lines)


@pytest.mark.parametrize(
    ("action", "told"),
    [(RESUME, ("Bash make deploy",)), (evolve(RESUME, ordered=True), ()), (FRESH, ())],
)
def test_a_call_without_a_result_is_told_of(action: Start, told: tuple[str, ...]) -> None:
    """A resumed session drops it; one that was answered, or talked over since, is none."""
    bench = crashed()
    bench.hands.adapter = Writing()
    lines = (
        called("0", "make clean"),
        b'{"type": "user", "message": {"content": "Go on."}}',
        called("1", "make test"),
        b'{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "1"}]}}',
        called("2", "make\\n deploy"),
    )
    bench.hands.transcript = lambda: lines

    assert started_after(bench, action).open == told


def called(number: str, command: str) -> bytes:
    """A line in which a command is called."""
    return (
        b'{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "%s", '
        b'"name": "Bash", "input": {"command": "%s"}}]}}' % (number.encode(), command.encode())
    )


def test_what_outlived_a_crash_is_told_also_by_who_finds_the_next_run_there() -> None:
    """The supervisor that started it died before it could write that down."""
    bench = Bench(LONG)
    bench.agent.end(9)
    started_after(bench, RESUME)
    bench.told.clear()
    bench.hands.left_running = answering(("12 make",))

    assert bench.settle(RESUME).why == "in doubt; found there"
    [told] = [body for body in bench.told if isinstance(body, RunStarted)]
    assert told.left == ("12 make",)
