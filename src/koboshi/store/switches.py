"""What a person said of single rules, beside the files: `observe` or `act`, for all agents.

A switch is an order, not configuration: it is kept in the state folder (`rules.json`), holds until
it is taken back, and no line of anybody's `koboshi.toml` is changed for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from koboshi.errors import InputError

from .shelves import make_private, write_whole

if TYPE_CHECKING:
    from koboshi.core.rules import Rule

FILE = "rules.json"
#: What can be said of a rule; the last one takes back what was said.
WORDS = ("observe", "act", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """What was said of one rule."""

    mode: Literal["observe", "act"]
    utc: float  #: when

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {"mode": self.mode, "utc": round(self.utc, 3)}


def switches_in(state: Path) -> dict[str, Switch]:
    """What was said, by code; `InputError` when it cannot be read."""
    path = state / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Switch])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        hint = f"remove {path}: every rule is then as its file has it"
        raise InputError(f"{path} cannot be read: {error}", hint=hint) from error


def switch(state: Path, code: str, word: str, utc: float) -> None:
    """Keep that word about a rule, durably."""
    if word not in WORDS:
        raise InputError(f"expected one of {', '.join(WORDS)}, not {word!r}")
    said = {key: each for key, each in switches_in(state).items() if key != code}
    if word != "default":
        said[code] = Switch(mode="observe" if word == "observe" else "act", utc=utc)
    make_private(state)
    write_whole(state / FILE, msgspec.json.format(msgspec.json.encode(said), indent=1))


def switched(rules: tuple[Rule, ...], said: Mapping[str, Switch]) -> tuple[Rule, ...]:
    """These rules with what was said of them."""
    return tuple(
        replace(rule, observes=said[rule.code].mode == "observe") if rule.code in said else rule
        for rule in rules
    )
