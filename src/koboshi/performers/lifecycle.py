"""Stop and Start: the end of one run and the beginning of the next."""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.adapters.equipment import Equipment
from koboshi.adapters.shells import is_drawn_into, line_holds, line_is_empty
from koboshi.core.events import Ending, Origin, RunStarted
from koboshi.core.readings import Status
from koboshi.errors import HostError, PlaceGone
from koboshi.hosts.base import Launch

from . import briefs, handover, programs
from .equipping import equipped, identity, lay_out, reach
from .hands import Skipped, done, failed, skipped
from .typing import SHOWS, finish_typing, ready, second_opinion, submit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from koboshi.core.actions import Start, Stop
    from koboshi.core.events import Outcome
    from koboshi.hosts.base import Place

    from .hands import Glance, Hands

#: Seconds each way of ending gets: its own exit, SIGTERM, SIGKILL.
EXITS = (15.0, 10.0, 5.0)
#: Seconds for a tool call of the agent to return, once it has asked for its own restart.
RETURNS = 0.3
#: Seconds that what outlived the agent gets to end by itself.
LEFTOVERS = 1.0
#: Statuses that only a living agent shows.
AT_WORK = (Status.WORKING, Status.IDLE, Status.ASKING, Status.LIMITED, Status.FAILED)
#: Seconds for a command typed into a shell to become the foreground program.
APPEARS = 10.0


def _ended(glance: Glance) -> bool:
    return not glance.seen.alive or glance.reading.status is Status.GONE


async def stop(action: Stop, hands: Hands) -> Outcome:
    """The agent's own exit, then SIGTERM, then SIGKILL; each is given its time."""
    place = hands.at_place(action.run)
    glance = await hands.fresh_look()
    if _ended(glance):
        return done("had ended already")
    if action.asked:
        await hands.sleep(RETURNS)  # what the call answered is then in the session that goes on
    told = second_opinion(hands.view(), hands.now())
    at_prompt = ready(glance.reading, told) and not action.asked
    if not (at_prompt or action.ordered):
        raise Skipped("not at an empty prompt")
    hands.touch(action.key)
    try:
        if at_prompt and not action.force and await _exits(hands):
            outcome = done("exited by itself")
        else:
            outcome = await _end(action, hands, place)
        if action.ordered and not action.asked and place.own and outcome.ending is Ending.DONE:
            await _sweep(hands, place)
    except PlaceGone:
        return done("the terminal went with it")
    return outcome


async def _sweep(hands: Hands, place: Place) -> None:
    """End what the agent left running: a tool's shell outlives it, and so do its daemons."""
    await hands.host.end(place, force=False)
    await hands.sleep(LEFTOVERS)
    await hands.host.end(place, force=True)


async def _exits(hands: Hands) -> bool:
    """Whether it left when it was told to."""
    sent = await submit(hands, hands.adapter.exit_text())
    patience = EXITS[0] if sent.ending is Ending.DONE else 0.0
    return await hands.until(_ended, patience) is not None


async def _end(action: Stop, hands: Hands, place: Place) -> Outcome:
    """SIGTERM, then SIGKILL, to all of the run."""
    for force, seconds in ((False, EXITS[1]), (True, EXITS[2])):
        if action.force and not force:
            continue
        reading = (await hands.look()).reading
        if not action.ordered and (reading.draft or reading.prompt):
            # Law 10: a person's line, or a person's question.
            return failed("not ended: somebody is at it")
        await hands.host.end(place, force=force)
        if await hands.until(_ended, seconds) is not None:
            return done("ended by SIGKILL" if force else "ended by SIGTERM")
    return failed("it did not end, not even by SIGKILL")


async def start(action: Start, hands: Hands) -> Outcome:
    """Start the run, unless it or the one before it is alive."""
    if hands.place is not None and not hands.place.own:
        return await _restart_in_shell(action, hands, hands.place)
    places = await hands.host.find(hands.agent)
    for place in places:
        if place.run == action.run:
            return _arrived(action, hands, place, "was there already")
        # In a refresh that goes back to its session, it was we who meant it to end.
        resumes = action.origin is Origin.RESUMED and not action.ordered
        await check_ended(hands, place, badly=resumes and hands.view().refresh is None)
    hands.touch(action.key)
    left = await _left_running(action, hands, places)
    async with _alone_in_session(action, hands):
        started = await hands.host.start(_launch(action, hands))
    outcome = _arrived(action, hands, started, f"started as pid {started.pid}", left=left)
    for place in places:
        with contextlib.suppress(
            HostError
        ):  # the run is up; an old frame more or less is no matter
            await hands.host.forget(place)
    return outcome


