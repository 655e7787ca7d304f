"""Every measurement runs at a tiny size; how fast it is, only `make bench` says."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from bench.__main__ import MEASUREMENTS, Measured, main, report, run, table
from bench.figures import Figure, NotMeasured

TINY = 0.005

KEYS = {
    "step": {"events", "per_second", "p50", "p99", "max"},
    "agents": {
        *(
            f"{n}{f}_{p}"
            for n in (1, 100, 10_000)
            for f in ("", "_frozen")
            for p in ("p50", "p99", "max")
        ),
        *(f"ratio{f}_{p}" for f in ("", "_frozen") for p in ("p50", "p99")),
    },
    "rules": {"rules", "evaluate", "per_rule"},
    "own": {"rules", "p50", "p99", "max"},
    "storm": {
        "latest_wall",
        *("lines", "per_second", "fatal_printed", "fatal_heard"),
        *("decisions", "latest", "memory"),
    },
    "screens": {"looks", "looks_per_screen", "mean", "p50", "p99", "max"},
    "simulation": {"seeds_per_second", "night"},
    "journal": {
        *(f"{n}_per_second" for n in ("fsync", "nosync", "night_fsync", "night_nosync")),
        "ratio",
        "night_ratio",
    },
    "recovery": {
        f"{n}_{k}" for n in ("segments", "single") for k in ("total", "read", "seconds", "rate")
    },
    "resuming": {"median", "max", "cpu"},
    "startup": {"python_pass", "koboshi_version", "ratio"},
    "shim": {"true_p95", "heard_p95", "alone_p95", "ratio"},
    "watching": {
        "panes",
        "lines_unwatched",
        *(f"{n}_{k}" for n in ("idle", "lines") for k in ("koboshi", "polling", "ratio")),
    },
    "dialogs": {
        f"{n}_{w}_{k}"
        for n in ("alone", "busy")
        for w in ("event", "decision")
        for k in ("known", "p50", "p95", "max")
    },
    "answers": {f"{way}_{k}" for way in ("hook", "keys", "poll") for k in ("p50", "p95")},
    "passthrough": {
        f"{what}_{how}" for what in ("echo", "output") for how in ("direct", "wrapped", "ratio")
    },
    "viewers": {"viewers", "server", "daemon", "seen_p50", "seen_p95"},
    "board": {"agents", "painted", "painted_max"},
}


#: What needs a real tmux, or a browser.
LANES = {
    **dict.fromkeys(("watching", "dialogs", "answers", "viewers"), pytest.mark.tmux),
    "board": pytest.mark.browser,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=LANES.get(name, ())) for name in sorted(MEASUREMENTS)],
)
def test_a_measurement_yields_its_keys_with_positive_numbers(name: str) -> None:
    """No timed assertions: machines are noisy."""
    figures = MEASUREMENTS[name](TINY)

    assert {f.key for f in figures} == KEYS[name]
    assert all(f.value > 0 and math.isfinite(f.value) for f in figures)


def test_what_cannot_be_measured_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing command does not end the run."""

    def missing(_: float) -> tuple[Figure, ...]:
        raise NotMeasured("no such command")

    monkeypatch.setitem(MEASUREMENTS, "startup", missing)
    results = run(["startup"], TINY)

    assert results == [Measured(name="startup", skipped="no such command")]
    assert "not measured: no such command" in table(results)
    assert report(results, TINY)["not_measured"] == {"startup": "no such command"}


def test_the_table_is_printed_and_the_json_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--only` and `--json` do what they say."""
    file = tmp_path / "figures.json"

    def measure(_: float) -> tuple[Figure, ...]:
        return (Figure(key="mean", value=12.5, unit="µs", aim="< 20"),)

    monkeypatch.setitem(MEASUREMENTS, "rules", measure)
    monkeypatch.setattr(sys, "argv", ["bench", "--only", "rules", "--json", str(file)])

    assert main() == 0
    assert "rules.mean" in capsys.readouterr().out
    assert json.loads(file.read_text(encoding="utf-8"))["figures"] == {"rules": {"mean": 12.5}}
