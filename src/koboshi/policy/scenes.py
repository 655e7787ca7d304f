"""Paths as they are on the disk: inside the worktree or not, secret, koboshi's own.

Rule 1: a path that is not known is no path: who asks gets None and must not allow.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .requests import Surroundings
from .shell.calls import BELOW, UNKNOWN, Argument, Places

#: Files and folders below a home that hold secrets.
SECRET_PLACES = (
    ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".netrc", "_netrc", ".pgpass", ".my.cnf",
    ".docker/config.json", ".git-credentials", ".config/git/credentials", ".config/gcloud",
    ".config/gh/hosts.yml", ".config/hub", ".npmrc", ".pypirc", ".gem/credentials",
    ".cargo/credentials", ".cargo/credentials.toml", ".terraform.d/credentials.tfrc.json",
    ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json", ".local/share/keyrings", ".password-store",
    ".config/op", ".config/rclone/rclone.conf", ".s3cfg", ".boto", ".vault-token",
    "Library/Keychains", ".mozilla", ".config/google-chrome", ".config/chromium", ".bash_history",
    ".zsh_history",
)  # fmt: skip
#: Folders that hold secrets wherever they stand.
SECRET_FOLDERS = (".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store")
#: Names that hold secrets wherever they stand.
SECRET_NAMES = (
    ".env", ".env.*", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.p12", "*.pfx",
    "*.key", "*.keystore", "*.jks", "*.kdbx", ".netrc", ".git-credentials", "credentials.json",
    "service-account*.json", ".pgpass", ".htpasswd", "*.keychain", "*.keychain-db",
)  # fmt: skip
_NO_SECRETS = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults")
_SYSTEM_SECRETS = (
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
)
#: What switches koboshi, its hooks or an agent's own permissions: names, in any folder.
CONTROLS = (
    "koboshi.toml", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks",
    ".claude.json", ".mcp.json", ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json",
    "opencode.json", "opencode.jsonc", ".config/opencode", ".config/koboshi",
    ".local/state/koboshi",
)  # fmt: skip
_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")  # noqa: S108
_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})
#: Doors of a process, which are not ours but the agent's: where they lead is not known.
_ELSEWHERE = re.compile(r"/+(?:proc/+[^/]+/+(?:root|cwd|fd|task)|dev/+fd)\b")
#: Folders whose loss would switch something off.
_CONTROL_FOLDERS = frozenset({".claude", ".codex", ".gemini", ".opencode"})
#: Candidates that one word may stand for.
_MOST = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where things are, for the agent that asks."""

    around: Surroundings

    def spots(self, word: Argument, places: Places) -> tuple[str, ...] | None:
        """All that a word may name, absolute and without links; None when that is not known."""
        text = word.text
        if UNKNOWN in text or "\0" in text or _ELSEWHERE.match(text):
            return None
        if text.startswith("/"):
            return (self._resolved(text, globs=word.globs),)
        if places is None:
            return None
        found = {self._resolved(posixpath.join(each, text), globs=word.globs) for each in places}
        return tuple(sorted(found)) if len(found) <= _MOST else None

    def _resolved(self, path: str, *, globs: bool) -> str:
        if not globs:
            return self._real(path)
        parts = path.split("/")
        first = next((n for n, part in enumerate(parts) if any(c in part for c in "*?[")), None)
        if first is None:
            return self._real(path)
        rest = posixpath.normpath("/".join(parts[first:]))
        return posixpath.normpath(posixpath.join(self._real("/".join(parts[:first]) or "/"), rest))

    def _real(self, path: str) -> str:
        try:
            return self.around.resolve(path)
        except (OSError, ValueError, RuntimeError):  # a circle of links, a NUL, too long a name
            return posixpath.normpath(path)

    def worktree(self) -> str:
        """The agent's folder; empty when there is none."""
        return self._real(self.around.worktree) if self.around.worktree else ""

    def inside(self, spot: str) -> bool:
        """Whether it is the worktree or below it."""
        root = self.worktree()
        return bool(root) and below(spot, root)

    def temporary(self, spot: str) -> bool:
        """Whether it stands where everybody's temporary files are, or goes nowhere."""
        if spot in _SINKS:
            return True
        home = self.home()
        own = bool(home) and below(spot, home)
        return not own and any(below(spot, each) and spot != each for each in _TEMPORARY)

    def home(self) -> str:
        """The home folder, links resolved."""
        return self._real(self.around.home) if self.around.home else ""

    def holds_home(self, spot: str) -> bool:
        """Whether all of a home is below it."""
        home = self.home()
        return bool(home) and not self.inside(spot) and _may_hold(spot, home)

    def secret(self, spot: str) -> bool:
        """Whether it is, or may stand for, a file that holds secrets."""
        return _holds_secrets(spot, self.home())

    def control(self, spot: str) -> bool:
        """Whether it is, or may stand for, what switches koboshi or an agent's permissions."""
        if any(_ends_like(spot, each) for each in CONTROLS):
            return True
        return any(_touches(spot, self._real(each)) for each in self.around.guarded)

    def holds_controls(self, spot: str) -> bool:
        """Whether what switches something is in it."""
        return posixpath.basename(spot) in _CONTROL_FOLDERS

    def leads_elsewhere(self, word: Argument) -> bool:
        """Whether it goes through a door of the process that will run."""
        return _ELSEWHERE.match(word.text) is not None

    def leads_out(self, word: Argument, places: Places) -> bool:
        """Whether a path that reads as if it were inside leads out of the worktree by a link."""
        root = self.around.worktree
        bases = ("",) if word.text.startswith("/") else places or ()
        for base in bases:
            read = posixpath.normpath(posixpath.join(base, word.text))
            if root and below(read, root) and not self.inside(self._resolved(read, globs=True)):
                return True
        return False

    def is_link(self, path: str) -> bool:
        """Whether a path is, or goes through, a link below the worktree."""
        root = self.around.worktree
        plain = posixpath.normpath(path)
        if not root or not below(plain, root):
            return self._real(path) != plain
        return self._real(path) != posixpath.normpath(self._real(root) + plain[len(root) :])

    def is_home(self) -> bool:
        """Whether the worktree holds a whole home."""
        root, home = self.worktree(), self.home()
        return bool(root) and bool(home) and below(home, root)


