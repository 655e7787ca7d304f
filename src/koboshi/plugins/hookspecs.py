"""Every extension point on one screen.

A plug-in is a module, or any object, named in the entry-point group `koboshi`:

    # pyproject.toml
    [project.entry-points.koboshi]
    night-rules = "night_rules"

    # night_rules.py
    from koboshi.core.actions import Notify
    from koboshi.core.events import Severity
    from koboshi.plugins import Proposal, hookimpl, rule

    @rule("NGT001", "worktree-in-tmp", Severity.P1)
    def worktree_in_tmp(view, now):
        "The agent works in a folder that a reboot removes."
        if not view.context.worktree.startswith("/tmp/"):
            return None
        text = f"{view.context.agent} works in {view.context.worktree}"
        told = Notify(about=f"{view.run.number}.tmp", text=text, severity=Severity.P1)
        return Proposal(message=text, actions=(told,))

    @hookimpl
    def register_rules():
        return [worktree_in_tmp]

A module without `register_rules` brings all that it made with `@rule`. A check gets what is known
and the time, returns a proposal or None, and does nothing else (law 1). One that raises, returns
anything else, asks in a person's name or is slow is named in the log and switched off: guarding.py.
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
