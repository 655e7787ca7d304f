"""Hooks of an agent that a person started: how they find who looks after its pane.

Such an agent has no variables of ours. Its hooks (`koboshi init`) know their terminal, though, and
look for a file of that name in the state folder: for as long as somebody looks after the pane it
says how to reach them. One that was left by a daemon that died leads to a socket where nobody is,
and the shim is gone at once.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from koboshi.adapters.splicing import PANES
from koboshi.hosts.adopted import AdoptedHost
from koboshi.performers.equipping import reach

if TYPE_CHECKING:
    from pathlib import Path

    from koboshi.performers.hands import Hands

log = logging.getLogger(__name__)


@contextlib.contextmanager
def signposted(hands: Hands) -> Iterator[None]:
    """While this lasts hooks in the agent's pane find us, where the pane is a person's."""
    gear, path = hands.program.gear, None
    if gear is not None and isinstance(hands.host, AdoptedHost):
        path = _put(gear.state / PANES, hands.host, hands)
    try:
        yield
    finally:
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()


def _put(folder: Path, host: AdoptedHost, hands: Hands) -> Path | None:
    """The file, as a whole: a hook may read it at any time."""
    name = host.terminal(hands.agent)
    if not name:
        return None
    said = {"KOBOSHI_AGENT": hands.agent, **reach(hands)}
    words = " ".join(f"{key}={shlex.quote(value)}" for key, value in said.items())
    path, draft = folder / name, folder / f".{name}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"export {words}\n")
        draft.replace(path)
    except OSError as error:
        facts = {"agent": hands.agent, "action": "watch", "reason": str(error)}
        log.warning("hooks of the pane will not find us", extra=facts)
        return None
    return path
