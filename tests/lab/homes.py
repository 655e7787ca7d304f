"""A HOME for each agent CLI in which it starts without a person, and the way it is started.

Rule 1: nothing of the person's environment reaches a CLI: it is started through `env -i`.
Rule 2: keys are dummies, and every base address is the scripted model's.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Sixteen characters: Claude Code compares a key of this length whole with the approved ones.
KEY = "sk-ant-dummy-000"
#: Variables that a CLI takes from the terminal it is in.
OF_TERMINAL = ("TERM", "TMUX", "TMUX_PANE")
#: By what `koboshi`, called inside an agent, finds who looks after it; empty where nobody does.
OF_KOBOSHI = ("KOBOSHI_AGENT", "KOBOSHI_RUN_NUMBER", "KOBOSHI_STATE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Everything a CLI needs to start: where, with what, and with which options."""

    cli: str  #: also the name of its adapter
    folder: Path
    program: Path
    env: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Its HOME."""
        return self.folder / "home"

    @property
    def cwd(self) -> Path:
        """The project it works on: a git repository of its own."""
        return self.folder / "proj"

    def commit(self) -> None:
        """Commit all that is in the project, so that there is something to compare with."""
        identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        for words in (("add", "-A"), ("commit", "-qm", "x")):
            subprocess.run(["git", *identity, *words], cwd=self.cwd, check=True)

    def command(self, *args: str) -> tuple[str, ...]:
        """The argv that starts it; a script, so that a person's shell can be given it too."""
        start = self.folder / "start"
        kept = " ".join(f'{name}="${name}"' for name in (*OF_TERMINAL, *OF_KOBOSHI))
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in self.env.items())
        words = shlex.join((str(self.program), *self.args))
        start.write_text(f'#!/bin/sh\nexec env -i {kept} {given} {words} "$@"\n', encoding="utf-8")
        start.chmod(0o755)
        return (str(start), *args)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a home is made from."""

    folder: Path
    program: Path
    path: str  #: PATH for the CLI, with a Node that it accepts
    url: str  #: where the model listens
    trusted: bool = True  #: whether the CLI has been told to trust the project
    env: Mapping[str, str] = field(default_factory=dict)  #: added; an empty value takes one away
    settings: Mapping[str, Any] = field(default_factory=dict)  #: added to the CLI's own settings
    args: tuple[str, ...] = ()

    @property
    def cwd(self) -> str:
        """The project, by its real name: a CLI that asks for trust compares that."""
        return str((self.folder / "proj").resolve())

    def write(self, name: str, content: Mapping[str, Any] | str) -> None:
        """Write a file of the HOME, as JSON when it is no text."""
        target = self.folder / "home" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        target.write_text(text, encoding="utf-8")

    def home(self, cli: str, env: Mapping[str, str], *args: str) -> Home:
        """The home of that CLI with these variables and options."""
        common = {
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PATH": self.path,
            "SHELL": "/bin/bash",
            "TZ": "UTC",
            "USER": "tester",
        }
        wanted = {**common, **env, **self.env}
        return Home(
            cli=cli,
            folder=self.folder,
            program=self.program,
            env={name: value for name, value in wanted.items() if value},
            args=(*args, *self.args),
        )


def claude(room: Room) -> Home:
    """Claude Code: onboarded, with an approved key, and without the key that detaches it."""
    project = {"hasTrustDialogAccepted": True} if room.trusted else {}
    room.write(
        ".claude.json",
        {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "leftArrowOpensAgents": False,
            "projects": {room.cwd: project},
            **room.settings,
        },
    )
    env = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": room.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    # 2.1.325 starts in auto mode otherwise, where the model is asked instead of the person.
    return room.home("claude", env, "--permission-mode", "default")


CODEX = """\
model = "gpt-5.3-codex"
model_provider = "lab"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "workspace-write"
[model_providers.lab]
name = "lab"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
"""


def codex(room: Room) -> Home:
    """Codex CLI: a provider of its own, and no daemon that would outlive it."""
    config = CODEX.format(url=room.url)
    if room.trusted:
        config += f'[projects."{room.cwd}"]\ntrust_level = "trusted"\n'
    room.write(".codex/config.toml", config)
    return room.home("codex", {"LAB_KEY": KEY}, "--no-daemon")


def gemini(room: Room) -> Home:
    """Gemini CLI: key login, and a model named so that no router is asked for one."""
    room.write(
        ".gemini/settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"disableAutoUpdate": True},
            **room.settings,
        },
    )
    room.write(".gemini/trustedFolders.json", {room.cwd: "TRUST_FOLDER"} if room.trusted else {})
    env = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": room.url}
    return room.home("gemini", env, "-m", "gemini-2.5-pro")


def opencode(room: Room) -> Home:
    """OpenCode: a provider of its own, with a model of a known size."""
    size = {"context": 200_000, "output": 8192}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Lab",
        "options": {"baseURL": f"{room.url}/v1", "apiKey": KEY},
        "models": {"scripted-1": {"name": "Scripted One", "limit": size}},
    }
    room.write(
        ".config/opencode/opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "lab/scripted-1",
            "small_model": "lab/scripted-1",
            "provider": {"lab": provider},
            **room.settings,
        },
    )
    env = {
        "npm_config_offline": "true",  # it would fetch a package for plug-ins that nobody has
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    return room.home("opencode", env)


FURNISH: Mapping[str, Callable[[Room], Home]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}


def furnish(cli: str, room: Room) -> Home:
    """Make the HOME of that CLI, and a fresh git repository as its project."""
    made = FURNISH[cli](room)
    made.path.mkdir(exist_ok=True)
    made.cwd.mkdir()
    clean = {"PATH": os.defpath, "HOME": str(made.path), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", str(made.cwd)], check=True, env=clean)
    return made
