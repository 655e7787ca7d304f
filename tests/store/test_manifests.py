"""The user's own manifests: found, merged, checked, and never in the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from koboshi.adapters.base import Adapter
from koboshi.adapters.grammar.manifests import load
from koboshi.adapters.grammar.merging import tables
from koboshi.adapters.grammar.schemas import complaints, line_of
from koboshi.adapters.registry import adapter
from koboshi.core.readings import Status
from koboshi.errors import UnknownAgent
from koboshi.observations import ScreenSeen
from koboshi.store.manifests import BUILT_IN, adapter_in, config_dir

RULE = "─" * 60
CLIS = ("claude", "codex", "gemini", "opencode")
PACKAGE = Path(__file__).parents[2] / "src" / "koboshi" / "adapters"


def box(*above: str, below: str = "  ? for shortcuts") -> ScreenSeen:
    """A Claude screen at its prompt."""
    rows = (*above, "", RULE, "❯ ", RULE, below)
    return ScreenSeen(text="\n".join(rows), command="claude", cols=60)


def wrote(config: Path, text: str, name: str = "claude") -> Path:
    """The user's manifest of that CLI."""
    path = config / "adapters" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def used(known: Adapter, notice: str) -> float | None:
    """The share of the context that it reads in a notice."""
    context = known.read(box(below=f"  {notice}")).context
    return context.used if context else None


@pytest.mark.parametrize("name", CLIS)
def test_ours_say_nothing_that_is_not_understood(name: str) -> None:
    """The check that the user's manifests must pass is passed by our own."""
    assert complaints(tables((PACKAGE / name / "manifest.toml").read_text("utf-8"))) == []


def test_without_a_file_ours_is_used(tmp_path: Path) -> None:
    """Most people have none."""
    chosen = adapter_in(tmp_path, "claude")

    assert (chosen.source, chosen.complaints) == (BUILT_IN, ())
    assert chosen.adapter is adapter("claude", None, "")


def test_a_users_entry_goes_before_ours_and_keeps_the_others(tmp_path: Path) -> None:
    """A new wording is added by five lines."""
    text = "[[signs.context]]\nname = 'mine'\npattern = '(?P<used>\\d+)% of it gone'\n"
    path = wrote(tmp_path, text)

    chosen = adapter_in(tmp_path, "claude")

    assert (chosen.source, chosen.complaints) == (str(path), ())
    assert used(chosen.adapter, "42% of it gone") == 42
    assert used(chosen.adapter, "43% context used") == 43
    assert "mine: 42% of it gone" in chosen.adapter.read(box(below="  42% of it gone")).evidence


def test_an_entry_of_the_same_name_takes_the_place_of_ours(tmp_path: Path) -> None:
    """A wording that is wrong by now can be taken away."""
    wrote(tmp_path, "[[signs.context]]\nname = 'context_used'\npattern = '(?P<used>\\d+)% gone'\n")
    known = adapter_in(tmp_path, "claude").adapter

    assert used(known, "42% gone") == 42
    assert used(known, "42% context used") is None


def test_a_value_of_a_table_is_replaced_by_its_key(tmp_path: Path) -> None:
    """The other keys of the table stay."""
    wrote(tmp_path, "[words]\nexit = '/bye'\n[start.env]\nMINE = '1'\n")
    known = adapter_in(tmp_path, "claude").adapter

    assert known.exit_text() == "/bye"
    assert {"MINE", "DISABLE_AUTOUPDATER"} <= set(known.env(("claude",)))


