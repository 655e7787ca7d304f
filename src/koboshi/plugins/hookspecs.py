"""Every extension point on one screen.

A plug-in is a module, or any object, named in the entry-point group `koboshi`:

    # pyproject.toml
    [project.entry-points.koboshi]
    night-rules = "night_rules"

    # night_rules.py
    from koboshi.core.rules import rule
    from koboshi.plugins import hookimpl

    @hookimpl
    def register_rules():
        return [my_rule]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.core.rules import Rule

GROUP = "koboshi"

_F = TypeVar("_F", bound="Callable[..., Any]")
_spec = pluggy.HookspecMarker(GROUP)
_impl = pluggy.HookimplMarker(GROUP)


def hookimpl(function: _F) -> _F:
    """Mark a function of a plug-in as one of these."""
    return _impl(function)


@_spec
def register_rules() -> Iterable[Rule]:  # type: ignore[empty-body]
    """Rules to add, made with `@rule`; they look after the built-in ones."""
