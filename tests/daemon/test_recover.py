"""Taking an agent on: what is in doubt is settled by looking, and nothing is decided anew."""

from __future__ import annotations

import pytest

from koboshi.core.events import Origin, RunExited, RunStarted, SupervisorStarted
from koboshi.core.readings import Status
from koboshi.hosts.base import Launch, Place
from koboshi.scripted.behaviour import Ask, Done, EndTurn, Script, Work
from koboshi.testing import Killed, MemoryShelf, Outside
from tests.daemon.lives import Life

ASKS: Script = (
    Ask(command="npm test"),
    Ask(command="npm test"),
    Work(seconds=9.0, say="x"),
    Done(),
)
ENDS: Script = (EndTurn(), Work(seconds=9.0, say="x"), Done())


def up(script: Script = ENDS) -> Life:
    """An agent that is up and idle under its first supervisor."""
    life = Life(script)
    life.rise()
    life.live(5.0)
    return life


def test_a_new_supervisor_knows_what_the_old_one_knew() -> None:
    """And says that it began."""
    life = up()
    before = life.world.view
    life.fall()
    life.rise()
    life.live(1.0)

    view = life.world.view
    assert (view.run, view.restarts) == (before.run, before.restarts)
    assert [e.body for e in view.past if isinstance(e.body, SupervisorStarted)] == [
        SupervisorStarted(),
        SupervisorStarted(),
    ]
    assert len(life.host.starts) == 1


def killed_when(life: Life, part: str, *, nth: int = 1) -> None:
    """The supervisor dies right after the nth write of a line with that in it."""
    append = life.shelf.append
    seen: list[bytes] = []

    def mortal(name: str, content: bytes, *, sync: bool) -> None:
        append(name, content, sync=sync)
        if part.encode() in content:
            seen.append(content)
            if len(seen) == nth:
                raise Killed

    life.shelf.append = mortal  # type: ignore[method-assign]
    with pytest.raises(Killed):
        life.live(300.0)
    life.fall()
    life.shelf.append = append  # type: ignore[method-assign]


def test_an_action_that_was_not_begun_is_decided_again() -> None:
    """Killed between the decision and its mark."""
    life = up(ASKS)
    killed_when(life, '"k":"admitted"')
    life.rise()
    life.live(60.0)

    first = life.outcomes()[1]
    assert first[1:] == ("skipped", "the supervisor ended before it acted")
    assert life.sent[:2] == ["continue", "Enter"]


def test_a_key_that_may_have_been_pressed_is_not_pressed_again() -> None:
    """Killed right after the key: the same words follow, and nobody can tell."""
    life = up(ASKS)
    note = life.host.on_type
    outside = Outside()
    life.host._outside = outside  # noqa: SLF001

    def kill_at_answer(strokes: tuple[object, ...]) -> None:
        note(strokes)  # type: ignore[arg-type]
        if life.sent[-1] == "1":
            outside.kill_at = (outside.touches + 1) | 1
            outside.touches = outside.kill_at - 1

    life.host.on_type = kill_at_answer
    with pytest.raises(Killed):
        life.live(300.0)
    life.fall()
    outside.kill_at = -1
    life.host.on_type = note
    open_before = life.agent.running.prompt_number if life.agent.running else None
    life.rise()
    life.live(10.0)

    assert open_before == 2
    assert life.sent.count("1") == 1
    assert ("1.question1", "failed") in [(k, e) for k, e, _ in life.outcomes()]


def test_text_left_in_the_box_is_entered() -> None:
    """Killed between the text and Enter: it would look like a person's line for ever."""
    life = up()
    note = life.host.on_type

    def kill_at_text(strokes: tuple[object, ...]) -> None:
        note(strokes)  # type: ignore[arg-type]
        if life.sent[-1] == "Enter":
            raise Killed

    life.host.on_type = kill_at_text
    with pytest.raises(Killed):
        life.live(300.0)
    life.fall()
    life.host.on_type = note
    life.sent.clear()
    life.rise()
    life.live(2.0)

    assert life.sent == ["Enter"]
    assert life.agent.running is not None
    assert life.agent.running.draft == ""


