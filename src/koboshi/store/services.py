"""What brings koboshi back after a reboot: units of systemd or launchd, or lines for cron.

Written and taken away, never started from here: that is one command of the owner's. Agents outlive
whoever looks after them, so no unit may end them with it (`KillMode`, `AbandonProcessGroup`).
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from koboshi.errors import InputError

from .shelves import write_whole

#: In every file of ours; one without it is somebody else's.
MARK = "written by koboshi install-service"
#: Seconds between two looks for plans that were left.
EVERY = 60
KINDS = ("systemd", "launchd", "cron")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A file, and what is in it."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What is written, and what the owner has to type afterwards."""

    units: tuple[Unit, ...]
    hints: tuple[str, ...]


def service(
    kind: str, home: Path, command: tuple[str, ...], environment: dict[str, str]
) -> Service:
    """What that kind of system needs; `command` is how koboshi is called."""
    if kind == "systemd":
        return _systemd(home, command, environment)
    if kind == "launchd":
        return _launchd(home, command, environment)
    if kind == "cron":
        return _cron(command, environment)
    raise InputError(f"expected one of {', '.join(KINDS)}, not {kind!r}")


def write(units: tuple[Unit, ...]) -> None:
    """Write them; a file that is not ours is an error, and nothing is written."""
    for unit in units:
        _check(unit.path)
    for unit in units:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(unit.path, unit.text.encode())


def remove(units: tuple[Unit, ...]) -> tuple[Path, ...]:
    """Take ours away; which were there."""
    there = tuple(unit.path for unit in units if unit.path.exists())
    for path in there:
        _check(path)
    for path in there:
        path.unlink()
    return there


def _check(path: Path) -> None:
    if path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"{path} is there and is not ours", hint="move it away first")


def _systemd(home: Path, command: tuple[str, ...], environment: dict[str, str]) -> Service:
    folder = home / ".config" / "systemd" / "user"
    variables = "".join(f"Environment={_word(f'{k}={v}')}\n" for k, v in environment.items())
    daemon = _unit(
        "looks after agents", (*command, "daemon", "run"), f"Restart=always\n{variables}"
    )
    plans = _unit("goes on with plans", (*command, "loop", "resume", "--all"), variables)
    timer = (
        f"# {MARK}\n[Unit]\nDescription=koboshi: looks for plans that were left\n\n[Timer]\n"
        f"OnStartupSec=5\nOnUnitInactiveSec={EVERY}\n\n[Install]\nWantedBy=timers.target\n"
    )
    wanted = "\n[Install]\nWantedBy=default.target\n"
    units = (
        Unit(path=folder / "koboshi.service", text=daemon + wanted),
        Unit(path=folder / "koboshi-plans.service", text=plans),
        Unit(path=folder / "koboshi-plans.timer", text=timer),
    )
    start = "systemctl --user daemon-reload && systemctl --user enable --now"
    hints = (f"{start} koboshi.service koboshi-plans.timer", "loginctl enable-linger")
    return Service(units=units, hints=hints)


def _unit(what: str, words: tuple[str, ...], more: str) -> str:
    line = " ".join(_word(word) for word in words)
    return (
        f"# {MARK}\n[Unit]\nDescription=koboshi: {what}\n\n"
        f"[Service]\nExecStart={line}\n# What it started goes on without it.\nKillMode=process\n"
        f"RestartSec=2\n{more}"
    )


def _word(word: str) -> str:
    """A word as systemd reads it: quoted, with its own signs doubled."""
    for sign, twice in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$"), ("\n", "\\n")):
        word = word.replace(sign, twice)
    return f'"{word}"'


def _launchd(home: Path, command: tuple[str, ...], environment: dict[str, str]) -> Service:
    folder = home / "Library" / "LaunchAgents"
    variables = "".join(
        _pair(key, f"<string>{escape(v)}</string>") for key, v in environment.items()
    )
    around = _pair("EnvironmentVariables", f"<dict>{variables}</dict>")
    parts = {
        "koboshi.daemon": ((*command, "daemon", "run"), _pair("KeepAlive", "<true/>")),
        "koboshi.plans": (
            (*command, "loop", "resume", "--all"),
            _pair("StartInterval", f"<integer>{EVERY}</integer>"),
        ),
    }
    units = tuple(
        Unit(path=folder / f"{label}.plist", text=_plist(label, words, more + around))
        for label, (words, more) in parts.items()
    )
    return Service(
        units=units, hints=tuple(f"launchctl load -w {shlex.quote(str(u.path))}" for u in units)
    )


def _plist(label: str, words: tuple[str, ...], more: str) -> str:
    listed = "".join(f"<string>{escape(word)}</string>" for word in words)
    keys = _pair("Label", f"<string>{label}</string>")
    keys += _pair("ProgramArguments", f"<array>{listed}</array>")
    keys += _pair("RunAtLoad", "<true/>") + _pair("AbandonProcessGroup", "<true/>")
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}\n<!-- {MARK} -->\n<plist version="1.0"><dict>\n{keys}{more}</dict></plist>\n'


def _pair(key: str, value: str) -> str:
    return f"<key>{escape(key)}</key>{value}\n"


def _cron(command: tuple[str, ...], environment: dict[str, str]) -> Service:
    # A percent sign ends a line of cron's, unless it is escaped.
    given = " ".join(shlex.quote(f"{k}={v}") for k, v in environment.items())
    call = f"env {given} {shlex.join(command)}".replace("%", r"\%")
    hints = (
        "add these lines with 'crontab -e':",
        f"@reboot {call} daemon start",
        f"* * * * * {call} loop resume --all",
    )
    return Service(units=(), hints=hints)
