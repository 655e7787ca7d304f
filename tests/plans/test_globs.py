"""Which files a step may change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.plans.globs import allows, outside


@pytest.mark.parametrize(
    ("glob", "path", "allowed"),
    [
        ("a.py", "a.py", True),
        ("./a.py", "a.py", True),
        ("a.py", "src/a.py", False),
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "src/x/a.py", True),
        ("src/**", "src/x/a.py", True),
        ("src/**", "srcs/a.py", False),
        ("docs", "docs/a/b.md", True),
        ("docs/", "docs/a/b.md", True),
        ("test_?.py", "test_a.py", True),
        ("test_?.py", "test_ab.py", False),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("a+b(c).txt", "a+b(c).txt", True),
        ("日本語/*.md", "日本語/メモ.md", True),
        ("**", "anything/at/all", True),
        ("**", "../outside", False),
        ("*", "/etc/passwd", False),
        ("a[.py", "a[.py", True),
    ],
)
def test_a_glob_allows_what_it_says(glob: str, path: str, *, allowed: bool) -> None:
    """And nothing wider."""
    assert allows(glob, path) is allowed


def test_without_globs_everything_is_allowed() -> None:
    """With some, what none of them allows is named."""
    assert outside(("a", "b/c"), ()) == ()
    assert outside(("a", "b/c", "d"), ("a", "b")) == ("d",)


@given(st.text(), st.text())
def test_no_glob_breaks_it(glob: str, path: str) -> None:
    """Whatever a person, or a planner, wrote."""
    assert allows(glob, path) in (True, False)
