"""Whoever is asked reads in one line what is the matter and what is needed of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koboshi.rules
from koboshi.rules.asking import ask

_FOLDER = Path(koboshi.rules.__file__).parent
_MODULES = sorted(path for path in _FOLDER.glob("*.py") if path.stem != "asking")


@pytest.mark.parametrize("path", _MODULES, ids=lambda path: path.stem)
def test_no_rule_asks_without_saying_what_is_needed(path: Path) -> None:
    """`ask` wants it; nothing else of the rules makes an `Escalate`."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    names = [node.func.id for node in calls if isinstance(node.func, ast.Name)]

    assert "Escalate" not in names


@given(text=st.text(), needed=st.text(min_size=1))
def test_it_is_one_line(text: str, needed: str) -> None:
    """Whatever an agent printed."""
    asked = ask("1.x", text, needed)

    assert len(asked.text.splitlines()) == 1
    assert asked.text.endswith("; " + " ".join(needed.split())[:2000])
    assert len(ask("1.x", "a\n" * 9999, "look at it").text) < 2100
