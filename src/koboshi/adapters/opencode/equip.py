"""What a run of OpenCode is given: a plug-in that tells which session it is in.

OpenCode takes no session id from outside, and without one nothing goes on after a crash.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING

from koboshi.adapters.equipment import Equipment

from .plugin import CONTENT, TELL, with_plugin

if TYPE_CHECKING:
    from koboshi.adapters.equipment import Kit


def equip(argv: tuple[str, ...], kit: Kit) -> Equipment:
    """The run with the plug-in, or as it is with a note."""
    path, plugin = (posixpath.join(kit.folder, name) for name in ("tell.sh", "tell.js"))
    content = with_plugin(kit.around.get(CONTENT, ""), plugin)
    if content is None:
        note = f"{CONTENT} cannot be read: it tells of no session, and comes back with a new one"
        return Equipment(argv=argv, note=note)
    files = {path: f"exec env {kit.command()}\n", plugin: TELL.replace("PATH", json.dumps(path))}
    return Equipment(argv=argv, env={**kit.env, CONTENT: content}, files=files)
