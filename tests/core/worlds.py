"""Short ways to make the values that the core works with, and a driver that keeps time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from koboshi.core.actions import Judge
from koboshi.core.engine import Decision, World, happen, step
from koboshi.core.events import (
    ActionFinished,
    Advice,
    Context,
    Ending,
    Moment,
    Origin,
    Outcome,
    RunStarted,
    ScreenRead,
    ScreenSame,
    Stance,
)
from koboshi.core.gate import Word
from koboshi.core.readings import (
    ApiError,
    ContextUse,
    Limit,
    Meaning,
    Option,
    Prompt,
    PromptKind,
    Reading,
    Status,
)
from koboshi.core.settings import Settings
from koboshi.core.view import View
from koboshi.rules import BUILTIN

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Body
    from koboshi.core.rules import Rule

#: An instant in November 2026; any would do.
UTC = 1_793_000_000.0
CONTEXT = Context(agent="a1", agent_type="scripted")
YES_NO = (
    Option(text="Yes", meaning=Meaning.ONCE, key="1"),
    Option(text="No", meaning=Meaning.NO, key="2"),
)


def moment(at: float, *, utc: float | None = None) -> Moment:
    """A time whose wall clock goes with it unless told otherwise."""
    return Moment(at=at, utc=UTC + at if utc is None else utc)


def blank(settings: Settings | None = None, rules: tuple[Rule, ...] = BUILTIN) -> World:
    """A world in which nothing has been seen."""
    return World(view=View(context=CONTEXT, settings=settings or Settings()), rules=rules)


def permission(subject: str = "npm test", **changes: object) -> Prompt:
    """A permission dialog."""
    prompt = Prompt(
        kind=PromptKind.PERMISSION,
        question="Do you want to proceed?",
        options=YES_NO,
        selected=0,
        subject=subject,
    )
    return replace(prompt, **changes)  # type: ignore[arg-type]


def asking(subject: str = "npm test", lines: tuple[str, ...] = ("> go",)) -> Reading:
    """A screen with a permission dialog."""
    return Reading(status=Status.ASKING, prompt=permission(subject), lines=lines)


def reading(
    status: Status,
    *,
    draft: str = "",
    used: float | None = None,
    limit: Limit | None = None,
    error: str = "",
    lines: tuple[str, ...] = ("> go",),
) -> Reading:
    """A screen without a dialog."""
    return Reading(
        status=status,
        reason="shown",
        draft=draft,
        context=None if used is None else ContextUse(used=used),
        limit=limit,
        error=ApiError(code=error) if error else None,
        lines=lines,
    )


def outcome(action: Action, ending: Ending = Ending.DONE, why: str = "") -> ActionFinished:
    """How an action came out."""
    return ActionFinished(key=action.key, action=action, outcome=Outcome(ending=ending, why=why))


@dataclass(slots=True)
class Driver:
    """Feeds facts to a world at chosen times and keeps what was decided."""

    world: World = field(default_factory=blank)
    at: float = 0.0
    utc_ahead: float = UTC
    looks: int = 0
    decided: list[Decision] = field(default_factory=list)

    @property
    def view(self) -> View:
        """What is known now."""
        return self.world.view

    @property
    def now(self) -> Moment:
        """The time."""
        return Moment(at=self.at, utc=self.at + self.utc_ahead)

    def tell(self, body: Body, *, after: float = 1.0) -> tuple[Decision, ...]:
        """One more fact, that many seconds later; what was decided."""
        self.at += after
        self.world, decisions = step(self.world, happen(self.world, body, self.now))
        self.decided += decisions
        return decisions

    def start(self, run: int = 1, origin: Origin = Origin.FIRST, session: str = "s1") -> None:
        """A run starts."""
        self.tell(RunStarted(run=run, origin=origin, place=f"%{run}", session=session))

    def see(self, shown: Reading, *, after: float = 1.0) -> tuple[Decision, ...]:
        """A look at the current run that shows something new."""
        self.looks += 1
        at = self.at + after
        body = ScreenRead(
            run=self.view.run.number, reading=shown, digest=f"d{self.looks}", seen_at=at
        )
        return self.tell(body, after=after)

    def see_same(self, *, after: float = 1.0) -> tuple[Decision, ...]:
        """A look that shows what the one before it showed."""
        at, sight = self.at + after, self.view.sight
        body = ScreenSame(run=self.view.run.number, digest=sight.digest, seen_at=at)
        return self.tell(body, after=after)

    def judge(self, stance: Stance = Stance.ALLOW, why: str = "") -> tuple[Decision, ...]:
        """What the policy says about the question that is being judged; what was decided then."""
        [action] = [a for a in self.world.ledger.in_flight() if isinstance(a, Judge)]
        said = Outcome(ending=Ending.DONE, advice=Advice(stance=stance, why=why))
        return self.tell(ActionFinished(key=action.key, action=action, outcome=said), after=0.0)

    def finish(self, action: Action, ending: Ending = Ending.DONE, why: str = "") -> None:
        """That action comes out."""
        self.tell(outcome(action, ending, why))


def admitted(decisions: tuple[Decision, ...] | list[Decision]) -> list[Action]:
    """The actions that go to a performer."""
    return [d.action for d in decisions if d.verdict.admitted]


def words(decisions: tuple[Decision, ...]) -> list[tuple[str, Word]]:
    """What was decided, in short."""
    return [(d.action.key, d.verdict.word) for d in decisions]
