"""`koboshi mcp`: one tool, which asks at the same door as `koboshi reload`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

from tests.cli.journals import run
from tests.daemon.trials import Trial, trial

COMMAND = ["-m", "koboshi", "mcp"]


def served(environment: dict[str, str], **arguments: Any) -> tuple[list[Any], bool, str]:  # noqa: ANN401
    """The tools that the server offers, and what it answered to a call."""

    async def ask() -> tuple[list[Any], bool, str]:
        server = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment)
        async with Client(stdio_client(server)) as client:
            tools = (await client.list_tools()).tools
            came = await client.call_tool("restart_me", arguments)
            [said] = came.content
            assert isinstance(said, TextContent)
            return tools, bool(came.is_error), said.text

    return asyncio.run(ask())


def test_the_tool_is_told_of_and_mistakes_are_sentences(tmp_path: Path) -> None:
    """Outside of an agent nobody can be restarted, and the model reads why."""
    environment = {**os.environ, "KOBOSHI_STATE": str(tmp_path / "state")}
    [tool], failed, said = served(environment, reason="new tools")

    assert tool.name == "restart_me"
    assert tool.input_schema["required"] == ["reason"]
    assert set(tool.input_schema["properties"]) == {"reason", "context", "fresh"}
    assert "End your turn" in tool.description
    assert failed
    assert "this shell is not inside one" in said
    assert "KOBOSHI_AGENT names it" in said


def test_without_the_sdk_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback, and nothing on stdout: that belongs to the protocol."""
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    ran = run("mcp")

    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'koboshi[mcp]'" in ran.err


@pytest.mark.tmux
def test_the_agent_that_calls_it_is_restarted(tmp_path: Path) -> None:
    """By its environment; a call of a run that is over changes nothing."""
    with trial(tmp_path) as koboshi:
        koboshi.say("run", "-d", "--name", "a", "--", "sleep", "300")
        koboshi.until("a", lambda known: known["run"]["number"] == 1)
        _, failed, said = served(inside(koboshi, 1), reason="new\ttools", context="at 3")
        known = koboshi.until("a", lambda known: known["run"]["number"] == 2)
        late = served(inside(koboshi, 1), reason="again")

        assert (failed, said) == (
            False,
            "a: run 1 ends now; the next one is told why. End your turn here.",
        )
        assert known["run"]["number"] == 2
        assert late[1]
        assert "run 1 of a is over" in late[2]
        assert "agent said: reload 'new tools'" in koboshi.say("events", "a")


def inside(koboshi: Trial, run: int) -> dict[str, str]:
    """The environment of a run."""
    return {**koboshi.environment, "KOBOSHI_AGENT": "a", "KOBOSHI_RUN_NUMBER": str(run)}
