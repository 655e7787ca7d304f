"""Checks of the house rules over source text: who may import whom, purity, sizes, names.

Every check takes a tree of modules (`{"koboshi.core.gate": source}`) and returns complaints, so
that tests can feed it small trees with a fault in them. Nothing is imported, only parsed.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "koboshi"

# Imports point from a later line to an earlier one, never back, and never sideways.
RUNGS: tuple[tuple[str, ...], ...] = (
    ("errors", "copying", "observations", "wording"),
    ("core",),
    ("plans",),
    ("rules", "adapters", "policy"),
    ("config",),
    ("hosts", "store"),
    ("notices", "incidents", "metrics"),
    ("sources", "performers", "reports"),
    ("plugins",),
    ("daemon",),
    ("scripted",),
    ("testing", "demo"),
    ("cli", "web", "fleet"),
    ("__main__",),
)
RUNG = {name: height for height, rung in enumerate(RUNGS) for name in rung}

# Exceptions, (from, to), each with its reason.
ALLOWED = {
    ("testing", "fleet"),  # fakes for plug-in authors cover everything but the two front ends
}

# Modules that import nothing of ours; everybody may import them.
GROUND = frozenset({"copying", "errors", "observations", "wording", "_hook", "_version"})

# The scripted agent is a program to be supervised: it knows nothing of its supervisor, and no part
# of the supervisor below `testing` knows it.
ALONE = frozenset({"scripted"})

# The package itself (`from koboshi import …`) is for users and for what stands at the top.
FACADE_USERS = frozenset({"testing", "cli", "web", "fleet", "__main__"})
FACADE_AVOIDS = frozenset({"cli", "web"})

PURE = frozenset({"core", "plans", "rules"})
STDLIB_ONLY = PURE | {"_hook"}
# Standard modules that pure code may not import. `datetime` holds values; its clocks are below.
IMPURE_KINDS = {
    "clocks and chance": {"random", "sched", "secrets", "time", "uuid"},
    "concurrency": {
        "asyncio",
        "atexit",
        "concurrent",
        "multiprocessing",
        "queue",
        "signal",
        "threading",
    },
    "files and processes": {
        "fcntl",
        "fileinput",
        "glob",
        "io",
        "mmap",
        "os",
        "pathlib",
        "pty",
        "pwd",
        "resource",
        "shelve",
        "shutil",
        "sqlite3",
        "subprocess",
        "tempfile",
        "termios",
        "tty",
    },
    "network": {"http", "select", "selectors", "socket", "socketserver", "ssl", "urllib"},
    "the machine and the reader": {
        "ctypes",
        "getpass",
        "importlib",
        "locale",
        "logging",
        "platform",
        "warnings",
    },
}
IMPURE = frozenset[str]().union(*IMPURE_KINDS.values())
IMPURE_BUILTINS = frozenset({"breakpoint", "input", "open", "print", "__import__"})
CLOCKS = frozenset({"now", "today", "utcnow"})

MODULE_LINES = 400
FUNCTION_LINES = 40
CORE_LINES = 2900

BANNED_WORDS = frozenset({"Manager", "Handler", "Helper", "Util", "Utils", "Data", "Info"})
BANNED_FUNCTIONS = frozenset({"process"})
BANNED_MODULES = frozenset({"helpers", "util", "utils"})

Tree = Mapping[str, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | Function


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import statement's target, made absolute."""

    module: str
    line: int

    @property
    def top(self) -> str:
        """The first word: `koboshi`, `os`, `click`."""
        return self.module.partition(".")[0]