def test_a_whole_manifest_takes_the_place_of_ours(tmp_path: Path) -> None:
    """`whole = true`: nothing of ours is left, and what is missing is named."""
    wrote(tmp_path, "whole = true\n")
    assert adapter_in(tmp_path, "claude").complaints == (
        f"{tmp_path}/adapters/claude.toml: expected the key 'versions'",
    )

    ours = (PACKAGE / "claude" / "manifest.toml").read_text("utf-8")
    wrote(tmp_path, "whole = true\n" + ours.replace("% context used", "% gone"))
    known = adapter_in(tmp_path, "claude").adapter
    assert used(known, "42% gone") == 42
    assert used(known, "42% context used") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[box\n", "not TOML: "),
        ("bocks = 1\n", "line 1, key 'bocks': expected one of blocks, box, command"),
        ("\n[box]\n\ncaret = '('\n", "line 4, key 'box.caret': expected a regular expression: "),
        ("[box]\nlayout = 'round'\n", "line 2, key 'box.layout': expected one of ruled, caret"),
        ("[typing]\npause = 'x'\n", "line 2, key 'typing.pause': expected a number from 0 on"),
        ("versions = 'new'\n", "line 1, key 'versions': expected a range such as '>=2.1,<3'"),
        (
            "[[signs.busy]]\nname = 'a'\npattern = 'a'\n[[signs.busy]]\nname = 'b'\n",
            "line 4, key 'signs.busy[1]': expected the key 'pattern'",
        ),
        (
            "[[signs.busy]]\npattern = 'a'\nstatus = 'bussy'\n",
            "line 3, key 'signs.busy[0].status': expected one of starting, working",
        ),
        ("signs = 3\n", "line 1, key 'signs': expected a table, not 3"),
        ("[start]\nfresh = {words = 'x'}\n", "line 2, key 'start.fresh.words': expected a list"),
        (
            "[[dialog.meanings]]\npattern = 'x'\nmeaning = 'si'\n",
            "line 3, key 'dialog.meanings[0].meaning': expected one of once, always, no",
        ),
        ("[[when]]\ncommand = 'x'\n", "line 1, key 'when[0]': expected the key 'versions'"),
    ],
)
def test_a_broken_manifest_is_named_and_skipped(tmp_path: Path, text: str, expected: str) -> None:
    """File, line, key, and what was expected; the night goes on with ours."""
    path = wrote(tmp_path, text)

    chosen = adapter_in(tmp_path, "claude")

    assert chosen.source == BUILT_IN
    assert chosen.complaints[0].startswith(f"{path}: {expected}")
    assert chosen.adapter.read(box()).status is Status.IDLE


def test_what_is_no_manifest_at_all_is_named_too(tmp_path: Path) -> None:
    """A folder, junk, a manifest of what has none."""
    (tmp_path / "adapters" / "claude.toml").mkdir(parents=True)
    (tmp_path / "adapters" / "codex.toml").write_bytes(b"\xff\xfe")
    wrote(tmp_path, "", name="generic")

    assert adapter_in(tmp_path, "claude").complaints[0].endswith("claude.toml: is a directory")
    assert "codex.toml: " in adapter_in(tmp_path, "codex").complaints[0]
    assert "expected a CLI with a manifest" in adapter_in(tmp_path, "generic").complaints[0]
    with pytest.raises(UnknownAgent):
        adapter_in(tmp_path, "clod")


SECTIONS = """
[[when]]
versions = "<2"
[[when.signs.context]]
name = "old"
pattern = '(?P<used>\\d+)% old'
[[when]]
versions = ">=2"
[[when.signs.context]]
name = "new"
pattern = '(?P<used>\\d+)% new'
"""


@pytest.mark.parametrize(
    ("version", "old", "new"), [("1.9", 1, None), ("2.1", None, 2), ("", None, 2)]
)
def test_a_section_counts_for_its_versions(
    tmp_path: Path, version: str, old: float | None, new: float | None
) -> None:
    """A version that is not known is the newest."""
    wrote(tmp_path, SECTIONS)
    known = adapter_in(tmp_path, "claude", version).adapter

    assert (used(known, "1% old"), used(known, "2% new")) == (old, new)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("9.0.1", "version: 9.0.1 is outside the tested range >=1.0,<3"),
        ("2.1.197", None),
        ("", None),
    ],
)
def test_a_version_that_was_not_tested_is_told(version: str, expected: str | None) -> None:
    """It may be read all the same."""
    reading = adapter("claude", None, version).read(box())

    assert reading.status is Status.IDLE
    assert [line for line in reading.evidence if "version" in line] == (
        [expected] if expected else []
    )


