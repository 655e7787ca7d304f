"""The configuration of a `codexHaltMonitor` → the text of a `koboshi.toml`.

Every key comes out as a value, a rule or a comment that says what became of it: nothing is dropped
in silence. `${VAR}` stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from koboshi.adapters.hearing import objection
from koboshi.errors import InputError

from .proposals import KINDS

ROOT = "codexHaltMonitor"

#: Their rule → ours, which is built in, and the actions that it takes.
_BUILT_IN = {
    "processExit": ("RUN001 and TXT005", ("restart", "notify", "debug_collect")),
    "silenceTimeout": ("TXT003", ("notify",)),
    "repeatedError": ("TXT002", ("notify", "generate_prompt", "escalate")),
}
#: What is asked where a built-in rule does not take an action that theirs did.
_WHEN = {
    "processExit": "exit_code > 0 || exit_signal > 0",
    "silenceTimeout": 'status == "working" && stalled >= {seconds}',
    "repeatedError": 'count("log", "(?i)error", "10m") >= {threshold}',
}
#: Their hook → our kind of action, and whether a program can stand in its place.
_HOOKS = {
    "restart": ("start", "after"),
    "notify": ("notify", "instead"),
    "escalate": ("escalate", "instead"),
    "debug_collect": ("bundle", "instead"),
    "generate_prompt": ("fix-prompt", "instead"),
}
_CHANNELS = {"macOS": "macosx://", "desktop": "dbus://"}
_VOICE = "voicevox://127.0.0.1:50021?speaker=3"
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def imported(text: str, file: str) -> str:
    """The same, as a `koboshi.toml`; an error says what is expected."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: expected JSON ({error})") from error
    table = found.get(ROOT, found) if isinstance(found, dict) else None
    if not isinstance(table, dict):
        raise InputError(f"{file}: expected an object {ROOT!r}, not {type(found).__name__}")
    return "\n".join(map(_clean, _Import(table).rows())) + "\n"


def _clean(row: str) -> str:
    """A comment ends where its row does, whatever somebody called a key."""
    if row.lstrip("\n")[:1] != "#":
        return row.encode(errors="replace").decode()
    start = "\n" if row.startswith("\n") else ""
    return start + "".join(char if char.isprintable() else "?" for char in row.lstrip("\n"))


