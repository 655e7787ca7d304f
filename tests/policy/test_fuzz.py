"""The fuzzers of `make fuzz`, in a size for every day."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policy.fuzz import RealShell, check_line, check_payload, check_prompt, repeat


def test_random_lines_never_raise_and_are_never_allowed_without_rules() -> None:
    """Bytes, words of a shell, rows of the table with a few changes."""
    repeat(check_line, 600, 0)


def test_random_payloads_never_raise() -> None:
    """Wrong types, too much of everything."""
    repeat(check_payload, 2000, 0)


def test_random_prompts_never_raise_and_are_never_allowed_without_rules() -> None:
    """Questions of every CLI with any subject."""
    repeat(check_prompt, 600, 0)


def test_what_is_allowed_does_not_run_anything_else_in_a_real_bash(tmp_path: Path) -> None:
    """`evil` stands in words, quotes, comments and here-documents; it must stay there."""
    if not Path("/usr/bin/bash").exists():
        pytest.skip("no /usr/bin/bash to compare with")
    shell = RealShell(tmp_path)
    repeat(shell.check, 500, 0)

    assert shell.ran > 50


def test_the_real_bash_would_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise its silence means nothing."""
    monkeypatch.setattr("tests.policy.fuzz._SECONDS", 30.0)
    if not Path("/usr/bin/bash").exists():
        pytest.skip("no /usr/bin/bash to compare with")
    with pytest.raises(AssertionError, match="it ran evil"):
        RealShell(tmp_path).run("good && $(good; evil)")
