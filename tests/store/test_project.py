"""`koboshi init`: merged in, twice is once, and taken away to the byte."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters import splicing
from koboshi.adapters.claude import equip, install, servers
from koboshi.adapters.codex import install as codex_install
from koboshi.store import project
from tests.cli.journals import run

GROUP = {"hooks": [{"type": "command", "command": "echo hi"}]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
#: What is put in, and at which events.
CLIS = [(install.HOOKS, equip.EVENTS), (codex_install.HOOKS, codex_install.EVENTS)]
HOOKS = st.dictionaries(
    st.sampled_from(equip.EVENTS) | st.just("Other"),
    st.lists(st.just(GROUP), max_size=2),
    max_size=4,
)


@st.composite
def settings(draw: st.DrawFn) -> str:
    """A settings file as a person may have it, in any layout."""
    value: dict[str, Any] = draw(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
    value.pop("hooks", None)
    if draw(st.booleans()):
        value["hooks"] = draw(HOOKS)
    keys = draw(st.permutations(list(value)))
    indent = draw(st.sampled_from([None, 0, 2, "\t"]))
    text = json.dumps({k: value[k] for k in keys}, indent=indent, ensure_ascii=draw(st.booleans()))
    return (
        draw(st.sampled_from(["", "\n", "  "])) + text + draw(st.sampled_from(["", "\n", "\r\n"]))
    )


@given(settings(), st.sampled_from(CLIS))
def test_settings_lose_nothing_and_come_back_to_the_byte(
    text: str, cli: tuple[splicing.Splice, tuple[str, ...]]
) -> None:
    """Every hook of a person stays, ours is there once, and removing undoes it exactly."""
    ours, events = cli
    merged = ours.merged(text)
    before, after = json.loads(text), json.loads(merged)

    assert ours.merged(merged) == merged
    assert ours.removed(merged) == text
    assert ours.removed(text) == text
    for event in events:
        groups = after["hooks"][event]
        assert [g for g in groups if splicing.MARK not in str(g)] == before.get("hooks", {}).get(
            event, []
        )
        assert sum(splicing.MARK in str(g) for g in groups) == 1
    assert {k: v for k, v in after.items() if k != "hooks"} == {
        k: v for k, v in before.items() if k != "hooks"
    }


@given(settings())
def test_a_file_that_was_formatted_since_is_cleaned_by_value(text: str) -> None:
    """Prettier was there: the layout is lost, the content is not."""
    formatted = json.dumps(json.loads(install.HOOKS.merged(text)), indent=4)
    left = install.HOOKS.removed(formatted)

    assert left is not None
    assert splicing.MARK not in left
    before, after = json.loads(text), json.loads(left)
    full = {k: v for k, v in before.get("hooks", {}).items() if v}
    assert after.get("hooks", {}) == full


@st.composite
def server_files(draw: st.DrawFn) -> str:
    """A `.mcp.json` as a person may have it."""
    value: dict[str, Any] = draw(st.dictionaries(st.text(max_size=5), VALUES, max_size=2))
    value.pop("mcpServers", None)
    if draw(st.booleans()):
        names = st.sampled_from(["a", "b", "git-hub"])
        value["mcpServers"] = draw(st.dictionaries(names, st.just({"command": "x"}), max_size=3))
    indent = draw(st.sampled_from([None, 0, 2, "\t"]))
    return json.dumps(value, indent=indent) + draw(st.sampled_from(["", "\n"]))


@given(server_files())
def test_servers_lose_nothing_and_come_back_to_the_byte(text: str) -> None:
    """Ours is there once beside the person's; formatted since, it is taken out by value."""
    merged = servers.merged(text)
    before, after = json.loads(text), json.loads(merged)

    assert servers.merged(merged) == merged
    assert servers.removed(merged) == text
    assert servers.removed(text) == text
    ours = after["mcpServers"].pop("koboshi")
    assert ours == {"command": "koboshi", "args": ["mcp"]}
    assert after["mcpServers"] == before.get("mcpServers", {})
    left = servers.removed(json.dumps(json.loads(merged), indent=4))
    assert left is not None
    assert json.loads(left).get("mcpServers", {}) == before.get("mcpServers", {})


