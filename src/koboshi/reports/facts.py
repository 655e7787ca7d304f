"""A report for `--json`; the keys are a public contract (docs/reference/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .values import Account, Report


def facts(report: Report) -> dict[str, Any]:
    """All of it."""
    return {
        "since": report.since,
        "until": report.until,
        "agents": [_facts(each) for each in report.agents],
    }


def _facts(account: Account) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(account)
    totals = {doing.value: round(time, 1) for doing, time in account.totals.items()}
    return {**plain, "totals": totals}
