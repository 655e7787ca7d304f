"""What should have happened, each read back from the journal and from the agent's own record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from koboshi.core.actions import (
    Action,
    Answer,
    Checkpoint,
    Escalate,
    Interrupt,
    Load,
    Notify,
    Send,
    Start,
    Stop,
)
from koboshi.core.events import (
    ActionFinished,
    Ending,
    HookRead,
    Order,
    OrderGiven,
    Origin,
    RunExited,
    RunStarted,
    ScreenRead,
    SupervisorStarted,
)
from koboshi.core.readings import Status
from koboshi.store import wire
from koboshi.store.journal import Line

#: What the scripted agent says when its script is through.
FINISHED = "Everything is done."


@dataclass(slots=True)
class Story:
    """A journal, sorted by what the checks ask for."""

    done: list[tuple[int, Action]] = field(default_factory=list)  #: (event number, action)
    decided: list[tuple[str, Action]] = field(default_factory=list)  #: (rule code, admitted action)
    runs: list[tuple[int, RunStarted]] = field(default_factory=list)
    exits: list[tuple[int, RunExited]] = field(default_factory=list)
    lives: list[SupervisorStarted] = field(default_factory=list)
    screens: list[ScreenRead] = field(default_factory=list)
    orders: list[tuple[int, OrderGiven]] = field(default_factory=list)
    sent_at: dict[str, float] = field(default_factory=dict)  #: key → UTC of the outcome
    ran: list[str] = field(default_factory=list)  #: what the agent itself says it carried out


def read_story(lines: list[Line]) -> Story:
    """Sort a journal."""
    story = Story()
    for line in lines:
        record = line.record
        if isinstance(record, wire.Judged) and record.decision.verdict.admitted:
            story.decided.append((record.decision.finding.code, record.decision.action))
        if isinstance(record, wire.Seen):
            _sort(story, record)
    return story


def _sort(story: Story, record: wire.Seen) -> None:
    seq, body = record.event.seq, record.event.body
    match body:
        case ActionFinished(outcome=outcome, action=action):
            if outcome.ending is Ending.DONE:
                story.done.append((seq, action))
                story.sent_at[body.key] = record.event.now.utc
        case RunStarted():
            story.runs.append((seq, body))
        case RunExited():
            story.exits.append((seq, body))
        case SupervisorStarted():
            story.lives.append(body)
        case OrderGiven():
            story.orders.append((seq, body))
        case ScreenRead():
            story.screens.append(body)
        case HookRead(word="PostToolUse", subject=subject):
            story.ran.append(subject)
        case _:
            pass


def _sends(story: Story, code: str) -> list[Send]:
    keys = {a.key for c, a in story.decided if c == code}
    return [a for _, a in story.done if isinstance(a, Send) and a.key in keys]


def nudged(story: Story) -> bool:
    """Left idle, it was told to go on."""
    return bool(_sends(story, "IDL001"))


def answered_once(story: Story) -> bool:
    """Two dialogs with the same words: two answers, and the agent ran the command twice."""
    answers = [a for _, a in story.done if isinstance(a, Answer)]
    twice = story.ran.count("npm test") == 2  # noqa: PLR2004 - as night.toml asks
    return twice and len(answers) == len(story.ran)


def left_to_person(story: Story) -> bool:
    """What nobody allowed was told to a person, and did not run."""
    told = [a for _, a in story.done if isinstance(a, Escalate) and ".question" in a.about]
    return len(told) == 1 and not any("rm -rf" in command for command in story.ran)


def refreshed(story: Story) -> bool:
    """Context nearly full: saved, ended, started fresh, loaded, in that order."""
    fresh = [seq for seq, run in story.runs if run.origin is Origin.FRESH]
    wanted = [[seq for seq, a in story.done if isinstance(a, k)] for k in (Checkpoint, Stop, Load)]
    if not fresh or not all(wanted):
        return False
    save, stop, load = (seqs[0] for seqs in wanted)
    return save < stop < fresh[0] < load


def told_of_circle(story: Story) -> bool:
    """It made the same call again and again, and was told so, once."""
    return len(_sends(story, "LVL001")) == 1


def unstuck(story: Story) -> bool:
    """Its turn hung: interrupted, saved, and started fresh, in that order."""
    stops = [seq for seq, action in story.done if isinstance(action, Interrupt)]
    if not stops:
        return False
    saves = [seq for seq, a in story.done if isinstance(a, Checkpoint) and seq > stops[0]]
    fresh = [seq for seq, run in story.runs if run.origin is Origin.FRESH and seq > stops[0]]
    return bool(saves and fresh) and saves[0] < fresh[0]


def retried(story: Story) -> bool:
    """The failed turn was taken up again."""
    return bool(_sends(story, "ERR001"))


def resumed(story: Story) -> bool:
    """Killed by a signal, it came back with its session."""
    killed = [seq for seq, gone in story.exits if gone.signal == 9]  # noqa: PLR2004 - SIGKILL
    back = [seq for seq, run in story.runs if run.origin is Origin.RESUMED]
    starts = [a for _, a in story.done if isinstance(a, Start) and a.origin is Origin.RESUMED]
    return bool(killed and back and starts) and killed[0] < back[0]


def reloaded(story: Story) -> bool:
    """It asked for its restart, came back with its session, and was told its own words, once."""
    asked = [(seq, o) for seq, o in story.orders if o.order is Order.RELOAD and o.by == "agent"]
    told = _sends(story, "RLD002")
    if len(asked) != 1 or len(told) != 1:
        return False
    seq, order = asked[0]
    back = [run for at, run in story.runs if at > seq]
    shown = (line for screen in story.screens for line in screen.reading.lines)
    return (
        bool(back)
        and back[0].origin is Origin.RESUMED
        and order.text in told[0].text
        and order.note in told[0].text
        and any("You are back: run #" in line for line in shown)
    )


def limit_waited_out(story: Story) -> bool:
    """One message after the reset, and none before."""
    sends = _sends(story, "LIM002")
    limits = [s.reading.limit for s in story.screens if s.reading.status is Status.LIMITED]
    resets = [limit.resets_at for limit in limits if limit and limit.resets_at]
    return len(sends) == 1 and bool(resets) and story.sent_at[sends[0].key] >= max(resets)


def taken_over(story: Story) -> bool:
    """A second supervisor took over from the journal."""
    return len(story.lives) > 1


def finished(story: Story) -> bool:
    """The agent said that all is done; its work was noted, it was ended, a person heard of it."""
    said = any(FINISHED in line for screen in story.screens for line in screen.reading.lines)
    saves = [seq for seq, a in story.done if isinstance(a, Checkpoint)]
    told = [seq for seq, a in story.done if isinstance(a, Notify) and a.about.endswith("finished")]
    if not (said and saves and told and story.exits):
        return False
    ended, exit_ = story.exits[-1]
    return exit_.meant and saves[-1] < ended < told[-1]


Check = Callable[[Story], bool]

#: What is shown for it, and how it is proven.
CHECKS: tuple[tuple[str, Check], ...] = (
    ("sat idle with work left, and was told to go on", nudged),
    ("asked twice in the same words, and was answered once each", answered_once),
    ("asked for what nobody allowed, and a person was called", left_to_person),
    ("filled its context, and was saved, restarted and given its note", refreshed),
    ("went round in circles, and was told so", told_of_circle),
    ("hung in the middle of a turn, and was interrupted and restarted", unstuck),
    ("failed on the API, and was told to try again", retried),
    ("was killed, and came back with its session", resumed),
    ("restarted itself, and was told its own words", reloaded),
    ("hit a usage limit, and went on once, after the reset", limit_waited_out),
    ("finished its tasks, and was saved and ended for the night", finished),
)
#: Only where the agent outlives its supervisor.
SURVIVAL: tuple[str, Check] = ("lost its supervisor to kill -9, and got another", taken_over)
