"""Collecting: the parts of a bundle, each as far as it can be had; and the prompt about it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi._version import __version__
from koboshi.config.addresses import scheme
from koboshi.errors import KoboshiError
from koboshi.incidents.bundles import SUFFIX, Bounds, Part, pack, prune, tail
from koboshi.incidents.chains import chain, last_lines
from koboshi.incidents.prompts import PART, Incident, template_at, tried, written
from koboshi.incidents.surroundings import branch_of, processes, repository, system
from koboshi.store.paths import journal_dir
from koboshi.store.shelves import make_private, write_whole

from .scribe.papers import day_of
from .scribe.scribe import papers
from .telling import facts
from .versions import Versions

if TYPE_CHECKING:
    from koboshi.config.outside import Incidents
    from koboshi.observations import ScreenSeen

    from .scribe.papers import Paper
    from .solo import Post
    from .supervisor import Supervisor

Mask = Callable[..., str]
#: Bytes of a log or a transcript that are read.
LAST = 1 << 20


def file_name(word: str, utc: float) -> str:
    """A name that sorts by time and says what it is about."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(utc))
    return f"{stamp}-{re.sub('[^A-Za-z0-9.]+', '-', word).strip('-.')[:60] or 'bundle'}"


class Collector:
    """Collects once."""

    def __init__(self, post: Post, supervisor: Supervisor, mask: Mask) -> None:
        self._post, self._supervisor, self._mask = post, supervisor, mask
        self._folder = journal_dir(post.state, post.agent).parent

    async def collect(self, text: str, key: str, wanted: Incidents) -> Path:
        """Everything about that incident, in one file."""
        now = self._supervisor.runtime.now()
        parts = [Part(name="incident.json", text=self._incident(text, key, now.utc))]
        parts += await self._screens()
        transcript = self._supervisor.hands.transcript()
        version = await (self._post.versions or Versions(self._post.state)).of(self._post.program)
        parts.append(Part(name="versions.json", text=json.dumps(self._versions(version), indent=1)))
        parts += await asyncio.to_thread(self._files, wanted.lines, transcript)
        bounds = Bounds(keep=wanted.keep, keep_for=wanted.keep_for)
        return await asyncio.to_thread(
            pack,
            self._folder / "bundles",
            file_name(key, now.utc),
            parts,
            self._mask,
            utc=now.utc,
            bounds=bounds,
        )

    def _incident(self, text: str, key: str, utc: float) -> str:
        world, now = self._supervisor.world, self._supervisor.runtime.now()
        told = facts(world.view, now, what=text, key=key, utc=utc, event=f"e{world.seq}")
        told["lines"] = list(world.view.context.lines)
        told["run"] = msgspec.to_builtins(world.view.run)
        return json.dumps(told, indent=1, ensure_ascii=False, default=str)

    async def _screens(self) -> list[Part]:
        """The screen, plain and with its colours; masked here, where its width is known."""
        try:
            seen = (await self._supervisor.hands.look()).seen
        except (KoboshiError, OSError) as error:
            return [Part(name="screen.txt", text=f"no look could be taken: {error}\n")]
        return [*self._drawn(seen, "screen"), *self._before(seen)]

    def _before(self, seen: ScreenSeen) -> list[Part]:
        last = self._supervisor.last_seen
        return self._drawn(last, "screen-before") if last and last.text != seen.text else []

    def _drawn(self, seen: ScreenSeen, name: str) -> list[Part]:
        plain = self._mask(seen.text, cols=seen.cols)
        parts = [Part(name=f"{name}.txt", text=plain)]
        if seen.ansi:
            parts.append(Part(name=f"{name}.ansi", text=self._mask(seen.ansi, cols=seen.cols)))
        return parts

    def _versions(self, cli: str) -> dict[str, Any]:
        return {
            "koboshi": __version__,
            "agent_type": self._post.agent_type,
            "cli": cli or "unknown",
            "argv": list(self._post.program.argv),
        }

    def _owned(self) -> dict[str, Any]:
        """The owner's tables; of an address only its scheme, of a program only its name."""
        if self._post.reach is None:
            return {}
        file = self._post.reach.owned.file
        channels = {
            name: {"url": f"{scheme(each.url)}://…", "severity": each.severity.value}
            for name, each in file.notify.channels.items()
        }
        return {
            "quiet": str(file.notify.quiet),
            "wakes": file.notify.wakes.value,
            "channels": channels,
            "hand_over": file.incidents.hand_over,
            "actions": {kind: hook.when for kind, hook in file.actions.items()},
            "commands": list(file.commands),
        }

    def _files(self, count: int, transcript: tuple[bytes, ...]) -> list[Part]:
        """What is read from disk and from the machine; in a thread."""
        post, view = self._post, self._supervisor.world.view
        monitor, output = papers(
            post.agent, post.agent_type, post.settings, state=post.state, cwd=post.program.cwd
        )
        journal = _had(lambda: last_lines(self._folder / "journal"))
        said = b"\n".join(transcript[-count:]).decode("utf-8", "backslashreplace")
        settings = {"agent": msgspec.to_builtins(view.settings), "owner": self._owned()}
        cwd = Path(post.program.cwd)
        return [
            Part(name="chain.txt", text=chain(journal)),
            Part(name="journal.jsonl", text=journal),
            Part(name="output.log", text=_last(output, count)),
            Part(name="monitor.log", text=_last(monitor, count)),
            Part(name="transcript.jsonl", text=said),
            Part(name="processes.txt", text=_had(lambda: processes(view.run.pid))),
            Part(name="system.json", text=_had(lambda: system(cwd, post.state))),
            Part(name="git.txt", text=_had(lambda: repository(cwd))),
            Part(name="config.json", text=json.dumps(settings, indent=1, ensure_ascii=False)),
        ]


