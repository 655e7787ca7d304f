"""What a rule of a file asks for: words → actions, each about its own occasion (law 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koboshi.core.actions import Bundle, Command, Escalate, FixPrompt, Notify, Send
from koboshi.core.events import ActionFinished, Ending
from koboshi.core.readings import Status
from koboshi.core.rules import Proposal
from koboshi.rules.asking import ask
from koboshi.rules.context import refresh_for

from .facts import LOG, facts_of

if TYPE_CHECKING:
    from koboshi.core.actions import Action
    from koboshi.core.events import Event, Moment, Severity
    from koboshi.core.rules import Check
    from koboshi.core.view import View

    from .conditions import Condition
    from .facts import Facts

#: Characters of a text in an action.
LONGEST = 1000
_AT_PROMPT = (Status.IDLE, Status.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action of a rule, as it is written."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What an action would be about."""

    view: View
    about: str
    said: str
    severity: Severity
    step: Step
    fresh: bool  #: it came up in this very run


def _notify(at: Occasion) -> tuple[Action, ...]:
    text = at.step.text or at.said
    return (Notify(about=at.about, text=text, severity=at.severity),)


def _escalate(at: Occasion) -> tuple[Action, ...]:
    """The owner's words say what is needed, where there are some."""
    if at.step.text:
        return (Escalate(about=at.about, text=at.step.text),)
    return (ask(at.about, at.said, "look at it"),)


def _bundle(at: Occasion) -> tuple[Action, ...]:
    return (Bundle(about=at.about, text=at.said),)


def _prompt(at: Occasion) -> tuple[Action, ...]:
    return (FixPrompt(about=at.about, text=at.said),)


def _command(at: Occasion) -> tuple[Action, ...]:
    return (Command(about=at.about, text=at.said, name=at.step.text),)


def _send(at: Occasion) -> tuple[Action, ...]:
    """Typed at its prompt; until it is there the rule goes on asking."""
    # What a crash left open is told first: whoever is sent on does it a second time.
    busy = at.view.restarting or bool(at.view.run.open)
    ready = at.view.status in _AT_PROMPT and not busy
    about = f"rule.{at.about}"
    if not ready or _typed(at.view, about):
        return ()
    return (Send(run=at.view.run.number, text=at.step.text, about=about),)


def _typed(view: View, about: str) -> bool:
    """Whether a run before this one was told that."""
    ends = (e.body for e in view.rare if isinstance(e.body, ActionFinished))
    return any(
        isinstance(b.action, Send) and b.action.about == about and b.outcome.ending is Ending.DONE
        for b in ends
    )


def _restart(at: Occasion) -> tuple[Action, ...]:
    """Once for an occasion: the run after it is another, and has its own."""
    return refresh_for(at.view, at.said, back=True) if at.fresh else ()


def _refresh(at: Occasion) -> tuple[Action, ...]:
    return refresh_for(at.view, at.said) if at.fresh else ()


#: Word → the actions it stands for at an occasion.
KINDS: dict[str, Callable[[Occasion], tuple[Action, ...]]] = {
    "notify": _notify,
    "escalate": _escalate,
    "debug_collect": _bundle,
    "bundle": _bundle,
    "generate_prompt": _prompt,
    "fix-prompt": _prompt,
    "command": _command,
    "send": _send,
    "restart": _restart,
    "refresh": _refresh,
}
#: Those that tell and touch nothing.
TELLING = ("notify", "escalate", "debug_collect", "bundle", "generate_prompt", "fix-prompt")
#: Those that are nothing without a text: what is typed, the name of a program.
_WITH_TEXT = ("send", "command")


def steps(value: object) -> tuple[Step, ...] | None:
    """The actions as they are written; None when they cannot be read."""
    if not isinstance(value, list):
        return None
    found = [_step(each) for each in value]
    return None if None in found else tuple(step for step in found if step is not None)


def _step(value: object) -> Step | None:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, text),) = value.items()
    else:
        kind, text = value, ""
    if not isinstance(kind, str) or kind not in KINDS or not isinstance(text, str):
        return None
    typable = len(text) <= LONGEST and text.isprintable()
    return Step(kind=kind, text=text) if typable and (text or kind not in _WITH_TEXT) else None


def check_of(
    code: str,
    name: str,
    severity: Severity,
    on: tuple[str, ...],
    condition: Condition,
    asked: tuple[Step, ...],
    message: str,
) -> Check:
    """The check of a rule: a function of the view, like every other."""
    patterns = condition.patterns

    def check(view: View, now: Moment) -> Proposal | None:
        facts = facts_of(view, now)
        seen = facts.last(on) if on else None
        looks = not on or seen is not None or (LOG in on and facts.nth(patterns) > 0)
        if not looks or not condition.holds(facts):
            return None
        lines = tuple(text for text in map(facts.text, patterns) if text)
        told = message or f"{name.replace('-', ' ')}{f': {lines[-1]}' if lines else ''}"
        about, fresh = _occasion(facts, patterns, seen or facts.newest(condition.counted))
        said = f"{view.context.agent}: {told}"
        actions = [
            action
            for step in asked
            for action in KINDS[step.kind](
                Occasion(
                    view=view,
                    about=f"{code}.{about}",
                    said=said,
                    severity=severity,
                    step=step,
                    fresh=fresh,
                )
            )
        ]
        evidence = (*lines, *(() if lines else view.belief.evidence))
        return Proposal(message=told, actions=tuple(actions), evidence=evidence)

    return check


def _occasion(facts: Facts, patterns: tuple[str, ...], seen: Event | None) -> tuple[str, bool]:
    """Something new that was heard, or else an event, or else a stretch of one status.

    Another run makes no old one new; whether it came up in this run is told beside it.
    """
    view = facts.view
    if patterns:
        return f"heard{facts.nth(patterns)}.{view.tally.settled}", facts.heard_in_run(patterns)
    if seen is not None:
        return f"e{seen.seq}", seen.now.at >= view.run.since
    return f"{view.run.number}.{view.belief.since:.3f}.{view.tally.settled}", True
