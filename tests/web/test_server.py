"""`koboshi serve`: where it may listen, what it prints, and what it needs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from koboshi.cli.main import main
from koboshi.errors import InputError, KoboshiError
from koboshi.web import links, server
from koboshi.web.keys import Keys, Kind, Scope


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "::", "my.machine"])  # noqa: S104
def test_an_open_address_needs_tls_or_a_word(host: str) -> None:
    """Whoever listens in would get in."""
    with pytest.raises(InputError, match="can be reached by others"):
        server.checked(server.Place(host=host, port=1))
    assert server.checked(server.Place(host=host, port=1, plain=True)).host == host


def test_half_of_tls_is_refused() -> None:
    """A certificate without its key."""
    with pytest.raises(InputError, match="together"):
        server.checked(server.Place(host="127.0.0.1", port=1, cert=Path("c")))


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("127.0.0.1", "http://127.0.0.1:9"),
        ("::1", "http://[::1]:9"),
        ("localhost", "http://localhost:9"),
    ],
)
def test_addresses_for_browsers(host: str, base: str) -> None:
    """IPv6 in brackets."""
    assert server.checked(server.Place(host=host, port=9)).base == base


def test_a_tunnels_address_is_what_links_carry() -> None:
    """Its name is let in."""
    assert links.public("https://My.example/") == ("https://My.example", "my.example")
    for wrong in ("my.example", "ftp://x", "https://x/y", "https://"):
        with pytest.raises(InputError, match="expected an address"):
            links.public(wrong)


def test_a_link_is_printed_and_works_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The secret stands behind the `#` only."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))

    assert main(["serve", "--link", "--read-only", "--url", "https://my.example"]) == 0
    link = capfdbinary.readouterr().out.decode().splitlines()[-1]
    base, _, secret = link.partition("/#login=")
    assert base == "https://my.example"
    keys = Keys(tmp_path, time.time)
    found = keys.redeem(secret)
    assert found is not None
    assert found[1].scope is Scope.READ
    assert keys.redeem(secret) is None
    assert main(["serve", "--token"]) == 0
    token = capfdbinary.readouterr().out.decode().strip()
    assert keys.find(token, Kind.TOKEN) is not None
    assert main(["serve", "--forget"]) == 0
    assert keys.find(token, Kind.TOKEN) is None


def test_a_broken_file_of_keys_can_be_forgotten(tmp_path: Path) -> None:
    """It lets nobody in, and says what to do."""
    keys = Keys(tmp_path, time.time)
    keys.make(Kind.TOKEN, Scope.READ)
    (tmp_path / "web" / "keys.json").write_text("[{")

    with pytest.raises(KoboshiError, match="cannot be read"):
        keys.find("x", Kind.TOKEN)
    assert server.forget(tmp_path) == 0
    assert keys.find("x", Kind.TOKEN) is None


def test_without_the_web_parts_the_install_line_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback."""
    for name in ("koboshi.web.server", "koboshi.web.keys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    assert main(["serve", "--link"]) == 2
    said = capsys.readouterr().err
    assert "uvicorn" in said
    assert "pip install 'koboshi[web]'" in said


def test_a_port_that_is_taken_is_said_to_be() -> None:
    """With what to do."""
    held = server.listening("127.0.0.1", 0)
    held.listen()
    with pytest.raises(KoboshiError, match="cannot be listened at") as refused:
        server.listening("127.0.0.1", held.getsockname()[1])
    held.close()
    assert "--port" in refused.value.hint
    assert refused.value.exit_code == 4


def test_an_address_that_is_not_ours_is_said_to_be() -> None:
    """Another port would not help."""
    with pytest.raises(KoboshiError, match="cannot be listened at") as refused:
        server.listening("192.0.2.1", 0)
    assert "--host" in refused.value.hint
    assert refused.value.exit_code == 4


@pytest.mark.parametrize("words", [("--link", "--token"), ("--stop", "--forget"), ("-d", "--link")])
def test_two_things_at_a_time_are_refused(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of them would be done is nobody's guess; no key is made."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))

    assert main(["serve", *words]) == 2
    assert not (tmp_path / "web").exists()


def test_a_link_is_a_picture_for_a_phone() -> None:
    """Rows of half blocks, no wider than a terminal."""
    rows = links.qr(links.login("https://my.machine.example", "x" * 43)).splitlines()

    assert len(rows) > 15
    assert all(len(row.replace("\x1b[7m", "").replace("\x1b[0m", "")) < 80 for row in rows)