async def check_ended(hands: Hands, place: Place, *, badly: bool) -> None:
    """See that nothing of it lives there, and, where that is why we act, that it was no exit."""
    seen = await hands.host.look(place)
    if seen.alive:
        raise Skipped(f"run {place.run} is still alive")
    # A CLI says goodbye before it ends; decided on those words, a meant exit looks bad.
    if badly and hands.adapter.clean_exit(seen.code, seen.signal):
        raise Skipped(f"run {place.run} ended as meant")


def _launch(action: Start, hands: Hands) -> Launch:
    """What to start, with its equipment laid out, or as it is."""
    program, equipment = hands.program, _equipment(action, hands)
    if not lay_out(action.run, equipment, hands):
        equipment = Equipment(argv=programs.argv(action, hands))
    return Launch(
        agent=hands.agent,
        run=action.run,
        argv=equipment.argv,
        cwd=program.cwd,
        env=_variables(action, equipment, hands),
        base=program.env,
    )


def _equipment(action: Start, hands: Hands) -> Equipment:
    argv = programs.argv(action, hands)
    if programs.needs_shell(action, hands):
        return Equipment(argv=argv)
    return equipped(argv, action.run, hands, brief=briefs.brief_for(action, hands))


def _variables(action: Start, equipment: Equipment, hands: Hands) -> dict[str, str]:
    """What every agent gets: a shell inside it has to find who looks after it."""
    own = hands.adapter.env(programs.words(action, hands))
    # A run with hooks of its own is not asked twice; one without may have the project's.
    heard = {} if equipment.files else reach(hands)
    return {**own, **identity(action.run, hands), **heard, **equipment.env}


def _command(action: Start, hands: Hands) -> str:
    """What is typed into a shell, whichever it is: the variables go by `env`."""
    equipment = _equipment(action, hands)
    given = _variables(action, equipment, hands)
    env = ("env", *(f"{name}={value}" for name, value in given.items())) if given else ()
    return shlex.join((*env, *equipment.argv))


def _arrived(
    action: Start, hands: Hands, place: Place, why: str, *, left: tuple[str, ...] = ()
) -> Outcome:
    hands.place = place
    hands.tell(
        RunStarted(
            run=action.run,
            origin=action.origin,
            place=place.id,
            pid=place.pid,
            session=programs.session(action, hands),
            open=_left_open(action, hands),
            left=left,
        )
    )
    return done(why)


def risen(action: Start, hands: Hands, place: Place, glance: Glance, why: str) -> Outcome:
    """Somebody else has started it, in the pane that it had."""
    there = replace(place, run=action.run, pid=glance.seen.pid)
    return _arrived(action, hands, there, why)


def _after_crash(action: Start, hands: Hands) -> bool:
    """Whether nobody meant the run before to end; whoever asks for a restart knows what runs."""
    planned = action.ordered or hands.view().refresh is not None
    return action.origin is not Origin.FIRST and not planned


def _left_open(action: Start, hands: Hands) -> tuple[str, ...]:
    """The tool calls in which the run before crashed."""
    if action.origin is not Origin.RESUMED or not _after_crash(action, hands):
        return ()
    return handover.open_calls(hands)


async def _left_running(action: Start, hands: Hands, places: Sequence[Place]) -> tuple[str, ...]:
    """What outlived the crash, and still does: its owner may want it ended."""
    exit_ = hands.view().run.exit
    crashed = exit_ is not None and not exit_.meant  # so may a run that a refresh has just begun
    asked = action.ordered or action.origin is Origin.FIRST
    if asked or not (crashed or _after_crash(action, hands)):
        return ()
    left = await hands.left_running(action.run)
    if not left or hands.view().settings.leftovers != "end":
        return left
    for place in places:
        with contextlib.suppress(HostError):  # what cannot be ended is told of
            await _sweep(hands, place)
    return await hands.left_running(action.run)


