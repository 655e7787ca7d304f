"""Which colour a severity has on a terminal."""

from __future__ import annotations

from koboshi.core.events import Severity

SEVERITY_COLOURS = {Severity.P0: "red", Severity.P1: "yellow", Severity.P2: ""}
