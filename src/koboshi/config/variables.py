"""Environment variables that set something. Names only: nothing heavy is imported here.

The command line reads them where a person typed the command, and sends those names, no others, to
the daemon, whose own environment says nothing about anybody's agents.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from koboshi.core.settings import Settings

PREFIX = "KOBOSHI_"
FIELDS = tuple(each.name for each in fields(Settings))
#: `KOBOSHI_IDLE_AFTER` → `idle_after`.
OWN = {f"{PREFIX}{name.upper()}": name for name in FIELDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A name of the plain kind: which field it sets, in which unit where it is a bare number."""

    field: str
    unit: str = ""


#: What `koboshi watch` reads besides.
PLAIN = {
    "IDLE_SECS": Plain(field="idle_after"),
    "COOLDOWN_SECS": Plain(field="send_cooldown"),
    "AUTO_SAVE_MINS": Plain(field="save_every", unit="m"),
    "CONTEXT_THRESHOLD": Plain(field="context_max"),
    "PROBE_CTX_MINS": Plain(field="probe_every", unit="m"),
    "PROBE_TIMEOUT_SEC": Plain(field="probe_timeout"),
    "MAX_SESSION_MIN": Plain(field="run_max", unit="m"),
    "RESTART_MIN_GAP": Plain(field="refresh_gap"),
    "ERR_WINDOW_SECS": Plain(field="errors_window"),
    "ERR_THRESHOLD": Plain(field="errors_max"),
    "RETRY_CMD": Plain(field="retry_text"),
    "START_CMD": Plain(field="start_command"),
    "RESTART_CMD": Plain(field="restart_command"),
    "TASKS_PATH": Plain(field="tasks"),
    "PANE_LOG": Plain(field="pane_log"),
    "MONITOR_LOG": Plain(field="monitor_log"),
    "LOG_DIR": Plain(field="log_dir"),
}
#: `ON_ERR_429_ACTION`, `ON_ERR_5XX_ACTION`.
ON_ERROR = re.compile(r"ON_ERR_([45](?:[0-9]{2}|XX))_ACTION", re.ASCII)
#: An empty variable is one that is not set; but an empty list of commands allows none.
_EMPTY_SAYS = f"{PREFIX}ALLOW"
_CLOSE = 0.85


def relevant(environment: Mapping[str, str], *, plain: bool = False) -> dict[str, str]:
    """The variables that set something; the plain names only where they were asked for."""
    return {
        name: value
        for name, value in environment.items()
        if (name in OWN or (plain and (name in PLAIN or ON_ERROR.fullmatch(name))))
        and (value or name == _EMPTY_SAYS)
        and _is_text(value)
    }


def misspelt(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that look like one of ours and are none → the one that was probably meant."""
    found = {}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in OWN:
            for meant in difflib.get_close_matches(name, OWN, n=1, cutoff=_CLOSE):
                found[name] = meant
    return found


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
