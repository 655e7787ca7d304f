"""The tools of `koboshi mcp`: each asks at the daemon's door on behalf of the agent around us.

What the model is told of a tool is its description; what it reads back is a sentence. Only
`koboshi mcp` imports this: the SDK takes its time.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from koboshi import __version__
from koboshi.errors import DaemonError, InputError, KoboshiError

from .reload import ask as ask_for_restart
from .reload import who

_Said = TypeVar("_Said")

#: Minutes that a person is waited for, and at most.
WAITS, LONGEST_WAIT = 10.0, 120.0
#: Seconds of one request; the tool asks again under the same ticket, whatever became of the daemon.
SLICE, AGAIN = 15.0, 1.0

RESTART = (
    "Restart this agent: the process ends at once, whatever it is doing, and comes back within "
    "seconds. Use it after a change that only a new process sees (a new MCP server, new settings, "
    "new instructions), or with fresh=true when the context is full. The next run is told the "
    "reason and the context, once. End your turn after the call."
)
HAND_OVER = (
    "Hand your work over to a fresh run of yourself with an empty context, at the end of this "
    "turn. The note is all that the next run knows: what you were asked to do, what is done, what "
    "is under way (files, commands, branches), what comes next, what to beware of. Uncommitted "
    "files stay as they are. End your turn after the call."
)
ASK = (
    "Ask the person you work for, and wait for the answer. Only for what you cannot find out and "
    "may not decide yourself: they may be asleep. options: answers to choose from, if there are "
    "some. If nobody answers in time, go on with what does not depend on it."
)
PROGRESS = (
    "Say in one sentence how far you have come; the person sees it in koboshi's overview and in "
    "the morning report. Call it when a part of the work is done, not at every step."
)
PLAN = (
    "What the plan file of this project says: its status, its goal, its steps and which one is "
    "being worked on. file: the plan, if it is not M1.md."
)


def toolbox() -> MCPServer[Any]:
    """The server with all tools."""
    server = MCPServer[Any]("koboshi", version=__version__, log_level="WARNING")
    for function, words in (
        (restart_me, RESTART),
        (hand_over, HAND_OVER),
        (ask_human, ASK),
        (report_progress, PROGRESS),
        (plan_status, PLAN),
    ):
        server.tool(description=words, structured_output=False)(function)
    return server


async def restart_me(reason: str, context: str = "", fresh: bool = False) -> str:  # noqa: FBT001, FBT002 - a tool's arguments have names
    """Restart the agent around us."""
    return await _errand(lambda: ask_for_restart(None, reason=reason, context=context, fresh=fresh))


async def hand_over(note: str, reason: str = "") -> str:
    """Have the next run begin with that note."""
    said = await _errand(lambda: _ask("refresh", note=note, reason=reason or "it asked for it"))
    return f"The note is kept as {said['note']}. End your turn now: your next run begins with it."


async def ask_human(
    question: str,
    ctx: Context[Any, Any],
    options: list[str] | None = None,
    wait_minutes: float = WAITS,
) -> str:
    """Ask a person, and wait; the daemon may come and go meanwhile."""
    seconds = 60.0 * min(max(wait_minutes, 0.0), LONGEST_WAIT)
    start, ticket = time.monotonic(), secrets.token_hex(8)
    words = {"ticket": ticket, "question": question, "options": options or []}
    while (left := start + seconds - time.monotonic()) > 0:
        said = await _errand(partial(_wait, min(SLICE, left), **words))
        if said["answer"]:
            return f"The person answered: {said['answer']}"
        await ctx.report_progress(time.monotonic() - start, seconds, "waiting for a person")
    return f"Nobody answered within {wait_minutes:g} minutes. Go on without an answer if you can."


async def report_progress(text: str) -> str:
    """Tell how far the agent has come."""
    await _errand(lambda: _ask("progress", text=text))
    return "Noted."


async def plan_status(file: str = "") -> str:
    """What the plan in the agent's folder says."""
    return await _errand(lambda: _plan(file))


async def _errand(act: Callable[[], _Said]) -> _Said:
    """Do it beside the protocol, which must go on; mistakes become sentences for the model."""
    try:
        return await asyncio.to_thread(act)
    except (KoboshiError, OSError) as error:
        hint = getattr(error, "hint", "")
        raise ToolError(f"{error} ({hint})" if hint else str(error)) from None


def _ask(verb: str, *, patience: float = 10.0, **args: Any) -> Any:  # noqa: ANN401
    """Ask for the agent around us; a run that nobody numbered cannot speak for itself."""
    from koboshi.daemon.control.client import call
    from koboshi.store.paths import state_dir

    agent, run = who(None)
    if not run:
        raise InputError("expected to be inside a run that koboshi started, and this is none")
    return call(state_dir(), verb, patience=patience, name=agent, run=run, **args)


def _wait(seconds: float, **words: Any) -> dict[str, Any]:  # noqa: ANN401
    """One slice of waiting; a daemon that ends in the middle of it is asked again."""
    try:
        said: dict[str, Any] = _ask("ask", patience=seconds + 10.0, wait=seconds, **words)
        return said
    except DaemonError:
        time.sleep(AGAIN)
        return {"answer": None}


def _plan(file: str) -> str:
    from pathlib import Path

    from koboshi.store.paths import plans_dir, state_dir
    from koboshi.store.planfile import PlanFile

    from .loop.show import DEFAULT

    path = Path(file or DEFAULT)
    if not path.exists():
        return f"There is no plan: {path} is not there."
    plan = PlanFile(path, plans_dir(state_dir())).read()
    rows = [f"{plan.status.value}: {plan.goal}"]
    rows += [f"but: {plan.constraints}"] if plan.constraints else []
    for step in plan.steps:
        mark = " ← current" if step.number == plan.current_step else ""
        rows.append(f"step {step.number} [{step.state.value}] {step.text}{mark}")
    rows += [f"last: {plan.last_action}"] if plan.last_action else []
    rows += [f"next: {plan.next_action}"] if plan.next_action else []
    rows += [f"damaged, {fault}" for fault in plan.faults]
    return "\n".join(rows)
