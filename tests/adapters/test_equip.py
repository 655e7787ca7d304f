"""Equipment: what a run is given, and what stays the user's."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest

from koboshi.adapters.claude.equip import EVENTS
from koboshi.adapters.codex.equip import digest
from koboshi.adapters.equipment import Equipment, Kit
from koboshi.adapters.opencode.plugin import CONTENT
from koboshi.adapters.registry import adapter, names

KIT = Kit(
    agent="a 1",
    run=3,
    shim=("py", "-I", "hook.py"),
    folder="/gear/run-3",
    socket="/s",
    cwd="/srv/app",
    around={"HOME": "/home/u"},
)
SHIM = "KOBOSHI_AGENT='a 1' KOBOSHI_RUN_NUMBER=3 KOBOSHI_HOOK_SOCKET=/s py -I hook.py"

#: What Codex 0.166.0 itself says of a hook that runs `é` at the end of a turn (`hooks/list`).
STOP_DIGEST = "sha256:d19f1bcc0eb439d5c0c30aaaa9d65955a4c28ca1881d728c05ba5f35b3d20d2a"


def kit(**texts: Any) -> Kit:  # noqa: ANN401
    """The kit with files: `user`, `project`, `local` or `given`, as JSON."""
    paths = {
        "user": "/home/u/.claude/settings.json",
        "project": "/srv/app/.claude/settings.json",
        "local": "/srv/app/.claude/settings.local.json",
        "given": "/srv/app/mine.json",
    }
    files = {paths[name]: json.dumps(value) for name, value in texts.items()}
    return Kit(
        **{name: getattr(KIT, name) for name in KIT.__slots__ if name != "texts"}, texts=files
    )


def settings(made: Equipment) -> dict[str, Any]:
    """The one file of that equipment."""
    [(path, text)] = made.files.items()
    assert made.argv[-2:] == ("--settings", path)
    value: dict[str, Any] = json.loads(text)
    return value


def test_claude_gets_a_file_of_its_own() -> None:
    """Hooks in the background, a status line, and no way into the background."""
    made = adapter("claude").equip(("claude", "--resume", "s"), kit())
    given = settings(made)

    assert made.argv == (
        "claude",
        "--resume",
        "s",
        "--settings",
        "/gear/run-3/claude-settings.json",
    )
    assert set(given["hooks"]) == set(EVENTS)
    [[hook]] = [entry["hooks"] for entry in given["hooks"]["Stop"]]
    assert hook == {"type": "command", "command": SHIM, "timeout": 5, "async": True}
    assert given["statusLine"] == {"type": "command", "command": f"{SHIM} statusline"}
    assert given["disableAgentView"] is True
    assert made.env["KOBOSHI_RUN_NUMBER"] == "3"


@pytest.mark.parametrize(
    "argv",
    [
        ("claude", "--settings", "mine.json", "-c"),
        ("claude", "--settings=/srv/app/mine.json", "-c"),
        ("claude", "--settings", '{"model": "x", "disableAgentView": false}', "-c"),
    ],
)
def test_what_the_user_passes_is_kept(argv: tuple[str, ...]) -> None:
    """It is merged into ours, in whatever form it came."""
    theirs = {"model": "x", "disableAgentView": False}
    made = adapter("claude").equip(argv, kit(given=theirs))
    given = settings(made)

    assert made.argv[:-2] == ("claude", "-c")
    assert (given["model"], given["disableAgentView"]) == ("x", False)


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9/t/3"])
def test_only_the_hook_that_may_answer_is_waited_for(url: str) -> None:
    """Its dialog is open meanwhile; all others run in the background."""
    ours = replace(kit(), url=url)
    hooks = settings(adapter("claude").equip(("claude",), ours))["hooks"]
    [[asks]] = [entry["hooks"] for entry in hooks["PermissionRequest"]]

    if url:
        assert asks == {"type": "http", "url": url, "timeout": 90}
    else:
        assert asks == {"type": "command", "command": f"{SHIM} ask", "timeout": 90}
        others = [hooks[event][0]["hooks"][0] for event in EVENTS if event != "PermissionRequest"]
        assert all(hook["async"] for hook in others)


def test_hooks_of_the_user_run_before_ours() -> None:
    """Ours are added to them."""
    theirs = {"hooks": {"Stop": [{"hooks": ["mine"]}], "Other": [1]}}
    given = settings(adapter("claude").equip(("claude", "--settings", json.dumps(theirs)), kit()))

    assert given["hooks"]["Stop"][0] == {"hooks": ["mine"]}
    assert len(given["hooks"]["Stop"]) == 2
    assert given["hooks"]["Other"] == [1]


def test_settings_that_cannot_be_read_are_left_alone() -> None:
    """Better no hooks than another model than the user wanted."""
    argv = ("claude", "--settings", "gone.json")
    made = adapter("claude").equip(argv, kit())

    assert made == Equipment(argv=argv, note="not equipped: --settings 'gone.json' cannot be read")


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (("user",), "user"),
        (("user", "project"), "project"),
        (("user", "project", "local"), "local"),
    ],
)
def test_the_status_line_of_the_user_is_called_by_ours(files: tuple[str, ...], shown: str) -> None:
    """The one that the CLI itself would have shown; its other settings stay."""
    texts = {
        name: {"statusLine": {"type": "command", "command": f"show {name}", "padding": 0}}
        for name in files
    }
    given = settings(adapter("claude").equip(("claude",), kit(**texts)))

    assert given["statusLine"] == {
        "type": "command",
        "command": f"{SHIM} statusline 'show {shown}'",
        "padding": 0,
    }


@pytest.mark.parametrize("name", sorted(set(names()) - {"claude", "codex", "opencode"}))
def test_others_are_started_as_they_are(name: str) -> None:
    """They have no hooks that could be given for one run."""
    assert adapter(name).equip(("x", "y"), kit()) == Equipment(argv=("x", "y"))


def test_opencode_gets_a_plug_in_beside_those_of_its_person() -> None:
    """The shim knows for whom it speaks also where the environment was cleaned."""
    theirs = json.dumps({"model": "x", "plugin": ["mine"]})
    made = adapter("opencode").equip(
        ("opencode", "-m", "x"), replace(KIT, around={CONTENT: theirs})
    )

    assert made.argv == ("opencode", "-m", "x")
    plugins = ["mine", "file:///gear/run-3/tell.js"]
    assert json.loads(made.env[CONTENT]) == {"model": "x", "plugin": plugins}
    assert made.env["KOBOSHI_RUN_NUMBER"] == "3"
    assert made.files["/gear/run-3/tell.sh"] == f"exec env {SHIM}\n"
    assert 'spawn("sh", ["/gear/run-3/tell.sh"]' in made.files["/gear/run-3/tell.js"]


@pytest.mark.parametrize("content", ["{ // mine\n}", "[]", "[" * 100_000])
def test_settings_of_opencode_that_cannot_be_read_are_left_alone(content: str) -> None:
    """Better no session than another model than the user wanted."""
    made = adapter("opencode").equip(("opencode",), replace(KIT, around={CONTENT: content}))

    assert (made.argv, made.env, made.files) == (("opencode",), {}, {})
    assert CONTENT in made.note


def codex(*argv: str, version: str = "0.166.0") -> Equipment:
    """What Codex gets."""
    return adapter("codex", version=version).equip(argv, kit())


def test_codex_gets_hooks_on_its_command_line() -> None:
    """Before a person's `--`; one is waited for, the others run in the background."""
    made, path = codex("codex", "resume", "s", "--", "--hi"), "/gear/run-3/codex-hook.sh"
    [given] = [word for word in made.argv if word.startswith("hooks=")]
    hooks = tomllib.loads(given)["hooks"]
    states = hooks.pop("state")
    [[asks]] = [entry["hooks"] for entry in hooks["PermissionRequest"]]
    others = [hooks[event][0]["hooks"][0] for event in hooks if event != "PermissionRequest"]

    assert made.argv == ("codex", "resume", "s", "-c", given, "--", "--hi")
    assert made.env == KIT.env
    assert made.files == {path: f'exec env {SHIM} "$@"\n'}
    assert (asks["command"], asks["timeout"], asks["async"]) == (f"sh {path} ask", 90, False)
    assert all(hook["command"] == f"sh {path}" and hook["async"] for hook in others)
    assert len(states) == len(hooks) == 7
    assert states["/<session-flags>/config.toml:permission_request:0:0"] == {
        "trusted_hash": digest("permission_request", asks)
    }
    assert digest("stop", {"type": "command", "command": "é", "timeout": 5, "async": False}) == (
        STOP_DIGEST
    )


