"""Aftermath: what is made of one agent's incidents, by the owner's file.

Everything here is read and written beside the loop, with a time limit: an agent that has crashed is
started again whether or not its bundle is finished.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import TYPE_CHECKING, Any

import msgspec

from koboshi.config.outside import HEADLESS
from koboshi.config.whole import hook_names
from koboshi.core.actions import Bundle, Command, Escalate, FixPrompt, Mode, Notify, Start
from koboshi.core.events import ActionFinished, Ending, Order, OrderGiven, Outcome, Severity
from koboshi.incidents.commands import Ran, argv_of, ran
from koboshi.incidents.prompts import TYPED
from koboshi.performers.programs import argv
from koboshi.store.paths import journal_dir
from koboshi.store.redaction import redact, secret_values
from koboshi.store.wording import action_words

from .collecting import Collector, prompt_about, write_prompt
from .mending import Mender

if TYPE_CHECKING:
    from koboshi.config.outside import Hook, Program
    from koboshi.core.actions import Action

    from .reach import Reach
    from .solo import Post
    from .supervisor import Supervisor

log = logging.getLogger(__name__)

#: Seconds that all of a bundle may take.
PATIENCE = 60.0


class Aftermath:
    """Of one agent."""

    def __init__(self, post: Post, reach: Reach, supervisor: Supervisor) -> None:
        self._post, self._reach, self._supervisor = post, reach, supervisor
        self._folder = journal_dir(post.state, post.agent).parent
        self._mender = Mender(post, supervisor)

    def attend(self) -> None:
        """Be what the supervisor's hands reach the outside with."""
        hands = self._supervisor.hands
        hands.outside, hands.before, hands.after = self.outside, self.before, self.after
        hands.replaced, hands.instead = self.replaced, self.instead
        self._supervisor.aftermath = self

    def mask(self, text: str, *, cols: int = 0) -> str:
        """The text without secrets."""
        environment = {**os.environ, **(self._post.program.env or {})}
        return redact(text, secrets=secret_values(environment), cols=cols)

    async def outside(self, action: Bundle | FixPrompt | Command) -> Outcome:
        """Do that."""
        try:
            if isinstance(action, Bundle):
                said = str(await self.bundle(action.text, action.key))
            elif isinstance(action, FixPrompt):
                said = await self._prompt(action)
            else:
                return await self._command(action)
        except TimeoutError:
            return Outcome(ending=Ending.FAILED, why=f"not within {PATIENCE:g} s")
        except (OSError, ValueError) as error:
            return Outcome(ending=Ending.FAILED, why=f"cannot be written: {error}")
        except Exception as error:
            # What is made of a crash must not be the end of whoever looks after the agent.
            log.exception("not made", extra={"action": action.kind})
            return Outcome(ending=Ending.FAILED, why=f"{type(error).__name__}: {error}")
        return Outcome(ending=Ending.DONE, why=said)

    async def bundle(self, text: str, key: str) -> str:
        """Collect everything into one file; its path, and what came of uploading it."""
        wanted = self._reach.owned.file.incidents
        collector = Collector(self._post, self._supervisor, self.mask)
        async with asyncio.timeout(PATIENCE):
            path = await collector.collect(text, key, wanted)
        if not wanted.upload:
            return str(path)
        return f"{path}; {await self._reach.courier.bring(path, self._post.agent, key)}"

    # -- prompts -------------------------------------------------------------------------------

    async def prompt(self, text: str) -> str:
        """The words of a prompt, for whoever asks; nothing is written."""
        view = self._supervisor.world.view
        about = text or f"{view.status.value}: {view.belief.reason}"
        wanted = self._reach.owned.file.incidents
        said = await asyncio.to_thread(prompt_about, self._post, self._supervisor, about, wanted)
        return self.mask(said)

    async def _prompt(self, action: FixPrompt) -> str:
        wanted = self._reach.owned.file.incidents
        async with asyncio.timeout(PATIENCE):
            path = await write_prompt(self._post, self._supervisor, action.text, wanted, self.mask)
        view = self._supervisor.world.view
        if not wanted.hand_over or view.paused or view.settings.mode < Mode.KEEP:
            return str(path)
        if wanted.hand_over == HEADLESS:
            said = await asyncio.to_thread(path.read_text, encoding="utf-8")
            return f"{path}; {await self._mender.hand(action, said)}"
        # In its own words and not as a path: to read a file outside of its folder it would have to
        # ask somebody, at night.
        said = await asyncio.to_thread(
            prompt_about, self._post, self._supervisor, action.text, wanted, part=TYPED
        )
        order = OrderGiven(order=Order.SEND, by="owner's file", text=self.mask(said).strip())
        self._supervisor.take(order)
        return f"{path}; handed over"

    # -- programs ------------------------------------------------------------------------------

    async def _command(self, action: Command) -> Outcome:
        program = self._reach.owned.file.commands.get(action.name)
        if program is None or not (program.run or program.shell):
            known = ", ".join(self._reach.owned.file.commands) or "none"
            return Outcome(
                ending=Ending.FAILED,
                why=f"no command {action.name!r} is configured (there: {known})",
            )
        came = await self._ran(program, self._facts(action, None))
        return Outcome(ending=Ending.DONE if came.fine else Ending.FAILED, why=str(came))

    async def before(self, action: Action) -> None:
        """Let the owner's program come first; the action follows, whatever came of it."""
        hook = self._hook(action, "before")
        if hook is not None:
            await self._follow(hook, action, self._facts(action, None))

    def replaced(self, action: Action) -> bool:
        """Whether a program of the owner's does that."""
        return self._hook(action, "instead") is not None

    async def instead(self, action: Action) -> Outcome:
        """What the owner's program did in the place of that action."""
        hook = self._hook(action, "instead")
        if hook is None:
            return Outcome(ending=Ending.SKIPPED, why="the owner's file was changed")
        self._supervisor.hands.touch(action.key)
        came = await self._ran(hook, self._facts(action, None))
        return Outcome(ending=Ending.DONE if came.fine else Ending.FAILED, why=f"hook {came}")

    def after(self, action: Action, outcome: Outcome) -> None:
        """Let the owner's program know; the action is over, and nothing waits for it."""
        hook = self._hook(action, "after")
        if hook is not None and outcome.ending is not Ending.SKIPPED:
            facts = self._facts(action, outcome)
            self._supervisor.runtime.spawn(self._follow(hook, action, facts))

    async def _follow(self, hook: Hook, action: Action, facts: dict[str, Any]) -> None:
        """Run it; what came of it is an event of its own."""
        came = await self._ran(hook, facts)
        text = f"{hook.when} {action_words(action)}"
        done = Command(about=action.key, name=f"[actions.{self._named(action)}]", text=text)
        outcome = Outcome(ending=Ending.DONE if came.fine else Ending.FAILED, why=str(came))
        self._supervisor.take(ActionFinished(key=done.key, action=done, outcome=outcome))

    def _hook(self, action: Action, when: str) -> Hook | None:
        hook = self._reach.owned.file.actions.get(self._named(action))
        return hook if hook and hook.when == when and (hook.run or hook.shell) else None

    def _named(self, action: Action) -> str:
        """The name of its hook, as the owner wrote it."""
        hooks = self._reach.owned.file.actions
        return next((name for name in hook_names(action) if name in hooks), "")

    async def _ran(self, program: Program, facts: dict[str, Any]) -> Ran:
        try:
            return await self._run(program, facts)
        except Exception as error:
            log.exception("not run", extra={"action": "command"})
            return Ran(code=None, said=f"{type(error).__name__}: {error}")

    async def _run(self, program: Program, facts: dict[str, Any]) -> Ran:
        text = json.dumps(self._masked(facts), ensure_ascii=False)
        return await ran(
            argv_of(program.run, program.shell),
            text.encode("utf-8", "backslashreplace") + b"\n",
            timeout=program.timeout,
            cwd=self._folder,
            env={**os.environ, "KOBOSHI_AGENT": self._post.agent},
            mask=self.mask,
        )

    def _masked(self, value: Any) -> Any:  # noqa: ANN401 - plain values, of any shape
        """Value by value: masked as a whole, JSON might be none afterwards."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, dict):
            return {key: self._masked(each) for key, each in value.items()}
        return [self._masked(each) for each in value] if isinstance(value, list | tuple) else value

    def _argv(self, action: Action) -> list[str]:
        """What koboshi would start."""
        hands = self._supervisor.hands
        return list(argv(action, hands)) if isinstance(action, Start) else []

    def _facts(self, action: Action, outcome: Outcome | None) -> dict[str, Any]:
        """What happened, for a program."""
        world = self._supervisor.world
        decision = self._supervisor.decided.get(action.key)
        finding = decision.finding if decision else None
        text = action.text if isinstance(action, Notify | Escalate | Bundle | FixPrompt) else ""
        return {
            "reason": text or (finding.message if finding else action_words(action)),
            "eventId": f"e{decision.cause}" if decision else f"e{world.seq}",
            "severity": (finding.severity if finding else Severity.P1).value,
            "details": {
                "action": {"kind": action.kind, **msgspec.to_builtins(action)},
                "rule": finding.code if finding else "",
                "evidence": list(finding.evidence) if finding else [],
                "argv": self._argv(action),
                "outcome": msgspec.to_builtins(outcome) if outcome else None,
            },
            "context": {
                **msgspec.to_builtins(world.view.context),
                "run": world.view.run.number,
                "status": world.view.status.value,
                "journal": str(self._folder / "journal"),
                "bundles": str(self._folder / "bundles"),
            },
        }
