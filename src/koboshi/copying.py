"""Another value of a frozen dataclass, with some fields changed.

Values are copied several times for each event, and the largest has three dozen fields:
`dataclasses.replace` checks each of them, and a loop over their names still takes several times as
long as the same lines written out. So these lines are written out, once for each class, as
`dataclasses` does it for `__init__`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

_T = TypeVar("_T")
_COPIERS: dict[type, Callable[[Any, dict[str, Any]], Any]] = {}


def evolve(old: _T, **changes: Any) -> _T:  # noqa: ANN401 - typed by the caller's keywords
    """`dataclasses.replace` for values with slots, without its checks. AttributeError: no field."""
    cls = type(old)
    copy = _COPIERS.get(cls) or _COPIERS.setdefault(cls, _copier(cls))
    new: _T = copy(old, changes)
    return new


def _copier(cls: type) -> Callable[[Any, dict[str, Any]], Any]:
    names = [each.name for each in fields(cls)]
    # A slot's own setter does not ask whether the value is frozen, and needs no look at the name.
    known = {f"set_{name}": getattr(cls, name).__set__ for name in names}
    known |= {"make": object.__new__, "cls": cls, "put": object.__setattr__}
    lines = [
        "def copy(old, changes):",
        "    new = make(cls)",
        *(f"    set_{name}(new, old.{name})" for name in names),
        "    for name in changes:",
        "        put(new, name, changes[name])",
        "    return new",
    ]
    exec("\n".join(lines), known)  # noqa: S102 - names of our own fields, and nothing else
    copy: Callable[[Any, dict[str, Any]], Any] = known["copy"]
    return copy
