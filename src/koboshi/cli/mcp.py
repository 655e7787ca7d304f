"""`koboshi mcp`: tools for agents that call tools rather than commands."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples; the agent's CLI starts it:
  koboshi mcp
  claude mcp add koboshi -- koboshi mcp
  koboshi init --mcp

\b
Exit codes: 0 the agent closed its end
2 the MCP SDK is not installed: pip install 'koboshi[mcp]'
"""


@click.command(epilog=_EPILOG)
def mcp() -> None:
    """Serve an agent over stdio: restart_me, hand_over, ask_human and more.

    restart_me and hand_over do what `koboshi reload` and `koboshi refresh` do, ask_human waits for
    your `koboshi answer`, report_progress shows in `status` and `report`, plan_status reads the
    plan. The agent that starts this server is the one that is meant: its environment says which.
    """
    from koboshi.errors import InputError

    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError:
        raise InputError(
            "expected the MCP SDK, version 2 or newer, and it is not installed",
            hint="pip install 'koboshi[mcp]'",
        ) from None

    from .toolbox import toolbox

    toolbox().run("stdio")