def test_a_run_that_nobody_wrote_down_is_found() -> None:
    """Started by somebody while no supervisor looked."""
    life = up()
    life.fall()
    life.agent.end(9)
    argv = ("scripted", "--session", "other")
    launch = Launch(agent="sim", run=2, argv=argv, cwd="work")

    async def start() -> None:
        await life.host.start(launch)

    life.runtime.spawn(start())
    life.runtime.run_until(life.runtime.monotonic)
    life.rise()
    life.live(1.0)

    runs = [e.body for e in life.heard if isinstance(e.body, RunStarted)]
    assert [(r.run, r.origin) for r in runs] == [(1, Origin.FIRST), (2, Origin.RESUMED)]
    assert life.world.view.run.number == 2


def test_a_start_in_doubt_tells_of_its_own_run() -> None:
    """Killed between the start and its outcome: one run, one start, one event."""
    life = up()
    life.agent.end(9)
    begin = life.host.start
    after: list[Place] = []

    async def start(launch: Launch) -> object:
        place = await begin(launch)
        if not after:
            after.append(place)
            raise Killed
        return place

    life.host.start = start  # type: ignore[method-assign,assignment]
    with pytest.raises(Killed):
        life.live(60.0)
    life.fall()
    life.rise()
    life.live(3.0)

    runs = [e.body.run for e in life.heard if isinstance(e.body, RunStarted)]
    assert (runs, len(life.host.starts)) == ([1, 2], 2)
    assert life.world.view.run.session


def test_a_run_whose_terminal_went_away_has_ended() -> None:
    """Nobody knows how; it is started again."""
    life = up()
    place = life.supervisor.place if life.supervisor else None
    life.fall()
    life.agent.end(9)

    async def forget() -> None:
        assert place is not None
        await life.host.forget(place)

    life.runtime.spawn(forget())
    life.runtime.run_until(life.runtime.monotonic)
    life.rise()
    life.live(1.0)
    exits = [e.body for e in life.heard if isinstance(e.body, RunExited)]
    life.live(10.0)

    assert exits == [RunExited(run=1)]
    assert life.world.view.run.number == 2


def test_the_restart_budget_survives_the_supervisor() -> None:
    """It is written to disk: five supervisors that each allow five would allow twenty-five."""
    life = up((Work(seconds=900.0, say="x"), Done()))
    for _ in range(8):
        life.agent.end(9)
        life.live(90.0)
        life.fall()
        life.rise()
        life.live(1.0)

    assert len(life.host.starts) == 1 + life.settings.intensity
    assert life.world.view.given_up
    assert any("keeps ending" in text for text in life.announced)


def test_ages_do_not_jump_when_the_wall_clock_was_set_back() -> None:
    """Within one boot the monotonic clock alone counts."""
    life = up()
    before = life.world.view.age(life.runtime.now())
    life.fall()
    life.runtime.utc_ahead -= 100_000.0
    life.rise()

    assert life.world.view.age(life.runtime.now()) == pytest.approx(before)


def test_a_meant_exit_stays_down_over_a_new_supervisor() -> None:
    """A person typed /exit; nobody brings it back."""
    life = up()
    life.agent.paste("/exit")
    life.agent.key("Enter")
    life.live(3.0)
    life.fall()
    life.rise()
    life.live(120.0)

    assert (life.world.view.status, len(life.host.starts)) == (Status.GONE, 1)


def test_giving_up_is_told_even_if_the_supervisor_died_first() -> None:
    """Killed between the decision to give up and the telling: the next one tells."""
    life = up((Work(seconds=900.0, say="x"), Done()))
    append = life.shelf.append
    died: list[bytes] = []

    def mortal(name: str, content: bytes, *, sync: bool) -> None:
        append(name, content, sync=sync)
        if b'"admitted"' in content and b"spent" in content and not died:
            died.append(content)
            raise Killed

    life.shelf.append = mortal  # type: ignore[method-assign]

    def crash_again_and_again() -> None:
        for _ in range(8):
            life.agent.end(9)
            life.live(90.0)

    with pytest.raises(Killed):
        crash_again_and_again()
    life.fall()
    life.rise()
    life.live(60.0)

    assert any("keeps ending" in text for text in life.announced)


def test_a_shelf_without_room_is_an_error_and_changes_nothing() -> None:
    """No room for a journal, no supervision."""
    shelf = MemoryShelf()
    shelf.full = True
    life = Life(ENDS, shelf=shelf)

    with pytest.raises(OSError, match="no space"):
        life.rise()

    assert (shelf.names(), life.host.starts) == ((), [])
