"""What `koboshi doctor` looks at: what is installed, what is wrong, and what to do about it.

Each check says one thing, and a check that cannot be made says so. Nothing is changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import importlib.metadata
import locale
import os
import platform
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from koboshi._version import __version__
from koboshi.adapters.advice import FILES, advice
from koboshi.adapters.registry import has_manifest, names
from koboshi.adapters.versions import within
from koboshi.config.owned import owned
from koboshi.errors import KoboshiError
from koboshi.hosts.probing import version_of
from koboshi.incidents.waiting import FOLDER as UPLOADS
from koboshi.incidents.waiting import Waiting
from koboshi.plugins.hookspecs import GROUP
from koboshi.plugins.manager import gathered
from koboshi.store.manifests import adapter_in
from koboshi.store.roster import Roster

from .control.client import call_running, door, log_path

#: The oldest tmux whose control mode has what we ask of it.
TMUX_OLDEST = (3, 2)
#: Bytes below which a journal may soon not be written any more.
ROOM = 200 << 20
_NUMBER = re.compile(r"(\d+)\.(\d+)")


class Grade(enum.StrEnum):
    """How bad it is."""

    FINE = "fine"  #: As it should be
    NOTE = "note"  #: Good to know; koboshi works all the same
    WRONG = "wrong"  #: Something will not work


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    about: str
    grade: Grade
    said: str
    fix: str = ""


def fine(about: str, said: str) -> Check:
    """As it should be."""
    return Check(about=about, grade=Grade.FINE, said=said)


def note(about: str, said: str, fix: str = "") -> Check:
    """Good to know."""
    return Check(about=about, grade=Grade.NOTE, said=said, fix=fix)


def wrong(about: str, said: str, fix: str) -> Check:
    """To be mended."""
    return Check(about=about, grade=Grade.WRONG, said=said, fix=fix)


def examine(state: Path, config: Path, home: Path) -> Iterator[Check]:
    """Everything, in the order in which it is needed."""
    yield fine("koboshi", f"{__version__}, Python {platform.python_version()}, {platform.system()}")
    yield from _tmux()
    yield _encoding()
    yield from _vt()
    yield from _state(state)
    yield from _daemon(state)
    yield from _agents(state)
    yield from _channels(state, config)
    yield from _uploads(state)
    yield from _clis(config)
    yield from _plugins()
    yield from _settings(home)


def _tmux() -> Iterator[Check]:
    path = shutil.which("tmux")
    if path is None:
        fix = "apt install tmux, brew install tmux; or use 'koboshi run --host pty'"
        yield wrong("tmux", "was not found", fix)
        return
    said = _said([path, "-V"])
    found = _NUMBER.search(said)
    if found is None:
        yield note("tmux", f"{path} does not tell its version: {said or 'nothing'}")
    elif (int(found[1]), int(found[2])) < TMUX_OLDEST:
        yield wrong("tmux", f"{said} is too old", "koboshi needs 3.2 or newer")
    else:
        yield fine("tmux", f"{said} ({path})")


def _said(argv: list[str]) -> str:
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.strip()


def _encoding() -> Check:
    name = locale.getpreferredencoding(do_setlocale=False)
    if name.lower().replace("-", "") == "utf8":
        return fine("locale", "UTF-8")
    fix = "export LC_ALL=C.UTF-8; agents get UTF-8 from koboshi in any case"
    return note("locale", f"{name}, so that some characters cannot be shown here", fix)


def _vt() -> Iterator[Check]:
    for module in ("pyghostty", "pyavt"):
        if find_spec(module) is not None:
            yield fine("pty host", f"screens by {module}")
            return
    yield wrong("pty host", "no terminal emulation is installed", "pip install pyavt")


def _state(state: Path) -> Iterator[Check]:
    if not state.exists():
        yield fine("state", f"{state} (made when first needed)")
        return
    if not state.is_dir():
        yield wrong("state", f"{state} is not a folder", "KOBOSHI_STATE names another place")
        return
    found = state.stat()
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        yield wrong("state", f"{state} can be entered by others", f"chmod 700 {state}")
    elif not os.access(state, os.W_OK):
        yield wrong("state", f"{state} cannot be written", "see to its permissions")
    elif shutil.disk_usage(state).free < ROOM:
        free = shutil.disk_usage(state).free >> 20
        yield wrong(
            "state", f"{free} MB are left for {state}", "make room: without it koboshi waits"
        )
    else:
        yield fine("state", str(state))


def _daemon(state: Path) -> Iterator[Check]:
    try:
        there = call_running(state, "ping", patience=5.0)
    except KoboshiError as error:
        yield wrong("daemon", str(error), error.hint or f"its log: {log_path(state)}")
        return
    if there is None:
        stale = " (a dead one left its socket; that does no harm)" if door(state).exists() else ""
        yield fine("daemon", f"not running{stale}; it starts when first needed")
    elif there["version"] != __version__:
        said = f"pid {there['pid']} is koboshi {there['version']}, this is {__version__}"
        yield wrong("daemon", said, "koboshi daemon restart; the agents live on")
    else:
        yield fine("daemon", f"pid {there['pid']}, {there['agents']} agent(s)")


def _agents(state: Path) -> Iterator[Check]:
    for trouble in Roster(state).troubles():
        yield wrong("agents", trouble, "mend or remove that file")
    try:
        listed: list[dict[str, Any]] = call_running(state, "ls", patience=5.0) or []
    except KoboshiError:
        return  # said above
    for each in listed:
        reasons = each.get("health", {}).get("reasons", [])
        if each["trouble"] and each["watched"]:
            yield wrong(
                each["agent"], f"not looked after: {each['trouble']}", "see the daemon's log"
            )
        elif reasons and not each.get("halted"):
            said = f"{each['status']} ({', '.join(reasons)})"
            yield note(each["agent"], said, f"koboshi status {each['agent']}")


def _channels(state: Path, config: Path) -> Iterator[Check]:
    """How people are reached, and what the daemon knows of it."""
    found = owned(config)
    for each in found.mistakes:
        said = str(each).partition("\n")[0]
        yield wrong("config", said, "'koboshi config --check' shows the place")
    if not found.file.notify.channels:
        fix = "[notify.channels.NAME] in your own koboshi.toml; 'koboshi notify test' tries it"
        yield note("notify", "no channel: nobody is told of anything outside of koboshi", fix)
        return
    yield fine("notify", f"channels: {', '.join(found.file.notify.channels)}")
    with contextlib.suppress(KoboshiError):
        told: dict[str, Any] = call_running(state, "notices") or {}
        for name, why in told.get("troubles", {}).items():
            yield wrong("notify", f"{name} does not work: {why}", f"koboshi notify test {name}")
        if told.get("lost"):
            yield wrong("notify", f"{told['lost']} notices were dropped", "see the log 'notify'")


def _uploads(state: Path) -> Iterator[Check]:
    """Bundles that their storage does not have yet; read from disk, whoever is to bring them."""
    # An agent in a person's own terminal has a folder of its own.
    folders = (state / UPLOADS, *state.glob(f"agents/*/{UPLOADS}"))
    waiting = sorted(
        (each for folder in folders for each in Waiting(folder).parcels()), key=lambda p: p.since
    )
    if not waiting:
        return
    failed = [each for each in waiting if each.why]
    since = int(max(0.0, time.time() - waiting[0].since) // 60)
    said = f"{len(waiting)} bundle(s) wait for their storage, the oldest for {since} min"
    if not failed:
        yield note("uploads", said)
        return
    worst = max(failed, key=lambda each: each.tries)
    fix = "see to 'incidents.upload' and its keys; each is tried for three days, and kept here"
    yield wrong("uploads", f"{said}; {worst.tries} tries, the last: {worst.why}", fix)


def _clis(config: Path) -> Iterator[Check]:
    kinds = [name for name in names() if has_manifest(name)]
    found = {kind: shutil.which(kind) for kind in kinds}
    versions = asyncio.run(_versions([kind for kind in kinds if found[kind]]))
    for kind in kinds:
        chosen = adapter_in(config, kind, versions.get(kind, ""))
        for complaint in chosen.complaints:
            yield wrong(kind, complaint, "mend or remove that manifest; the built-in one is used")
        if not found[kind]:
            yield note(kind, "is not installed")
            continue
        yield _version(kind, str(found[kind]), versions[kind], chosen.adapter.tested)
        yield fine(kind, f"signals: {', '.join(chosen.adapter.offers)}")


async def _versions(kinds: list[str]) -> dict[str, str]:
    asked = await asyncio.gather(*(version_of((kind,)) for kind in kinds))
    return dict(zip(kinds, asked, strict=True))


def _version(kind: str, path: str, version: str, tested: str) -> Check:
    if not version:
        return note(kind, f"{path} does not tell its version; read as the newest")
    if within(version, tested) is False:
        fix = "screens it cannot read are 'unknown'; 'koboshi record NAME' makes a case of one"
        return note(kind, f"{version} ({path}) is outside what was tested ({tested})", fix)
    return fine(kind, f"{version} ({path})")


def _plugins() -> Iterator[Check]:
    found = gathered(importlib.metadata.entry_points(group=GROUP))
    if found.names:
        codes = ", ".join(rule.code for rule in found.rules) or "no rules"
        yield fine("plug-ins", f"{', '.join(found.names)} ({codes})")
    for each in found.broken:
        yield wrong("plug-ins", each, "mend it, or uninstall its package")


def _settings(home: Path) -> Iterator[Check]:
    texts = {}
    for paths in FILES.values():
        for path in paths:
            try:
                texts[path] = (home / path).read_text(encoding="utf-8")
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                yield note("settings", f"~/{path} cannot be read: {error}")
    for each in advice(texts):
        about = f"{each.key} in ~/{each.file}" if each.key else f"~/{each.file}"
        yield note(each.agent, f"{about}: {each.why}", each.cure)
