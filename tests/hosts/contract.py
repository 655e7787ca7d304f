"""What every host with a terminal promises. Inherit `HostContract` and say how the host is opened.

A host that starts no real programs overrides `argv` too.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from koboshi.errors import HostError
from koboshi.hosts.base import Key, Keystroke, Launch, Text
from tests.hosts.lives import LifeContract
from tests.hosts.samples import ENDS, KEYS, TEXTS, pasted, texts
from tests.hosts.stirs import EchoContract
from tests.hosts.waiting import (
    content,
    number_after,
    until,
    until_ended,
    until_seen,
    until_text,
)


class HostContract(EchoContract, LifeContract):
    """The promises about screens and keys, and those about the lives of runs."""

    # -- start and look ------------------------------------------------------------------------

    def test_a_look_shows_screen_and_process(self) -> None:
        """Text, title, size, cursor, name and pid, as of now."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show", "\\e]2;a title ✳\\ahello")
                before = time.monotonic()
                seen = await until_seen(
                    host, place, lambda s: "pid=" in s.text and (s.cursor or (1, 0))[0] == 0
                )

                assert seen.text.startswith("hello\n")
                assert seen.text.count("\n") == 24
                assert (seen.cols, seen.rows, seen.cursor) == (90, 25, (0, 2))
                assert (seen.title, seen.command) == ("a title ✳", Path(sys.executable).name)
                assert seen.pid == place.pid == number_after("pid", seen.text)
                assert (seen.alive, seen.code, seen.signal, seen.run) == (True, None, None, 1)
                assert before <= seen.at <= time.monotonic()
                assert abs((seen.utc or 0) - time.time()) < 60

        asyncio.run(run())

    def test_wide_characters_come_out_right(self) -> None:
        """One cell or two, the text is the text."""

        async def run() -> None:
            async with self.opened() as host:
                words = "日本語 ✳ ❯ 🎉 é … 全角"
                place = await self.started(host, "show", words, "\\e[31mred\\e[0m")
                seen = await until_text(host, place, "pid=")

                assert seen.text.splitlines()[0] == f"{words} red"
                assert seen.ansi is not None
                assert seen.ansi.count("\n") == 24
                assert "\x1b[" in seen.ansi.splitlines()[0].partition("red")[0]

        asyncio.run(run())

    def test_an_agent_finds_a_utf_8_terminal_and_its_own_variables(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever koboshi itself was started in."""
        for name, value in {"LC_ALL": "C", "TMUX": "/x,1,1", "COLUMNS": "7", "OURS": "1"}.items():
            monkeypatch.setenv(name, value)
        out = tmp_path / "environ"

        async def run() -> None:
            async with self.opened() as host:
                argv = self.argv("environ", out)
                env = {"SECRET": "it's; $HOME\n#{x}"}
                await host.start(Launch(agent="doll", run=1, argv=argv, cwd=str(tmp_path), env=env))
                await until(out.exists)

        asyncio.run(run())
        found = json.loads(out.read_text())
        assert (found["SECRET"], found["OURS"]) == ("it's; $HOME\n#{x}", "1")
        assert "UTF-8" in found["LC_CTYPE"]
        assert "LC_ALL" not in found
        assert "COLUMNS" not in found
        assert "256color" in found["TERM"]
        assert found.get("TMUX", "") != "/x,1,1"

    # -- type ----------------------------------------------------------------------------------

    async def typed(self, *strokes: Keystroke, expected: bytes, modes: str = "") -> bytes:
        """What a program in raw mode reads for these strokes."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "typed"
            async with self.opened() as host:
                place = await self.started(host, "record", out, modes)
                await until_text(host, place, "ready")
                await host.type(place, strokes)
                await until(lambda: len(content(out)) >= len(expected), 20)
                return content(out)

    @pytest.mark.parametrize("text", TEXTS)
    def test_text_arrives_exactly(self, text: str) -> None:
        """Whatever it means to a shell or to tmux."""
        expected = pasted(text)

        assert asyncio.run(self.typed(Text(text=text), expected=expected)) == expected

    # One method, several hosts: that the executors differ is the point.
    @settings(max_examples=12, suppress_health_check=[HealthCheck.differing_executors])
    @given(st.lists(texts, min_size=1, max_size=6))
    def test_any_text_arrives_exactly(self, samples: list[str]) -> None:
        """Piece by piece, in order, with nothing added."""
        expected = b"".join(map(pasted, samples))
        strokes = tuple(Text(text=sample) for sample in samples)

        assert asyncio.run(self.typed(*strokes, expected=expected)) == expected

    @pytest.mark.parametrize(
        "text", ["short", "one\ntwo\n\nthree", "日本\n🎉", "long; line\n" * 30_000]
    )
    def test_a_program_that_asks_for_it_gets_a_bracketed_paste(self, text: str) -> None:
        """Else each line would be taken for a message of its own."""
        expected = b"\x1b[200~" + pasted(text) + b"\x1b[201~\r"
        strokes = (Text(text=text), Key(name="Enter"))

        got = asyncio.run(self.typed(*strokes, expected=expected, modes="\\e[?2004h"))

        assert got == expected

    def test_keys_arrive_as_a_terminal_sends_them(self) -> None:
        """All in one go, in order."""
        expected = b"".join(KEYS.values())
        strokes = tuple(Key(name=name) for name in KEYS)

        assert asyncio.run(self.typed(*strokes, expected=expected)) == expected

    def test_cursor_keys_follow_the_mode_the_program_has_set(self) -> None:
        """Editors and pagers ask for application mode."""
        strokes = (Key(name="Up"), Key(name="Left"))
        got = asyncio.run(self.typed(*strokes, expected=b"\x1bOA\x1bOD", modes="\\e[?1h"))

        assert got == b"\x1bOA\x1bOD"

    @pytest.mark.parametrize(
        "stroke",
        [Key(name="Entr"), Key(name=""), Key(name="C-"), Text(text="a\x1b[201~b"), Text(text="\0")],
    )
    def test_what_is_no_text_and_no_key_is_refused_whole(self, stroke: Keystroke) -> None:
        """Nothing of it is typed, nor of what stood before it."""

        async def run() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "typed"
                async with self.opened() as host:
                    place = await self.started(host, "record", out)
                    await until_text(host, place, "ready")
                    with pytest.raises(HostError, match="expected"):
                        await host.type(place, (Key(name="x"), stroke))
                    await host.type(place, (Key(name="z"),))
                    await until(lambda: b"z" in content(out))
                    return content(out)

        assert asyncio.run(run()) == b"z"

    def test_a_ctrl_z_does_not_freeze_the_program(self) -> None:
        """There is no shell that could bring it back."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "show")
                await until_text(host, place, "pid=")
                await host.type(place, (Key(name="C-z"),))
                await until_text(host, place, "^Z")
                await host.type(place, (Key(name="C-c"),))
                seen = await until_ended(host, place)

                assert "KeyboardInterrupt" in seen.text

        asyncio.run(run())

    # -- the end -------------------------------------------------------------------------------

    @pytest.mark.parametrize(("number", "code", "killer"), ENDS)
    def test_an_end_is_recorded_with_the_last_screen(
        self, number: int, code: int | None, killer: int | None
    ) -> None:
        """Exit code or signal, never a guess from one to the other."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "leave", number)
                seen = await until_ended(host, place)

                assert (seen.alive, seen.code, seen.signal) == (False, code, killer)
                assert seen.text == "line\nline\nline\ngoodbye" + "\n" * 21
                assert (seen.title, seen.command, seen.pid) == ("last title", "", place.pid)
                assert await host.look(place) is not None
                await host.end(place, force=True)  # an ended one is left as it is
                with pytest.raises(HostError, match="has ended"):
                    await host.type(place, (Key(name="x"),))

        asyncio.run(run())

    # -- under load ----------------------------------------------------------------------------

    def test_a_flood_blocks_nobody(self) -> None:
        """50 MB of output: the program gets through, and we can look meanwhile."""

        async def run() -> None:
            async with self.opened() as host:
                place = await self.started(host, "flood", 50)
                looks: list[float] = []
                deadline = time.monotonic() + 90
                while True:
                    began = time.monotonic()
                    seen = await host.look(place)
                    looks.append(time.monotonic() - began)
                    if "flood done" in seen.text:
                        break
                    assert time.monotonic() < deadline, "the flood did not end"
                    await asyncio.sleep(0)

                assert max(looks) < 5

        asyncio.run(run())
