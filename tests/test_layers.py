"""The house rules hold in src/koboshi; and each check has been seen red on a small tree."""

from pathlib import Path

import pytest

from tests.layering import (
    Tree,
    banned_names,
    busy_packages,
    impurities,
    oversized,
    read_tree,
    wrong_imports,
)

SRC = Path(__file__).resolve().parent.parent / "src"


@pytest.fixture(scope="module")
def ours() -> Tree:
    """The real source tree."""
    return read_tree(SRC)


def test_imports_point_one_way(ours: Tree) -> None:
    """`core ← plans ← rules, adapters ← config ← … ← cli, web, fleet`."""
    assert wrong_imports(ours) == []


def test_core_and_rules_are_pure(ours: Tree) -> None:
    """No clock, no chance, no input or output, nothing but the standard library."""
    assert impurities(ours) == []


def test_sizes_are_kept(ours: Tree) -> None:
    """Modules, functions and the core stay small enough to be kept in mind."""
    assert oversized(ours) == []


def test_packages_only_re_export(ours: Tree) -> None:
    """An import of a package does nothing."""
    assert busy_packages(ours) == []


def test_names_say_something(ours: Tree) -> None:
    """The banned words do not come back."""
    assert banned_names(ours) == []


# --- the checks themselves -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("koboshi.core.gate", "from koboshi.store import journal"),
        ("koboshi.core.gate", "import koboshi.daemon.wire"),
        ("koboshi.core.gate", "def f():\n    from koboshi.rules import runs"),
        (
            "koboshi.core.gate",
            "import typing\nif typing.TYPE_CHECKING:\n    from koboshi.hosts import tmux",
        ),
        ("koboshi.core.gate", "from ..config import model"),
        ("koboshi.core.__init__", "from ..config import model"),
        ("koboshi.core.gate", "from .. import config"),
        ("koboshi.core.gate", "from koboshi import config"),
        ("koboshi.core.gate", "from koboshi import Agent"),
        ("koboshi.core.gate", "import koboshi.testing"),
        ("koboshi.rules.runs", "from koboshi.adapters import base"),
        ("koboshi.adapters.base", "from koboshi.rules import runs"),
        ("koboshi.hosts.tmux", "from koboshi.store import paths"),
        ("koboshi.store.paths", "from koboshi.hosts import tmux"),
        ("koboshi.sources.hooks", "from koboshi.performers import send"),
        ("koboshi.daemon.wire", "from koboshi.cli import main"),
        ("koboshi.daemon.wire", "from koboshi.testing import FakeHost"),
        ("koboshi.cli.main", "from koboshi.web import app"),
        ("koboshi.testing.hosts", "from koboshi.cli import main"),
        ("koboshi.testing.hosts", "from koboshi.web import app"),
        ("koboshi.__init__", "from koboshi.cli import main"),
        ("koboshi.errors", "from koboshi.core import events"),
        ("koboshi._hook", "from koboshi import errors"),
        ("koboshi.brain.main", "x = 1"),
        ("koboshi.scripted.turns", "from koboshi.core import events"),
        ("koboshi.scripted.turns", "from koboshi.errors import Error"),
        ("koboshi.adapters.base", "from koboshi.scripted import wording"),
    ],
)
def test_an_import_against_the_arrows_is_found(module: str, source: str) -> None:
    """Also inside functions, under TYPE_CHECKING and in relative form."""
    assert len(wrong_imports({module: source})) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("koboshi.core.gate", "from koboshi.core import events\nfrom . import actions\nimport re"),
        ("koboshi.core.gate", "from koboshi import errors\nfrom koboshi.errors import Error"),
        ("koboshi.core.__init__", "from .gate import Gate\nfrom koboshi.core.gate import Budget"),
        ("koboshi.rules.runs", "from koboshi.core.rules import rule"),
        ("koboshi.hosts.tmux", "from koboshi.config import model"),
        ("koboshi.testing.hosts", "from koboshi.daemon import wire\nimport koboshi.fleet"),
        ("koboshi.cli.main", "from koboshi.testing import demo\nfrom koboshi import __version__"),
        ("koboshi.testing.agents", "from koboshi.scripted.behaviour import Script"),
        ("koboshi.__main__", "from koboshi.cli.main import main"),
        ("koboshi.__init__", "from koboshi.core.events import Event"),
    ],
)
def test_an_import_along_the_arrows_is_fine(module: str, source: str) -> None:
    """The direction that the house plan draws."""
    assert wrong_imports({module: source}) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import os.path",
        "from time import monotonic",
        "def f():\n    import random",
        "from concurrent.futures import Future",
        "import click",
        "from datetime import datetime\nx = datetime.now()",
        "import datetime\nx = datetime.datetime.utcnow()",
        "from datetime import date\nx = date.today()",
        "x = open('f')",
        "print('x')",
    ],
)
@pytest.mark.parametrize("module", ["koboshi.core.gate", "koboshi.rules.runs"])
def test_impurity_is_found(module: str, source: str) -> None:
    """Each of these would make a replay differ from the night itself."""
    assert len(impurities({module: source})) == 1


