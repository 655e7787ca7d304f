"""What a log line says beside its words: which agent, how it is and why, and on what clues."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from koboshi.core.health import examine

if TYPE_CHECKING:
    from koboshi.core.engine import Decision
    from koboshi.core.events import Moment
    from koboshi.core.view import View

log = logging.getLogger(__name__)


def facts(view: View, now: Moment, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values
    """The `extra` of a log line about that agent at that time."""
    health = examine(view, now)
    return {
        "agent": view.context.agent,
        "run": view.run.number,
        "status": view.status.value,
        "health": health.level.value,
        "reasons": list(health.reasons),
        "clues": clue_words(view, now),
        "reason": view.belief.reason,
        **more,
    }


def clue_words(view: View, now: Moment) -> list[str]:
    """Every source with its word, since when it says that, and how old its last word is."""
    return [
        f"{clue.source.value} {clue.status.value} for {max(0.0, now.at - clue.since):.1f} s, "
        f"told {max(0.0, now.at - clue.at):.1f} s ago"
        for clue in view.clues
    ]


def tell(before: View, after: View, decisions: tuple[Decision, ...], now: Moment) -> None:
    """Log a change of status and every decision, each with the health it was taken in.

    A warning would reach the terminal of a program that set no logging up; who must be told of
    something is told by `notify` and `escalate`.
    """
    if not log.isEnabledFor(logging.INFO):
        return  # every step comes by here
    if before.status is not after.status:
        words = "%s is %s: %s"
        said = (after.context.agent, after.status.value, after.belief.reason)
        log.info(words, *said, extra=facts(after, now, action="see"))
    for decision in decisions:
        finding, verdict = decision.finding, decision.verdict
        level = logging.INFO if verdict.admitted else logging.DEBUG
        more = {
            "action": decision.action.kind,
            "key": decision.action.key,
            "rule": finding.code,
            "severity": finding.severity.value,
            "verdict": verdict.word.value,
            "evidence": list(finding.evidence),
        }
        words = "%s: %s (%s): %s %s"
        said_of = (after.context.agent, finding.message, finding.code, decision.action.kind)
        log.log(level, words, *said_of, verdict.word.value, extra=facts(after, now, **more))
