"""A koboshi, its page and a browser for each test; a module says how its koboshi is set up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.browsers import Browser, browser
from tests.browser.serving import Served
from tests.conftest import need
from tests.daemon.trials import Trial, trial


@pytest.fixture
def own_file() -> str:
    """The owner's configuration; a module that needs one has a fixture of this name."""
    return ""


@pytest.fixture
def koboshi(tmp_path: Path, own_file: str) -> Iterator[Trial]:
    """A koboshi of its own."""
    need("tmux")
    with trial(tmp_path) as made:
        if own_file:
            made.configure(own_file)
        yield made


@pytest.fixture
def served(koboshi: Trial) -> Iterator[Served]:
    """That koboshi with its page, whose server had nothing to complain of."""
    made = Served(koboshi)
    try:
        yield made
    finally:
        assert made.end() == ""


@pytest.fixture
def chrome(chromium: Path, tmp_path: Path) -> Iterator[Browser]:
    """A browser of its own."""
    with browser(chromium, tmp_path / "chromium") as made:
        yield made
