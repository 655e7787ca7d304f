"""What a run of Codex is given: hooks of its own, by `-c`, and its trust in exactly these.

Codex asks a person about every hook that it does not know, and stands at that question. It knows
one by the digest of what it is; the digest of ours is given beside them, so that nothing is asked
about ours, and everything about any other: to switch that review off would trust a stranger's.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import shlex
from typing import TYPE_CHECKING, Any

from koboshi.adapters.equipment import Equipment
from koboshi.adapters.versions import within
from koboshi.adapters.words import extended

from .install import ASKS, ASKS_TIMEOUT, EVENTS, TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from koboshi.adapters.equipment import Kit

#: Whose digests are known to be these. Under another version the hooks could need a review, at
#: which each start would stand; without hooks there are the screen and keys.
VERSIONS = ">=0.166,<0.167"
#: Under which name Codex knows a hook that came with the command line.
_KEY = "/<session-flags>/config.toml:{event}:0:0"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_SETS = ("-c", "--config")


def equip(argv: tuple[str, ...], kit: Kit, version: str) -> Equipment:
    """The run with hooks that reach us, or as it is with a note."""
    if not within(version, VERSIONS):
        known = version or "of a version that is not known"
        note = f"Codex {known} gets no hooks, only {VERSIONS} does: it is answered by keys"
        return Equipment(argv=argv, note=note)
    if sets_hooks(argv):
        return Equipment(argv=argv, note="its command line has hooks of its own: ours are left out")
    path = posixpath.join(kit.folder, "codex-hook.sh")
    argv = extended(argv, hooks_option({event: _hook(event, path) for event in EVENTS}))
    return Equipment(argv=argv, env=kit.env, files={path: f'exec env {kit.command()} "$@"\n'})


def sets_hooks(argv: tuple[str, ...]) -> bool:
    """Whether a person gives hooks there, too: of two such options only one would count."""
    pairs = zip(argv, (*argv[1:], ""), strict=True)
    given = [after for word, after in pairs if word in _SETS]
    given += [word.removeprefix("--config=") for word in argv if word.startswith("--config=")]
    given += [word[2:].removeprefix("=") for word in argv if word.startswith("-c")]
    return any(re.match(r"[\s\"']*hooks\b", word) for word in given)


def hooks_option(hooks: Mapping[str, dict[str, Any]]) -> tuple[str, str]:
    """Hooks by event and their digests, as a TOML value on one line; it may have to be typed."""
    groups, states = [], []
    for event, hook in hooks.items():
        groups.append(f"{event}=[{{hooks=[{_table(hook)}]}}]")
        name = _WORD.sub("_", event).lower()
        state = _table({"trusted_hash": digest(name, hook)})
        states.append(f"{_value(_KEY.format(event=name))}={state}")
    return "-c", "hooks={" + ",".join((*groups, f"state={{{','.join(states)}}}")) + "}"


def _hook(event: str, path: str) -> dict[str, Any]:
    # In words that each shell understands: it is the user's own that runs them.
    command = shlex.join(("sh", path))
    if event != ASKS:
        # In the background: not even a machine under load makes the agent wait for us.
        return {"type": "command", "command": command, "timeout": TIMEOUT, "async": True}
    # Its dialog opens after the hook, so whoever sits there is told what it waits for.
    told = {"async": False, "statusMessage": "koboshi is asked; its dialog comes after"}
    return {"type": "command", "command": f"{command} ask", "timeout": ASKS_TIMEOUT, **told}


def digest(event: str, hook: dict[str, Any]) -> str:
    """By what Codex knows that hook: the SHA-256 of its facts as JSON in their order of names."""
    facts = {"event_name": event, "hooks": [hook]}
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()}"


def _table(facts: dict[str, Any]) -> str:
    return "{" + ",".join(f"{name}={_value(value)}" for name, value in facts.items()) + "}"


def _value(value: object) -> str:
    """A word, a number or a truth; what JSON leaves as it is and TOML does not is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
