"""Secrets stay in the house: what is told at the door is masked, whoever asks and whatever for.

Rule 1: everything is masked but what is named here: a new verb is, before anybody thinks of it.
Rule 2: nobody is asked who they are. A page for people who may only look, a board, a program: each
shows on what it was told, and whoever needs the secret itself has the terminal.
Rule 3: words of our own and names of ours are left: programs look agents up by them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from koboshi.adapters.text import width
from koboshi.errors import KoboshiError
from koboshi.store.redaction import redact, secret_values

if TYPE_CHECKING:
    from koboshi.store.roster import Roster

    Verb = Callable[[dict[str, Any]], Awaitable[Any]]

#: What a program runs or opens next, bytes of files that were redacted when they were made, and
#: what an agent is told by its own tools.
NOT_SHOWN = frozenset({"attach", "ask", "bundle", "piece"})
#: They know how wide the terminal is, and mask by themselves.
THEMSELVES = frozenset({"picture", "screen"})
#: Long ones, made of files: masked beside the loop, which has agents to look after.
LONG = frozenset({"why", "timeline", "history", "notes", "prompt"})
#: Fields that hold our own words, our own names, or what a person typed to name a place.
OURS = frozenset(
    {
        *("agent", "id", "name", "type", "host", "mode", "cwd", "status", "epoch", "version"),
        *("session", "place", "origin", "kind", "meaning", "source", "level", "code", "ending"),
        *("outcome", "halted", "state", "verbs", "commit", "commits", "stage", "through", "rule"),
        *("doing", "folder", "sessions"),
    }
)
#: Characters of the shortest secret.
_SHORTEST = 6
#: Texts whose masks are remembered: what many agents say does not change often.
_REMEMBERED = 8192


class Masks:
    """Masks what is said of the agents on one roster."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._secrets: dict[str, tuple[object, tuple[str, ...]]] = {}

    def over(self, table: Mapping[str, Verb]) -> dict[str, Verb]:
        """The same verbs, with what they say masked."""
        bare = NOT_SHOWN | THEMSELVES
        return {n: v if n in bare else partial(self._masked, n, v) for n, v in table.items()}

    async def _masked(self, name: str, verb: Verb, args: dict[str, Any]) -> Any:  # noqa: ANN401
        agent = args.get("name", args.get("id", ""))
        agent = agent.partition(":")[0] if isinstance(agent, str) else ""
        try:
            told = await verb(args)
        except KoboshiError as error:
            error.args = tuple(self.value(agent, each) for each in error.args)
            error.hint = self.text(agent, error.hint)
            raise
        if name in LONG:
            return await asyncio.to_thread(self.value, agent, told)
        return self.value(agent, told)

    def value(self, agent: str, value: Any) -> Any:  # noqa: ANN401 - JSON values
        """That, with every secret in it masked; `agent` is whom it is about, if it does not say."""
        if isinstance(value, str):
            return self.text(agent, value)
        if isinstance(value, list | tuple):
            if value and all(isinstance(each, str) and "\n" not in each for each in value):
                # Rows of one screen: a secret may begin in one and end in the next.
                return self.text(agent, "\n".join(value)).split("\n")
            return [self.value(agent, each) for each in value]
        if isinstance(value, dict):
            about = value.get("agent", agent)
            about = about if isinstance(about, str) else agent
            return {k: v if _ours(k, v) else self.value(about, v) for k, v in value.items()}
        return value

    def text(self, agent: str, text: str, *, cols: int = 0, names: Iterable[str] = ()) -> str:
        """One text about that agent; `cols`: of its terminal, where that is known."""
        if len(text) < _SHORTEST:
            return text
        return _remembered(text, self.secrets(agent), tuple(names), cols)

    def meant(self, agent: str, text: str, offered: Iterable[str]) -> str:
        """What somebody means who saw only masks: the option that they were shown as that text."""
        shown = {self.text(agent, each).strip().casefold(): each for each in offered}
        return shown.get(text.strip().casefold(), text)

    def secrets(self, agent: str) -> tuple[str, ...]:
        """The secrets of that agent's environment, and of our own."""
        seen = self._roster.environment_seen(agent)
        known = self._secrets.get(agent)
        if known is None or known[0] != seen:
            environment = (self._roster.environment(agent) or {}) if seen else {}
            known = (seen, secret_values({**os.environ, **environment}))
            self._secrets[agent] = known
        return known[1]


def _ours(key: str, value: object) -> bool:
    """Whether that is a word of ours; what has more in it is looked into."""
    words = value if isinstance(value, list) else [value]
    return key in OURS and all(isinstance(each, str) for each in words)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str, secrets: tuple[str, ...], names: tuple[str, ...], cols: int) -> str:
    # The width is not told here: the longest row may be one that was wrapped.
    wide = cols or (max(map(width, text.split("\n"))) if "\n" in text else 0)
    return redact(text, secrets=secrets, names=names, cols=wide)
