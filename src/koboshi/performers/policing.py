"""The owner's policy over one agent's questions, with the disk that it needs to look at."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from koboshi.core.events import Advice, Stance
from koboshi.core.readings import Prompt, PromptKind
from koboshi.policy.policies import Policy
from koboshi.policy.requests import Surroundings
from koboshi.store.manifests import config_dir
from koboshi.store.paths import state_dir

from .advising import Matter

if TYPE_CHECKING:
    from koboshi.policy.requests import Opinion, Request

    from .advising import Advise

#: Seconds for a judgement: a path may lie on a disk that does not answer.
LONGEST = 10.0
#: CLIs that write a call down before they ask about it; how often it is looked for, and seconds
#: between two looks. What a dialog shows in full does not wait long: the file tells its folder.
WRITERS = frozenset({"claude", "codex"})
SOON, LATE, PAUSE = 3, 60, 0.1


def surroundings(folder: str, home: str = "") -> Surroundings:
    """Where an agent in that folder works: in the worktree around it, else in the folder."""
    here = Path(folder)
    root = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
    return Surroundings(
        worktree=str(root),
        home=home or str(Path.home()),
        resolve=os.path.realpath,
        guarded=(str(config_dir()), str(state_dir())),
    )


def warm() -> None:
    """Have ready what a judgement needs: the first one would wait for the grammar of a shell."""
    prompt = Prompt(kind=PromptKind.PERMISSION, question="?", subject="true", tool="Bash")
    requests, _ = _requests(Matter(prompt=prompt, cwd="/"), "claude")
    _opinion(requests, Policy(exact=("true",)), "/", "")


def by_policy(policy: Policy, cli: str, home: str = "") -> Advise:
    """Who says what that policy says about the questions of an agent of that type."""

    async def advise(matter: Matter) -> Advice:
        async with asyncio.timeout(LONGEST):
            requests = await _wanted(matter, cli)
            # Looking where a link leads may take a while, and the others must not wait for it.
            opinion = await asyncio.to_thread(_opinion, requests, policy, matter.cwd, home)
        return Advice(
            stance=Stance(opinion.verdict.value),
            rule=opinion.rule,
            why=opinion.why,
            always=opinion.always,
            text=opinion.text,
        )

    return advise


async def _wanted(matter: Matter, cli: str) -> tuple[Request, ...]:
    """What is asked for, once the agent has written it down or does not any more."""
    tries, columns = 0, await matter.columns() if matter.payload is None else 0
    while True:
        requests, writes = await asyncio.to_thread(_requests, matter, cli, columns)
        shown = len(requests) == 1 and requests[0].complete
        by_file = matter.payload is not None or requests[0].written
        most = LATE if not shown else SOON if writes else 0
        if by_file or cli not in WRITERS or tries >= most:
            return requests
        tries += 1
        await matter.pause(PAUSE)


def _requests(matter: Matter, cli: str, columns: int = 0) -> tuple[tuple[Request, ...], bool]:
    """The requests that it may be: of a hook's payload, of a file, or of the dialog alone.

    And whether there is a file.
    """
    # Imported late: most agents never ask in mode auto.
    from koboshi.policy.dialogs import COLUMNS, request_of_prompt  # noqa: PLC0415
    from koboshi.policy.hooks import request_of_hook  # noqa: PLC0415
    from koboshi.policy.written import shown_calls, speaks_of_another  # noqa: PLC0415

    if matter.payload is not None:
        request = request_of_hook(dict(matter.payload))
        return (() if request is None else (request,)), False
    written = matter.calls()
    calls = [(each.tool, each.given, each.cwd) for each in written or ()]
    dialog = request_of_prompt(matter.prompt, cli, matter.cwd, columns or COLUMNS)
    if speaks_of_another(matter.prompt, calls):
        dialog = replace(dialog, complete=False)
    return shown_calls(matter.prompt, calls) or (dialog,), written is not None


def _opinion(requests: tuple[Request, ...], policy: Policy, cwd: str, home: str) -> Opinion:
    """The strictest opinion of what it may be."""
    from koboshi.policy.judging import judge  # noqa: PLC0415 - the grammar of a shell is large
    from koboshi.policy.requests import Opinion, Word, stricter  # noqa: PLC0415

    if not requests:
        return Opinion(verdict=Word.ASK, rule="unparsed", why="what it asks for is not known")
    around = surroundings(cwd, home)
    return reduce(stricter, (judge(request, policy, around) for request in requests))
