"""Who plays: each CLI in each pinned version, and what the model says to make it act."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.lab.model.turns import Turn, call

#: The end of a process as a host records it: exit code, signal.
End = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One CLI in one version: where it differs from the others."""

    cli: str
    version: str
    shell: Callable[[str], Turn]  #: a call that is asked about and then runs a command
    question: Turn  #: a call that asks its user for a colour
    room: Mapping[str, Any] = field(default_factory=dict)  #: fields of its `Room`
    bad_request: str = "400"  #: what it lets the screen say about that status
    terminated: End = (0, None)  #: after SIGTERM
    hung_up: End = (0, None)  #: after SIGHUP

    @property
    def key(self) -> str:
        """Its name in the report."""
        return f"{self.cli}-{self.version}"


def claude_shell(command: str) -> Turn:
    """Claude Code asks about commands that write."""
    return call("Bash", command=command, description="Work")


def codex_shell(command: str) -> Turn:
    """Codex asks about whatever wants out of its sandbox."""
    outside = {"sandbox_permissions": "require_escalated", "justification": "May this run?"}
    return call("exec_command", cmd=command, **outside)


def gemini_shell(command: str) -> Turn:
    """Gemini CLI asks about every command."""
    return call("run_shell_command", command=command, description="Work")


def opencode_shell(command: str) -> Turn:
    """OpenCode asks when its settings say so."""
    return call("bash", command=command, description="Work")


def colour(tool: str, **rest: object) -> Turn:
    """A call that asks the user to choose; its name differs, its shape hardly."""
    options = [{"label": word, "description": f"Take {word}"} for word in ("Red", "Blue")]
    asked = {"question": "Which colour?", "header": "Colour", "options": options, **rest}
    return call(tool, questions=[asked])


CLAUDE = tuple(
    Part(
        cli="claude",
        version=version,
        shell=claude_shell,
        question=colour("AskUserQuestion", multiSelect=False),
        terminated=(143, None),
        hung_up=(129, None),
    )
    for version in ("2.1.197", "2.1.325")
)
CODEX = Part(
    cli="codex",
    version="0.166.0",
    shell=codex_shell,
    question=colour("request_user_input", id="colour"),
    terminated=(None, signal.SIGTERM),
    hung_up=(None, signal.SIGHUP),
)
GEMINI = Part(
    cli="gemini",
    version="0.61.0",
    shell=gemini_shell,
    question=colour("ask_user", type="choice"),
)
OPENCODE = Part(
    cli="opencode",
    version="1.18.33",
    shell=opencode_shell,
    question=colour("question"),
    room={"settings": {"permission": {"bash": "ask", "edit": "ask"}}},
    bad_request="api",
)
PARTS = (*CLAUDE, CODEX, GEMINI, OPENCODE)