def test_the_config_directory_is_where_people_look_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """`$KOBOSHI_CONFIG`, else the XDG one."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/xdg")
    monkeypatch.delenv("KOBOSHI_CONFIG", raising=False)
    assert config_dir() == Path("/xdg/koboshi")
    monkeypatch.setenv("KOBOSHI_CONFIG", "/own")
    assert config_dir() == Path("/own")
    monkeypatch.delenv("KOBOSHI_CONFIG")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert config_dir() == Path.home() / ".config" / "koboshi"


def inspected(config: Path, screen: str, *more: str) -> subprocess.CompletedProcess[str]:
    """What `koboshi inspect` prints."""
    argv = [sys.executable, "-m", "koboshi", "inspect", "--agent", "claude", *more, "-"]
    env = {"KOBOSHI_CONFIG": str(config), "PATH": "", "PYTHONUTF8": "1"}
    return subprocess.run(argv, input=screen, capture_output=True, text=True, check=False, env=env)


def test_inspect_shows_the_manifest_and_the_line_that_matched(tmp_path: Path) -> None:
    """Ours, the user's, and why the user's was skipped."""
    screen = box(below="  42% of it gone").text

    assert "manifest: built-in" in inspected(tmp_path, screen).stdout
    path = wrote(tmp_path, "[[signs.context]]\nname = 'mine'\npattern = '(?P<used>\\d+)% of it'\n")
    own = inspected(tmp_path, screen, "--cli-version", "7.0.0").stdout
    assert f"manifest: {path}" in own
    assert "mine: 42% of it gone" in own
    assert "version: 7.0.0 is outside the tested range" in own
    assert f'"manifest":"{path}"' in inspected(tmp_path, screen, "--json").stdout.replace(" ", "")
    wrote(tmp_path, "[box]\ncaret = 3\n")
    broken = inspected(tmp_path, screen)
    assert broken.returncode == 0
    assert "manifest: built-in" in broken.stdout
    assert f"{path}: line 2, key 'box.caret': expected a regular expression, not 3" in broken.stderr


SCREENS = {
    "spinner: ": box("✻ Brewing… (3s)"),
    "context_used: ": box(below="  42% context used"),
    "usage_limit: ": box("❯ go", "  ⎿  You've hit your session limit · resets 9:58am (UTC)"),
    "api_error: ": box("● API Error: 500 Internal server error"),
    "permission: ": ScreenSeen(
        text=f"● x\n\n{RULE}\n Bash command\n\n   ls\n\n Do you want to proceed?\n ❯ 1. Yes\n"
        "   2. No\n\n Esc to cancel",
        command="claude",
        cols=60,
    ),
}


@pytest.mark.parametrize("name", SCREENS)
def test_the_evidence_names_the_rule_for_each_thing_read(name: str) -> None:
    """Status, prompt, context, limit, error: `name: line`."""
    evidence = adapter("claude").read(SCREENS[name]).evidence

    assert any(line.startswith(name) and len(line) > len(name) for line in evidence), evidence


def test_a_key_is_found_in_its_line() -> None:
    """Also inside an inline table, and in the second entry of a list."""
    text = "a = 1\n[[b.c]]\nd = 1\n[[b.c]]\nd = 2\n[e]\nf = {g = 1}\n"

    assert [line_of(text, key) for key in ("a", "b.c[1].d", "b.c[1]", "e.f.g", "x")] == [
        1,
        5,
        4,
        7,
        None,
    ]


def test_a_manifest_is_compiled_once() -> None:
    """A look must not pay for it."""
    assert load("claude", None, "2.1.197") is load("claude", None, "2.1.197")
