"""Journals on disk to try commands on, and a way to call a command."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from koboshi.cli.main import main
from koboshi.testing import Night


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever was printed
        """Its output, read."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Its output, a JSON value per line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def lines_of(self) -> list[str]:
        """Its output, line by line."""
        return self.out.splitlines()


def run(*argv: str) -> Ran:
    """Call `koboshi` in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return Ran(code=code, out=texts[0], err=texts[1])


@functools.cache
def segments(seed: int) -> dict[str, bytes]:
    """What the supervisor of one simulated night wrote."""
    night = Night(seed)
    night.run()
    return {name: bytes(content) for name, content in night.shelf.segments.items()}


@functools.cache
def bad_night() -> dict[str, bytes]:
    """A night with a crash, an answered question, a refusal and a supervisor that died."""
    wanted = (
        b'"run-exited"',
        b'"k":"held"',
        b'"kind":"answer"',
        b'"ending":"done"',
        b'"k":"touched"',
    )
    for seed in range(100):
        night = segments(seed)
        text = b"".join(night.values())
        if len(night) > 2 and all(word in text for word in wanted):
            return night
    raise AssertionError("no night has it all")


def records(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of a journal, as JSON."""
    text = b"".join(p.read_bytes().rpartition(b"\n")[0] + b"\n" for p in sorted(folder.iterdir()))
    return [json.loads(line) for line in text.splitlines() if line]


def lay_down(state: Path, agent: str = "sim") -> Path:
    """Put the journal of a bad night where that agent's journal is."""
    folder = state / "agents" / agent / "journal"
    folder.mkdir(parents=True)
    for name, content in bad_night().items():
        (folder / name).write_bytes(content)
    return folder


def disk(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, byte for byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def edit(path: Path, number: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Change one line of a segment; its snapshot's checksum is made to match."""
    lines = path.read_bytes().split(b"\n")
    lines[number - 1] = edited(lines[number - 1], change)
    path.write_bytes(b"\n".join(lines))


def edited(line: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A record with that change."""
    record = json.loads(line)
    change(record)
    if "crc" in record:
        record["crc"] = zlib.crc32(msgspec.json.encode(record["world"]))
    return json.dumps(record).encode()
