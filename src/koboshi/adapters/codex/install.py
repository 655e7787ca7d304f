"""What `koboshi init --codex` puts into a project: `.codex/hooks.json`.

Codex reads it in a project that it trusts, and asks once whether these hooks may run. Until a
person has said so, each start stands at that question: so it is done only when asked for.
"""

from __future__ import annotations

from koboshi.adapters.splicing import Splice

#: What tells of a run; Codex has more events, of which nothing is known that a screen does not say.
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "Stop",
)
#: Seconds after which Codex gives up on a hook; it waits for each, the shim takes a hundredth.
TIMEOUT = 5
#: The one that may answer, and is waited for. Codex opens its dialog only after it; the shim and
#: who listens to it give up long before.
ASKS, ASKS_TIMEOUT = "PermissionRequest", 90

HOOKS = Splice(EVENTS, {"timeout": TIMEOUT}, (ASKS, {"timeout": ASKS_TIMEOUT}))