def read_tree(src: Path) -> dict[str, str]:
    """Every module under `src/koboshi`; packages carry the name of their `__init__`."""
    tree = {}
    for path in sorted((src / PACKAGE).rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        tree[".".join(parts)] = path.read_text(encoding="utf-8")
    return tree


def part_of(module: str) -> str:
    """Which part of koboshi a module belongs to: `koboshi.core.gate` → `core`; the package → ''."""
    return module.removesuffix(".__init__").partition(".")[2].partition(".")[0]


def imports(module: str, tree: Tree) -> Iterator[Import]:
    """All imports of a module, also those in functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(tree[module])):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module=alias.name, line=node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node)
            for alias in node.names:
                yield Import(module=target(base, alias.name, tree), line=node.lineno)


def absolute(module: str, node: ast.ImportFrom) -> str:
    """The absolute name in `from . import x`."""
    if not node.level:
        return node.module or ""
    parent = module.split(".")[: -node.level]
    return ".".join([*parent, node.module] if node.module else parent)


def target(base: str, name: str, tree: Tree) -> str:
    """`from koboshi import errors` means a module, `from koboshi import Agent` the package."""
    inner = f"{base}.{name}"
    known = inner in tree or f"{inner}.__init__" in tree
    return inner if known or (base == PACKAGE and name in RUNG) else base


# --- direction -----------------------------------------------------------------------------------


def wrong_imports(tree: Tree) -> list[str]:
    """Imports of ours that point against the arrows, and modules that stand on no rung."""
    complaints = []
    for module in tree:
        source = part_of(module)
        if source not in RUNG and source not in GROUND and source:
            complaints.append(f"{module}: {source!r} stands on no rung of tests/layering.py")
            continue
        for found in imports(module, tree):
            if found.top != PACKAGE:
                continue
            if not may_import(source, part_of(found.module)):
                complaints.append(f"{module}:{found.line}: may not import {found.module}")
    return complaints


def may_import(source: str, wanted: str) -> bool:
    """Whether one part of koboshi may import another."""
    if source in GROUND:
        return False
    if source == wanted:
        return True
    if source in ALONE:
        return False
    if wanted in GROUND:
        return True
    if not source:
        return wanted not in FACADE_AVOIDS
    if not wanted:
        return source in FACADE_USERS
    if (source, wanted) in ALLOWED:
        return True
    return wanted in RUNG and RUNG[wanted] < RUNG[source]


# --- purity --------------------------------------------------------------------------------------


def impurities(tree: Tree) -> list[str]:
    """What pure modules must not do: third-party imports, clocks, chance, input and output."""
    complaints = []
    for module in tree:
        if part_of(module) in STDLIB_ONLY:
            complaints += foreign_imports(module, tree)
        if part_of(module) in PURE:
            complaints += impure_imports(module, tree)
            complaints += impure_calls(module, tree)
    return complaints


def foreign_imports(module: str, tree: Tree) -> list[str]:
    """Imports of neither koboshi nor the standard library."""
    own = sys.stdlib_module_names | {PACKAGE}
    return [
        f"{module}:{found.line}: standard library only, not {found.module}"
        for found in imports(module, tree)
        if found.top not in own
    ]


def impure_imports(module: str, tree: Tree) -> list[str]:
    """Imports of standard modules that reach outside."""
    return [
        f"{module}:{found.line}: pure code may not import {found.module}"
        for found in imports(module, tree)
        if found.top in IMPURE
    ]


def impure_calls(module: str, tree: Tree) -> list[str]:
    """Calls that need no import: open(), print(), datetime.now()."""
    complaints = []
    for node in ast.walk(ast.parse(tree[module])):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        owner, _, last = name.rpartition(".")
        reads_clock = last in CLOCKS and owner.rpartition(".")[2] in {"date", "datetime"}
        if reads_clock or name in IMPURE_BUILTINS:
            complaints.append(f"{module}:{node.lineno}: pure code may not call {name}()")
    return complaints


# --- sizes ---------------------------------------------------------------------------------------


def oversized(tree: Tree) -> list[str]:
    """Modules, functions and a core that outgrew what a reader keeps in mind."""
    complaints = []
    for module, source in tree.items():
        lines = len(source.splitlines())
        if lines > MODULE_LINES:
            complaints.append(f"{module}: {lines} lines, at most {MODULE_LINES}")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, Function):
                length = function_lines(node)
                if length > FUNCTION_LINES:
                    where = f"{module}:{node.lineno}: {node.name}"
                    complaints.append(f"{where} has {length} lines, at most {FUNCTION_LINES}")
    core = sum(len(tree[module].splitlines()) for module in tree if part_of(module) == "core")
    if core > CORE_LINES:
        complaints.append(f"{PACKAGE}.core: {core} lines, at most {CORE_LINES}")
    return complaints


def function_lines(node: Function) -> int:
    """Lines from `def` to the end; the docstring is documentation and does not count."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is not None:
        text = node.body[0]
        lines -= (text.end_lineno or text.lineno) - text.lineno + 1
    return lines


# --- packages ------------------------------------------------------------------------------------


def busy_packages(tree: Tree) -> list[str]:
    """`__init__` modules that do more than re-export, or whose `__all__` is unsorted or untrue."""
    complaints = []
    for module, source in tree.items():
        if not module.endswith(".__init__"):
            continue
        body = ast.parse(source).body
        complaints += [
            f"{module}:{node.lineno}: only a docstring, imports and __all__"
            for node in body
            if not re_exports(node)
        ]
        complaints += [f"{module}: {fault}" for fault in faults_of_all(body)]
    return complaints


def re_exports(node: ast.stmt) -> bool:
    """Docstring, import, `__all__ = …` or `__version__ = "…"`."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List() | ast.Tuple()):
            return True
        case ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant()):
            return True
        case _:
            return False


def faults_of_all(body: list[ast.stmt]) -> Iterator[str]:
    """What is wrong with `__all__`, when there is one."""
    bound: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound.add(node.targets[0].id)
    for node in body:
        if isinstance(node, ast.Assign) and is_list_of_names(node):
            names = [str(name) for name in ast.literal_eval(node.value)]
            if names != sorted(names, key=sort_key):
                yield "__all__ is not sorted (CONSTANTS, Classes, functions)"
            if missing := sorted(set(names) - bound):
                yield f"__all__ names what is not there: {missing}"


def is_list_of_names(node: ast.Assign) -> bool:
    """Whether this is `__all__ = ["…", …]`."""
    is_all = ast.unparse(node.targets[0]) == "__all__"
    return is_all and isinstance(node.value, ast.List | ast.Tuple)


def sort_key(name: str) -> tuple[int, str]:
    """The order that ruff (RUF022) keeps too."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name


# --- names ---------------------------------------------------------------------------------------


def banned_names(tree: Tree) -> list[str]:
    """Names that say nothing."""
    complaints = []
    for module, source in tree.items():
        if module.rpartition(".")[2] in BANNED_MODULES:
            complaints.append(f"{module}: a module is named for what it holds")
        complaints += [
            f"{module}:{node.lineno}: {node.name!r} says nothing"
            for node in ast.walk(ast.parse(source))
            if isinstance(node, Definition) and says_nothing(node)
        ]
    return complaints


def says_nothing(node: Definition) -> bool:
    """A class whose last word is banned, or a function called `process`."""
    if not isinstance(node, ast.ClassDef):
        return node.name in BANNED_FUNCTIONS
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", node.name)
    return bool(words) and words[-1] in BANNED_WORDS
