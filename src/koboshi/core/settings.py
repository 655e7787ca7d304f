"""The numbers and words the rules and the gate work with. Values only; `config/` fills them in."""

from __future__ import annotations

from dataclasses import dataclass

from .actions import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Seconds unless the name says otherwise; each default is what an overnight run wants."""

    mode: Mode = Mode.KEEP  #: how much koboshi may do
    allow: tuple[str, ...] = ()  #: commands whose permission question is answered "once"; exact
    continue_text: str = "continue"  #: what is typed to get a waiting agent going
    retry_text: str = ""  #: what is typed after an error; empty: the same

    hooks: str = "shim"  #: how the agent's hooks reach us: by "shim" or by "http"

    tasks: str = ""  #: the tasks file, from the agent's folder; empty: there is none
    save_every: float = 900.0  #: what was done is noted down that often; 0 is off (15 minutes)
    idle_after: float = 600.0  #: at its prompt that long without a change → continue
    nudges_max: int = 5  #: messages in a row with no effect before a person is asked
    warn_context: float = 60.0  #: percent of the context in use → the agent is told; 0 is off
    context_max: float = 70.0  #: percent of the context in use → refresh; 0 is off
    context_window: int = 0  #: tokens it holds, where the CLI tells only how many are in use
    run_max: float = 2700.0  #: age of a run → refresh; 0 is off (45 minutes)
    hang_after: float = 1200.0  #: a turn that long without any sign of work → interrupt; 0 is off
    silence_after: float = 30.0  #: a turn that prints nothing for so long is told of; 0 is off
    fatal_text: tuple[str, ...] = ()  #: more patterns of words that often go with an agent's end
    same_error_max: int = 3  #: times the same error, then a person is told; 0 is off
    calls_max: int = 20  #: times the same tool call in a row, then the agent is told; 0 is off
    starting_max: float = 60.0  #: a blank screen is "starting" for that long, then unknown
    unknown_after: float = 120.0  #: unknown that long → a person is told
    limit_slack: float = 5.0  #: wait this much longer than the CLI says
    limit_spread: float = 60.0  #: and up to this much more, each agent at a moment of its own
    limits_max: int = (
        100  #: messages after limits, over all of them, then a person is asked; 0: any
    )
    limit_blind: float = 3600.0  #: try again after this when the CLI does not say when it resets
    errors_max: int = 3  #: API errors, in a row or …
    errors_window: float = 300.0  #: … within this time; then what `on_error` says is done
    #: code → skip | retry | reset | safe-restart; a code that is not named here is retried
    on_error: tuple[tuple[str, str], ...] = (
        ("400", "skip"),
        ("401", "safe-restart"),
        ("403", "skip"),
        ("404", "skip"),
        ("413", "reset"),
        ("context", "reset"),
        ("login", "safe-restart"),
    )
    failed_base: float = 30.0  #: wait before a failed turn is retried; doubles with each failure
    failed_max: float = 600.0  #: and never more than this

    quiet: float = 3.0  #: nothing may have moved for that long before a refresh begins
    grace: float = 10.0  #: contradicting signals get that long to agree
    person_hold: float = 20.0  #: hands off for that long after a person typed

    send_cooldown: float = 45.0  #: between two messages
    answer_cooldown: float = 5.0  #: after an answer by keys
    answer_context: float = 10.0  #: percent of the context left; less: nothing is answered; 0: off
    denies_max: int = 5  #: times in a row that the policy says no, then a person is asked; 0: off
    ask_for: float = 0.0  #: a person is waited for that long; 0: for ever
    ask_then: str = "leave"  #: and then the question is left as it is, or answered "deny"
    second_opinion: tuple[str, ...] = ()  #: a command that may be stricter than the policy
    second_opinion_wait: float = 10.0  #: it may take that long
    retry_gap: float = 2.0  #: before something that was skipped is tried again; doubles, too
    refresh_gap: float = 120.0  #: between two refreshes
    refresh_wait: float = 0.0  #: a turn that a refresh waits for longer is interrupted; 0: never
    tries_max: int = 3  #: attempts at one stage of a refresh

    backoff_base: float = 2.0  #: wait before the first restart; doubles with each crash in a row
    backoff_max: float = 60.0  #: and never more than this
    healthy_after: float = 300.0  #: a run that lived that long forgives the crashes before it
    intensity: int = 5  #: restarts, whatever their reason …
    period: float = 3600.0  #: … within this time; one more → give up and ask a person
    leftovers: str = "tell"  #: what outlived a crash: `tell` of it, or `end` it

    log_dir: str = ""  #: where the logs for people are; empty: in the state folder
    monitor_log: str = ""  #: what was judged and typed; empty: `monitor_NAME.log` there
    pane_log: str = ""  #: what the agent printed; empty: `TYPE_NAME_YYYYMMDD.log` there

    keep_for: float = 604800.0  #: hand-over notes and snapshots older than this may go (a week) …
    keep_least: int = 20  #: … but so many of each stay, however old

    probe_every: float = 600.0  #: between two questions for the context in use
    probe_timeout: float = 12.0  #: the answer to one may take that long
    save_text: str = ""  #: what is typed to have the work saved
    load_text: str = ""  #: what is typed to have it loaded again
    start_command: str = ""  #: a command line that starts the agent afresh
    restart_command: str = ""  #: and one that goes on with a session
