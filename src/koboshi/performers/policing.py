"""The owner's policy over one agent's questions, with the disk that it needs to look at."""

from __future__ import annotations

import asyncio
import os
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
    from koboshi.policy.requests import Opinion

    from .advising import Advise

#: Seconds for a judgement: a path may lie on a disk that does not answer.
LONGEST = 10.0


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
    matter = Matter(prompt=Prompt(kind=PromptKind.PERMISSION, question="?", subject="true"))
    _opinion(matter, Policy(exact=("true",)), "claude", "/")


def by_policy(policy: Policy, cli: str, home: str = "") -> Advise:
    """Who says what that policy says about the questions of an agent of that type."""

    async def advise(matter: Matter) -> Advice:
        async with asyncio.timeout(LONGEST):
            # Looking where a link leads may take a while, and the others must not wait for it.
            opinion = await asyncio.to_thread(_opinion, matter, policy, cli, home)
        return Advice(
            stance=Stance(opinion.verdict.value),
            rule=opinion.rule,
            why=opinion.why,
            always=opinion.always,
            text=opinion.text,
        )

    return advise


def _opinion(matter: Matter, policy: Policy, cli: str, home: str) -> Opinion:
    # Imported late: the grammar of a shell is large, and most agents never ask in mode auto.
    from koboshi.policy.dialogs import request_of_prompt  # noqa: PLC0415
    from koboshi.policy.hooks import request_of_hook  # noqa: PLC0415
    from koboshi.policy.judging import judge  # noqa: PLC0415
    from koboshi.policy.requests import Opinion, Word  # noqa: PLC0415

    request = None if matter.payload is None else request_of_hook(dict(matter.payload))
    if matter.payload is None:
        request = request_of_prompt(matter.prompt, cli, matter.cwd)
    if request is None:
        return Opinion(verdict=Word.ASK, rule="unparsed", why="what it asks for is not known")
    return judge(request, policy, surroundings(matter.cwd, home))
