"""The lane report: nothing is skipped silently."""

from pathlib import Path

import pytest


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project of its own with our conftest in it."""
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n  tmux: t\n  browser: b\n  lab: l\n  soak: s\n")
    return pytester


@pytest.mark.parametrize("skip", ["pytest.skip()", "pytest.skip('')"])
def test_a_skip_without_a_reason_fails_the_run(inner: pytest.Pytester, skip: str) -> None:
    """Who skips says why."""
    inner.makepyfile(f"import pytest\ndef test_it(): {skip}")

    result = inner.runpytest_subprocess()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["skipped without a reason: *::test_it"])


def test_a_skip_mark_without_a_reason_fails_the_run(inner: pytest.Pytester) -> None:
    """Pytest's own words for a missing reason are no reason."""
    inner.makepyfile("import pytest\n@pytest.mark.skip\ndef test_it(): ...")

    assert inner.runpytest_subprocess("-n", "1").ret == pytest.ExitCode.TESTS_FAILED


def test_reasons_are_printed_per_lane(inner: pytest.Pytester) -> None:
    """Lane, reason, how many."""
    inner.makepyfile(
        "import pytest\n"
        "@pytest.mark.lab\n@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_a(n): pytest.skip('no node')\n"
        "@pytest.mark.browser\ndef test_b(): ...\n"
        "@pytest.mark.xfail(reason='known')\ndef test_c(): assert False"
    )

    result = inner.runpytest_subprocess("-n", "1")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["lane browser: 1 ran", "lane lab skipped: no node (2 tests)"])


def test_a_module_that_skips_itself_is_reported(inner: pytest.Pytester) -> None:
    """Modules skip before there is a test."""
    inner.makepyfile("import pytest\npytest.skip('not on this system', allow_module_level=True)")

    inner.runpytest_subprocess().stdout.fnmatch_lines(
        ["lane unit skipped: not on this system (1 test)"]
    )
