"""`koboshi init`: set up a project, or undo that."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi init
  koboshi init ~/api --mcp
  koboshi init --codex
  koboshi init --remove

\b
Exit codes: 0 fine · 2 a file cannot be merged into, or is outside the project
4 a file cannot be written
"""


@click.command(epilog=_EPILOG)
@click.argument("project", default=".", type=click.Path(path_type=Path))
@click.option("--codex", is_flag=True, help="Hooks for Codex, too; it asks once to trust them.")
@click.option("--mcp", "tools", is_flag=True, help="Also give agents koboshi's tools (.mcp.json).")
@click.option("--remove", is_flag=True, help="Take exactly that away again.")
def init(*, project: Path, codex: bool, tools: bool, remove: bool) -> None:
    """Set up PROJECT: hooks, the `/reload` command, a koboshi.toml, entries in .gitignore.

    What is there stays as it is, to the byte. The hooks do nothing while koboshi does not run.
    With --mcp agents get the tools of `koboshi mcp`; Claude Code asks its user about them once.
    """
    from koboshi.errors import InputError
    from koboshi.store.project import carry_out, plan

    from .printing import plain, say

    root = project.expanduser().absolute()
    if not root.is_dir():
        raise InputError(f"{root}: expected a folder")
    changes = plan(root, remove=remove, codex=codex, tools=tools)
    carry_out(root, changes)
    for change in changes:
        say(plain(f"{change.word:<10} {change.path.relative_to(root)}"))
    if codex and not remove:
        say("Codex asks at its next start whether these hooks may run: look at them and trust them")
    if tools and not remove and find_spec("mcp") is None:
        say("the tools take the MCP SDK: pip install 'koboshi[mcp]'")
