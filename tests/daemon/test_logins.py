"""Who shares a login, and who only looks like it."""

from __future__ import annotations

import pytest

from koboshi.daemon.logins import login_of, peers

BASE = {"HOME": "/home/u", "ANTHROPIC_API_KEY": "k1", "PATH": "/bin"}


@pytest.mark.parametrize(
    ("agent_type", "environment", "shared"),
    [
        ("claude", {**BASE, "PATH": "/usr/bin"}, 1),
        ("codex", BASE, 0),
        ("claude", {**BASE, "ANTHROPIC_API_KEY": "k2"}, 0),
        ("claude", {**BASE, "HOME": "/home/v"}, 0),
        ("claude", {**BASE, "CLAUDE_CONFIG_DIR": "/elsewhere"}, 0),
    ],
)
def test_a_login_is_a_type_a_home_and_a_key(
    agent_type: str, environment: dict[str, str], shared: int
) -> None:
    """Whatever else differs between two environments makes no other login."""
    logins = {"a": login_of("claude", BASE), "b": login_of(agent_type, environment)}

    assert peers(logins) == {"a": shared, "b": shared}


def test_an_environment_that_is_not_known_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pane that somebody had before runs as the same user, most often with the same login."""
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k1")

    assert peers({"a": login_of("claude", None), "b": login_of("claude", None)})["a"] == 1
    assert peers({"a": login_of("claude", None)}) == {"a": 0}
