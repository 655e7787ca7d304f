"""Where things are kept (XDG), and which agents have a journal there."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from koboshi.errors import InputError, UnknownAgent

#: Bytes of a folder in which a socket can have a name of up to 20 bytes.
_SOCKET_FOLDER = 80
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


def state_dir() -> Path:
    """`$KOBOSHI_STATE`, else `$XDG_STATE_HOME/koboshi`, else `~/.local/state/koboshi`.

    Absolute, whatever was said: the daemon works in another folder than who asks it.
    """
    own = os.environ.get("KOBOSHI_STATE")
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base).absolute() / "koboshi"


def socket_dir(state: Path) -> Path:
    """Where the sockets of that state folder are: in it, or, where that path is too long, in /tmp.

    A socket's path has 104 bytes on macOS, 108 on Linux. Not `$XDG_RUNTIME_DIR`: it is emptied when
    its user logs out, and agents work on after that.
    """
    folder = state.absolute() / "run"
    if len(os.fsencode(folder)) <= _SOCKET_FOLDER:
        return folder
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return Path(f"/tmp/koboshi-{os.getuid()}") / name  # noqa: S108 - made private before use


def sessions_dir() -> Path:
    """Where whoever opens a session of a CLI keeps others from it: one folder for all of a user."""
    return Path(f"/tmp/koboshi-{os.getuid()}") / "sessions"  # noqa: S108 - made private before use


def plans_dir(state: Path) -> Path:
    """Where koboshi keeps what belongs to plans and must not lie in a person's project."""
    return state / "plans"


def is_default(state: Path) -> bool:
    """Whether that is the state folder of this user, and not one for a test or a trial."""
    return not os.environ.get("KOBOSHI_STATE") and state == state_dir()


def check_name(name: str) -> str:
    """The name, if it can be an agent's: it becomes a folder, so nothing that climbs."""
    if not _NAME.match(name):
        raise InputError(
            f"expected an agent name of letters, digits, '.', '_' and '-', not {name!r}"
        )
    return name


def agents(state: Path) -> tuple[str, ...]:
    """The agents that have a journal, by name."""
    folder = state / "agents"
    if not folder.is_dir():
        return ()
    return tuple(sorted(p.name for p in folder.iterdir() if (p / "journal").is_dir()))


def journal_dir(state: Path, agent: str) -> Path:
    """Where that agent's journal is or will be."""
    return state / "agents" / check_name(agent) / "journal"


def known_journal_dir(state: Path, agent: str) -> Path:
    """Where that agent's journal is; an unknown agent is an error that lists the known ones."""
    folder = journal_dir(state, agent)
    if folder.is_dir():
        return folder
    known = ", ".join(agents(state)) or "none yet"
    raise UnknownAgent(
        f"expected the name of an agent, not {agent!r}",
        hint=f"agents with a journal: {known}",
    )
