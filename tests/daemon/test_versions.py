"""A CLI is asked for its version once, and again when its files changed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from koboshi.daemon.versions import Versions
from koboshi.hosts.probing import fingerprint
from koboshi.performers import Program


@pytest.fixture
def cli(tmp_path: Path) -> Path:
    """A CLI as npm installs it: a script that says what its package is; it counts its calls."""
    package = tmp_path / "node_modules" / "pkg"
    (package / "bin").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    node = tmp_path / "bin" / "node"
    node.write_text('#!/bin/sh\nexec sh "$@"\n')
    node.chmod(0o755)
    script = package / "bin" / "claude"
    script.write_text(
        f'#!/usr/bin/env node\necho x >> "{tmp_path}/calls"\ncat "{package}/package.json"\n'
    )
    script.chmod(0o755)
    (package / "package.json").write_text("2.1.325\n")
    (tmp_path / "bin" / "claude").symlink_to(script)
    return tmp_path


def program(cli: Path, *argv: str) -> Program:
    """How it is started."""
    env = {"PATH": f"{cli}/bin:/usr/bin:/bin"}
    return Program(argv=argv or ("claude", "--model", "x"), cwd=str(cli), env=env)


def calls(cli: Path) -> int:
    """How often it was asked."""
    path = cli / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def ask(state: Path, *programs: Program) -> list[str]:
    """What a daemon that has just come up knows."""

    async def all_of_them() -> list[str]:
        versions = Versions(state)
        return list(await asyncio.gather(*map(versions.of, programs)))

    return asyncio.run(all_of_them())


def test_one_question_is_enough_for_many_agents_and_many_daemons(cli: Path) -> None:
    """The file is the owner's alone."""
    assert ask(cli, *[program(cli)] * 5) == ["2.1.325"] * 5
    assert ask(cli, program(cli), program(cli, f"{cli}/bin/claude")) == ["2.1.325"] * 2
    assert calls(cli) == 1
    assert (cli / "versions.json").stat().st_mode & 0o777 == 0o600


def test_an_update_is_asked_anew_and_the_old_one_forgotten(cli: Path) -> None:
    """Also one that leaves the script as it was, with a package file of the same size and time."""
    ask(cli, program(cli))
    package = cli / "node_modules" / "pkg" / "package.json"
    fresh = package.with_name("new")
    fresh.write_text("2.1.326\n")
    fresh.replace(package)

    assert ask(cli, program(cli)) == ["2.1.326"]
    assert list(json.loads((cli / "versions.json").read_text()).values()) == ["2.1.326"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"x": 3}', "[" * 5000, "\x00"])
def test_a_broken_file_costs_a_question(cli: Path, content: str) -> None:
    """It is written anew."""
    (cli / "versions.json").write_text(content)

    assert ask(cli, program(cli)) == ["2.1.325"]
    assert ask(cli, program(cli)) == ["2.1.325"]
    assert calls(cli) == 1


def test_a_version_that_was_not_told_is_asked_again(cli: Path) -> None:
    """A busy machine may have been too slow."""
    (cli / "node_modules" / "pkg" / "package.json").write_text("none")

    assert ask(cli, program(cli)) + ask(cli, program(cli)) == ["", ""]
    assert calls(cli) == 2


def test_what_may_start_anything_is_asked_each_time(cli: Path) -> None:
    """A launcher, a shell script, a shell: their files say nothing of what they start."""
    wrapper = cli / "claude"
    wrapper.write_text("#!/bin/sh\nexec elsewhere\n")
    wrapper.chmod(0o755)
    for argv in (("npx", "claude"), (str(wrapper),), ("bash", "-lc", "claude"), ("nosuch",)):
        each = program(cli, *argv)
        assert fingerprint(each.argv, env=each.env, cwd=each.cwd) == ""
    binary = cli / "bin" / "codex"
    binary.write_bytes(b"\x7fELF")
    binary.chmod(0o755)
    assert str(binary) in fingerprint(("codex",), env=program(cli).env, cwd="/")