@pytest.mark.parametrize("version", ["", "0.165.9", "0.167.0", "1.0"])
def test_another_codex_gets_no_hooks(version: str) -> None:
    """It may know hooks by something else, and would stand at its review of them."""
    made = codex("codex", version=version)

    assert (made.argv, made.env) == (("codex",), {})
    assert "by keys" in made.note


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "hooks.Stop=[]"),
        ("--config", "hooks={}"),
        ("--config=hooks.state={}",),
        ('-c"hooks".Stop=[]',),
        ("-c=hooks={}",),
    ],
)
def test_hooks_that_a_person_gives_codex_are_kept(words: tuple[str, ...]) -> None:
    """Of two such options one would be lost."""
    made = codex("codex", *words)

    assert (made.argv, made.env) == (("codex", *words), {})
    assert "hooks of its own" in made.note


def test_other_settings_for_codex_are_no_hooks() -> None:
    """`features.hooks` is a switch, and a prompt may say anything."""
    made = codex("codex", "-c", "features.hooks=false", "hooks=1", "-chide_hooks=1")

    assert made.note == ""


def test_a_brief_waits_in_a_file_for_the_start_of_the_session() -> None:
    """Beside the hook that tells of it; the other hooks stay as they are."""
    made = adapter("claude").equip(("claude",), replace(kit(), brief="go on with ü"))
    texts = dict(made.files)
    told = json.loads(texts.pop("/gear/run-3/brief.json"))["hookSpecificOutput"]
    [text] = texts.values()
    given = json.loads(text)["hooks"]
    hook = {"type": "command", "command": f"{SHIM} brief /gear/run-3/brief.json", "timeout": 5}

    assert told == {"hookEventName": "SessionStart", "additionalContext": "go on with ü"}
    assert given["SessionStart"][1:] == [{"matcher": "startup", "hooks": [hook]}]
    assert [len(entries) for event, entries in given.items() if event != "SessionStart"] == [
        1 for _ in EVENTS[1:]
    ]
