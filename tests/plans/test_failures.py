"""What failed, by name: old failures are told from new ones."""

import pytest

from koboshi.plans.failures import failures, new_failures

PYTEST = """\
.F.                                                                      [100%]
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
>       assert 1 == 2
E       assert 1 == 2
tests/test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_b - assert 1 == 2
{more}1 failed, 2 passed in 0.{time}s
"""
UNITTEST = """\
FAIL: test_x (test_old.Old.test_x)
----------------------------------------------------------------------
AssertionError: as ever
Ran 2 tests in 0.000s

FAILED (failures=1{more})
"""


def test_the_same_failures_are_not_new() -> None:
    """Times and sums differ, the names do not."""
    before, after = (failures(PYTEST.format(more="", time=time)) for time in ("01", "72"))

    assert "FAILED tests/test_a.py::test_b - assert 1 == 2" in before
    assert new_failures(before, after) == ()


def test_another_failure_is_new() -> None:
    """And only that one is named."""
    before = failures(PYTEST.format(more="", time="01"))
    after = failures(PYTEST.format(more="FAILED tests/test_a.py::test_c - boom\n", time="02"))

    assert new_failures(before, after) == ("FAILED tests/test_a.py::test_c - boom",)


def test_a_smaller_sum_is_no_failure() -> None:
    """One of two was mended."""
    before = failures(UNITTEST.format(more=", errors=1") + "ERROR: test_calc (no module)\n")

    assert new_failures(before, failures(UNITTEST.format(more=""))) == ()


@pytest.mark.parametrize(
    "row",
    [
        "src/a.py:3:1: F401 `os` imported but unused",
        "src/a.py:3: error: Incompatible types",
        "not ok 3 - adds",
        "Error: Cannot find module './x'",
        "\x1b[31mFAIL\x1b[0m src/a.test.ts > adds",
        "test tests::adds ... FAILED",
    ],
)
def test_runners_and_linters_are_understood(row: str) -> None:
    """Each names what is wrong."""
    assert len(failures(row)) == 1


@pytest.mark.parametrize(
    "row",
    [
        "all is well",
        "FAILED (failures=1)",
        "=== 2 failed, 3 passed in 0.12s ===",
        "Found 3 errors.",
        "Tests:       1 failed, 2 passed, 3 total",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored",
    ],
)
def test_sums_and_good_news_are_no_failures(row: str) -> None:
    """They change when one of the failures goes."""
    assert failures(row) == ()
