"""Permit: what the owner's policy says about a call of a fired run. Started by the run's own hook.

    python -I -m koboshi.performers.loop.permitting STATE TASK < payload

Rule 1: nobody of koboshi's has to live for it: a fired run outlives us all.
Rule 2: closed. What cannot be judged is denied, with the reason; what a person would be asked is
left to the CLI, which has nobody to ask either.
Rule 3: every judgement is written down beside the task, so that a denied call can be explained.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from koboshi.adapters.headless import SAID
from koboshi.adapters.permits import MAY_EDIT, MAY_READ, payload_of, word
from koboshi.config.resolve import Resolved, Subject, resolve
from koboshi.config.variables import relevant
from koboshi.core.actions import Mode
from koboshi.core.events import Advice, Stance
from koboshi.core.readings import Prompt, PromptKind
from koboshi.performers.advising import Matter, second_opinion, stricter
from koboshi.performers.policing import by_policy
from koboshi.store.firings import Firings
from koboshi.store.manifests import config_dir
from koboshi.store.redaction import redact, secret_values

#: Bytes of a payload that is looked at; a longer one is not judged, and so it is denied.
MOST = 8 << 20
#: Characters of what a call was about.
SHOWN = 200
_FILE = "judged.jsonl"
#: Where a call says what it is about.
_SUBJECTS = ("command", "file_path", "notebook_path", "path", "url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One call of a run, and what was said to it."""

    tool: str
    subject: str
    stance: str
    rule: str
    why: str
    utc: float = 0.0

    @property
    def told(self) -> str:
        """For people and for the next attempt."""
        return f"{self.tool} `{self.subject}`: {self.why}" if self.subject else self.tool


def resolved(cli: str, cwd: str) -> Resolved:
    """What holds for a run of that CLI in that folder, as the files say now."""
    subject = Subject(agent=cli, agent_type=cli, cwd=cwd, variables=relevant(os.environ))
    return resolve(subject, config_dir())


async def advice_on(payload: Mapping[str, Any], cli: str, cwd: str) -> Advice:
    """What is said to that call; a run was ordered by a person, so any mode but `observe` will do.

    Nobody is there to be asked at its terminal: it has none.
    """
    found = resolved(cli, cwd)
    asked = {**payload, "hook_event_name": "PermissionRequest"}
    asked.setdefault("cwd", cwd)
    prompt = Prompt(kind=PromptKind.PERMISSION, question="", subject=subject_of(payload))
    matter = Matter(prompt=prompt, payload=asked, cwd=cwd, allow=found.settings.allow)
    first = await by_policy(found.answers, cli)(matter)
    settings = found.settings
    if settings.second_opinion and first.stance is not Stance.DENY:
        wait = settings.second_opinion_wait
        other = await second_opinion(settings.second_opinion, wait, matter, first)
        first = stricter(first, other)
    if settings.mode is Mode.OBSERVE and first.stance is Stance.ALLOW:
        return Advice(stance=Stance.ASK, rule="mode", why="in mode observe nothing is answered")
    return first


def subject_of(payload: Mapping[str, Any]) -> str:
    """What the call is about: its command, its file, its address."""
    given = payload.get("tool_input")
    fields = given if isinstance(given, dict) else {}
    found = (fields.get(key) for key in _SUBJECTS)
    text = next((each for each in found if isinstance(each, str) and each), "")
    shown = redact(" ".join(text[: 4 * SHOWN].split()), secrets=secret_values(os.environ))
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


def judged(payload: Mapping[str, Any], advice: Advice) -> Judged:
    """That judgement as a value to be kept."""
    return Judged(
        tool=str(payload.get("tool_name", ""))[:SHOWN],
        subject=subject_of(payload),
        stance=advice.stance.value,
        rule=advice.rule,
        why=advice.why,
        utc=time.time(),
    )


async def options_for(cli: str, cwd: str) -> tuple[str, ...]:
    """What lets that CLI change the files of its project, unless the policy denies just that."""
    probe = {"tool_name": "Write", "tool_input": {"file_path": str(Path(cwd) / "file")}}
    denied = (await advice_on(probe, cli, cwd)).stance is Stance.DENY
    return (MAY_READ if denied else MAY_EDIT).get(cli, ())


async def breaches(payloads: Iterable[Mapping[str, Any]], cli: str, cwd: str) -> tuple[str, ...]:
    """What of these calls the policy denies, although they were made."""
    found: dict[str, None] = {}
    for payload in payloads:
        advice = await advice_on(payload, cli, cwd)
        if advice.stance is Stance.DENY:
            found[judged(payload, advice).told] = None
    return tuple(found)


def command(state: Path, task: str) -> str:
    """The hook as a line for a shell; one that cannot be run blocks the call (exit status 2)."""
    known = {"KOBOSHI_CONFIG": str(config_dir().absolute()), "KOBOSHI_STATE": str(state)}
    env = " ".join(f"{name}={shlex.quote(value)}" for name, value in known.items())
    argv = (sys.executable, "-I", "-m", __name__, str(state), task)
    return f"{env} {shlex.join(argv)} || {{ echo 'the policy could not be asked' >&2; exit 2; }}"


def notes(state: Path, task: str) -> tuple[Judged, ...]:
    """What was judged of that run, oldest first; a torn line is left out."""
    found = []
    try:
        rows = (Firings(state).folder(task) / _FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    for row in rows:
        try:
            found.append(Judged(**json.loads(row)))
        except (ValueError, TypeError):
            continue
    return tuple(found)


def _note(state: Path, task: str, said: Judged) -> None:
    path = Firings(state).folder(task) / _FILE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, json.dumps(asdict(said)).encode() + b"\n")
    finally:
        os.close(descriptor)


def main(argv: list[str], raw: bytes) -> str:
    """The word for the call that `raw` tells of; empty: the CLI decides by itself."""
    payload: dict[str, Any] = {}
    try:
        state, task = Path(argv[1]), argv[2]
        firing = Firings(state).firing(task)
        value = json.loads(raw) if len(raw) <= MOST else None
        payload = payload_of(firing.agent, value) if isinstance(value, dict) else {}
        if not payload:
            return word("deny", "what it asks for is too long, or of no shape that can be judged")
        advice = asyncio.run(advice_on(payload, firing.agent, firing.cwd))
        _note(state, task, judged(payload, advice))
    except Exception as error:  # noqa: BLE001 - rule 2
        return word("deny", f"the policy could not be asked: {type(error).__name__}: {error}")
    if advice.stance is Stance.ASK:
        return ""
    why = f"{SAID} {advice.stance.value}: {advice.why}"
    return word(advice.stance.value, why)


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv, sys.stdin.buffer.read(MOST + 1)))
