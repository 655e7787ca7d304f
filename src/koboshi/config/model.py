"""What can be set, with a sentence under each field; docs/reference/config.md is made from it.

A field without a `Trust` is one that a project's own file may not set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict, Field

from koboshi.core.settings import Settings

from .kinds import (
    Afterwards,
    Code,
    Commands,
    Count,
    HooksWay,
    Leftovers,
    ModeWord,
    Patterns,
    Percent,
    Reaction,
    Seconds,
    Text,
    Tries,
    Trust,
    Words,
)
from .outside import TABLES, Hook, Incidents, Loop, Metrics, Notify, Program

_DEFAULT = Settings()


class Values(BaseModel):
    """The settings of an agent."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    mode: Annotated[ModeWord, Trust.LESS] = _DEFAULT.mode
    """How much koboshi may do: `observe` looks and tells, `keep` keeps the agent going, `auto`
    also answers questions."""
    allow: Annotated[Commands, Trust.FEWER] = _DEFAULT.allow
    """Commands whose permission question is answered "once" in mode `auto`; the exact text.
    `[answers]` has rules for more: docs/answers.md."""
    continue_text: Words = _DEFAULT.continue_text
    """What is typed to get a waiting agent going."""
    hooks: HooksWay = _DEFAULT.hooks
    """How the hooks of Claude Code reach koboshi: `shim` is a short process for each and keeps
    what nobody was there to take; `http` posts them to a port of 127.0.0.1 that koboshi opens."""

    idle_after: Annotated[Seconds, Trust.FREE] = _DEFAULT.idle_after
    """At its prompt that long without a change, and it is told to continue."""
    nudges_max: Annotated[Count, Trust.LESS] = _DEFAULT.nudges_max
    """Messages in a row without effect before a person is asked."""
    context_max: Annotated[Percent, Trust.FREE] = _DEFAULT.context_max
    """Percent of the context in use at which the agent is refreshed; 0 is off."""
    context_window: Annotated[Count, Trust.FREE] = _DEFAULT.context_window
    """Tokens the context holds, where the CLI tells only how many are in use; 0 is not known."""
    run_max: Annotated[Seconds, Trust.FREE] = _DEFAULT.run_max
    """Age of a run at which the agent is refreshed; 0 is off."""
    starting_max: Annotated[Seconds, Trust.FREE] = _DEFAULT.starting_max
    """A blank screen counts as starting for that long, then it is unknown."""
    unknown_after: Annotated[Seconds, Trust.FREE] = _DEFAULT.unknown_after
    """Unknown that long, and a person is told."""
    limit_slack: Annotated[Seconds, Trust.MORE] = _DEFAULT.limit_slack
    """How much longer than the CLI says a usage limit is waited out."""
    limit_spread: Annotated[Seconds, Trust.MORE] = _DEFAULT.limit_spread
    """Agents in koboshi's care that share a login go on one after the other: each waits a part of
    this besides, by its name; 0: all at once. An agent that is alone with its login does not."""
    limits_max: Annotated[Count, Trust.LESS] = _DEFAULT.limits_max
    """How often it is told to go on after a usage limit, over all limits, until you acknowledge;
    then you are asked. 0 is without a bound."""
    limit_blind: Annotated[Seconds, Trust.MORE] = _DEFAULT.limit_blind
    """When to try again where the CLI does not say when its limit ends."""
    failed_base: Annotated[Seconds, Trust.MORE] = _DEFAULT.failed_base
    """Wait before a failed turn is tried again; it doubles with each failure."""
    failed_max: Annotated[Seconds, Trust.MORE] = _DEFAULT.failed_max
    """The longest of these waits."""

    quiet: Annotated[Seconds, Trust.MORE] = _DEFAULT.quiet
    """Nothing may have moved for that long before a refresh begins."""
    grace: Annotated[Seconds, Trust.MORE] = _DEFAULT.grace
    """Signals that contradict each other get that long to agree."""
    person_hold: Annotated[Seconds, Trust.MORE] = _DEFAULT.person_hold
    """Hands off for that long after a person typed."""

    send_cooldown: Annotated[Seconds, Trust.MORE] = _DEFAULT.send_cooldown
    """Between two messages."""
    answer_cooldown: Annotated[Seconds, Trust.MORE] = _DEFAULT.answer_cooldown
    """After an answer by keys. An answer that goes through a hook waits for nothing."""
    answer_context: Annotated[Percent, Trust.MORE] = _DEFAULT.answer_context
    """Percent of the context left at which nothing is answered any more: an agent that is about to
    forget what it was told is a person's; 0 is off."""
    denies_max: Count = _DEFAULT.denies_max
    """Refusals by policy in a row before a person is asked instead; 0 is off."""
    ask_for: Seconds = _DEFAULT.ask_for
    """How long a person who was asked is waited for; 0 is for ever."""
    ask_then: Afterwards = _DEFAULT.ask_then
    """What becomes of a question that nobody answered in that time: `leave` leaves it open, `deny`
    says no."""
    second_opinion: Commands = _DEFAULT.second_opinion
    """A command and its words, such as `["ask-small-model", "--fast"]`. It gets each question as
    JSON and may only be stricter than the policy: `{"verdict": "deny", "why": "…"}`. If it fails or
    is late, a person is asked."""
    second_opinion_wait: Seconds = _DEFAULT.second_opinion_wait
    """How long it may take."""
    retry_gap: Annotated[Seconds, Trust.MORE] = _DEFAULT.retry_gap
    """Before something that was skipped is tried again; it doubles, too."""
    refresh_gap: Annotated[Seconds, Trust.MORE] = _DEFAULT.refresh_gap
    """Between two refreshes."""
    refresh_wait: Seconds = _DEFAULT.refresh_wait
    """How long a refresh waits for the end of a turn before it interrupts it; 0 is for ever. What
    was interrupted is saved like everything else, and the journal says that it was forced."""
    tries_max: Annotated[Tries, Trust.LESS] = _DEFAULT.tries_max
    """Attempts at one stage of a refresh."""

    backoff_base: Annotated[Seconds, Trust.MORE] = _DEFAULT.backoff_base
    """Wait before the first restart; it doubles with each crash in a row."""
    backoff_max: Annotated[Seconds, Trust.MORE] = _DEFAULT.backoff_max
    """The longest of these waits."""
    healthy_after: Annotated[Seconds, Trust.MORE] = _DEFAULT.healthy_after
    """A run that lived that long forgives the crashes before it."""
    intensity: Annotated[Count, Trust.LESS] = _DEFAULT.intensity
    """Restarts within `period`; one more, and a person is asked."""
    period: Annotated[Seconds, Trust.MORE] = _DEFAULT.period
    """The time in which restarts are counted."""

    leftovers: Leftovers = _DEFAULT.leftovers
    """What is done about shells and tools that outlived a crash of their agent: `tell` names them
    to you and to the agent, `end` ends them before the next run starts."""

    log_dir: Text = _DEFAULT.log_dir
    """The folder of the logs for people; `logs` in the state folder where none is given."""
    monitor_log: Text = _DEFAULT.monitor_log
    """The file for what was judged, why, and every key that was sent; `monitor_NAME.log` in
    `log_dir` where none is given, `off` for none."""
    pane_log: Text = _DEFAULT.pane_log
    """The file for what the agent prints; `TYPE_NAME_YYYYMMDD.log` in `log_dir` where none is
    given, `off` for none."""

    keep_for: Seconds = _DEFAULT.keep_for
    """Hand-over notes and snapshots that are older may be removed."""
    keep_least: Tries = _DEFAULT.keep_least
    """So many of each stay, however old; the newest and what a refresh still needs always do."""

    warn_context: Annotated[Percent, Trust.FREE] = _DEFAULT.warn_context
    """Percent of the context in use at which the agent is told to wrap up; 0 is off."""
    hang_after: Annotated[Seconds, Trust.FREE] = _DEFAULT.hang_after
    """A turn that long without any sign of work is interrupted; 0 is off."""
    save_every: Annotated[Seconds, Trust.FREE] = _DEFAULT.save_every
    """Between two saves of the work; 0 is off."""
    probe_every: Annotated[Seconds, Trust.FREE] = _DEFAULT.probe_every
    """Between two questions for the context in use, where only asking tells; 0 is off."""
    probe_timeout: Annotated[Seconds, Trust.FREE] = _DEFAULT.probe_timeout
    """How long the answer to such a question may take."""
    errors_window: Annotated[Seconds, Trust.FREE] = _DEFAULT.errors_window
    """The time in which API errors are counted."""
    errors_max: Annotated[Count, Trust.FREE] = _DEFAULT.errors_max
    """API errors within `errors_window` before `on_error` says what to do."""
    on_error: Annotated[dict[Code, Reaction], Trust.FREE] = Field(
        default_factory=lambda: dict(_DEFAULT.on_error)
    )
    """What to do about an API error, by HTTP code (`"429"`) or class (`"5xx"`): `skip`, `retry`,
    `reset` or `safe-restart`. Tables of several places are put together code by code."""
    silence_after: Annotated[Seconds, Trust.FREE] = _DEFAULT.silence_after
    """A turn in which nothing was printed for that long is told of, once; 0 is off."""
    fatal_text: Patterns = _DEFAULT.fatal_text
    """More patterns (RE2) for what TXT001 listens for: words that often go with an agent's end.
    They are added to those that are built in; a rule of your own (`[[rule]]`) can do more."""
    same_error_max: Annotated[Count, Trust.FREE] = _DEFAULT.same_error_max
    """Times the same error within ten minutes before a person is told and a prompt is written; two
    more, and a person is asked (TXT002). 0 is off."""
    tasks: Text = _DEFAULT.tasks
    """The tasks file, from the agent's folder: complete, and the agent is ended; empty: none."""
    calls_max: Count = _DEFAULT.calls_max
    """Times the same tool call in a row before the agent is told; 0 is off."""
    save_text: Text = _DEFAULT.save_text
    """What is typed to have the work saved, such as `/sc-save {name}`. `{name}` becomes the name of
    the checkpoint (`ckpt-20261115-031502-r3`) and is added at the end where it is missing; `{file}`
    becomes a file that the note is to be written to. Saved means seen: that file is there, or the
    turn is over and the agent has said the name. Empty: the agent is asked for a note in words."""
    load_text: Text = _DEFAULT.load_text
    """What is typed to have the saved work loaded, such as `/sc-load {name}`; `{file}` as above.
    Not for a note that koboshi had to write itself: that one is told in words."""
    retry_text: Text = _DEFAULT.retry_text
    """What is typed after an error, instead of `continue_text`; empty: the same."""
    start_command: Text = _DEFAULT.start_command
    """A command line that starts the agent afresh, in place of the one that it was first started
    with. What names the session is added to it, unless it needs a shell (`cd api && claude`)."""
    restart_command: Text = _DEFAULT.restart_command
    """The same for a start that goes on with a session; empty: `start_command`."""


