"""The files by which an agent asks for its own restart: it writes why, then hangs up on itself.

    .claude/self-reborn/restart_reason    why
    .claude/self-reborn/context.md        what the next run has to know; may be missing
    kill -HUP $PPID                       Claude Code ends with exit code 129

Rule 1: a closed terminal gives 129, too. It is a restart only when a reason lies there that was
written during the run that ended.
Rule 2: the files are removed once the order is in the journal. Who dies in between leaves them
behind, and they are older than every later run: they never count twice.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from koboshi.core.settings import Settings

#: What a shell says of a program that SIGHUP ended, and the signal itself.
HUNG_UP, SIGHUP = 129, 1
#: Where the files are, in the agent's folder, unless `CLAUDE_SELF_REBORN_STATE_DIR` says where.
FOLDER = ".claude/self-reborn"
REASON, CONTEXT = "restart_reason", "context.md"
#: Characters that are told; all of them are typed into the box of the next run.
LONGEST_REASON, LONGEST_CONTEXT = 500, 8000
#: Seconds by which a file's time may be behind the clock that we have.
SLACK = 1.0
#: More restarts or seconds than this are a slip of the pen.
MOST_CRASHES, LONGEST_BACKOFF = 1000, 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWords:
    """What an agent left for its next run."""

    reason: str
    context: str
    files: tuple[Path, ...]

    def taken(self) -> None:
        """Remove the files: they are in the journal."""
        for path in self.files:
            with contextlib.suppress(OSError):  # they are older than the next run: no harm
                path.unlink(missing_ok=True)


def folder(cwd: str, env: Mapping[str, str]) -> Path:
    """Where that agent leaves its files."""
    return Path(cwd, env.get("CLAUDE_SELF_REBORN_STATE_DIR") or FOLDER)


def last_words(place: Path, since: float) -> LastWords | None:
    """What was left there since that instant (UTC); None without a reason."""
    reason = _fresh(place / REASON, since, LONGEST_REASON)
    if reason is None:
        return None
    context = _fresh(place / CONTEXT, since, LONGEST_CONTEXT) or ""
    files = (place / REASON, place / CONTEXT)
    return LastWords(reason=" ".join(reason.split()), context=context, files=files)


def _fresh(path: Path, since: float, longest: int) -> str | None:
    """The text of a file that was written since then, fit to be typed."""
    try:
        with path.open("rb") as file:
            if path.stat().st_mtime < since - SLACK:
                return None
            text = file.read(4 * longest).decode(errors="replace")
    except OSError:
        return None
    return "".join(c for c in text if c in "\n\t" or c.isprintable()).strip()[:longest]


def tuned(settings: Settings, env: Mapping[str, str]) -> Settings:
    """The settings with what the variables of the protocol say; what is no number is passed by."""
    with contextlib.suppress(ValueError):
        crashes = int(env.get("CLAUDE_SELF_REBORN_MAX_CRASHES", ""))
        if 1 <= crashes <= MOST_CRASHES:
            settings = replace(settings, intensity=crashes)
    with contextlib.suppress(ValueError):
        backoff = float(env.get("CLAUDE_SELF_REBORN_BACKOFF", ""))
        if math.isfinite(backoff) and 0 <= backoff <= LONGEST_BACKOFF:
            longest = max(backoff, settings.backoff_max)
            settings = replace(settings, backoff_base=backoff, backoff_max=longest)
    return settings