class _Import:
    """One configuration, part by part."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._table = table
        self._number = 0

    def rows(self) -> Iterator[str]:
        """The rows of the file; values for all come first, as TOML wants it."""
        yield f"# From the configuration of a {ROOT}."
        yield from self._values()
        for name, rule in _tables(self._table.get("rules")):
            yield from self._rule(name, rule)
        yield from self._hooks()
        yield from self._notifications()

    def _values(self) -> Iterator[str]:
        table, rules = self._table, dict(_tables(self._table.get("rules")))
        if table.get("enabled") is False:
            yield 'mode = "observe" # it was not enabled'
        silence = rules.get("silenceTimeout", {})
        seconds = silence.get("thresholdSeconds", table.get("silenceThreshold"))
        if silence.get("enabled") is False:
            yield "silence_after = 0"
        elif _number(seconds):
            yield f"silence_after = {seconds}"
        if _number(table.get("maxRestarts")):
            yield f"intensity = {int(table['maxRestarts'])} # restarts within an hour"
        cooldown: Any = table.get("cooldownSeconds")
        if _number(cooldown):
            yield f"refresh_gap = {cooldown}"
            yield f"backoff_base = {cooldown}"
            yield f"backoff_max = {max(60, cooldown)}"
        yield from self._logging()
        known = ("enabled", "silenceThreshold", "maxRestarts", "cooldownSeconds")
        parts = ("rules", "hooks", "logging", "notifications")
        for key, value in table.items():
            if key not in (*known, *parts):
                yield f"# {key} = {_comment(value)}: not known, and left out"

    def _logging(self) -> Iterator[str]:
        logging = self._table.get("logging")
        for key, value in logging.items() if isinstance(logging, dict) else ():
            if key == "enabled" and value is False:
                yield 'monitor_log = "off"'
                yield 'pane_log = "off"'
            elif key == "directory" and isinstance(value, str):
                yield f"log_dir = {_text(value)}"
            elif key == "retention":
                yield f"# logging.retention = {_comment(value)}: logs are kept for seven days"
            elif key != "enabled":
                yield f"# logging.{key} = {_comment(value)}: not known, and left out"

    def _rule(self, name: str, rule: dict[str, Any]) -> Iterator[str]:
        wanted = [each for each in rule["actions"] if isinstance(each, str) and each in KINDS]
        for each in rule["actions"]:
            if each not in wanted:
                yield f"# rules.{name}.actions: {_comment(each)} is not known, and left out"
        if name in _BUILT_IN and not rule.get("patterns"):
            ours, done = _BUILT_IN[name]
            yield f"\n# rules.{name}: built in, as {ours}"
            rest = [each for each in wanted if each not in done]
            if rest:
                yield from self._table_of(name, rule, _when(name, rule), rest)
            return
        listed = rule.get("patterns")
        patterns = (
            [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        )
        if not patterns:
            yield f"# rules.{name}: without a pattern, and left out"
            return
        said = f'count("log", {_cel("|".join(map(_pattern, patterns)))}, "1m") >= 1'
        rest = [each for each in wanted if each != "restart"]
        if rest or not wanted:
            yield from self._table_of(name, rule, said, rest or ["notify"])
        if "restart" in wanted:
            yield "\n# Words alone restart nothing: an agent may work on just such an error."
            more = f'{said} && status == "failed"'
            yield from self._table_of(f"{name}-failed", rule, more, ["restart"])

    def _table_of(
        self, name: str, rule: dict[str, Any], when: str, actions: list[str]
    ) -> Iterator[str]:
        self._number += 1
        yield "\n[[rule]]"
        yield f'code = "IMP{self._number:03d}"'
        yield f"name = {_text(_name(name))}"
        severity = rule.get("severity")
        yield f"severity = {_text(severity if severity in ('P0', 'P1', 'P2') else 'P1')}"
        yield f"when = {_text(when)}"
        yield f"actions = {json.dumps(actions)}"
        if rule.get("enabled") is False:
            yield "enabled = false"

    def _hooks(self) -> Iterator[str]:
        hooks = self._table.get("hooks")
        for name, command in hooks.items() if isinstance(hooks, dict) else ():
            if name not in _HOOKS or not isinstance(command, str):
                yield f"# hooks.{_comment(name)} = {_comment(command)}: not known, and left out"
                continue
            kind, when = _HOOKS[name]
            yield f"\n[actions.{kind}]"
            yield f"run = [{_text(command)}]"
            yield f'when = "{when}"'

    def _notifications(self) -> Iterator[str]:
        channels = self._table.get("notifications")
        for name, value in channels.items() if isinstance(channels, dict) else ():
            url = _address(name, value)
            if not url:
                yield f"# notifications.{_comment(name)} = {_comment(value)}: left out"
                continue
            yield f"\n[notify.channels.{name if _BARE.fullmatch(name) else _text(name)}]"
            if url.startswith("${"):
                yield "# The variable has to hold an address of apprise: jsons://HOST/PATH …"
            yield f"url = {_text(url)}"


def _address(name: str, value: object) -> str:
    if name == "voicevox" and value:
        return value if isinstance(value, str) and "://" in value else _VOICE
    if name in _CHANNELS:
        return _CHANNELS[name] if value else ""
    if not isinstance(value, str):
        return ""
    return re.sub(r"^http(s?)://", r"json\1://", value)


def _when(name: str, rule: dict[str, Any]) -> str:
    seconds, threshold = rule.get("thresholdSeconds"), rule.get("threshold")
    return (
        _WHEN[name]
        .replace("{seconds}", str(seconds if _number(seconds) else 30))
        .replace("{threshold}", str(threshold if _number(threshold) else 3))
    )


def _tables(value: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rules by name, or a list of rules with names."""
    pairs: list[tuple[str, Any]] = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        pairs = [(str(each.get("name", "rule")), each) for each in value if isinstance(each, dict)]
    for name, rule in pairs:
        if isinstance(rule, dict):
            listed = rule.get("actions")
            yield name, {**rule, "actions": listed if isinstance(listed, list) else []}


def _pattern(text: str) -> str:
    """As a regular expression where it is one; else its letters."""
    return text if not objection(text) else re.escape(text)


def _name(text: str) -> str:
    """`fatalError` → `fatal-error`."""
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+", text)
    return "-".join(word.lower() for word in words)[:60] or "rule"


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _text(value: str) -> str:
    """A text as TOML writes it; JSON's is one, but for DEL and halves of a character."""
    whole = value.encode(errors="replace").decode()
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def _cel(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _comment(value: object) -> str:
    """On one line, and short."""
    return json.dumps(value)[:80]