@contextlib.asynccontextmanager
async def _alone_in_session(action: Start, hands: Hands) -> AsyncIterator[None]:
    """Never two processes on one session: the CLIs do not notice, and write into each other."""
    if action.origin is not Origin.RESUMED:
        yield
        return
    with hands.session_lock(action.session) as ours:
        if not ours:
            raise Skipped("its session is about to be opened elsewhere")
        if users := await hands.session_users(action.session):
            raise Skipped(f"its session is open elsewhere: {'; '.join(users)}")
        yield


async def _restart_in_shell(action: Start, hands: Hands, place: Place) -> Outcome:
    """In a pane the user had before: type the command, if the shell waits with an empty line."""
    hands.touch(action.key)
    if not lay_out(action.run, _equipment(action, hands), hands):
        raise Skipped("the run's own files cannot be written")
    glance = await hands.fresh_look()
    if glance.reading.status in AT_WORK:
        # A person was quicker, or our own command took longer than we waited for it.
        return risen(action, hands, place, glance, "is up again in its pane")
    if glance.reading.status is not Status.GONE or glance.reading.reason != "shell_prompt":
        raise Skipped("no shell is in the foreground")
    if not line_is_empty(glance.seen) and is_drawn_into(glance.seen):
        # A killed agent leaves its frame, and the prompt stands in it: what is the frame's and
        # what a person's shows when the shell draws its line anew.
        await hands.keys(("C-l",))
        glance = await hands.until(lambda g: line_is_empty(g.seen), SHOWS) or glance
    if not line_is_empty(glance.seen):
        raise Skipped("the shell's line is not empty")
    left = await _left_running(action, hands, ())
    async with _alone_in_session(action, hands):
        await hands.paste(_command(action, hands))
        return await _enter_command(action, hands, place, left=left)


def _on_line(glance: Glance, command: str) -> bool:
    """Whether that command, and nothing else, stands behind the shell's prompt."""
    if glance.reading.status is not Status.GONE or glance.reading.reason != "shell_prompt":
        return False
    return line_holds(glance.seen, command)


def _refused(action: Start, hands: Hands, glance: Glance) -> bool:
    """Whether it came up only to say that its session is not there: a run that has ended again."""
    entered = _ended(glance) and not _on_line(glance, _command(action, hands))
    resumed = action.origin is Origin.RESUMED
    return resumed and entered and hands.adapter.lost_session(glance.seen)


async def _enter_command(
    action: Start, hands: Hands, place: Place, *, left: tuple[str, ...] = ()
) -> Outcome:
    """See the command on the shell's line, press Enter and see the agent come up."""
    command = _command(action, hands)
    await hands.until(lambda g: _on_line(g, command), SHOWS)
    if not _on_line(await hands.patient_look(), command):
        return failed("the shell's line is not ours alone; not entered")
    await hands.keys(("Enter",))
    glance = await hands.until(lambda g: not _ended(g) or _refused(action, hands, g), APPEARS)
    if glance is None:
        return failed("the command was typed and the agent did not appear")
    there = replace(place, run=action.run, pid=glance.seen.pid)
    return _arrived(action, hands, there, "restarted in its pane", left=left)


async def settle_start(action: Start, hands: Hands) -> Outcome:
    """A start in doubt: the run is there, or it is not; what outlived the one before still does."""
    left = await _left_running(action, hands, ())  # nothing is ended: the new run may be up
    if hands.place is not None and not hands.place.own:
        glance = await hands.fresh_look()
        if not _ended(glance) or _refused(action, hands, glance):
            moved = replace(hands.place, run=action.run, pid=glance.seen.pid)
            return _arrived(action, hands, moved, "in doubt; found running", left=left)
        if _on_line(glance, _command(action, hands)):
            return await _enter_command(action, hands, hands.place, left=left)
        return skipped("in doubt; the shell is in the foreground")
    for place in await hands.host.find(hands.agent):
        if place.run == action.run:
            return _arrived(action, hands, place, "in doubt; found there", left=left)
    return skipped("in doubt; no such run is there")


async def settle_stop(action: Stop, hands: Hands) -> Outcome:
    """Ending is safe to do again, but our own half-typed word must not stay in the box."""
    if hands.place is None or hands.place.run != action.run:
        return done("in doubt; the run is over")
    glance, _ = await finish_typing(hands, hands.adapter.exit_text())
    return done("in doubt; it has ended") if _ended(glance) else skipped("in doubt; it is still up")
