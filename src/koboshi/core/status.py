"""The status table: which status may follow which.

Rule 1: the table is the whole truth about transitions; `fold` asks `settle`, nobody else decides.
Rule 2: a run that is gone stays gone. Its last frame may show a spinner for ever (facts: after
SIGKILL the screen says "busy"); only `RunStarted` makes a new run, and that begins at `starting`.
Rule 3: a transition that is not in the table is a contradiction, and a contradiction is `unknown`.
"""

from __future__ import annotations

from .readings import Status

_S = Status
_LIVE = frozenset({_S.WORKING, _S.IDLE, _S.ASKING, _S.LIMITED, _S.FAILED})

#: From → what evidence about the same run may turn it into (staying is always allowed).
TRANSITIONS: dict[Status, frozenset[Status]] = {
    _S.STARTING: _LIVE | {_S.GONE, _S.UNKNOWN},
    _S.WORKING: _LIVE | {_S.GONE, _S.UNKNOWN},
    _S.IDLE: _LIVE | {_S.GONE, _S.UNKNOWN},
    _S.ASKING: _LIVE | {_S.GONE, _S.UNKNOWN},
    _S.LIMITED: _LIVE | {_S.GONE, _S.UNKNOWN},
    _S.FAILED: _LIVE | {_S.GONE, _S.UNKNOWN},
    _S.UNKNOWN: _LIVE | {_S.GONE, _S.STARTING},
    _S.GONE: frozenset(),
}


def settle(before: Status, claimed: Status) -> tuple[Status, str]:
    """What a claim makes of a status, and why when it is not what was claimed."""
    if claimed is before or claimed in TRANSITIONS[before]:
        return claimed, ""
    if before is Status.GONE:
        return before, f"the run is gone; a screen that shows {claimed.value!r} is its last frame"
    return Status.UNKNOWN, f"contradiction: {before.value!r} cannot become {claimed.value!r}"
