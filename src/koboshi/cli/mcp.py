"""`koboshi mcp`: the tool `restart_me`, for agents that call tools rather than commands."""

from __future__ import annotations

import click

_EPILOG = """\b
Examples; the agent's CLI starts it:
  koboshi mcp
  claude mcp add koboshi -- koboshi mcp

\b
Exit codes: 0 the agent closed its end
2 the MCP SDK is not installed: pip install 'koboshi[mcp]'
"""
#: What the agent is told of the tool.
_TELLS = (
    "Restart this agent: the process ends at once, whatever it is doing, and comes back within "
    "seconds. Use it after a change that only a new process sees (a new MCP server, new settings, "
    "new instructions), or with fresh=true when the context is full. The next run is told the "
    "reason and the context, once. End your turn after the call."
)


@click.command(epilog=_EPILOG)
def mcp() -> None:
    """Serve one tool to an agent over stdio: restart_me(reason, context, fresh).

    It does what `koboshi reload` does when the agent types it, through the same door. The agent
    that starts this server is the one that is restarted: its environment says which that is.
    """
    from koboshi.errors import InputError, KoboshiError

    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise InputError(
            "expected the MCP SDK, version 2 or newer, and it is not installed",
            hint="pip install 'koboshi[mcp]'",
        ) from None

    from koboshi import __version__

    from .reload import ask

    server = MCPServer("koboshi", version=__version__, log_level="WARNING")

    @server.tool(description=_TELLS, structured_output=False)
    def restart_me(reason: str, context: str = "", fresh: bool = False) -> str:  # noqa: FBT001, FBT002 - a tool's arguments have names
        try:
            return ask(None, reason=reason, context=context, fresh=fresh)
        except (KoboshiError, OSError) as error:
            hint = getattr(error, "hint", "")
            raise ToolError(f"{error} ({hint})" if hint else str(error)) from None

    server.run("stdio")
