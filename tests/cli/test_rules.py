"""`koboshi rules`: the list, and the page of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.rules.catalogue import ALL
from koboshi.store.switches import switch
from tests.cli.journals import lay_down, run
from tests.plugins.packages import Packages, packages

__all__ = ["packages"]

OWN = """
[[rule]]
code = "OWN001"
name = "of-mine"
when = 'age > 1'
"""
PAGE = ["code", "name", "severity", "summary", "why", "example", "safety"]
KEYS = [
    *PAGE,
    "origin",
    "mode",
    "own_mode",
    "switched",
    "settable",
    "found",
    "done",
    "would",
    "last",
    "example_would",
]


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The owner's folder, and another one to be in; nobody's files but the test's."""
    folder, here = tmp_path / "config", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.setenv("KOBOSHI_CONFIG", str(folder))
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(here)
    return folder


def test_the_list_names_every_rule_by_code() -> None:
    """Code, severity, name; the first line of its page below."""
    heads = [line for line in run("rules").lines_of() if not line.startswith(" ")]

    assert heads == sorted(f"{r.code} {r.severity.value} {r.name}" for r in ALL)


def test_json_has_exactly_the_public_keys_and_no_empty_section() -> None:
    """A list of all; one object with a code."""
    listed = run("rules", "--json").json

    assert [list(rule) for rule in listed] == [KEYS] * len(ALL)
    assert [r["code"] for r in listed if not all(r[key] for key in PAGE)] == []
    assert run("rules", "--json", "RUN001").json == next(r for r in listed if r["code"] == "RUN001")


def test_a_page_has_its_sections() -> None:
    """By code in any case, or by name."""
    page = run("rules", "run001").out

    assert page.startswith("RUN001 run-ended-badly (P0)\n\nThe process ended")
    assert [line for line in page.splitlines() if line in ("Why", "Example", "Safety")] == [
        "Why",
        "Example",
        "Safety",
    ]
    assert page == run("rules", "run-ended-badly").out


def test_rules_of_files_and_what_each_came_to(tmp_path: Path) -> None:
    """Own rules with their mode, those that are off; counts from the journals."""
    (tmp_path / "config" / "koboshi.toml").write_text(
        "[[rule]]\ncode = 'OWN001'\nname = 'of-mine'\nwhen = 'age > 1'\nmode = 'observe'\n"
        "[[rule]]\ncode = 'OWN002'\nname = 'not-now'\nwhen = 'age > 1'\nenabled = false\n"
    )
    lay_down(tmp_path / "state")
    switch(tmp_path / "state", "OWN001", "act", 5.0)
    switch(tmp_path / "state", "RUN001", "observe", 6.0)

    told = {each["code"]: each for each in run("rules", "--json").json}

    own = told["OWN001"]
    assert (own["mode"], own["own_mode"], own["switched"]["mode"]) == ("act", "observe", "act")
    assert own["origin"] == f"{tmp_path / 'config' / 'koboshi.toml'}:2"
    assert (told["OWN002"]["mode"], told["OWN002"]["settable"]) == ("off", False)
    assert (told["RUN001"]["mode"], told["RUN001"]["own_mode"]) == ("observe", "act")
    assert (told["PLN001"]["origin"], told["PLN001"]["settable"]) == ("plan", False)
    assert told["RUN005"]["found"] > 0
    assert told["RUN005"]["last"]["agent"] == "sim"
    assert "Mode: observe, as you said on" in " ".join(run("rules", "RUN001").out.split())
    assert "RUN001 P0 run-ended-badly (observe)" in run("rules").lines_of()


def test_what_cannot_be_set_starts_no_daemon(tmp_path: Path) -> None:
    """A wrong code, a wrong word, no code."""
    assert run("rules", "NIX999", "--set", "observe").code == 2
    assert run("rules", "RUN001", "--set", "often").code == 2
    assert run("rules", "--set", "observe").code == 2
    assert not (tmp_path / "state").exists()


def test_rules_of_files_and_plug_ins_are_listed_with_their_source(
    config: Path, tmp_path: Path, packages: Packages
) -> None:
    """Your own file, the one in this folder, a package."""
    (config / "koboshi.toml").write_text(OWN)
    (tmp_path / "here" / "koboshi.toml").write_text(OWN.replace("OWN001", "PRJ001"))
    packages.night()
    sources = {r["code"]: r["origin"] for r in run("rules", "--json").json}

    assert sources["RUN001"] == "built in"
    assert sources["NGT001"] == "plug-in night"
    assert sources["OWN001"] == f"{config / 'koboshi.toml'}:3"
    assert sources["PRJ001"] == f"{tmp_path / 'here' / 'koboshi.toml'}:3"
    heads = run("rules").lines_of()
    assert "NGT001 P1 night-fell (plug-in night)" in heads
    assert f"OWN001 P1 of-mine ({sources['OWN001']})" in heads


def test_a_rule_of_a_file_or_a_plug_in_has_its_page(config: Path, packages: Packages) -> None:
    """What it is from stands below its name."""
    (config / "koboshi.toml").write_text(OWN)
    packages.night()

    page = run("rules", "ngt001").out.splitlines()
    assert page[:2] == ["NGT001 night-fell (P1)", "from plug-in night"]
    assert "It is night." in page, page
    page = run("rules", "of-mine").out.splitlines()
    assert page[1] == f"from {config / 'koboshi.toml'}:3"
    assert "Safety" in page


def test_what_cannot_be_used_is_said_and_the_rest_is_listed(
    config: Path, packages: Packages
) -> None:
    """A mistake in a file, a plug-in that does not load."""
    (config / "koboshi.toml").write_text(OWN.replace("age", "agee"))
    packages.broken()
    ran = run("rules")

    assert ran.code == 0
    assert "koboshi.toml:5: rule.0.when: expected" in ran.err
    assert "plug-in 'moon' is skipped: ModuleNotFoundError: No module named 'no_moon'" in ran.err
    assert len([line for line in ran.lines_of() if not line.startswith(" ")]) == len(ALL)


def test_no_such_rule_is_an_error() -> None:
    """Of one line and a hint."""
    ran = run("rules", "XXX999")

    assert ran.code == 2
    assert "expected a rule code such as 'RUN001', not 'XXX999'" in ran.err