class File(Values):
    """A whole `koboshi.toml`: values for everybody, and tables for some."""

    agents: dict[str, Values] = Field(default_factory=dict)
    """`[agents.NAME]`: for the agent of that name."""
    types: dict[str, Values] = Field(default_factory=dict)
    """`[types.claude]`: for the agents of that type."""
    notify: Notify = Notify()
    """`[notify]`: how a person is reached."""
    incidents: Incidents = Incidents()
    """`[incidents]`: what is kept of one."""
    metrics: Metrics = Metrics()
    """`[metrics]`: where figures go."""
    loop: Loop = Loop()
    """`[loop]`: how plans are worked through."""
    commands: dict[str, Program] = Field(default_factory=dict)
    """`[commands.NAME]`: programs that rules can run."""
    actions: dict[str, Hook] = Field(default_factory=dict)
    """`[actions.KIND]`: programs that go with every action of a kind."""


#: Tables that are about no agent's settings; a project's file may not have them.
OUTSIDE = tuple(dict.fromkeys(name.partition(".")[0] for name in TABLES))


def known(key: tuple[str, ...]) -> Iterable[str]:
    """The keys that can stand where that one does."""
    if len(key) == 1:
        return File.model_fields
    for name, table in TABLES.items():
        parts = name.split(".")
        if len(parts) == len(key) - 1 and all(
            part in ("NAME", word) for part, word in zip(parts, key, strict=False)
        ):
            return table.model_fields
    return Values.model_fields


def trust(name: str) -> Trust:
    """What a project's own file may do with that field."""
    marks = Values.model_fields[name].metadata
    return next((mark for mark in marks if isinstance(mark, Trust)), Trust.OWN)


def is_time(name: str) -> bool:
    """Whether that field is a number of seconds."""
    field = Values.model_fields[name]
    own = [mark for mark in field.metadata if not isinstance(mark, Trust)]
    return own == list(get_args(Seconds)[1:])
