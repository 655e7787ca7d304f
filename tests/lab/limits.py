"""How the API tells a CLI that its subscription is used up, or that something else is wrong."""

from __future__ import annotations

from tests.lab.model.turns import EVER, Refuse, Turn, refuse

#: A subscription of Claude Code's instead of a key, in name only.
LOGIN = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "dummy-oauth-token"}


def used_up(claim: str, resets: int) -> Turn:
    """The answer to Claude Code when that limit of its subscription is reached."""
    return refuse(
        429,
        times=EVER,
        anthropic_ratelimit_unified_status="rejected",
        anthropic_ratelimit_unified_reset=str(resets),
        anthropic_ratelimit_unified_representative_claim=claim,
    )


def codex_error(status: int, kind: str, **rest: object) -> Turn:
    """An error answer with a type that Codex looks at."""
    body = {"error": {"type": kind, "code": kind, "message": "scripted trouble", **rest}}
    return Turn(trouble=Refuse(status=status, body=body), times=EVER)


def codex_used_up(resets: int) -> Turn:
    """The answer to Codex when its plan is used up."""
    return codex_error(429, "usage_limit_reached", plan_type="plus", resets_at=resets)
