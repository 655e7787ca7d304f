"""What a scripted agent keeps on disk: sessions, notes and the hooks it fired."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, MutableMapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .acts import Reload

_NAME = re.compile(r"[\w][\w.-]{0,99}")


class StoreError(Exception):
    """The state directory cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How far a session is; enough to resume it after a kill."""

    progress: int = 0
    context: float = 3.0
    limited_until: float | None = None


class Notes(MutableMapping[str, str]):
    """Notes by name, a file each; a name that is no file name is no note."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise KeyError(name)
        try:
            return (self._folder / name).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: str) -> None:
        if _NAME.fullmatch(name):
            write_whole(self._folder / name, value)

    def __delitem__(self, name: str) -> None:
        (self._folder / name).unlink()

    def __iter__(self) -> Iterator[str]:
        with contextlib.suppress(OSError):
            yield from sorted(path.name for path in self._folder.iterdir() if path.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Store:
    """The state directory of scripted agents."""

    def __init__(self, folder: Path) -> None:
        self._sessions, self._hooks = folder / "sessions", folder / "hooks.jsonl"
        self.notes = Notes(folder / "notes")
        try:
            self._sessions.mkdir(parents=True, exist_ok=True)
            (folder / "notes").mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder}: {error.strerror}") from error

    def load(self, session: str) -> Session | None:
        """The session, or None when there is none of that name."""
        path = self._sessions / f"{session}.json"
        if not _NAME.fullmatch(session) or not path.exists():
            return None
        try:
            return Session(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise StoreError(f"{path}: not a session: {error}") from error

    def save(self, name: str, session: Session) -> None:
        """Write the session so that a kill at any moment leaves the old or the new one."""
        write_whole(self._sessions / f"{name}.json", json.dumps(asdict(session)))

    def add_hooks(self, hooks: list[dict[str, Any]]) -> None:
        """Append fired hooks, a line each."""
        with self._hooks.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(hook, ensure_ascii=False) + "\n" for hook in hooks))


def leave_words(words: Reload) -> None:
    """Write for the next run why it is there, where a supervisor looks: in the project."""
    folder = Path(".claude") / "self-reborn"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "context.md", words.context)
    write_whole(folder / "restart_reason", words.reason)


def write_whole(path: Path, text: str) -> None:
    """Replace a file by rename."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(path)


def is_session_name(name: str) -> bool:
    """Whether a session may be called that."""
    return _NAME.fullmatch(name) is not None
