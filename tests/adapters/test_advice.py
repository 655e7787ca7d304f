"""What a person's settings keep koboshi from."""

from __future__ import annotations

import json

from koboshi.adapters.advice import advice


def keys(files: dict[str, str]) -> list[tuple[str, str]]:
    """File and key of each advice."""
    return [(told.file, told.key) for told in advice(files)]


def test_a_cli_that_nobody_uses_is_not_spoken_of() -> None:
    """No files, no advice."""
    assert advice({}) == ()


def test_settings_that_keep_an_agent_from_being_supervised_are_named() -> None:
    """Each with the reason, and what to write instead."""
    files = {".claude.json": json.dumps({"hasCompletedOnboarding": True})}

    (told,) = advice(files)

    assert (told.agent, told.key) == ("claude", "leftArrowOpensAgents")
    assert "CLAUDE_CODE_DISABLE_AGENT_VIEW" in told.why
    assert told.cure == '"leftArrowOpensAgents": false'


def test_settings_that_are_right_are_not_spoken_of() -> None:
    """Nothing is told twice, or for nothing."""
    right = {"hasCompletedOnboarding": True, "leftArrowOpensAgents": False}
    status_line = '[tui]\nstatus_line = ["context-used"]\n'
    footer = {"footer": {"hideContextPercentage": False}}
    gemini = {"general": {"disableAutoUpdate": True}, "ui": footer}

    assert keys({".claude.json": json.dumps(right)}) == []
    assert keys({".codex/config.toml": status_line}) == []
    assert keys({".gemini/settings.json": json.dumps(gemini)}) == []


def test_a_file_that_cannot_be_read_is_named() -> None:
    """It is the person's, and nothing is changed in it."""
    assert keys({".codex/config.toml": "= x"}) == [(".codex/config.toml", "")]
    assert keys({".gemini/settings.json": "[]"}) == [(".gemini/settings.json", "")]
    assert keys(
        {".claude.json": '{"autoCompactEnabled": false, "hasCompletedOnboarding": true}'}
    ) == [
        (".claude.json", "leftArrowOpensAgents"),
        (".claude.json", "autoCompactEnabled"),
    ]
