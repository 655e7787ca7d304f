"""Uploads to a real S3 server on loopback; and to one that is not there."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.store import S3Store

from koboshi.incidents.uploads import upload
from tests.notices.servers import dead_port


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 with a bucket, and the keys to it in the environment."""
    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    host, port = made.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "dummy")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "dummy-secret-word")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    try:
        yield f"http://{host}:{port}"
    finally:
        made.stop()


def test_a_bundle_arrives(server: str, tmp_path: Path) -> None:
    """Under its own name, in the folder that was named."""
    connection = http.client.HTTPConnection(server.partition("://")[2], timeout=10)
    connection.request("PUT", "/nights")
    assert connection.getresponse().status == 200
    connection.close()
    path = tmp_path / "20261115-010203-x.tar.gz"
    path.write_bytes(b"content")

    assert upload(path, "s3://nights/api") == ""
    store = S3Store("nights", prefix="api", client_options={"allow_http": True})
    assert bytes(obstore.get(store, path.name).bytes()) == b"content"


def test_a_server_that_is_not_there_is_a_reason(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the time limit, and without a key in it."""
    del server
    monkeypatch.setattr("koboshi.incidents.uploads.PATIENCE", 2)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{dead_port()}")
    path = tmp_path / "x.tar.gz"
    path.write_bytes(b"content")
    why = upload(path, "s3://nights/api")

    assert why
    assert "dummy-secret-word" not in why


def test_an_address_that_is_none_is_a_reason(tmp_path: Path) -> None:
    """Not an exception."""
    path = tmp_path / "x.tar.gz"
    path.write_bytes(b"")

    assert upload(path, "nonsense")
