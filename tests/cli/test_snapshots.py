"""`koboshi snapshots`: list, take, show, restore, as typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.adapters.text import width
from koboshi.store.roster import Entry, Roster
from tests.cli.journals import run
from tests.store.repositories import Repo


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The worktree of the agent `api`; `web` has none."""
    made = Repo.made(tmp_path / "work")
    made.write("new.txt", "1\n2\n")
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").mkdir()
    for agent, folder in (("api", "work"), ("web", "plain"), ("take", "work")):
        entry = Entry(agent=agent, agent_type="generic", argv=("x",), cwd=str(tmp_path / folder))
        Roster(tmp_path / "state").keep(entry)
    return made


def test_taken_listed_shown_restored(repo: Repo, tmp_path: Path) -> None:
    """A whole round."""
    none = run("snapshots", "api")
    taken = run("snapshots", "take", "api", "--as", "one")
    listed = run("snapshots", "api")
    shown = run("snapshots", "show", "api", "one")
    repo.write("new.txt", "written over")
    to = run("snapshots", "restore", "api", "one", "--to", "out")
    here = run("snapshots", "restore", "api", "one", "--here")

    assert none.out == "no snapshots yet; 'koboshi snapshots take NAME' takes one\n"
    assert taken.out == "one: 1 file(s) changed, 4 B\n"
    head, row = (line.split() for line in listed.out.splitlines())
    assert head == ["AGENT", "SNAPSHOT", "AGO", "FILES", "SIZE"]
    assert (*row[:2], *row[3:]) == ("api", "one", "1", "4", "B")
    assert shown.out.splitlines()[0].startswith("refs/koboshi/snapshots/api/one, 20")
    assert shown.out.splitlines()[2].split() == ["A", "+2", "-0", "new.txt"]
    assert to.out == f"2 file(s) written to {tmp_path / 'out'}\n"
    assert (tmp_path / "out" / "new.txt").read_text() == "1\n2\n"
    assert here.out.splitlines()[0] == f"1 file(s) written to {repo.top}"
    assert "koboshi snapshots restore api before-restore-" in here.out
    assert (repo.top / "new.txt").read_text() == "1\n2\n"
    assert {each.code for each in (none, taken, listed, shown, to, here)} == {0}


def test_all_agents_and_the_ones_that_have_none(repo: Repo) -> None:
    """Why there are none goes to stderr; an agent may be called as a command is."""
    assert repo.top.is_dir()
    run("snapshots", "take", "api")
    run("snapshots", "take", "take", "--as", "x")
    ran = run("snapshots", "--json")

    assert ran.code == 0
    assert [each["agent"] for each in ran.json] == ["api", "take"]
    assert ran.err == "koboshi: web has no snapshots: not a git repository\n"
    assert [each["name"] for each in run("snapshots", "list", "take", "--json").json] == ["x"]


def test_json_has_its_keys(repo: Repo) -> None:
    """As docs/reference/json.md says."""
    repo.write("bin", b"\0\xff")
    taken = run("snapshots", "take", "api", "--as", "one", "--json").json
    shown = run("snapshots", "show", "api", "one", "--json").json
    changed = shown.pop("changes")

    assert taken == shown == run("snapshots", "api", "--json").json[0]
    assert sorted(taken) == [
        *("agent", "clean", "commit", "files", "left_out", "name", "parent", "ref", "size", "utc"),
    ]  # fmt: skip
    assert changed == [
        {"path": "bin", "kind": "A", "added": None, "deleted": None},
        {"path": "new.txt", "kind": "A", "added": 2, "deleted": 0},
    ]


@pytest.mark.parametrize(
    ("argv", "code", "message", "hint"),
    [
        (["nobody"], 2, "expected the name of an agent, not 'nobody'", "agents: api"),
        (["web"], 4, "not a git repository", ""),
        (["take", "web"], 4, "no snapshot of web: not a git repository", "its folder is "),
        (["take", "api", "--as", "../x"], 2, "expected a snapshot's name of letters", ""),
        (["take"], 2, "missing argument 'NAME'", "try 'koboshi snapshots take --help'"),
        (["show", "api", "two"], 2, "not 'two'", "the newest: one"),
        (["restore", "api", "one"], 2, "either --to DIR or --here", "--to writes into a new"),
        (["restore", "api", "one", "--to", "x", "--here"], 2, "either --to DIR or --here", ""),
        (["restore", "api", "one", "--to", "work"], 2, "work is there already", "choose another"),
        (["restore", "api", "one", "--to", "x", "no"], 2, "not 'no'", "paths begin at the top"),
    ],
    ids=str,
)
def test_a_mistake_is_a_sentence(
    argv: list[str], code: int, message: str, hint: str, repo: Repo
) -> None:
    """With what to do; nothing has changed."""
    run("snapshots", "take", "api", "--as", "one")
    before = repo.everything()
    ran = run("snapshots", *argv)

    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err.splitlines()[0]
    assert hint in (ran.err.splitlines()[1:] or [""])[0]
    assert repo.everything() == before


def test_what_was_left_is_named_and_told_by_the_exit_code(repo: Repo) -> None:
    """An ignored file where the snapshot has one."""
    run("snapshots", "take", "api", "--as", "one")
    repo.write(".gitignore", "new.txt\n")
    repo.write("new.txt", "precious")
    ran = run("snapshots", "restore", "api", "one", "--here")

    assert ran.code == 1
    assert "left as it is: new.txt: what is there now is in no snapshot" in ran.out
    assert "1 file(s) that the snapshot does not know are still there" in ran.out
    assert (repo.top / "new.txt").read_text() == "precious"


@pytest.mark.parametrize("columns", [40, 80])
def test_names_do_not_reach_the_terminal_raw(
    repo: Repo, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent chooses its file names."""
    monkeypatch.setenv("COLUMNS", str(columns))
    repo.write("\x1b[2J日本語\x07\r\u202e" + "長い" * 20, "x")
    repo.git("init", "-q", "\x1b]0;owned\x07")
    run("snapshots", "take", "api", "--as", "one")
    for argv in (["api"], ["show", "api", "one"], ["show", "api", "one", "--json"]):
        ran = run("snapshots", *argv)
        assert ran.code == 0
        assert not set(ran.out) & set("\x07\r\x1b\u202e")
        if "--json" not in argv:
            assert max(map(width, ran.out.splitlines())) <= columns