def _had(part: Callable[[], str]) -> str:
    """That part, or why it could not be had: the others still tell something."""
    try:
        return part()
    except Exception as error:  # noqa: BLE001 - whatever the machine objects to
        return f"could not be had: {type(error).__name__}: {error}\n"


def _last(paper: Paper | None, count: int) -> str:
    """The end of a log; it may have begun a new file a moment ago."""
    if paper is None:
        return "this log is off\n"

    def read() -> str:
        files = [path for _, _, path in paper.old()] if paper.folder.is_dir() else []
        today = paper.path(day_of(time.time()))
        if today.exists() and today not in files:
            files.append(today)
        text = "".join(tail(path, LAST) for path in files[-2:])
        return "".join(f"{row}\n" for row in text.splitlines()[-count:])

    return _had(read)


async def write_prompt(
    post: Post, supervisor: Supervisor, text: str, wanted: Incidents, mask: Mask
) -> Path:
    """A prompt about that incident; where it is."""
    said = await asyncio.to_thread(prompt_about, post, supervisor, text, wanted)
    folder = journal_dir(post.state, post.agent).parent / "prompts"
    utc = supervisor.runtime.now().utc

    def write() -> Path:
        make_private(folder)
        path = folder / f"{file_name(f'fix-run{supervisor.world.view.run.number}', utc)}.md"
        write_whole(path, mask(said).encode("utf-8", "backslashreplace"))
        prune(folder, utc, Bounds(keep=wanted.keep, keep_for=wanted.keep_for), suffix=".md")
        return path

    return await asyncio.to_thread(write)


def prompt_about(
    post: Post, supervisor: Supervisor, text: str, wanted: Incidents, *, part: int = PART
) -> str:
    """The words of it, with secrets still in them."""
    view, cwd = supervisor.world.view, post.program.cwd
    _, output = papers(post.agent, post.agent_type, post.settings, state=post.state, cwd=cwd)
    bundles = journal_dir(post.state, post.agent).parent / "bundles"
    found = sorted(bundles.glob(f"*{SUFFIX}")) if bundles.is_dir() else []
    printed = _last(output, min(wanted.lines, 80)) if output else ""
    incident = Incident(
        agent=post.agent,
        error=text,
        run=view.run.number,
        lines=_with(printed, view.context.lines),
        tried=tried(view),
        branch=branch_of(Path(cwd)),
        worktree=cwd,
        bundle=str(found[-1]) if found else "",
    )
    return written(incident, template_at(wanted.template), part=part)


def _with(printed: str, shown: tuple[str, ...]) -> str:
    """The end of a log, and the rows on the screen that are not in it yet: the last matter most."""
    rows = [row.rstrip() for row in printed.strip().splitlines()]
    known = rows[-2 * len(shown) :] if shown else []
    new = [row.rstrip() for row in shown if not any(each.endswith(row.rstrip()) for each in known)]
    return "\n".join((*rows, *new))