@functools.lru_cache(maxsize=4096)  # a word is looked at by several checks
def _holds_secrets(spot: str, home: str) -> bool:
    name = posixpath.basename(spot)
    if any(
        _matches(each, part) and _says((part,)) for part in _parts(spot) for each in SECRET_FOLDERS
    ):
        return True
    if name not in _NO_SECRETS and any(_may_be(name, each) for each in SECRET_NAMES):
        return True
    if any(_touches(spot, each) for each in _SYSTEM_SECRETS):
        return True
    if home and any(_touches(spot, f"{home}/{each}") for each in SECRET_PLACES):
        return True
    return fnmatchcase(spot, "/proc/*/environ") or fnmatchcase(spot, "/proc/*/mem")


def below(spot: str, root: str) -> bool:
    """Whether a path is that folder or something in it."""
    return spot == root or spot.startswith(f"{root.rstrip('/')}/")


def _may_be(name: str, pattern: str) -> bool:
    """A name, which may be a glob itself, against a pattern."""
    lower = name.lower()
    if fnmatchcase(lower, pattern):
        return True
    if not any(char in name for char in "*?["):
        return False
    # `.e*` may be `.env`; `*` alone may be anything, and is not taken for a secret.
    literal = pattern.replace("*", "x")
    return _says((name,)) and _matches(literal, lower)


@functools.lru_cache(maxsize=4096)
def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.lower().split("/") if part)


def _touches(spot: str, place: str) -> bool:
    """Whether a path, which may hold globs, is that place or something in it."""
    here, there = _parts(spot), _parts(place)
    if len(here) < len(there) or (here[0] != there[0] and here[0].isalnum()):
        return False
    return all(_matches(one, mine) for mine, one in zip(here, there, strict=False))


def _may_hold(spot: str, place: str) -> bool:
    """Whether that place is the path, which may hold globs, or something in it."""
    here, there = _parts(spot), _parts(place)
    if len(here) > len(there):
        return False
    return all(_matches(one, mine) for mine, one in zip(here, there, strict=False))


def _matches(name: str, mine: str) -> bool:
    """Whether a part of a path, which may be a glob, can be that name; `*` leaves dots alone."""
    hidden = name.startswith(".") and mine[:1] in ("*", "?", "[") and mine != BELOW
    return name == mine or (not hidden and fnmatchcase(name, mine))


def _ends_like(spot: str, ending: str) -> bool:
    """Whether a path has that ending, or stands below it."""
    here, there = _parts(spot), _parts(ending)
    for at in range(len(here) - len(there) + 1):
        pairs = zip(here[at : at + len(there)], there, strict=True)
        if all(_matches(one, mine) for mine, one in pairs) and _says(here[at : at + len(there)]):
            return True
    return False


def _says(parts: tuple[str, ...]) -> bool:
    """Whether there is more to it than `*`, which may be anything and means nothing."""
    return any(char.isalnum() for part in parts for char in part)


def pieces(text: str) -> Iterator[str]:
    """What of a word may be a path: all of it, and what follows `=`, `@` or `:`."""
    yield text
    for sign in "=@:":
        _, found, tail = text.partition(sign)
        if found and tail:
            yield tail
            if tail[:1] == "@":
                yield tail[1:]
    if text[:1] == "-" and text[1:2] != "-" and len(text) > 2:  # noqa: PLR2004 - `-o/etc/x`
        yield text[2:]
