"""What plug-ins bring. One that is broken is named and skipped: the others do not notice."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pluggy

from koboshi.core.rules import Rule
from koboshi.rules import BUILTIN

from . import hookspecs
from .hookspecs import GROUP

if TYPE_CHECKING:
    from koboshi.core.events import Moment
    from koboshi.core.rules import Check, Proposal
    from koboshi.core.view import View

log = logging.getLogger(__name__)

_CODE = re.compile(r"[A-Z]{1,6}-?[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What the plug-ins of this installation bring."""

    names: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    broken: tuple[str, ...] = ()  #: each: which plug-in, and what is wrong with it


@functools.lru_cache(maxsize=1)
def installed() -> Installed:
    """What is installed; asked for once."""
    found = gathered(importlib.metadata.entry_points(group=GROUP))
    for each in found.broken:
        log.warning("plug-in skipped", extra={"action": "plugins", "reason": each})
    return found


def gathered(entries: Iterable[Any]) -> Installed:
    """What these entry points bring."""
    names, broken = list[str](), list[str]()
    rules: dict[str, Rule] = {}
    for entry in entries:
        try:
            brought = _rules_of(entry)
            _check(brought, {*rules, *(rule.code for rule in BUILTIN)})
        except Exception as error:  # noqa: BLE001 - whatever somebody's code does
            broken.append(f"plug-in {entry.name!r} is skipped: {type(error).__name__}: {error}")
            continue
        names.append(entry.name)
        rules |= {rule.code: _guarded(entry.name, rule) for rule in brought}
    return Installed(names=tuple(names), rules=tuple(rules.values()), broken=tuple(broken))


def _rules_of(entry: Any) -> list[Any]:  # noqa: ANN401 - an entry point, or one in a test
    """A manager of its own for each: what one registers cannot break another."""
    plugins = pluggy.PluginManager(GROUP)
    plugins.add_hookspecs(hookspecs)
    plugins.register(entry.load(), name=entry.name)
    plugins.check_pending()
    return [rule for brought in plugins.hook.register_rules() for rule in brought]


def _check(rules: list[Any], taken: set[str]) -> None:
    for rule in rules:
        if not isinstance(rule, Rule):
            raise TypeError(f"expected a rule made with @rule, not {rule!r}")
        if not _CODE.fullmatch(rule.code):
            raise ValueError(f"expected a code such as 'OWN001', not {rule.code!r}")
        if rule.code in taken:
            raise ValueError(f"expected a code that no other rule has, not {rule.code!r}")
        taken.add(rule.code)


def _guarded(plugin: str, rule: Rule) -> Rule:
    """The rule, which finds nothing from the moment on at which it first raised."""
    return dataclasses.replace(rule, check=_caught(plugin, rule.code, rule.check))


def _caught(plugin: str, code: str, check: Check) -> Check:
    failed = False

    def caught(view: View, now: Moment) -> Proposal | None:
        nonlocal failed
        if failed:
            return None
        try:
            return check(view, now)
        except Exception as error:
            failed = True
            why = f"rule {code} of plug-in {plugin!r} is switched off: {error}"
            log.exception("plug-in failed", extra={"action": "plugins", "reason": why})
            return None

    return caught
