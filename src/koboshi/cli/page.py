"""The page beside other commands: started in the background, once for all agents."""

from __future__ import annotations

import dataclasses
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from koboshi.daemon.control.client import NOT_OURS, call_running
from koboshi.errors import DaemonError, InputError, KoboshiError
from koboshi.store.paths import state_dir

from .printing import say

PORT = 8790
#: Seconds for a server to begin.
BEGINS = 30.0
_AGAIN = 0.05


def web(name: str) -> Any:  # noqa: ANN401 - a module
    """A module of the page's, by name: neither it nor the command line is built on the other."""
    try:
        return importlib.import_module(f"koboshi.web.{name}")
    except ModuleNotFoundError as error:
        raise InputError(
            f"the page needs {error.name}, which is not installed",
            hint="pip install 'koboshi[web]'",
        ) from None


def open_page() -> bool:
    """`--web`: have the page served and say where; whether a link was printed."""
    server, scope = web("server"), web("keys").Scope
    known = {"port": None, "host": "127.0.0.1", "url": "", "plain": False}
    return shown(server, state_dir(), scope.STEER, {**known, "cert": None, "key": None})


def pause() -> None:
    """Wait for Enter, so that a phone can read the picture before a terminal covers it."""
    say("Enter shows the agent")
    sys.stdout.flush()
    sys.stdin.readline()


def shown(server: Any, state: Path, may: Any, options: dict[str, Any]) -> bool:  # noqa: ANN401
    """Have the page served in the background; whether a link was printed."""
    known = server.standing(state)
    if known is not None:
        say(f"the page is at {known.base}/ already; 'koboshi serve --link' lets a browser in")
        return False
    base = _begun(server, state, options)
    say(f"the page is at {base}/ until 'koboshi serve --stop'")
    server.invite(base, state, may, say)
    return True


def place(server: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - not imported before
    """Where the page shall be, if that can be."""
    paths = {name: Path(options[name]) if options[name] else None for name in ("cert", "key")}
    words = {name: options[name] for name in ("host", "url", "plain")}
    port = PORT if options["port"] is None else options["port"]
    return server.checked(server.Place(**words, **paths, port=port))


def address(server: Any, state: Path, options: dict[str, Any]) -> str:  # noqa: ANN401
    """The address for a link: what was asked for, or where the page is served."""
    known = server.standing(state)
    if known is None or not known.base or options["url"] or options["port"] is not None:
        return str(place(server, options).base)
    return str(known.base)


def have_daemon(state: Path) -> None:
    """Start a daemon if there is none, but not as a child: nobody here would see it end."""
    if call_running(state, "ping") is not None:
        return
    words = [sys.executable, "-m", "koboshi", "daemon", "start"]
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if ran.returncode != 0:
        raise DaemonError("the daemon did not start", hint=ran.stderr.decode(errors="replace"))


def _begun(server: Any, state: Path, options: dict[str, Any]) -> str:  # noqa: ANN401
    """Start a server that outlives this terminal; its address."""
    wanted = place(server, options)
    if options["port"] is None and not _free(server, wanted):
        wanted = dataclasses.replace(wanted, port=0)
    log = state / "web" / "server.log"
    child = _spawned(_words(wanted), state, log)
    deadline = time.monotonic() + BEGINS
    while time.monotonic() < deadline:
        known = server.standing(state)
        if known is not None and known.base:
            return str(known.base)
        if child.poll() is not None and known is None:  # else another one was quicker
            break
        time.sleep(_AGAIN)
    raise KoboshiError("the page could not be served", hint=_last(log))


def _free(server: Any, wanted: Any) -> bool:  # noqa: ANN401
    try:
        server.listening(wanted.host, wanted.port).close()
    except KoboshiError:
        return False
    return True


def _words(wanted: Any) -> list[str]:  # noqa: ANN401
    words = ["--no-link", "--host", wanted.host, "--port", str(wanted.port)]
    if wanted.url:
        words += ["--url", wanted.url]
    if wanted.cert:
        words += ["--cert", str(wanted.cert.absolute()), "--key", str(wanted.key.absolute())]
    return [*words, *(["--plain-http"] if wanted.plain else [])]


def _spawned(words: list[str], state: Path, log: Path) -> subprocess.Popen[bytes]:
    environment = {k: v for k, v in os.environ.items() if k not in NOT_OURS}
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("wb") as written:
        os.chmod(written.fileno(), 0o600)  # noqa: PTH101 - the file we hold
        return subprocess.Popen(
            [sys.executable, "-m", "koboshi", "serve", *words],
            cwd="/",
            env={**environment, "KOBOSHI_STATE": str(state)},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
        )


def _last(log: Path) -> str:
    rows = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(("its log ends with:", *rows[-3:])) if rows else ""
