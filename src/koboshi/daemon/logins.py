"""Which agents share a login: they share its usage limit, too.

Rule 1: what a login is made of may be a key. It is compared, and never shown or logged.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: By what an agent of that type is logged in, beside whose home it is.
_NAMES: dict[str, tuple[str, ...]] = {
    "claude": (
        "CLAUDE_CONFIG_DIR",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
    ),
    "codex": ("CODEX_HOME", "OPENAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "opencode": ("OPENCODE_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
}

Login = tuple[str, ...]


def login_of(agent_type: str, environment: Mapping[str, str] | None) -> Login:
    """What tells that login from others; an environment that nobody knows is taken for ours."""
    around = os.environ if environment is None else environment
    names = ("HOME", *_NAMES.get(agent_type, ()))
    return (agent_type, *(around.get(name, "") for name in names))


def peers(logins: Mapping[str, Login]) -> dict[str, int]:
    """Agent → how many others have the same login."""
    count = Counter(logins.values())
    return {agent: count[login] - 1 for agent, login in logins.items()}
