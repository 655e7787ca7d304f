"""The page: a hundred people who look at one busy agent, and a board of five hundred agents."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from . import cpu
from .figures import Figure, NotMeasured, count

VIEWERS, SECONDS = 100, 20.0
#: Seconds until everybody who looks must have seen something.
_PATIENCE = 30.0
AGENTS, LOADS = 500, 5
ROOT = Path(__file__).resolve().parent.parent
#: Prints the time four times a second, beside a line that changes each time.
BUSY = (
    "import time\n"
    "while True:\n"
    "    print(f'\\x1b[3{int(time.time()) % 8}mT{time.time():.3f} working on it', flush=True)\n"
    "    time.sleep(0.25)\n"
)
_STAMP = re.compile(rb"T([0-9]{9,}\.[0-9]{3})")
#: Runs before the page's own scripts: notes when that many cards were painted.
_WATCH = """
new MutationObserver(() => {
  if (window.painted || document.querySelectorAll('.card').length < COUNT) return;
  window.painted = -1;
  requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""


def measure_viewers(scale: float) -> tuple[Figure, ...]:
    """Percent of a core for the server, and from a line on the terminal to all who look."""
    if shutil.which("tmux") is None:
        raise NotMeasured("tmux is not there")
    viewers, seconds = count(VIEWERS, scale, least=2), max(1.5, SECONDS * scale)
    with _served() as (base, token, server, daemon):
        return asyncio.run(_viewed(base, token, (server, daemon), viewers, seconds))


async def _viewed(
    base: str, token: str, processes: tuple[psutil.Process, ...], viewers: int, seconds: float
) -> tuple[Figure, ...]:
    late: list[float] = []
    saw: set[object] = set()
    host, _, port = base.removeprefix("http://").partition(":")
    heads = (f"Host: {host}:{port}", f"Authorization: Bearer {token}", "", "")
    ask = "\r\n".join(("GET /api/stream?agent=busy HTTP/1.1", *heads))

    async def view() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(ask.encode())
        newest = 0.0
        try:
            while piece := await reader.read(1 << 16):
                stamps = [float(each) for each in _STAMP.findall(piece)]
                if stamps and max(stamps) > newest:
                    newest = max(stamps)
                    late.append(time.time() - newest)
                    saw.add(asyncio.current_task())
        finally:
            writer.close()

    tasks = [asyncio.get_running_loop().create_task(view()) for _ in range(viewers)]
    await asyncio.sleep(min(3.0, seconds))
    await _all_there(saw, viewers)
    late.clear()
    before = [cpu.own(process) for process in processes]
    begun = time.monotonic()
    await asyncio.sleep(seconds)
    spent = time.monotonic() - begun
    used = [cpu.own(p) - b for p, b in zip(processes, before, strict=True)]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if not late:
        raise NotMeasured("no viewer saw anything")
    late.sort()
    p95 = late[min(len(late) - 1, int(len(late) * 0.95))]
    return (
        Figure(key="viewers", value=viewers, unit=""),
        Figure(key="server", value=100 * used[0] / spent, unit="% of a core", aim="≤ 20"),
        Figure(key="daemon", value=100 * used[1] / spent, unit="% of a core"),
        Figure(key="seen_p50", value=1000 * statistics.median(late), unit="ms"),
        Figure(key="seen_p95", value=1000 * p95, unit="ms", aim="≤ 500"),
    )


async def _all_there(saw: set[object], viewers: int) -> None:
    """A busy machine may need longer to let the last of them in."""
    deadline = time.monotonic() + _PATIENCE
    while len(saw) < viewers:
        if time.monotonic() > deadline:
            raise NotMeasured(f"{viewers - len(saw)} of {viewers} viewers saw nothing")
        await asyncio.sleep(0.05)


@contextmanager
def _served() -> Iterator[tuple[str, str, psutil.Process, psutil.Process]]:
    """A koboshi with a busy agent and its page: address, token, server, daemon."""
    folder = Path(tempfile.mkdtemp(prefix="kob-", dir="/tmp"))
    environment = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE")}
    environment["KOBOSHI_STATE"] = str(folder / "s")
    words = [sys.executable, "-m", "koboshi"]

    def say(*more: str) -> str:
        ran = subprocess.run(
            [*words, *more], env=environment, capture_output=True, text=True, check=False
        )
        if ran.returncode != 0:
            raise NotMeasured(f"koboshi {more[0]}: {ran.stderr.strip()}")
        return ran.stdout.strip()

    server = None
    try:
        say("run", "-d", "--name", "busy", "--mode", "observe", "--", sys.executable, "-c", BUSY)
        token = say("serve", "--token", "--read-only")
        server = subprocess.Popen(
            [*words, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None  # noqa: S101 - it was asked for
        base = server.stdout.readline().split()[4].rstrip("/")
        daemon = int(say("daemon", "status").split()[1].rstrip(","))
        yield base, token, psutil.Process(server.pid), psutil.Process(daemon)
    finally:
        if server is not None:
            server.terminate()
            server.communicate(timeout=10)
        for last in (("stop", "busy"), ("daemon", "stop")):
            subprocess.run([*words, *last], env=environment, capture_output=True, check=False)
        socket = folder / "s" / "run" / "tmux"
        subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


# -- a large board --------------------------------------------------------------------------------


def measure_board(scale: float) -> tuple[Figure, ...]:
    """From opening the page to all cards painted, in a real browser; the daemon is made up."""
    program = _chromium()
    agents, loads = count(AGENTS, scale, least=5), count(LOADS, scale)
    folder = Path(tempfile.mkdtemp(prefix="kob-", dir="/tmp"))
    try:
        with _made_up(folder, agents) as (base, ticket):
            taken = _painted(program, folder, f"{base}/", f"{base}/#login={ticket}", agents, loads)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return (
        Figure(key="agents", value=agents, unit=""),
        Figure(key="painted", value=statistics.median(taken), unit="ms", aim="≤ 1000"),
        Figure(key="painted_max", value=max(taken), unit="ms"),
    )


def _chromium() -> Path:
    known: dict[str, Any] = {}
    state = ROOT / ".provision" / "state.json"
    if state.exists():
        known = json.loads(state.read_text(encoding="utf-8"))
    path = known.get("chromium", {}).get("path") or shutil.which("chromium")
    if not path:
        raise NotMeasured("chromium is not there; 'scripts/provision chromium' brings it")
    return Path(path)


def _painted(
    program: Path, folder: Path, base: str, link: str, agents: int, loads: int
) -> list[float]:
    from tests.browser.browsers import browser  # noqa: PLC0415 - it starts a browser as tests do

    taken = []
    with browser(program, folder / "chromium") as made:
        tab = made.tab()
        tab.size(1440, 900, phone=False)
        script = _WATCH.replace("COUNT", str(agents))
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        tab.open(link)
        tab.until("window.painted > 0")
        for _ in range(loads):
            tab.open("about:blank")
            tab.until("location.href === 'about:blank'")
            tab.open(base)
            taken.append(float(tab.until("window.painted > 0 ? window.painted : 0")))
    return taken


@contextmanager
def _made_up(folder: Path, agents: int) -> Iterator[tuple[str, str]]:
    """The page over that many agents that only exist here."""
    import uvicorn  # noqa: PLC0415 - an extra

    from koboshi.web.app import Premises, made  # noqa: PLC0415
    from koboshi.web.feed import Feed  # noqa: PLC0415
    from koboshi.web.keys import Keys, Kind, Scope  # noqa: PLC0415
    from koboshi.web.server import Server, listening  # noqa: PLC0415

    keys = Keys(folder, time.time)
    premises = Premises(daemon=_Crowd(agents), keys=keys, clock=time.monotonic)
    listener = listening("127.0.0.1", 0)
    feed = Feed(premises.daemon)
    server = Server(uvicorn.Config(made(premises, feed), log_level="warning", ws="none"), feed)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", keys.make(Kind.TICKET, Scope.STEER)
    finally:
        server.should_exit = True
        thread.join()


class _Crowd:
    """A daemon with many agents, a tenth of which change every second."""

    def __init__(self, agents: int) -> None:
        words = ("working", "idle", "asking", "limited", "failed", "gone", "unknown", "starting")
        self._agents = [_agent(n, words[n % len(words)]) for n in range(agents)]
        self._begun = False

    async def ask(self, verb: str, *, patience: float = 0.0, **args: Any) -> Any:  # noqa: ANN401, ARG002
        """One answer."""
        if verb == "plan-follow":
            await asyncio.sleep(1.0)
            return {"epoch": "p", "count": 1, "full": True, "plans": [], "gone": []}
        if verb != "follow":
            return {"verbs": []}
        full, self._begun = not self._begun, True
        if full:
            return {"epoch": "e", "count": 1, "full": True, "agents": self._agents, "gone": []}
        await asyncio.sleep(1.0)
        for each in self._agents[::10]:
            each["context"] = (each["context"] + 1) % 100
        told = [dict(each) for each in self._agents[::10]]
        return {"epoch": "e", "count": 1, "full": False, "agents": told, "gone": []}


def _agent(number: int, status: str) -> dict[str, Any]:
    now = time.time()
    return {
        "agent": f"agent-{number:03}",
        "type": "claude",
        "mode": "keep",
        "watched": True,
        "trouble": "",
        "status": status,
        "since": now - 60 * number,
        "reason": "turn running",
        "evidence": ["✻ Thinking… (12s · ↓ 1.2k tokens)", "❯", "? for shortcuts"],
        "restarts": number % 5,
        "tasks": {"done": number % 7, "left": 7},
        "context": float(number % 100),
        "limit": None,
        "question": None,
        "run": {"number": 1 + number % 5, "started": now - 7200, "exit": None},
        "halted": None,
        "paused": False,
        "given_up": False,
    }
