"""What failed in a command's output, so that what failed before can be told from what is new."""

from __future__ import annotations

import re

#: How test runners, linters and compilers begin to speak of something that is wrong.
_WRONG = re.compile(r"\b(?:FAILED|FAIL|ERROR|Error|error|not ok|✗|✘|×)\b|^[^\s:]+:\d+(?::\d+)?:")
#: What differs from run to run and means nothing: times, numbers, addresses, folders of a day.
_VARIES = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?\s*(?:ms|s|seconds)\b|\d+")
#: A sum of failures is no failure: it changes when one of them goes.
_SUM = re.compile(
    r"(?:FAILED|FAIL|ERRORS?)\s*\([^)]*\)|[=\s-]*\d+ (?:failed|errors?|passed)\b.*"
    r"|.*\bFound \d+ errors?\b.*|(?:Tests|Test Suites):\s.*|.*\btest result: .*"
    r"|=+ (?:FAILURES|ERRORS) =+"
)
_SGR = re.compile("\x1b\\[[0-9;]*m")
#: Lines kept of one command: more are not read by anybody.
MOST = 200
#: Characters of a line.
LONGEST = 300


def failures(output: str) -> tuple[str, ...]:
    """The lines that tell of something wrong, each once."""
    rows = (_SGR.sub("", row).strip()[:LONGEST] for row in output.splitlines())
    named = (row for row in rows if _WRONG.search(row) and not _SUM.fullmatch(row))
    return tuple(dict.fromkeys(named))[:MOST]


def new_failures(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    """Those of now that were not there before, whatever moved in between."""
    known = {_still(row) for row in before}
    return tuple(row for row in after if _still(row) not in known)


def _still(row: str) -> str:
    return _VARIES.sub("#", row)
