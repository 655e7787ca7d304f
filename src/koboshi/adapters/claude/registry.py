"""`~/.claude/sessions/<pid>.json`: what Claude Code says of itself, at every change.

It agreed with the screen wherever both were recorded. It outlives a killed process, so whoever
reads the file checks the process first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.values import word
from koboshi.core.events import SignalRead, Source
from koboshi.core.readings import Status

if TYPE_CHECKING:
    from koboshi.observations import RegistryRead

#: `shell` is an empty prompt with a command in the background.
_STATUS = {
    "busy": Status.WORKING,
    "idle": Status.IDLE,
    "shell": Status.IDLE,
    "waiting": Status.ASKING,
}


def read_registry(seen: RegistryRead) -> SignalRead | None:
    """What the file says; None when that is nothing we know. An empty one takes back the last."""
    if not seen.record:
        return SignalRead(run=seen.run, source=Source.REGISTRY)
    said, waits_for = word(seen.record, "status"), word(seen.record, "waitingFor")
    status = _STATUS.get(said)
    if status is None or word(seen.record, "kind") not in ("interactive", ""):
        return None
    about = f" ({waits_for})" if waits_for else ""
    return SignalRead(
        run=seen.run,
        source=Source.REGISTRY,
        status=status,
        reason=f"registry: {said}{about}",
        session=word(seen.record, "sessionId"),
    )