def test_tools_come_only_where_they_are_asked_for_and_go_with_the_rest(tmp_path: Path) -> None:
    """A server of that name that a person put there is theirs."""
    path = tmp_path / ".mcp.json"
    run("init", str(tmp_path))
    assert not path.exists()

    ran = run("init", str(tmp_path), "--mcp")
    assert "created    .mcp.json" in ran.out
    assert json.loads(path.read_text())["mcpServers"]["koboshi"]["args"] == ["mcp"]
    assert "removed    .mcp.json" in run("init", str(tmp_path), "--remove").out
    assert list(tmp_path.iterdir()) == []

    theirs = '{"mcpServers": {"koboshi": {"command": "mine"}}}'
    path.write_text(theirs)
    run("init", str(tmp_path), "--mcp")
    run("init", str(tmp_path), "--remove")
    assert path.read_text() == theirs
    path.write_text('{"mcpServers": []}')
    assert "an object under 'mcpServers'" in run("init", str(tmp_path), "--mcp").err


@given(st.none() | st.text(alphabet="ab/#\n\r ", max_size=20))
def test_gitignore_comes_back_to_the_byte(text: str | None) -> None:
    """Also where its last line has no end, where it is empty, and where there is none."""
    put = project.ignoring(text)

    assert project.ignoring(put) == put
    assert project.not_ignoring(put) == text
    assert project.not_ignoring(text) == text
    assert ".claude/self-reborn/" in put.splitlines()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n "a": 1,\n}', 3, "expected JSON"),
        ("[]", 1, "a JSON object"),
        ('{\n"hooks": []}', 2, "an object under 'hooks'"),
        ('{"hooks":\n\n{"Stop": 3}}', 3, "a list under 'Stop'"),
        ("", 1, "expected JSON"),
        ("[" * 100_000, 1, "less deeply nested"),
    ],
)
def test_what_cannot_be_merged_into_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    """And nothing at all is written."""
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(text)
    ran = run("init", str(tmp_path))

    assert ran.code == 2
    assert f"settings.json, line {line}: " in ran.err
    assert words in ran.err
    assert file.read_text() == text
    assert [p.name for p in tmp_path.iterdir()] == [".claude"]


def tree(root: Path) -> dict[str, bytes]:
    """All files, by path."""
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    "own", [{}, {".gitignore": "x", "a.txt": "b", ".claude/settings.json": "{}"}]
)
def test_a_project_is_set_up_and_cleared(tmp_path: Path, own: dict[str, str]) -> None:
    """Twice changes nothing; removed, every byte and folder is as before."""
    for name, text in own.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    before = tree(tmp_path)
    first = run("init", str(tmp_path))
    made = tree(tmp_path)
    second = run("init", str(tmp_path))

    assert (first.code, second.code) == (0, 0)
    assert set(made) >= set(project.EDITS)
    assert tree(tmp_path) == made
    assert set(second.out.split()[::2]) == {"unchanged"}
    assert b"# context_max = 70.0" in made["koboshi.toml"]
    assert run("init", "--remove", str(tmp_path)).code == 0
    assert tree(tmp_path) == before
    assert (tmp_path / ".claude").exists() is bool(own)


def test_hooks_for_codex_are_put_in_when_asked_for_and_always_taken_out(tmp_path: Path) -> None:
    """Codex asks about them at its next start; so nobody gets them by the way."""
    run("init", str(tmp_path))
    assert not (tmp_path / ".codex").exists()
    asked = run("init", "--codex", str(tmp_path))
    made = tree(tmp_path)

    assert "created    .codex/hooks.json" in asked.out
    assert "asks at its next start" in asked.out
    assert set(json.loads(made[".codex/hooks.json"])["hooks"]) == set(codex_install.EVENTS)
    assert run("init", "--codex", str(tmp_path)).code == 0
    assert tree(tmp_path) == made
    assert run("init", "--remove", str(tmp_path)).code == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_person_changed_is_left(tmp_path: Path) -> None:
    """An edited koboshi.toml is no longer ours."""
    run("init", str(tmp_path))
    (tmp_path / "koboshi.toml").write_text("context_max = 50\n")
    run("init", "--remove", str(tmp_path))

    assert tree(tmp_path) == {"koboshi.toml": b"context_max = 50\n"}


