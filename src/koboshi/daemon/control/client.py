"""The other side of the door: for the command line, which is synchronous and in a hurry.

`call` starts the daemon when there is none. Standard library only: `koboshi ls` must not wait for
imports that only the daemon needs.

A request is a line of JSON, `{"verb": "ls", "args": {}}`, and so is the answer: `{"ok": …}` or
`{"error": {"message": …, "hint": …, "code": …}}`, with the daemon's version beside it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from koboshi.errors import DaemonError, KoboshiError
from koboshi.store.paths import socket_dir

#: Seconds: for a daemon to answer the door, and for one to start.
ANSWERS, STARTS = 10.0, 20.0
#: The file whose lock makes a daemon the only one; it holds its pid.
LOCK = "daemon.lock"
#: Seconds between two knocks at the door of a daemon that is starting.
KNOCK = 0.02
#: Variables that belong to where the daemon was started from, and not to it: a daemon started from
#: inside an agent must not end with that agent, nor one started in a pane believe it lives there.
NOT_OURS = (
    "KOBOSHI_RUN",
    "KOBOSHI_AGENT",
    "KOBOSHI_RUN_NUMBER",
    "KOBOSHI_HOOK_SHIM",
    "KOBOSHI_HOOK_SOCKET",
    "KOBOSHI_HOOK_SPOOL",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "LINES",
    "COLUMNS",
)


class Refused(KoboshiError):
    """What the daemon said no to, with its words and its exit code."""

    def __init__(self, message: str, *, hint: str, exit_code: int) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


def door(state: Path) -> Path:
    """The control socket."""
    return socket_dir(state) / "control"


def log_path(state: Path) -> Path:
    """The daemon's log."""
    return state / "daemon.log"


def call(state: Path, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
    """Ask the daemon; start one when there is none."""
    connection = _knock(door(state))
    if connection is None:
        connection = _start(state)
    return _ask(state, connection, verb, args, patience)


def call_running(state: Path, verb: str, *, patience: float = ANSWERS, **args: Any) -> Any:  # noqa: ANN401
    """Ask the daemon if there is one; None when there is none."""
    connection = _knock(door(state))
    return None if connection is None else _ask(state, connection, verb, args, patience)


def _ask(
    state: Path, connection: socket.socket, verb: str, args: dict[str, Any], patience: float
) -> Any:  # noqa: ANN401
    with connection:
        connection.settimeout(patience)
        try:
            connection.sendall(json.dumps({"verb": verb, "args": args}).encode() + b"\n")
            reply = _line(connection)
        except TimeoutError:
            raise DaemonError(
                f"the daemon did not answer within {patience:g} seconds",
                hint=_frozen(state),
            ) from None
        except OSError as error:
            raise DaemonError(f"the daemon hung up: {error}", hint="its log says why") from error
    if "error" in reply:
        said = reply["error"]
        raise Refused(said["message"], hint=said["hint"], exit_code=said["code"])
    return reply["ok"]


def _frozen(state: Path) -> str:
    """What to do about a daemon that does not answer; it cannot be asked for its pid."""
    try:
        pid = int((state / LOCK).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return "it may be stopped or overloaded; its log says more"
    return f"its pid is {pid}; 'kill -CONT {pid}' if it was stopped, 'kill -9 {pid}' if it hangs: \
agents live on"


def _line(connection: socket.socket) -> dict[str, Any]:
    content = b""
    while not content.endswith(b"\n"):
        piece = connection.recv(1 << 16)
        if not piece:
            raise ConnectionResetError("no answer")
        content += piece
    reply: dict[str, Any] = json.loads(content)
    return reply


def _knock(path: Path) -> socket.socket | None:
    """A connection, or None where nobody listens; a stale socket is nobody."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(ANSWERS)
    try:
        connection.connect(os.fspath(path))
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        connection.close()
        return None
    except TimeoutError:
        connection.close()
        raise DaemonError("the daemon does not open its door", hint="is it stopped?") from None
    except OSError as error:
        connection.close()
        raise DaemonError(f"{path} cannot be used: {error.strerror}") from error
    return connection


def _start(state: Path) -> socket.socket:
    """Start a daemon and wait until its door is open; another one may be quicker, that is fine."""
    child = spawn(state)
    deadline = time.monotonic() + STARTS
    while time.monotonic() < deadline:
        connection = _knock(door(state))
        if connection is not None:
            return connection
        code = child.poll()
        if code not in (None, 0):
            raise DaemonError(f"the daemon did not start (exit code {code})", hint=_last(state))
        time.sleep(KNOCK)
    raise DaemonError(f"the daemon did not start within {STARTS:g} seconds", hint=_last(state))


def spawn(state: Path) -> subprocess.Popen[bytes]:
    """Start a daemon that outlives this terminal."""
    environment = {k: v for k, v in os.environ.items() if k not in NOT_OURS}
    environment["KOBOSHI_STATE"] = str(state)
    if state.exists() and not state.is_dir():
        raise DaemonError(f"{state} is not a folder", hint="KOBOSHI_STATE names another place")
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log_path(state).open("ab") as log:
        os.chmod(log.fileno(), 0o600)  # noqa: PTH101 - the file we hold
        return subprocess.Popen(
            [sys.executable, "-m", "koboshi.daemon.service"],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _last(state: Path) -> str:
    """The last words of the log."""
    with contextlib.suppress(OSError):
        lines = log_path(state).read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(("its log ends with:", *lines[-3:])) if lines else ""
    return ""
