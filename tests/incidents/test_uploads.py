"""Uploads to a real S3 server on loopback; and to one that is not there, slow, or ill."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from koboshi.incidents import uploads
from koboshi.incidents.uploads import upload
from tests.incidents.storages import Storage, storage

__all__ = ["storage"]

ADDRESS = "s3://nights/api"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A bundle."""
    made = tmp_path / "20261115-010203-x.tar.gz"
    made.write_bytes(b"content")
    return made


def test_a_bundle_arrives(storage: Storage, path: Path) -> None:
    """Under its own name, in the folder that was named."""
    assert asyncio.run(upload(path, ADDRESS)) == ""
    assert storage.content(path.name) == b"content"


def test_a_server_that_is_not_there_is_a_reason(storage: Storage, path: Path) -> None:
    """Without a key in it."""
    storage.is_dead()
    why = asyncio.run(upload(path, ADDRESS))

    assert why.startswith("Generic S3 error: Error performing PUT http://127.0.0.1")
    assert "Debug" not in why
    assert "dummy-secret-word" not in why


def test_a_server_that_answers_500_is_a_reason(storage: Storage, path: Path) -> None:
    """Asked a little more than once; the list of what waits does the rest."""
    storage.refuses = 1000
    why = asyncio.run(upload(path, ADDRESS))

    assert "500" in why
    assert storage.puts == 1 + uploads.TRIES


def test_a_slow_server_is_left(
    storage: Storage, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its time is over."""
    storage.held = True
    monkeypatch.setattr(uploads, "PATIENCE", 0.3)
    begun = time.monotonic()
    why = asyncio.run(upload(path, ADDRESS))

    assert why
    assert time.monotonic() - begun < 30.0  # it is not answered for sixty


def test_an_address_that_is_none_is_a_reason(path: Path) -> None:
    """Not an exception."""
    assert asyncio.run(upload(path, "nonsense"))
