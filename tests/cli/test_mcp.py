"""`koboshi mcp`: tools for an agent, which ask at the daemon's door on its behalf."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

from tests.cli.journals import run
from tests.daemon.trials import Trial, trial

PLAN = Path(__file__).parents[1] / "cases" / "plans" / "M1.md"
COMMAND = ["-m", "koboshi", "mcp"]


def served(
    environment: dict[str, str],
    name: str = "restart_me",
    cwd: Path | None = None,
    **arguments: Any,  # noqa: ANN401
) -> tuple[list[Any], bool, str]:
    """The tools that the server offers, and what it answered to a call."""

    async def ask() -> tuple[list[Any], bool, str]:
        server = StdioServerParameters(
            command=sys.executable, args=COMMAND, env=environment, cwd=cwd
        )
        async with Client(stdio_client(server)) as client:
            tools = (await client.list_tools()).tools
            came = await client.call_tool(name, arguments)
            [said] = came.content
            assert isinstance(said, TextContent)
            return tools, bool(came.is_error), said.text

    return asyncio.run(ask())


#: Each tool, and arguments that it takes.
CALLS: dict[str, dict[str, Any]] = {
    "restart_me": {"reason": "new tools"},
    "hand_over": {"note": "At step 3."},
    "ask_human": {"question": "Which port?"},
    "report_progress": {"text": "3 of 7"},
}


def test_all_tools_are_told_of(tmp_path: Path) -> None:
    """With what a model has to know of each; nothing more than the call is asked for."""
    environment = {**os.environ, "KOBOSHI_STATE": str(tmp_path / "state")}
    tools, failed, said = served(environment, "plan_status", cwd=tmp_path)

    assert [tool.name for tool in tools] == [*CALLS, "plan_status"]
    required = {t.name: t.input_schema.get("required", []) for t in tools}
    assert required == {**{name: list(words) for name, words in CALLS.items()}, "plan_status": []}
    assert "ctx" not in tools[2].input_schema["properties"]
    assert (failed, said) == (False, "There is no plan: M1.md is not there.")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("name", list(CALLS))
def test_outside_of_an_agent_a_tool_says_so(name: str, tmp_path: Path) -> None:
    """In a sentence that the model reads; no daemon is started for it."""
    environment = {**os.environ, "KOBOSHI_STATE": str(tmp_path / "state")}
    _, failed, said = served(environment, name, **CALLS[name])

    assert failed
    assert "this shell is not inside one" in said
    assert not (tmp_path / "state").exists()


def test_the_plan_is_told_in_words(tmp_path: Path) -> None:
    """Which step is being worked on, and what is wrong with a file that is none."""
    environment = {**os.environ, "KOBOSHI_STATE": str(tmp_path / "state")}
    (tmp_path / "M1.md").write_text(PLAN.read_text())
    (tmp_path / "other.md").write_text("STATUS: WHAT\n")

    _, _, said = served(environment, "plan_status", cwd=tmp_path)
    _, _, damaged = served(environment, "plan_status", cwd=tmp_path, file="other.md")
    assert said.startswith("RUNNING: ")
    assert "step 2 [RUNNING]" in said
    assert said.count("← current") == 1
    assert "damaged, line 1" in damaged


def test_the_tool_is_told_of_and_mistakes_are_sentences(tmp_path: Path) -> None:
    """Outside of an agent nobody can be restarted, and the model reads why."""
    environment = {**os.environ, "KOBOSHI_STATE": str(tmp_path / "state")}
    [tool, *_], failed, said = served(environment, reason="new tools")

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


@pytest.mark.tmux
def test_an_agent_asks_and_tells_by_its_tools(tmp_path: Path) -> None:
    """A person's answer is what the call gives back; a daemon that is killed meanwhile is nothing.

    The question is asked again, under the same ticket, of the next daemon.
    """
    with trial(tmp_path) as koboshi:
        koboshi.say("run", "-d", "--name", "a", "--", "sleep", "300")
        koboshi.until("a", lambda known: known["run"]["number"] == 1)
        told = served(inside(koboshi, 1), "report_progress", text="3 of 7")
        came = list[tuple[list[Any], bool, str]]()
        words: dict[str, Any] = {"question": "Which port?", "options": ["80", "81"]}
        asker = threading.Thread(
            target=lambda: came.append(served(inside(koboshi, 1), "ask_human", **words))
        )
        asker.start()
        koboshi.until("a", lambda known: bool(known["asked"]))
        first = koboshi.daemon()
        assert first is not None
        first.kill()
        first.wait(30)
        koboshi.say("ls")
        koboshi.until("a", lambda known: bool(known["asked"]))
        koboshi.say("answer", "a:ask1", "81")
        asker.join(60)

        assert told[1:] == (False, "Noted.")
        [(_, failed, said)] = came
        assert (failed, said) == (False, "The person answered: 81")
        assert "agent said: tell '3 of 7'" in koboshi.say("events", "a")


@pytest.mark.tmux
def test_nobody_answers_in_time(tmp_path: Path) -> None:
    """The call comes back, and the question is nobody's any more."""
    with trial(tmp_path) as koboshi:
        koboshi.say("run", "-d", "--name", "a", "--", "sleep", "300")
        koboshi.until("a", lambda known: known["run"]["number"] == 1)
        words: dict[str, Any] = {"question": "Which port?", "wait_minutes": 0.02}
        _, failed, said = served(inside(koboshi, 1), "ask_human", **words)

        assert not failed
        assert said.startswith("Nobody answered within 0.02 minutes.")
