"""`koboshi answers`: what would be answered, and which rule says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.policy.bans import BANS
from tests.cli.journals import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a link out of it; the owner allows `rm` and edits inside."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KOBOSHI_CONFIG", str(tmp_path / "own"))
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    for name in ("home/other", "own", "home/project/.git", "home/project/sub"):
        (tmp_path / name).mkdir(parents=True)
    folder = tmp_path / "home" / "project"
    (folder / "out").symlink_to("../other")
    (tmp_path / "own" / "koboshi.toml").write_text(
        '[[answers.rule]]\ndo = "allow"\ncommand = ["rm *", "ls *"]\n'
        '[[answers.rule]]\ndo = "allow"\ntool = "Edit"\npath = "inside"\n'
        '[[answers.question]]\npattern = "*colour*"\nanswer = "blue"\n'
    )
    monkeypatch.chdir(folder)
    return folder


def test_a_forced_push_is_denied_anywhere(project: Path) -> None:
    """Three keys, no daemon, nothing but the folder."""
    ran = run("answers", "test", "git push --force origin main", "--json")

    assert (ran.code, ran.err) == (0, "")
    assert set(ran.json) == {"verdict", "rule", "why"}
    assert (ran.json["verdict"], ran.json["rule"]) == ("deny", "builtin:force-push")
    assert not (project.parent.parent / "state").exists()


@pytest.mark.parametrize(
    ("words", "verdict", "rule"),
    [
        (["rm -rf sub"], "allow", "answers.rule[0]"),
        (["rm -rf out/x"], "deny", "builtin:outside-worktree"),
        (["rm -rf ../other"], "deny", "builtin:outside-worktree"),
        (["rm -rf ../x", "--cwd", "sub"], "allow", "answers.rule[0]"),
        (["make"], "ask", "default"),
        (["rm $X"], "ask", "unclear"),
        (["--tool", "Edit", "--path", "sub/a"], "allow", "answers.rule[1]"),
        (["--tool", "Edit", "--path", "out/a"], "deny", "builtin:outside-worktree"),
        (["--tool", "Edit", "--path", "koboshi.toml"], "deny", "builtin:own-controls"),
        (["--tool", "Edit"], "ask", "incomplete"),
        (["--tool", "Read", "--path", "~/.ssh/id_rsa", "--reads"], "deny", "builtin:credentials"),
        (["--tool", "WebFetch", "--domain", "x.example"], "ask", "default"),
        (["--question", "Which colour?"], "allow", "answers.question[0]"),
        (["--question", "Which colour?", "--option", "red"], "ask", "answers.question[0]"),
    ],
)
def test_verdict_and_rule_are_told(
    project: Path, words: list[str], verdict: str, rule: str
) -> None:
    """Links are followed, the folder counts."""
    ran = run("answers", "test", *words, "--json")

    assert project.is_dir()
    assert (ran.json["verdict"], ran.json["rule"]) == (verdict, rule)


def test_a_person_gets_two_lines(project: Path) -> None:
    """The verdict with its rule, and why; nothing that a terminal would obey."""
    ran = run("answers", "test", "sudo x\x1b[2J")

    assert project.is_dir()
    assert ran.lines_of()[0] == "ask  unparsed"
    assert "\x1b" not in ran.out


def test_nothing_to_test_is_said(project: Path) -> None:
    """Exit 2."""
    ran = run("answers", "test")

    assert project.is_dir()
    assert ran.code == 2
    assert "expected a command, --tool" in ran.err


def test_show_lists_the_deny_set_and_the_rules_in_order(project: Path) -> None:
    """What a person reads before going to bed."""
    (project / "koboshi.toml").write_text(
        '[[answers.rule]]\ndo = "ask"\ncommand = "rm *"\n[[answers.rule]]\ndo = "allow"\nmcp="a/b"'
    )
    ran = run("answers", "show")
    rows = [row.split()[:2] for row in ran.lines_of()[1:]]

    assert rows[: len(BANS)] == [["deny", f"builtin:{ban.name}"] for ban in BANS]
    assert rows[len(BANS) :] == [
        ["ask", "project's"],
        ["allow", "answers.rule[0]"],
        ["allow", "answers.rule[1]"],
        ["answer", "answers.question[0]"],
        ["ask", "answers.plan"],
        ["ask", "answers.trust"],
        ["ask", "default"],
    ]
    assert "answers.rule[1] is ignored: the file of a project may only deny or ask" in ran.err
    assert run("answers", "show", "--json").json["rules"][0]["do"] == "ask"


def test_a_mistake_is_told_and_nothing_is_allowed(project: Path) -> None:
    """On stderr, so that JSON stays JSON."""
    own = project.parent.parent / "own" / "koboshi.toml"
    own.write_text(own.read_text() + '[[answers.rule]]\ndo = "alow"\ncommand = "x"\n')
    ran = run("answers", "test", "ls", "--json")

    assert ran.json["verdict"] == "ask"
    assert f"{own}:12: answers.rule.2.do: expected 'allow', 'deny' or 'ask'" in ran.err


def test_a_program_that_is_not_known_yet_is_shown_as_a_gap(project: Path) -> None:
    """What stands for it inside is nothing that a person could read."""
    ran = run("answers", "test", "$CMD -rf /", "--json")

    assert project.is_dir()
    assert ran.json["why"] == "'…': a part of it is known only when it runs"
