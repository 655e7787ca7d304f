"""Notice: one thing that a person should know, and the words in which many of them are told."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from koboshi.core.events import Severity

#: Lines of one message; a storm has thousands.
ROWS = 20
#: Characters of one line.
LONGEST = 500
#: What makes a chat ring everybody: Slack's `<!channel>`, Discord's `@everyone` and the like.
_CALLS = re.compile(r"<!|@(?=everyone|here|channel|all\b)", re.IGNORECASE)
_ORDER = {severity: n for n, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What happened, to whom, and how soon a person would want to know."""

    key: str  #: one per occasion, with `agent`
    agent: str
    text: str
    severity: Severity
    utc: float
    asks: bool = False  #: a person has to act; told until they say that they have

    @property
    def id(self) -> str:
        """The same occasion gives the same id."""
        return f"{self.agent}/{self.key}"


def at_least(one: Severity, least: Severity) -> bool:
    """Whether the first is as severe as the second, or more."""
    return _ORDER[one] <= _ORDER[least]


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What goes out in one piece."""

    title: str
    body: str
    severity: Severity


def letter(
    notices: tuple[Notice, ...], *, lost: int = 0, again: frozenset[str] = frozenset()
) -> Letter:
    """Those in one message: who is asked comes first, the same words once with their count."""
    worst = min((each.severity for each in notices), key=_ORDER.__getitem__, default=Severity.P2)
    counted = Counter(_row(each, again=each.id in again) for each in _sorted(notices))
    rows = [row if count == 1 else f"{row} (×{count})" for row, count in counted.items()]
    rest = sum(counted.values()) - sum(list(counted.values())[:ROWS])
    shown = rows[:ROWS]
    if rest:
        shown.append(f"… and {rest} more")
    if lost:
        shown.append(f"… and {lost} that were dropped while nothing could be sent")
    return Letter(title=_title(notices, worst, lost), body="\n".join(shown), severity=worst)


def _sorted(notices: tuple[Notice, ...]) -> list[Notice]:
    return sorted(notices, key=lambda each: (not each.asks, _ORDER[each.severity], each.utc))


def _tame(text: str) -> str:
    """One line that rings nobody and moves no terminal: agents wrote parts of it (law 11)."""
    said = "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))
    return _CALLS.sub(lambda found: f"{found[0][0]} {found[0][1:]}", said)


def _row(notice: Notice, *, again: bool) -> str:
    said = _tame(notice.text)
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
    if notice.agent and not said.startswith(f"{notice.agent}"):
        said = f"{notice.agent}: {said}"
    if not notice.asks:
        return said
    return f"{'Still needs you' if again else 'Needs you'}: {said}"


def _title(notices: tuple[Notice, ...], worst: Severity, lost: int) -> str:
    agents = list(dict.fromkeys(each.agent for each in notices if each.agent))
    who = agents[0] if len(agents) == 1 else f"{len(agents)} agents" if agents else "koboshi"
    count = len(notices) + lost
    asked = any(each.asks for each in notices)
    what = "needs you" if asked else worst.value
    return f"koboshi: {who} – {what}" + (f" ({count} notices)" if count > 1 else "")
