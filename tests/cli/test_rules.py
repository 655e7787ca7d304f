"""`koboshi rules`: the list, and the page of one."""

from pathlib import Path

import pytest

from koboshi.rules.catalogue import ALL
from koboshi.store.switches import switch
from tests.cli.journals import lay_down, run

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
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's files but the test's."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("KOBOSHI_CONFIG", str(tmp_path / "own"))


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
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "koboshi.toml").write_text(
        "[[rule]]\ncode = 'OWN001'\nname = 'of-mine'\nwhen = 'age > 1'\nmode = 'observe'\n"
        "[[rule]]\ncode = 'OWN002'\nname = 'not-now'\nwhen = 'age > 1'\nenabled = false\n"
    )
    lay_down(tmp_path / "state")
    switch(tmp_path / "state", "OWN001", "act", 5.0)
    switch(tmp_path / "state", "RUN001", "observe", 6.0)

    told = {each["code"]: each for each in run("rules", "--json").json}

    own = told["OWN001"]
    assert (own["mode"], own["own_mode"], own["switched"]["mode"]) == ("act", "observe", "act")
    assert own["origin"] == str(tmp_path / "own" / "koboshi.toml")
    assert (told["OWN002"]["mode"], told["OWN002"]["settable"]) == ("off", False)
    assert (told["RUN001"]["mode"], told["RUN001"]["own_mode"]) == ("observe", "act")
    assert (told["PLN001"]["origin"], told["PLN001"]["settable"]) == ("plan", False)
    assert told["RUN005"]["found"] > 0
    assert told["RUN005"]["last"]["agent"] == "sim"
    assert "Mode: observe, as you said on" in " ".join(run("rules", "RUN001").out.split())
    assert "RUN001 P0 run-ended-badly  (observe)" in run("rules").lines_of()


def test_what_cannot_be_set_starts_no_daemon(tmp_path: Path) -> None:
    """A wrong code, a wrong word, no code."""
    assert run("rules", "NIX999", "--set", "observe").code == 2
    assert run("rules", "RUN001", "--set", "often").code == 2
    assert run("rules", "--set", "observe").code == 2
    assert not (tmp_path / "state").exists()
