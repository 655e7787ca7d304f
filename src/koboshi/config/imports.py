"""The configuration of a `codexHaltMonitor` → the text of a `koboshi.toml`.

Every key comes out as a value, a rule or a comment that says what became of it: nothing is dropped
in silence. `${VAR}` stays as it is.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from koboshi.adapters.hearing import objection
from koboshi.errors import InputError

from .proposals import KINDS

ROOT = "codexHaltMonitor"

#: Their rule → ours, which is built in, and the actions that it takes.
_BUILT_IN = {
    "processExit": ("RUN001 and TXT005", "P0", ("restart", "notify", "debug_collect")),
    "silenceTimeout": ("TXT003", "P1", ("notify",)),
    "repeatedError": ("TXT002", "P1", ("notify", "generate_prompt", "escalate")),
}
#: The keys that become a value of koboshi's; those of a rule, and of the rules above.
_VALUES = ("enabled", "silenceThreshold", "maxRestarts", "cooldownSeconds")
_PARTS: dict[str, type | tuple[type, ...]] = {
    "rules": (dict, list),
    "hooks": dict,
    "logging": dict,
    "notifications": dict,
}
_RULE_KEYS = ("name", "enabled", "severity", "actions")
_THRESHOLDS = {"silenceTimeout": ("thresholdSeconds",), "repeatedError": ("threshold",)}
_SEVERITIES = ("P0", "P1", "P2")
_KINDS_OF: dict[type, str] = {bool: "true or false", list: "a list"}
#: What is asked where a built-in rule does not take an action that theirs did.
_WHEN = {
    "processExit": "exit_code > 0 || exit_signal > 0",
    "silenceTimeout": 'status == "working" && stalled >= {seconds}',
    "repeatedError": 'count("log", "(?i)error", "10m") >= {threshold}',
}
#: Their hook → our kind of action, and whether a program can stand in its place.
_HOOKS = {
    "restart": ("restart", "after"),
    "notify": ("notify", "instead"),
    "escalate": ("escalate", "instead"),
    "debug_collect": ("bundle", "instead"),
    "generate_prompt": ("fix-prompt", "instead"),
}
_CHANNELS = {"macOS": "macosx://", "desktop": "dbus://"}
_VOICE = "voicevox://127.0.0.1:50021?speaker=3"
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z0-9_.-]{1,80}", re.ASCII)
#: Only a shell knows what these mean.
_SHELL = re.compile(r"[|&;<>()$`*?~\n]")


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
        table = self._table
        if table.get("enabled") is False:
            yield 'mode = "observe" # it was not enabled'
        elif "enabled" in table and table["enabled"] is not True:
            yield _odd("enabled", table["enabled"], "true or false")
        yield from self._silence()
        yield from self._same_error()
        yield from _numbered("maxRestarts", table, ("intensity = {} # restarts within an hour",))
        cooldown: Any = table.get("cooldownSeconds")
        most = max(60, cooldown) if _number(cooldown) else 60
        rows = ("refresh_gap = {}", "backoff_base = {}", f"backoff_max = {most}")
        yield from _numbered("cooldownSeconds", table, rows)
        yield from self._logging()
        for key, value in table.items():
            if key not in (*_VALUES, *_PARTS):
                yield _unknown(key, value)
            elif key in _PARTS and not isinstance(value, _PARTS[key]):
                yield _odd(key, value, "a table")

    def _silence(self) -> Iterator[str]:
        """Their rule has the last word; what it overrules is said."""
        rule = dict(_tables(self._table.get("rules"))).get("silenceTimeout", {})
        rows = ("silence_after = {}",)
        if rule.get("enabled") is False:
            yield "silence_after = 0"
        elif "thresholdSeconds" in rule:
            yield from _numbered("thresholdSeconds", rule, rows, "rules.silenceTimeout.")
        else:
            yield from _numbered("silenceThreshold", self._table, rows)
            return
        if "silenceThreshold" in self._table:
            told = _comment(self._table["silenceThreshold"])
            yield f"# silenceThreshold = {told}: rules.silenceTimeout says otherwise"

    def _same_error(self) -> Iterator[str]:
        rule = dict(_tables(self._table.get("rules"))).get("repeatedError", {})
        if rule.get("patterns"):
            return
        if rule.get("enabled") is False:
            yield "same_error_max = 0"
        else:
            rows = ("same_error_max = {} # two more, and a person is asked",)
            yield from _numbered("threshold", rule, rows, "rules.repeatedError.")

    def _logging(self) -> Iterator[str]:
        logging = self._table.get("logging")
        for key, value in logging.items() if isinstance(logging, dict) else ():
            if key == "enabled" and isinstance(value, bool):
                yield from () if value else ('monitor_log = "off"', 'pane_log = "off"')
            elif key == "directory" and isinstance(value, str):
                yield f"log_dir = {_text(value)}"
            elif key == "retention":
                yield f"# logging.retention = {_comment(value)}: logs are kept for seven days"
            else:
                yield _unknown(f"logging.{key}", value)

    def _rule(self, name: str, rule: dict[str, Any]) -> Iterator[str]:
        listed = rule["actions"] if isinstance(rule["actions"], list) else []
        wanted = [each for each in listed if isinstance(each, str) and each in KINDS]
        built_in = name in _BUILT_IN and not rule.get("patterns")
        yield from _left_out(name, rule, wanted, built_in=built_in)
        if built_in:
            yield from self._built_in(name, rule, wanted)
            return
        patterns = [p for p in _list(rule.get("patterns")) if isinstance(p, str)]
        if not patterns:
            yield f"# rules.{_key(name)}: without a pattern, and left out"
            return
        said = f'count("log", {_cel("|".join(map(_pattern, patterns)))}, "1m") >= {_times(rule)}'
        rest = [each for each in wanted if each != "restart"]
        if rest or not wanted:
            yield from self._table_of(name, rule, said, rest or ["notify"])
        if "restart" in wanted:
            yield "\n# Words alone restart nothing: an agent may work on just such an error."
            more = f'{said} && status == "failed"'
            yield from self._table_of(f"{name}-failed", rule, more, ["restart"])

    def _built_in(self, name: str, rule: dict[str, Any], wanted: list[str]) -> Iterator[str]:
        """What ours does not do is a rule besides it; where it differs is said."""
        ours, severity, done = _BUILT_IN[name]
        yield f"\n# rules.{name}: built in, as {ours}"
        if rule.get("enabled") is False and name == "processExit":
            yield "# rules.processExit.enabled = false: a run that crashed is started again all the"
            yield '# same; mode = "observe" keeps koboshi from it'
        if rule.get("severity", severity) != severity:
            said = _comment(rule["severity"])
            yield f"# rules.{name}.severity = {said}: {ours} is {severity}"
        for each in done:
            if rule["actions"] and each not in wanted:
                yield f"# rules.{name}.actions: {ours} does {each}, too"
        rest = [each for each in wanted if each not in done]
        if rest:
            yield from self._table_of(name, rule, _when(name, rule), rest)

    def _table_of(
        self, name: str, rule: dict[str, Any], when: str, actions: list[str]
    ) -> Iterator[str]:
        self._number += 1
        yield "\n[[rule]]"
        yield f'code = "IMP{self._number:03d}"'
        yield f"name = {_text(_name(name))}"
        severity = rule.get("severity")
        yield f"severity = {_text(severity if severity in _SEVERITIES else 'P1')}"
        yield f"when = {_text(when)}"
        yield f"actions = {json.dumps(actions)}"
        if rule.get("enabled") is False:
            yield "enabled = false"

    def _hooks(self) -> Iterator[str]:
        hooks = self._table.get("hooks")
        for name, value in hooks.items() if isinstance(hooks, dict) else ():
            hook = value if isinstance(value, dict) else {"command": value}
            command = hook.get("command")
            if name not in _HOOKS or not isinstance(command, str) or not command.strip():
                yield _unknown(f"hooks.{name}", value)
                continue
            kind, when = _HOOKS[name]
            yield f"\n[actions.{kind}]"
            yield _program(command, [str(each) for each in _list(hook.get("args"))])
            if kind == "restart":
                yield '# koboshi restarts by itself, and then runs it; "instead" leaves it to it'
            yield f'when = "{when}"'
            yield from _numbered("timeout", hook, ("timeout = {} # seconds",), f"hooks.{name}.")
            for key, each in hook.items():
                if key not in ("command", "args", "timeout"):
                    yield _unknown(f"hooks.{name}.{key}", each)

    def _notifications(self) -> Iterator[str]:
        channels = self._table.get("notifications")
        for name, value in channels.items() if isinstance(channels, dict) else ():
            url = _address(name, value)
            if not url:
                why = "switched off" if value in (False, None, "") else "no address, and left out"
                yield f"# notifications.{_key(name)} = {_comment(value)}: {why}"
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
    """Rules by name, or a list of rules with names; what is no rule has nothing in it but that."""
    pairs: list[tuple[str, Any]] = list(value.items()) if isinstance(value, dict) else []
    for each in _list(value):
        named = isinstance(each, dict) and isinstance(each.get("name"), str)
        pairs.append((each["name"] if named else "rule", each))
    for name, rule in pairs:
        table = dict(rule) if isinstance(rule, dict) else {"is": rule}
        if "pattern" in table and "patterns" not in table:
            table["patterns"] = [table.pop("pattern")]  # one of them
        yield name, {**table, "actions": table.get("actions", [])}


def _left_out(
    name: str, rule: dict[str, Any], wanted: list[str], *, built_in: bool
) -> Iterator[str]:
    """What of a rule cannot be said here."""
    known = _RULE_KEYS + (_THRESHOLDS.get(name, ()) if built_in else ("patterns", "threshold"))
    for key, value in rule.items():
        if key not in known:
            yield _unknown(f"rules.{name}.{key}", value)
    for key, kind in (("enabled", bool), ("actions", list), ("patterns", list)):
        if key in rule and not isinstance(rule[key], kind):
            yield _odd(f"rules.{name}.{key}", rule[key], _KINDS_OF[kind])
    for each in _list(rule["actions"]):
        if each not in wanted:
            yield f"# rules.{_key(name)}.actions: {_comment(each)} is not known, and left out"
    for each in _list(rule.get("patterns")):
        if not isinstance(each, str):
            yield f"# rules.{_key(name)}.patterns: {_comment(each)} is no text, and left out"
        elif objection(each):
            yield f"# rules.{_key(name)}.patterns: {_comment(each)} is taken letter by letter"
    if not built_in and rule.get("severity", "P1") not in _SEVERITIES:
        yield _odd(f"rules.{name}.severity", rule["severity"], "P0, P1 or P2: it is P1")
    if not built_in and "threshold" in rule and not _number(rule["threshold"]):
        yield _odd(f"rules.{name}.threshold", rule["threshold"], "a number")


def _times(rule: dict[str, Any]) -> int:
    wanted: Any = rule.get("threshold")
    return max(1, min(128, int(wanted))) if _number(wanted) else 1


def _numbered(
    key: str, table: dict[str, Any], rows: tuple[str, ...], at: str = ""
) -> Iterator[str]:
    """The rows with that number; what is none is said."""
    if key not in table:
        return
    value = table[key]
    if not _number(value):
        yield _odd(f"{at}{key}", value, "a number")
        return
    for row in rows:
        whole = "intensity" in row or "same_error_max" in row
        yield row.replace("{}", str(int(value) if whole else value))


def _program(command: str, more: list[str]) -> str:
    """Its words; a line that only a shell can read stays one."""
    if not _SHELL.search(command):
        try:
            return f"run = [{', '.join(map(_text, (*shlex.split(command), *more)))}]"
        except ValueError:  # a quote that is not closed
            pass
    return f"shell = {_text(' '.join((command, *map(shlex.quote, more))))}"


def _unknown(key: str, value: object) -> str:
    return f"# {_key(key)} = {_comment(value)}: not known, and left out"


def _odd(key: str, value: object, expected: str) -> str:
    return f"# {_key(key)} = {_comment(value)}: expected {expected}, and left out"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


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


def _key(name: str) -> str:
    """As it would stand in a file; what is no word in quotes."""
    return name if _DOTTED.fullmatch(name) else _comment(name)
