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

#: A night with crashes, questions, a dead supervisor and held decisions.
SEED = 7


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
def segments(seed: int = SEED) -> dict[str, bytes]:
    """What the supervisor of one simulated night wrote."""
    night = Night(seed)
    night.run()
    return {name: bytes(content) for name, content in night.shelf.segments.items()}


def lay_down(state: Path, agent: str = "sim", seed: int = SEED) -> Path:
    """Put that night's journal where an agent's journal is."""
    folder = state / "agents" / agent / "journal"
    folder.mkdir(parents=True)
    for name, content in segments(seed).items():
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
    record = json.loads(lines[number - 1])
    change(record)
    if "crc" in record:
        record["crc"] = zlib.crc32(msgspec.json.encode(record["world"]))
    lines[number - 1] = json.dumps(record).encode()
    path.write_bytes(b"\n".join(lines))
