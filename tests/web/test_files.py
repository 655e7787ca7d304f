"""The files of the page: kept by browsers under an address that changes with them, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from koboshi.web.door import HEADERS, KEPT
from koboshi.web.files import edition
from tests.web.houses import Page


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """The page."""
    return Page(tmp_path)


def test_all_that_the_page_names_is_there_and_kept(page: Page) -> None:
    """Behind the same policy as every other answer; the page itself is asked for each time."""
    shell = page.ask("GET", "/")
    named = re.findall(r'(?:href|src)="(/static/[^"]+)"', shell.body.decode())

    assert shell.headers["cache-control"] == "no-store"
    assert len(named) > 10
    for path in named:
        reply = page.ask("GET", path)
        told = {name: reply.headers[name.lower()] for name in HEADERS}
        assert (reply.status, told) == (200, {**HEADERS, "Cache-Control": KEPT}), path
        plain = page.ask("GET", f"/static/{path.rpartition('/')[2]}")
        assert (plain.body, plain.headers["cache-control"]) == (reply.body, "no-store")


def test_every_module_is_named_so_that_none_is_waited_for(page: Page) -> None:
    """A browser asks for all at once, not for one after the other as they name each other."""
    shell = page.ask("GET", "/").body.decode()

    modules = {name for name in edition().contents if name.endswith((".js", ".css"))}
    assert {name for name in modules if f"/{name}" not in shell} == set()


@pytest.mark.parametrize("path", ["/static/0000000000000000/app.js", "/static/a/app.js"])
def test_a_page_from_before_gets_the_files_of_now_and_keeps_none(page: Page, path: str) -> None:
    """Otherwise it would keep them under a name that is not theirs."""
    reply = page.ask("GET", path)

    assert (reply.status, reply.headers["cache-control"]) == (200, "no-store")


def test_what_is_not_there_and_what_is_refused_is_not_kept(page: Page) -> None:
    """A file may come, and a stranger's name may become ours."""
    path = f"/static/{edition().name}"
    for reply in (
        page.ask("GET", f"{path}/nothing.js"),
        page.ask("GET", f"{path}/..%2fapp.py"),
        page.ask("GET", f"{path}/app.js", host="evil.example"),
        page.ask("POST", f"{path}/app.js"),
    ):
        assert reply.status in (403, 404, 405)
        assert reply.headers["cache-control"] == "no-store"


def test_another_file_is_another_edition(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One letter is enough."""
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text('<script src="/static/app.js"></script>')
    names = set()
    monkeypatch.setattr("koboshi.web.files.resources.files", lambda _: tmp_path)
    for content in ("a", "b"):
        (tmp_path / "static" / "app.js").write_text(content)
        edition.cache_clear()
        made = edition()
        assert (
            made.contents["index.html"]
            == f'<script src="/static/{made.name}/app.js"></script>'.encode()
        )
        names.add(made.name)
    edition.cache_clear()

    assert len(names) == 2
