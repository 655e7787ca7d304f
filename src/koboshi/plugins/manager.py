"""What plug-ins bring. One that is broken is named and skipped: the others do not notice."""

from __future__ import annotations

import functools
import importlib.metadata
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pluggy

from koboshi.core.rules import Rule
from koboshi.rules.catalogue import ALL, BUILTIN

from . import hookspecs
from .guarding import guarded
from .hookspecs import GROUP

log = logging.getLogger(__name__)

_CODE = re.compile(r"[A-Z]{1,6}-?[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What the plug-ins of this installation bring."""

    names: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    broken: tuple[str, ...] = ()  #: each: which plug-in, and what is wrong with it
    origins: Mapping[str, str] = field(default_factory=dict)  #: code of a rule → its plug-in


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
    origins: dict[str, str] = {}
    for entry in entries:
        try:
            brought = _rules_of(entry)
            _check(brought, {*rules, *(rule.code for rule in ALL)})
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever somebody's code does
            broken.append(f"plug-in {entry.name!r} is skipped: {type(error).__name__}: {error}")
            continue
        names.append(entry.name)
        rules |= {rule.code: guarded(entry.name, rule) for rule in brought}
        origins |= {rule.code: entry.name for rule in brought}
    return Installed(
        names=tuple(names), rules=tuple(rules.values()), broken=tuple(broken), origins=origins
    )


def in_force(ours: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """All rules that hold; where a plug-in has a code of ours, which are of files, ours counts."""
    codes = {rule.code for rule in ours}
    brought = tuple(rule for rule in installed().rules if rule.code not in codes)
    return (*BUILTIN, *brought, *ours)


def _rules_of(entry: Any) -> list[Any]:  # noqa: ANN401 - an entry point, or one in a test
    """A manager of its own for each: what one registers cannot break another."""
    plugins = pluggy.PluginManager(GROUP)
    plugins.add_hookspecs(hookspecs)
    plugin = entry.load()
    plugins.register(plugin, name=entry.name)
    plugins.check_pending()
    if not plugins.hook.register_rules.get_hookimpls():
        return [each for each in vars(plugin).values() if isinstance(each, Rule)]
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
