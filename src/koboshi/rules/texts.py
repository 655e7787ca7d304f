"""TXT: what an agent prints, and what it does not print.

Words are no proof: an agent that works on a SIGTERM bug prints the word all day. So these rules
tell and restart nothing; a run that is gone or failed is started again by RUN001 and ERR004.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from koboshi.core.actions import Bundle, FixPrompt, Notify
from koboshi.core.events import Severity
from koboshi.core.readings import Status
from koboshi.core.rules import ERRORS, Proposal, rule
from koboshi.wording import times

from .asking import ask

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Moment
    from koboshi.core.view import Echo, View


#: Patterns of RE2; `fatal_text` adds to them.
FATAL = (
    r"(?i)\bcrashed\b",
    r"(?i)\bunhandled (?:promise )?rejection\b",
    r"(?i)\bfatal error\b",
    r"\bECONNREFUSED\b",
    r"\bSIG(?:TERM|KILL)\b",
)
MEMORY = (
    r"(?i)\bout of memory\b",
    r"(?i)\bcannot allocate memory\b",
    r"\b(?:ENOMEM|MemoryError|bad_alloc|OOMKilled)\b",
)
#: A limit as CLIs and APIs word it, not as people speak of one.
LIMIT = (
    r"(?i)\b429 too many requests\b",
    r"(?i)\berror\b.{0,80}\b429\b",
    r"(?i)\brate[ _-]?limit(?:_error|_exceeded| error| exceeded| reached| hit)\b",
    r"(?i)\b(?:usage|session|weekly|daily|hourly|quota) limit (?:reached|exceeded|hit)\b",
    r"(?i)\b(?:hit|reached|exceeded) your (?:[\w-]+ ){0,2}limit\b",
    r"\b(?:RESOURCE_EXHAUSTED|insufficient_quota)\b|(?i:\bquota exceeded\b)",
)
#: Types of agents whose limits only their words tell; empty: of a log.
_NOT_KNOWN = ("", "generic")
#: Seconds for which something that was heard is news, and in which errors are counted.
NEWS, AGAIN = 300.0, 600.0
#: Times more of the same error than a person is told of it at, and one is asked.
MORE = 2
#: Seconds between two words about the same kind of text, and about a limit.
PAUSE, LIMIT_PAUSE = 60.0, 600.0
_WAITING = "waiting"


def _heard(view: View, patterns: tuple[str, ...], now: Moment) -> list[Echo]:
    """What was heard of these lately."""
    return [e for e in view.echoes if e.what in patterns and now.at - e.times[-1] < NEWS]


def _news(view: View, patterns: tuple[str, ...], now: Moment) -> tuple[str, Echo] | None:
    """The latest of these, and a name for this time: another run does not make it another."""
    heard = _heard(view, patterns, now)
    return (f"heard{heard[-1].nth}", heard[-1]) if heard else None


@rule("TXT001", "fatal-words-printed", Severity.P0, listens=FATAL, cooldown=PAUSE)
def fatal_words_printed(view: View, now: Moment) -> Proposal | None:
    """The agent printed words that often go with its end.

    ## Why
    `Unhandled rejection` on the screen of an agent that seems to work may be all there is to see
    of a run that will not come back.

    ## Example
    `Fatal error: Reached heap limit`; also `crashed`, `ECONNREFUSED`, `SIGTERM`, `SIGKILL`, and
    what `fatal_text` adds. A person is told, and a prompt that asks for the cause is written.

    ## Safety
    Safe. It tells a person, once per occurrence and at most once a minute. A run that is gone or
    failed is restarted by its own rules; words alone restart nothing.
    """
    found = _news(view, (*FATAL, *view.settings.fatal_text), now)
    if found is None:
        return None
    about, echo = found
    text = f"{view.context.agent} printed: {echo.text}"
    note = Notify(about=f"{about}.fatal", text=text, severity=Severity.P0)
    actions = (note, FixPrompt(about=f"{about}.fatal", text=text))
    return Proposal(message=f"it printed {echo.text!r}", actions=actions, evidence=(echo.text,))


@rule("TXT002", "same-error-again", Severity.P1, listens=(ERRORS,))
def same_error_again(view: View, now: Moment) -> Proposal | None:
    """The same error is printed again and again.

    ## Why
    Numbers, paths and quoted words aside it is the same error: what is tried does not mend it.

    ## Example
    `TypeError: x is undefined (line 12)`, then `(line 14)`, then `(line 20)`, within ten minutes: a
    person is told, and a prompt is written that asks for the cause. At the fifth time a person is
    asked to look. `same_error_max` says another number than three.

    ## Safety
    Safe. It tells and asks, once per error and run; nothing is typed.
    """
    least = view.settings.same_error_max
    if least <= 0:
        return None
    begun = view.run.since  # what only runs before it met was told then
    counted = [
        (sum(1 for at in echo.times if now.at - at < AGAIN), echo)
        for echo in view.echoes
        if echo.what.startswith(ERRORS) and echo.total >= least and echo.times[-1] >= begun
    ]
    count, echo = max(counted, key=lambda pair: pair[0], default=(0, None))
    if echo is None or count < least:
        return None
    name = f"{zlib.crc32(echo.what.encode(errors='replace')):08x}"
    about = f"{view.run.number}.error{name}.{view.tally.settled}"
    text = f"{view.context.agent} meets the same error again and again: {echo.text}"
    note = Notify(about=about, text=text, severity=Severity.P1)
    actions: list[Action] = [note, FixPrompt(about=about, text=text)]
    if count >= least + MORE:
        actions.append(ask(about, text, "help it"))
    message = f"the same error, {times(count)}: {echo.text!r}"
    return Proposal(message=message, actions=tuple(actions), evidence=(echo.text,))


def _is_plain(view: View) -> bool:
    """A program that runs, and of which nothing else is known."""
    unknown = view.status is Status.UNKNOWN and view.context.agent_type == "generic"
    return unknown and view.run.number > 0 and view.run.exit is None


@rule("TXT003", "nothing-printed", Severity.P1, Status.WORKING, Status.UNKNOWN)
def nothing_printed(view: View, now: Moment) -> Proposal | None:
    """A turn runs, and for some time nothing was printed and no tool began or ended.

    ## Why
    It may think, wait for a tool, or hang. Whoever has an eye on it can see which; after
    `hang_after` koboshi does something about it (HNG001).

    ## Example
    Nothing for 30 s: a person is told. With `Waiting for …` in the last lines a person is asked. A
    program of type `generic` has no turns that are known: any silence of it counts.

    ## Safety
    Safe. It tells, once per turn, and of a generic program at most once in ten minutes; no key is
    sent.
    """
    limit = view.settings.silence_after
    if limit <= 0 or view.question is not None or view.retrying or view.restarting:
        return None
    if view.stalled_for(now) < limit or not (view.status is Status.WORKING or _is_plain(view)):
        return None
    nth = f"at{view.sight.worked_at // AGAIN:.0f}" if _is_plain(view) else f"{view.tally.turns}"
    about = f"{view.run.number}.silent{nth}"
    text = f"{view.context.agent} has printed nothing for {limit:g} s"
    waits = next((row for row in view.context.lines[::-1] if _WAITING in row.lower()), "")
    if waits:
        text = f"{text} and seems to wait: {waits.strip()}"
        asked = ask(about, text, "see what it waits for")
        return Proposal(message=text, actions=(asked,), evidence=(waits,))
    note = Notify(about=about, text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("TXT004", "memory-exhausted", Severity.P1, listens=MEMORY, cooldown=PAUSE)
def memory_exhausted(view: View, now: Moment) -> Proposal | None:
    """The agent, or what it runs, printed that there is no memory left.

    ## Why
    What ran out of memory once does so again, and the kernel may end something else instead.

    ## Example
    `JavaScript heap out of memory`, `MemoryError`, `Cannot allocate memory`.

    ## Safety
    Safe. It tells a person, at most once a minute.
    """
    found = _news(view, MEMORY, now)
    if found is None:
        return None
    about, echo = found
    text = f"{view.context.agent} has no memory left: {echo.text}"
    note = Notify(about=f"{about}.memory", text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=(echo.text,))


@rule("TXT005", "run-ended-with-error", Severity.P0, Status.GONE)
def run_ended_with_error(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """The process ended by itself, with an exit code other than 0 or by a signal.

    ## Why
    The restart (RUN001) mends the moment; whoever looks into the cause needs to know that it
    happened.

    ## Example
    `a1: run 3 ended with exit code 1`, and run 4 resumes its session. What tells of the end is
    put into a debug bundle. Not for a run that Ctrl-C has ended.

    ## Safety
    Safe. It tells a person, once per run; it restarts nothing.
    """
    exit_ = view.run.exit
    if view.status is not Status.GONE or exit_ is None or exit_.meant or view.run.number == 0:
        return None
    if (exit_.signal is None and not exit_.code) or exit_.by_key:
        return None
    how = f"by signal {exit_.signal}" if exit_.signal else f"with exit code {exit_.code}"
    text = f"{view.context.agent}: run {view.run.number} ended {how}"
    about = f"{view.run.number}.exit"
    note = Notify(about=about, text=text, severity=Severity.P0)
    actions = (note, Bundle(about=about, text=text))
    return Proposal(message=text, actions=actions, evidence=view.belief.evidence)


@rule("TXT006", "turn-broken-off", Severity.P2, Status.IDLE)
def turn_broken_off(view: View, now: Moment) -> Proposal | None:  # noqa: ARG001
    """A person interrupted the agent's turn.

    ## Why
    Whoever reads the record later wants to know why the work stopped there.

    ## Example
    Escape during a turn: `a1: its turn was interrupted by a person`.

    ## Safety
    Safe. It is noted for the record; the agent is left as it is.
    """
    interrupted = view.status is Status.IDLE and view.belief.reason == "interrupted"
    if not interrupted or view.hung or view.restarting or view.refused:
        return None  # not by a person: a no by keys ends a turn, too
    text = f"{view.context.agent}: its turn was interrupted by a person"
    note = Notify(
        about=f"{view.run.number}.broken{view.tally.turns}", text=text, severity=Severity.P2
    )
    return Proposal(message=text, actions=(note,), evidence=view.belief.evidence)


@rule("TXT007", "limit-printed", Severity.P0, listens=LIMIT, cooldown=LIMIT_PAUSE)
def limit_printed(view: View, now: Moment) -> Proposal | None:
    """Words of a rate or usage limit, in a log or from an agent whose limits are not known.

    ## Why
    Of the CLIs that koboshi knows, a limit is known by its own sign (LIM001), and is waited out. Of
    any other program, and in a log, the words are all there is.

    ## Example
    `API Error: 429 {"type":"rate_limit_error"}` in a log, or printed by an agent of type `generic`:
    a person is told.

    ## Safety
    Safe. It tells a person, at most once in ten minutes. A limit never leads to a restart: nothing
    helps but waiting.
    """
    found = _news(view, LIMIT, now)
    if found is None or view.context.agent_type not in _NOT_KNOWN:
        return None
    about, echo = found
    text = f"{view.context.agent} printed that a limit is reached: {echo.text}"
    note = Notify(about=f"{about}.limit", text=text, severity=Severity.P1)
    return Proposal(message=text, actions=(note,), evidence=(echo.text,))
