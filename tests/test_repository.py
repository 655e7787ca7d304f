"""Files beside the code keep their own rules."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_constraints_are_names_and_versions_only() -> None:
    """No hashes, no addresses, no markers: any index, any platform."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    odd = [line for line in lines if not re.fullmatch(r"#.*|[a-z0-9.-]+==[0-9][\w.]*", line)]

    assert odd == []


def test_every_dependency_is_pinned() -> None:
    """A name in pyproject.toml without a pin would float."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.split(r"[^\w.-]", line)[0] for group in groups for line in group}
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    assert {name for name in names if f"\n{name}==" not in pins} == set()


def test_the_map_for_agents_stays_short() -> None:
    """It is read in full every time."""
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 80
