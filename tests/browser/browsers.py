"""A real Chromium, driven over a pipe (Chrome DevTools Protocol): no port, no driver."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Seconds after which something that should happen has not.
PATIENCE = 30.0
ROOT = Path(__file__).resolve().parents[2]
#: Where the pictures of a test run stay.
PICTURES = ROOT / "build" / "pictures"

QUIET = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """One Chromium, from its start to its end."""

    def __init__(self, program: Path, folder: Path, *more: str) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # Chromium's sandbox refuses to start as root.
        as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
        words = (*QUIET, *as_root, *more, f"--user-data-dir={folder}")
        argv = [str(program), *words, "about:blank"]
        silent = os.open(os.devnull, os.O_RDWR)
        moves = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        moves += [(os.POSIX_SPAWN_DUP2, silent, n) for n in (0, 1, 2)]
        self._pid = os.posix_spawn(program, argv, {**os.environ}, file_actions=moves, setpgroup=0)
        for each in (theirs_in, theirs_out, silent):
            os.close(each)
        self._count = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.complaints: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        while piece := os.read(self._in, 1 << 20):
            *messages, rest = (rest + piece).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, told: dict[str, Any]) -> None:
        if "id" in told:
            self._answers[told["id"]].put(told)
        elif told["method"] == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["params"]["exceptionDetails"])[:600])
        elif told["method"] == "Log.entryAdded":
            entry = told["params"]["entry"]
            if entry["level"] == "error":
                self.complaints.append(f"{entry['text']} {entry.get('url', '')}")

    def call(self, method: str, tab: str = "", **params: Any) -> dict[str, Any]:  # noqa: ANN401
        """One command of the protocol."""
        self._count += 1
        number, answer = self._count, queue.Queue[dict[str, Any]]()
        self._answers[number] = answer
        said = {"id": number, "method": method, "params": params}
        os.write(
            self._out, json.dumps({**said, "sessionId": tab} if tab else said).encode() + b"\0"
        )
        told = answer.get(timeout=PATIENCE)
        assert "error" not in told, f"{method}: {told['error']}"
        result: dict[str, Any] = told["result"]
        return result

    def tab(self) -> Tab:
        """A page with nothing in it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, session)

    def end(self) -> None:
        """End it with all it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


class Tab:
    """One page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401
        """One command about this page."""
        return self._browser.call(method, self._session, **params)

    def open(self, address: str) -> None:
        """Go there."""
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:  # noqa: ANN401 - a JSON value
        """What a script gives."""
        told = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, f"{script}: {told['exceptionDetails']}"
        return told["result"].get("value")

    def until(self, script: str, patience: float = PATIENCE) -> Any:  # noqa: ANN401
        """Wait until a script gives something true."""
        deadline = time.monotonic() + patience
        while True:
            found = self.run(script)
            if found:
                return found
            text = self.run("document.body?.innerText")
            assert time.monotonic() < deadline, f"not so within {patience} s: {script}\n{text}"
            time.sleep(0.05)

    def until_shown(self, text: str, within: str = "body") -> None:
        """Wait until that can be read there."""
        place = f"document.querySelector({json.dumps(within)})?.innerText"
        self.until(f"({place} ?? '').includes({json.dumps(text)})")

    def text(self, within: str = "body") -> str:
        """What can be read there."""
        return str(self.run(f"document.querySelector({json.dumps(within)})?.innerText ?? ''"))

    def click(self, label: str, within: str = "body") -> None:
        """Press the button or link that says that."""
        words = json.dumps(label)
        found = (
            f"[...document.querySelectorAll({json.dumps(within)} + ' :is(a, button, summary)')]"
            f".find((e) => e.textContent.trim() === {words} && !e.disabled)"
        )
        self.until(found + " ? true : false")
        self.run(f"{found}.click()")

    def size(self, width: int, height: int, *, phone: bool, dark: bool = False) -> None:
        """As large as that screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, name: str, folder: Path = PICTURES, *, most: int = 4000) -> Path:
        """Keep a picture of all of the page, up to so many rows."""
        box = self.run(
            "({width: document.documentElement.scrollWidth,"
            f" height: Math.min({most}, document.documentElement.scrollHeight)}})"
        )
        clip = {"x": 0, "y": 0, "scale": 1, **box}
        told = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
        )
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        path.write_bytes(base64.b64decode(told["data"]))
        return path


@contextlib.contextmanager
def browser(program: Path, folder: Path, *more: str) -> Iterator[Browser]:
    """A browser, and nothing of it afterwards; `more` are words of its command line."""
    made = Browser(program, folder, *more)
    try:
        yield made
    finally:
        made.end()
