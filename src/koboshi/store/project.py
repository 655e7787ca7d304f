"""`koboshi init`: what is put into a project, and taken out of it again.

Rule 1: nothing outside of the project is written, whatever its links say.
Rule 2: a person's bytes stay. What was edited since is the person's, and is left there.
Rule 3: all files are looked at before the first one is written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from koboshi.adapters.claude import install, servers
from koboshi.adapters.codex import install as codex_install
from koboshi.adapters.splicing import Splice, Unusable
from koboshi.core.settings import Settings
from koboshi.errors import FileUnreadable, InputError

Edit = Callable[[str | None], str | None]  #: text → text; None: there is no file

_IGNORED = ".claude/self-reborn/\n"
#: (first line, last line) of what is put into .gitignore: a file of ours, one that ends with a line
#: end, one that does not. Which it was tells what to give back.
_HEADS = ("# koboshi init (new file)\n", "# koboshi init\n", "\n# koboshi init (after this)\n")
_TAIL = "# koboshi init: end\n"


def ignoring(text: str | None) -> str:
    """The .gitignore with our entries."""
    if text is None:
        return _HEADS[0] + _IGNORED + _TAIL
    if any(head + _IGNORED + _TAIL in text for head in _HEADS):
        return text
    joined = text != "" and not text.endswith("\n")
    return text + _HEADS[2 if joined else 1] + _IGNORED + _TAIL


def not_ignoring(text: str | None) -> str | None:
    """The .gitignore without them."""
    if text is None or text == _HEADS[0] + _IGNORED + _TAIL:
        return None
    for head in reversed(_HEADS):
        text = text.replace(head + _IGNORED + _TAIL, "", 1)
    return text


def defaults() -> str:
    """`koboshi.toml` with every default, commented."""
    rows = ["# koboshi: remove the '# ' before a line to change it. Seconds unless said otherwise."]
    for each in fields(Settings):
        value = getattr(Settings(), each.name)
        if each.name == "mode":
            said = f'"{value.name.lower()}"'
        elif isinstance(value, tuple):
            said = "[]"
        else:
            said = f'"{value}"' if isinstance(value, str) else f"{value}"
        rows.append(f"# {each.name} = {said}")
    return "\n".join(rows) + "\n"


def _ours(content: str) -> tuple[Edit, Edit]:
    """A file that is ours as long as nobody changed it."""

    def put(text: str | None) -> str:
        return content if text is None else text

    def take(text: str | None) -> str | None:
        return None if text == content else text

    return put, take


def _hooks(splice: Splice) -> tuple[Edit, Edit]:
    """A file with hooks, a person's and ours."""

    def put(text: str | None) -> str:
        return splice.created if text is None else splice.merged(text)

    def take(text: str | None) -> str | None:
        return None if text is None else splice.removed(text)

    return put, take


#: Path → (put in, take out).
EDITS: dict[str, tuple[Edit, Edit]] = {
    ".claude/settings.json": _hooks(install.HOOKS),
    ".claude/commands/reload.md": _ours(install.RELOAD),
    "koboshi.toml": _ours(defaults()),
    ".gitignore": (ignoring, not_ignoring),
}
#: What is put in only when it is asked for: Codex stops at a question until somebody trusts it.
CODEX: dict[str, tuple[Edit, Edit]] = {".codex/hooks.json": _hooks(codex_install.HOOKS)}


def _servers(text: str | None) -> str:
    return servers.CREATED if text is None else servers.merged(text)


def _no_servers(text: str | None) -> str | None:
    return None if text is None else servers.removed(text)


#: Only where it is asked for: Claude Code asks its user about every server of a project.
TOOLS: dict[str, tuple[Edit, Edit]] = {".mcp.json": (_servers, _no_servers)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file that becomes another."""

    path: Path
    before: str | None
    after: str | None

    @property
    def word(self) -> str:
        """What is done to it."""
        if self.before == self.after:
            return "unchanged"
        return {self.before: "created", self.after: "removed"}.get(None, "changed")


def plan(
    root: Path, *, remove: bool, codex: bool = False, tools: bool = False
) -> tuple[Change, ...]:
    """What would be done to the project; what was put in is taken out, asked for or not."""
    changes = []
    wanted = dict(EDITS)
    for asked, extra in ((codex, CODEX), (tools, TOOLS)):
        if asked or (remove and any((root / name).exists() for name in extra)):
            wanted |= extra
    for name, edits in wanted.items():
        path = root / name
        if not path.resolve().is_relative_to(root.resolve()):
            raise InputError(f"{path}: is outside of the project, through a link")
        before = _text(path)
        try:
            after = edits[remove](before)
        except Unusable as error:
            raise InputError(f"{path}, line {error.line}: {error}") from None
        changes.append(Change(path=path, before=before, after=after))
    return tuple(changes)


def carry_out(root: Path, changes: tuple[Change, ...]) -> None:
    """Do it; folders that are empty afterwards and were made for this go, too."""
    for change in changes:
        if change.before == change.after:
            continue
        if change.after is not None:
            _write(change.path, change.after)
            continue
        change.path.unlink()
        for folder in change.path.parents:
            if folder == root or any(folder.iterdir()):
                break
            folder.rmdir()


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise FileUnreadable(f"{path}: expected UTF-8 text") from None


def _write(path: Path, text: str) -> None:
    """As a whole or not at all, with the permissions that it had."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
