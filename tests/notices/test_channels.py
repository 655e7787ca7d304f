"""Channels against real servers: one that works, a dead one, a slow one, one that says 500."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from koboshi.core.events import Severity
from koboshi.notices.channels import AppriseChannel, channel
from koboshi.notices.notice import Letter
from tests.notices.servers import Engine, Webhook, dead_port

LETTER = Letter(title="koboshi: api – P0", body="api: it crashed\nand again", severity=Severity.P0)


@pytest.fixture
def hook() -> Iterator[Webhook]:
    """A webhook on loopback."""
    with Webhook().open() as opened:
        yield opened


def test_a_webhook_gets_it(hook: Webhook) -> None:
    """Title, text and how bad it is."""
    assert channel(f"json://127.0.0.1:{hook.port}/hook").send(LETTER) == ""

    (got,) = hook.wait(1)
    assert (got["title"], got["message"], got["type"]) == (LETTER.title, LETTER.body, "failure")


def test_a_server_that_says_500_is_a_reason(hook: Webhook) -> None:
    """It can be tried again."""
    hook.status = 500

    assert "500" in channel(f"json://127.0.0.1:{hook.port}/hook").send(LETTER)


def test_a_dead_server_is_a_reason() -> None:
    """Nobody listens there."""
    assert channel(f"json://127.0.0.1:{dead_port()}/hook").send(LETTER) != ""


def test_a_slow_server_is_given_up(hook: Webhook) -> None:
    """Within the time limit of the address."""
    hook.delay = 3.0

    assert channel(f"json://127.0.0.1:{hook.port}/hook?rto=0.2&cto=0.2").send(LETTER) != ""


def test_mail_goes_out() -> None:
    """Through a real SMTP server."""
    got: list[Any] = []

    class Box:
        async def handle_DATA(self, server: object, session: object, envelope: Any) -> str:  # noqa: ANN401, ARG002, N802
            got.append(envelope)
            return "250 OK"

    controller = Controller(Box(), hostname="127.0.0.1", port=dead_port())
    controller.start()
    try:
        address = f"mailto://localhost:{controller.port}?from=k@example.org&to=me@example.org"
        assert channel(address).send(LETTER) == ""
    finally:
        controller.stop()

    assert got[0].rcpt_tos == ["me@example.org"]
    assert b"it crashed" in got[0].content


def test_speech_is_kept(tmp_path: Path) -> None:
    """Two calls to the engine, and a WAV in the folder; only so many stay."""
    folder = tmp_path / "voice"
    with Engine().open() as engine:
        voice = channel(f"voicevox://127.0.0.1:{engine.port}?speaker=3&save={folder}")
        said = [voice.send(LETTER) for _ in range(22)]

    assert said == [""] * 22
    assert engine.got[0][0].startswith("/audio_query?text=api%3A%20it%20crashed&speaker=3")
    assert engine.got[1] == ("/synthesis?speaker=3", b'{"speed": 1}')
    kept = list(folder.iterdir())
    assert len(kept) == 20
    assert kept[0].read_bytes() == b"RIFF0000WAVE"


def test_speech_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever player there is; one that fails, or none, is a reason."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with Engine().open() as engine:
        voice = channel(f"voicevox://127.0.0.1:{engine.port}?speaker=3")
        nobody = voice.send(LETTER)
        player = tmp_path / "aplay"
        player.write_text(
            f'#!/bin/sh\n/bin/cat "$2" > {tmp_path}/heard; echo "$1" > {tmp_path}/how\n'
        )
        player.chmod(0o755)
        played = voice.send(LETTER)
        player.write_text("#!/bin/sh\nexit 3\n")
        failed = voice.send(LETTER)

    assert "expected a player" in nobody
    assert played == ""
    assert (tmp_path / "heard").read_bytes() == b"RIFF0000WAVE"
    assert (tmp_path / "how").read_text() == "-q\n"
    assert failed == "VOICEVOX: aplay ended with 3"


def test_speech_that_is_none_is_a_reason() -> None:
    """Another server answers on that port, or nobody does."""
    with Webhook().open() as other:
        assert "WAV" in channel(f"voicevox://127.0.0.1:{other.port}").send(LETTER)
    assert "VOICEVOX" in channel(f"voicevox://127.0.0.1:{dead_port()}").send(LETTER)


def test_a_secret_in_an_address_is_in_no_reason() -> None:
    """Not when the host is wrong, not when the server says no, not as the server repeats it."""
    around = {"TOKEN": "hunter2-and-more"}
    with Webhook().open() as hook:
        hook.status, hook.answer = 401, b"who is hunter2-and-more?"
        for place in (f"127.0.0.1:{hook.port}", f"127.0.0.1:{dead_port()}"):
            address = f"json://user:${{TOKEN}}@{place}/${{TOKEN}}"
            why = channel(address, around).send(LETTER)
            assert why
            assert "hunter2" not in why


@pytest.mark.parametrize("raises", [False, True])
def test_whatever_a_library_says_the_secret_is_not_in_it(*, raises: bool) -> None:
    """In its log, or in its exception."""

    class Tells:
        def notify(self, **_: object) -> bool:
            logging.getLogger("apprise").warning(
                "no answer from json://u:%s@h/", "hunter2-and-more"
            )
            if raises:
                raise RuntimeError("json://u:hunter2-and-more@h/")
            return False

    why = AppriseChannel(Tells(), ("hunter2-and-more",)).send(LETTER)

    assert "json" in why
    assert "hunter2" not in why


def test_a_variable_that_is_not_set_is_a_reason() -> None:
    """The daemon may have another environment than the shell in which it was checked."""
    assert channel("json://${NOWHERE_SET}/", {}).send(LETTER) == (
        "NOWHERE_SET is not set in the environment of the daemon"
    )


def test_a_password_stays_in_its_place(hook: Webhook) -> None:
    """An `@` in it does not begin the host."""
    around = {"PASSWORD": "a@b#c?d%e"}

    assert channel(f"json://u:${{PASSWORD}}@127.0.0.1:{hook.port}/", around).send(LETTER) == ""
    assert socket.gethostbyname("127.0.0.1") == "127.0.0.1"
    assert hook.wait(1)