def test_values_of_time_are_pure() -> None:
    """A rule may carry a time; it may not ask for it."""
    source = "from datetime import datetime, UTC\nx = datetime(2026, 1, 1, tzinfo=UTC)\ny = now()"

    assert impurities({"koboshi.core.gate": source, "koboshi.hosts.tmux": "import os"}) == []


def test_the_hook_shim_is_standard_library_only() -> None:
    """It runs in the agent's time: every import costs the agent."""
    assert impurities({"koboshi._hook": "import os, json, socket"}) == []
    assert len(impurities({"koboshi._hook": "import msgspec"})) == 1


@pytest.mark.parametrize(
    "tree",
    [
        {"koboshi.store.journal": "x = 1\n" * 401},
        {"koboshi.store.journal": "def f():\n" + "    x = 1\n" * 40},
        {"koboshi.store.journal": "class C:\n  async def f(self):\n" + "    x = 1\n" * 40},
        {f"koboshi.core.part{n}": "x = 1\n" * 396 for n in range(7)},
    ],
)
def test_oversize_is_found(tree: dict[str, str]) -> None:
    """One line too many is one too many."""
    assert len(oversized(tree)) == 1


@pytest.mark.parametrize(
    "tree",
    [
        {"koboshi.store.journal": "x = 1\n" * 400},
        {"koboshi.store.journal": "def f():\n" + "    x = 1\n" * 39},
        {"koboshi.rules.runs": "def f():\n    '''Why" + "\n    text" * 60 + "'''\n    return 1"},
        {f"koboshi.core.part{n}": "x = 1\n" * 360 for n in range(5)},
    ],
)
def test_the_limit_itself_is_fine(tree: dict[str, str]) -> None:
    """A docstring, such as a rule's page, does not count."""
    assert oversized(tree) == []


@pytest.mark.parametrize(
    "source",
    [
        "print('hello')",
        "x = 1",
        "def f(): ...",
        "if True:\n    import os",
        "import os\n__all__ = sorted(['os'])",
        "from .a import b, a\n__all__ = ['b', 'a']",
        "from .a import View, LIMIT\n__all__ = ['View', 'LIMIT']",
        "__all__ = ['nothing']",
    ],
)
def test_a_busy_package_is_found(source: str) -> None:
    """Importing a package has no effect but names."""
    assert len(busy_packages({"koboshi.core.__init__": source})) == 1


def test_re_exports_are_fine() -> None:
    """Docstring, imports, a version, a sorted `__all__`."""
    source = '"""Doc."""\nfrom .a import LIMIT, Agent, run\n__all__ = ["LIMIT", "Agent", "run"]'

    assert busy_packages({"koboshi.__init__": source + '\n__version__ = "1"'}) == []


@pytest.mark.parametrize(
    "source",
    [
        "class PaneManager: ...",
        "class HTTPHandler: ...",
        "class Info: ...",
        "def f():\n    class RunData: ...",
        "class A:\n    def process(self): ...",
        "async def process(): ...",
    ],
)
def test_a_banned_name_is_found(source: str) -> None:
    """Wherever it is defined."""
    assert len(banned_names({"koboshi.store.journal": source})) == 1


def test_banned_modules_are_found_and_near_misses_are_not() -> None:
    """Only the last word of a class counts."""
    assert len(banned_names({"koboshi.store.utils": ""})) == 1
    assert banned_names({"koboshi.store.a": "class DataLine: ...\ndef process_gone(): ..."}) == []
