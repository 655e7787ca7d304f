"""What reaches beyond the agent: channels, and programs that are run. Only the owner's file may.

A stranger's `koboshi.toml` that named a channel would send what agents print to that stranger, and
one that named a program would run it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from koboshi.core.events import Severity

from .addresses import LONGEST, objection, scheme
from .hours import Hours, hours, minute
from .kinds import Count, Seconds, Text, Tries, wrong

#: Who is given a prompt about an incident: the agent's own next run, or a fresh one.
RUN, HEADLESS = "run", "headless"


def _address(value: object) -> str:
    """Not shown where it is wrong, whatever it is: it may hold a secret."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
        raise wrong("an address such as 'ntfys://${NTFY_TOPIC}'", came="that")
    objected = objection(value.strip())
    if objected:
        raise wrong(objected, came=f"what is there ({scheme(value.strip())})")
    return value.strip()


def _severity(value: object) -> Severity:
    word = value.strip().upper() if isinstance(value, str) else ""
    if word not in Severity.__members__:
        raise wrong("'P0', 'P1' or 'P2'", value)
    return Severity[word]


def _hours(value: object) -> Hours:
    found = hours(value) if isinstance(value, str) else None
    if found is None:
        raise wrong("hours such as '22:00-07:00'", value)
    return found


def _minute(value: object) -> int:
    found = minute(value) if isinstance(value, str) else None
    if found is None:
        raise wrong("a time of the day such as '07:30'", value)
    return found


Address = Annotated[str, PlainValidator(_address)]
SeverityWord = Annotated[Severity, PlainValidator(_severity)]
HoursOfDay = Annotated[Hours, PlainValidator(_hours)]
TimeOfDay = Annotated[int | None, PlainValidator(_minute)]
OwnHours = Annotated[Hours | None, PlainValidator(_hours)]


def _argv(value: object) -> tuple[str, ...]:
    right = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if not isinstance(value, list) or not right or not value or not value[0].strip():
        raise wrong('a program and its words, such as ["notify-send", "koboshi"]', value)
    if any("\0" in each for each in value):
        raise wrong("words without a zero byte", value)
    return tuple(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong("true or false", value)
    return value


def _when(value: object) -> str:
    if value not in ("before", "after", "instead"):
        raise wrong("'before', 'after' or 'instead'", value)
    return str(value)


def _hand_over(value: object) -> str:
    words = {False: "", "none": "", True: RUN, RUN: RUN, HEADLESS: HEADLESS}
    if not isinstance(value, str | bool) or value not in words:
        raise wrong("'run', 'headless' or 'none'", value)
    return words[value]


Words = Annotated[tuple[str, ...], PlainValidator(_argv)]
Flag = Annotated[bool, PlainValidator(_flag)]
When = Annotated[str, PlainValidator(_when)]
HandOver = Annotated[str, PlainValidator(_hand_over)]


class _Table(BaseModel):
    """A table that only the owner's file has."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Channel(_Table):
    """A way to reach a person."""

    url: Address = ""
    """Where: any address of apprise (`ntfys://…`, `slack://…`, `mailtos://…`, `json://…`, `dbus://`,
    `macosx://`), or `voicevox://127.0.0.1:50021?speaker=3`, which speaks (`&save=FOLDER` keeps the
    WAV and plays nothing). `${NAME}` is a variable of the daemon's environment; what is secret in
    an address has to come from there."""
    severity: SeverityWord = Severity.P1
    """The least severe that goes there; what asks a person to act goes everywhere."""
    quiet: OwnHours = None
    """Hours for this channel, in place of `notify.quiet`."""


class Notify(_Table):
    """Who is told, when, and how often."""

    channels: dict[str, Channel] = Field(default_factory=dict)
    """`[notify.channels.NAME]`: as many as there are."""
    quiet: HoursOfDay = Hours()
    """Hours of the day, such as `22:00-07:00`, in which only `wakes` goes out; the rest waits."""
    wakes: SeverityWord = Severity.P0
    """The least severe that goes out in quiet hours. To be asked is `P1`, and `P0` where koboshi
    has given up on an agent."""
    group: Seconds = 30.0
    """The least time between two messages on one channel; what comes meanwhile is one message."""
    report: TimeOfDay = None
    """Every day at that time, such as `07:30`, what each agent did in the last twelve hours goes to
    the channels, a line each (`koboshi report --brief`)."""
    repeat: Seconds = 900.0
    """What a person is asked is repeated that often until `koboshi ack`; 0 is never."""


class Incidents(_Table):
    """What is kept of an incident, and where it goes."""

    lines: Count = 300
    """Lines of output and of the transcript in a bundle."""
    keep: Tries = 20
    """Bundles of an agent that are kept, and prompts; …"""
    keep_for: Seconds = 30 * 86400.0
    """… for that long; the newest always is."""
    upload: Text = ""
    """Where each bundle is put besides: `s3://BUCKET/FOLDER` or an address that obstore knows. Keys
    come from the environment of the daemon (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL` …);
    `pip install 'koboshi[s3]'`."""
    template: Text = ""
    """A file in place of koboshi's own words for a prompt; `{error}`, `{lines}`, `{tried}`,
    `{branch}`, `{worktree}`, `{agent}`, `{run}` and `{bundle}` are filled in."""
    hand_over: HandOver = ""
    """Who is given such a prompt: `run` (or `true`) types it to the agent when it is at its prompt
    next, after a restart too; `headless` starts a fresh run of the same CLI without a terminal in
    the agent's folder, one at a time and half an hour apart, and `koboshi check` tells of it;
    `none` (or `false`) nobody. Not in the mode `observe`."""


class Program(_Table):
    """A program of the owner's. What happened is JSON on its standard input."""

    run: Words = ()
    """The program and its words, such as `["~/bin/page-me", "--loud"]`; no shell reads them."""
    shell: Text = ""
    """In place of `run`: a line that `/bin/sh` reads."""
    timeout: Seconds = 30.0
    """After that it is killed, with all it started."""


class Hook(Program):
    """A program for all actions of one kind."""

    when: When = "after"
    """`before` runs it first, and the action follows whatever came of it; `after` runs it when the
    action has come out, and nothing waits for it; `instead` runs it in the place of the action, and
    its exit code says what came of that (`restart`, `notify`, `debug_collect`, `generate_prompt`,
    `escalate`, `send`, `command`)."""


class Metrics(_Table):
    """Where figures go besides the files."""

    otlp: Text = ""
    """An OpenTelemetry collector, such as `http://127.0.0.1:4318/v1/metrics`; headers come from the
    environment of the daemon (`OTEL_EXPORTER_OTLP_HEADERS`). `pip install 'koboshi[otel]'`."""
    every: Seconds = 60.0
    """Between two exports."""


class Loop(_Table):
    """How plans are worked through."""

    plans: Count = 4
    """How many the daemon works through at a time; 0 leaves them all to `koboshi loop`."""


#: Every table, by the name that it has in a file.
TABLES: dict[str, type[BaseModel]] = {
    "notify": Notify,
    "notify.channels.NAME": Channel,
    "incidents": Incidents,
    "metrics": Metrics,
    "loop": Loop,
    "commands.NAME": Program,
    "actions.NAME": Hook,
}
