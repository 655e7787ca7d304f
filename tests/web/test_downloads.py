"""Bundles are had as files, by whoever may steer, piece by piece, and by name only."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from koboshi.daemon.control.client import Refused
from koboshi.errors import DaemonError
from koboshi.web.keys import Scope
from tests.web.houses import MadeUpDaemon, Page, agent

FILE = "20260101-120000-1.crash.tar.gz"
CONTENT = bytes(range(256)) * 40
PATH = f"/api/agents/a/bundles/{FILE}"


class Keeper(MadeUpDaemon):
    """Has one bundle, and gives a thousand bytes at a time."""

    mark = "one"

    async def ask(self, verb: str, *, patience: float = 1.0, **args: Any) -> Any:  # noqa: ANN401
        """One answer."""
        if verb != "piece":
            return await super().ask(verb, patience=patience, **args)
        self.asked.append((verb, args))
        if (args["name"], args["file"]) != ("a", FILE):
            raise Refused("expected the name of a bundle", hint="", exit_code=2)
        content = CONTENT[args["offset"] : args["offset"] + 1000]
        said = base64.b64encode(content).decode()
        return {"content": said, "size": len(CONTENT), "mark": self.mark}


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The page over an agent with a bundle."""
    return Page(tmp_path, daemon=Keeper(agent("a")))


def test_a_bundle_is_had_as_a_file(page: Page) -> None:
    """All its bytes, in pieces, under a name of its own."""
    reply = page.ask("GET", PATH, **page.by_browser(page.session()))

    assert (reply.status, reply.body) == (200, CONTENT)
    assert reply.headers["content-type"] == "application/gzip"
    assert reply.headers["content-disposition"] == f'attachment; filename="a-{FILE}"'
    assert reply.headers["content-length"] == str(len(CONTENT))
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    assert [args["offset"] for _, args in page.daemon.asked] == list(range(0, len(CONTENT), 1000))
    token = {"authorization": f"Bearer {page.token()}"}
    assert page.ask("GET", PATH, **token).body == CONTENT
    assert page.ask("HEAD", PATH, **token).body == b""


def test_whoever_may_not_have_it_gets_nothing(page: Page) -> None:
    """No key, a key that may only look, another page: and the daemon is not even asked."""
    looks = page.by_browser(page.session(Scope.READ))
    reads = {"authorization": f"Bearer {page.token(Scope.READ)}"}
    foreign = page.by_browser(page.session(), sec_fetch_site="cross-site")

    assert page.ask("GET", PATH).status == 401
    assert page.ask("GET", PATH, **looks).status == 403
    assert page.ask("GET", PATH, **reads).status == 403
    assert page.ask("GET", PATH, **foreign).status == 403
    assert page.ask("POST", PATH, b"{}", **page.by_browser(page.session())).status == 405
    assert page.daemon.asked == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/agents/a/bundles/../entry.json",
        "/api/agents/a/bundles/..",
        "/api/agents/a/bundles/%2e%2e",
        "/api/agents/../bundles/x",
        "/api/agents/a/bundles/x\r\nset-cookie: y",
        f"/api/agents/b/bundles/{FILE}",
    ],
)
def test_no_name_climbs(page: Page, path: str) -> None:
    """What the daemon has no file of is not there."""
    assert page.ask("GET", path, **page.by_browser(page.session())).status == 404


def test_another_file_of_that_name_breaks_off(page: Page) -> None:
    """Half of one and half of another is no bundle."""
    keeper = page.daemon
    assert isinstance(keeper, Keeper)
    told = keeper.ask

    async def changing(verb: str, **args: Any) -> Any:  # noqa: ANN401
        keeper.mark = "one" if args["offset"] < 2000 else "another"
        return await told(verb, **args)

    keeper.ask = changing  # type: ignore[method-assign]
    with pytest.raises(DaemonError, match="changed while it was read"):
        page.ask("GET", PATH, **page.by_browser(page.session()))
