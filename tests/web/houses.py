"""The page over a daemon made up, asked byte by byte: no browser is polite on our behalf."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from koboshi.daemon.control.client import Refused
from koboshi.web.app import Premises, made
from koboshi.web.feed import Feed
from koboshi.web.keys import Keys, Kind, Scope, csrf_of

HOST = "127.0.0.1:8790"
ORIGIN = f"http://{HOST}"


def agent(name: str, **more: object) -> dict[str, Any]:
    """What a daemon says of an agent."""
    known = {"agent": name, "type": "scripted", "status": "idle", "since": 100.0, "reason": "x"}
    return {**known, "run": {"number": 1, "started": 50.0}, "question": None, **more}


#: All of a very small bundle.
PIECE = {"content": "YnVuZGxl", "size": 6, "mark": "m"}


class MadeUpDaemon:
    """Says what it was given, and remembers what it was asked."""

    def __init__(self, *agents: dict[str, Any]) -> None:
        self.agents = {each["agent"]: each for each in agents}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.news: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue()
        self.begun = False
        self.plans: list[dict[str, Any]] = []
        self.plan_news: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def ask(self, verb: str, *, patience: float = 1.0, **args: Any) -> Any:  # noqa: ANN401, ARG002
        """One answer."""
        self.asked.append((verb, args))
        if verb in ("follow", "picture"):
            return await self._next(verb)
        if verb == "plan-follow":
            if args["epoch"]:
                return await self.plan_news.get()
            return {"epoch": "p", "count": 1, "full": True, "plans": self.plans, "gone": []}
        if verb == "ls":
            return list(self.agents.values())
        if verb == "ping":
            return {"verbs": ["ls", "status"]}
        if "name" in args and args["name"] not in self.agents:
            raise Refused("expected the name of an agent", hint="", exit_code=2)
        return PIECE if verb == "piece" else {"said": verb, **args}

    async def _next(self, verb: str) -> Any:  # noqa: ANN401
        if verb == "follow" and not self.begun:
            self.begun = True
            return self.told(*self.agents.values(), full=True)
        told = await self.news.get()
        if isinstance(told, Exception):
            raise told
        return told

    @staticmethod
    def told(*agents: dict[str, Any], full: bool = False, gone: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
        """News of these."""
        return {"epoch": "e", "count": 1, "full": full, "agents": list(agents), "gone": list(gone)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401
        """What the body says."""
        return json.loads(self.body)


@dataclass(slots=True)
class Page:
    """The app, its keys and its clock."""

    folder: Path
    daemon: MadeUpDaemon = field(default_factory=lambda: MadeUpDaemon(agent("a")))
    names: tuple[str, ...] = ()
    secure: bool = False
    now: float = 1_000.0
    keys: Keys = field(init=False)
    app: Any = field(init=False)

    def __post_init__(self) -> None:
        self.keys = Keys(self.folder, lambda: self.now)
        premises = Premises(
            daemon=self.daemon,
            keys=self.keys,
            clock=lambda: self.now,
            names=self.names,
            secure=self.secure,
        )
        self.app = made(premises, Feed(self.daemon))

    def session(self, scope: Scope = Scope.STEER) -> str:
        """The secret of a browser that came in."""
        found = self.keys.redeem(self.keys.make(Kind.TICKET, scope))
        assert found is not None
        return found[0]

    def token(self, scope: Scope = Scope.STEER) -> str:
        """The secret of a program."""
        return self.keys.make(Kind.TOKEN, scope)

    def ask(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> Reply:
        """One request; header names with `_` for `-`."""
        return asyncio.run(self.asking(method, path, body, headers))

    async def asking(
        self, method: str, path: str, body: bytes, headers: dict[str, str], client: str = "10.0.0.9"
    ) -> Reply:
        """One request, within a loop."""
        given = {"host": HOST, **{k.replace("_", "-"): v for k, v in headers.items()}}
        place, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": place,
            "raw_path": place.encode("utf-8", "surrogatepass"),
            "query_string": query.encode("latin-1", "replace"),
            "headers": [
                (k.encode(), v.encode("latin-1", "replace")) for k, v in given.items() if v
            ],
            "client": (client, 1),
            "server": ("127.0.0.1", 8790),
        }
        return await called(self.app, scope, body)

    def by_browser(self, secret: str, **more: str) -> dict[str, str]:
        """The headers of our own page."""
        return {
            "cookie": f"koboshi={secret}",
            "origin": ORIGIN,
            "sec_fetch_site": "same-origin",
            "content_type": "application/json",
            "x_koboshi_csrf": csrf_of(secret),
            **more,
        }


async def called(app: Callable[..., Awaitable[None]], scope: dict[str, Any], body: bytes) -> Reply:
    """What an app says to that."""
    sent: list[dict[str, Any]] = []
    pieces = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return pieces.pop() if pieces else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if not sent:
        return Reply(status=0, headers={}, body=b"")
    headers = {k.decode().lower(): v.decode("latin-1") for k, v in sent[0]["headers"]}
    content = b"".join(each.get("body", b"") for each in sent[1:])
    return Reply(status=sent[0]["status"], headers=headers, body=content)