def test_nothing_is_written_through_a_link_out_of_the_project(tmp_path: Path) -> None:
    """`.claude` of a project may be a link to the user's own."""
    (tmp_path / "home").mkdir()
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / ".claude").symlink_to(tmp_path / "home")
    ran = run("init", str(tmp_path / "p"))

    assert ran.code == 2
    assert "outside of the project" in ran.err
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize("shim", [None, "sh -c 'cat > \"$OUT\"'"])
def test_the_hook_does_nothing_unless_koboshi_says_how(tmp_path: Path, shim: str | None) -> None:
    """Exit code 0, no output, and no wait."""
    out = tmp_path / "out"
    env = {"PATH": os.environ["PATH"], "OUT": str(out)}
    if shim is not None:
        env["KOBOSHI_HOOK_SHIM"] = shim
    ran = subprocess.run(
        ["/bin/sh", "-c", splicing.COMMAND],
        env=env,
        input=b"{}",
        capture_output=True,
        check=False,
        timeout=20,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert (out.read_bytes() if out.exists() else None) == (b"{}" if shim else None)


def in_pane(tmp_path: Path, said: str | None, **more: str) -> tuple[int, bytes, bytes]:
    """Our asking hook in pane %5 of the tmux server 71, whose signpost says that."""
    if said is not None:
        (tmp_path / "panes").mkdir()
        (tmp_path / "panes" / "71.5").write_text(said, encoding="utf-8")
    tmux = {"TMUX": "/tmp/a,b/default,71,0", "TMUX_PANE": "%5"}
    env = {"PATH": os.environ["PATH"], "KOBOSHI_STATE": str(tmp_path), **tmux, **more}
    ran = subprocess.run(
        ["/bin/sh", "-c", splicing.ASKING],
        env=env,
        input=b"{}",
        capture_output=True,
        check=False,
        timeout=20,
    )
    return ran.returncode, ran.stdout, ran.stderr


SAYS = """export KOBOSHI_AGENT='a 1' KOBOSHI_HOOK_SHIM='echo "$KOBOSHI_AGENT"'\n"""


@pytest.mark.parametrize(
    ("said", "more", "printed"),
    [
        (SAYS, {}, b"a 1 ask\n"),
        (None, {}, b""),
        (SAYS, {"KOBOSHI_AGENT": "b"}, b""),  # koboshi's own run, which has hooks of its own
        (SAYS, {"TMUX_PANE": "%51"}, b""),
        (SAYS, {"TMUX_PANE": ""}, b""),
        ("export KOBOSHI_HOOK_SHIM='exit 2 #'\n", {}, b""),
        ("export KOBOSHI_HOOK_SHIM='sh -c \"exit 2\" #'\n", {}, b""),
    ],
    ids=["found", "nobody", "own", "other", "no-pane", "exit", "refuses"],
)
def test_hooks_of_an_agent_that_a_person_started_find_who_watches_its_pane(
    tmp_path: Path, said: str | None, more: dict[str, str], printed: bytes
) -> None:
    """By what tmux calls it; whatever goes wrong, it is no refusal."""
    assert in_pane(tmp_path, said, **more) == (0, printed, b"")


@pytest.mark.parametrize("ours", [install.HOOKS, codex_install.HOOKS], ids=["claude", "codex"])
def test_only_the_hook_that_may_answer_is_waited_for(ours: splicing.Splice) -> None:
    """For longer than it is ever held; the others run in the background where that can be."""
    made = json.loads(ours.created)["hooks"]
    [asks] = made.pop("PermissionRequest")[0]["hooks"]

    assert asks == {"timeout": 90, "type": "command", "command": splicing.ASKING}
    assert {group[0]["hooks"][0]["command"] for group in made.values()} == {splicing.COMMAND}
