"""Figures arrive at a collector on loopback, in its own words; a dead one is a reason."""

from __future__ import annotations

import gzip

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from koboshi.metrics.figures import DAY, Figures
from koboshi.metrics.telemetry import export
from tests.core.worlds import UTC
from tests.notices.servers import Webhook

FIGURES = Figures(
    agent="api",
    day=int(UTC // DAY),
    events={"run-exited P0": 2},
    restarts={"crash": 2},
    seconds={"working": 61.5},
    crashes=2,
    run=3,
    run_since=UTC - 10.0,
)


def test_they_arrive() -> None:
    """As a collector reads them: sums that only grow, and gauges."""
    with Webhook().open() as collector:
        collector.answer = b""
        why = export([FIGURES], UTC, f"http://127.0.0.1:{collector.port}/v1/metrics")
        ((path, body),) = collector.got

    assert (why, path) == ("", "/v1/metrics")
    content = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    request = ExportMetricsServiceRequest.FromString(content)
    metrics = {m.name: m for m in request.resource_metrics[0].scope_metrics[0].metrics}
    (crashes,) = metrics["koboshi.restarts"].sum.data_points
    assert {a.key: a.value.string_value for a in crashes.attributes} == {
        "agent": "api",
        "reason": "crash",
    }
    assert (crashes.as_int or crashes.as_double) == 2
    assert metrics["koboshi.restarts"].sum.is_monotonic
    assert set(metrics) == {
        *("koboshi.events", "koboshi.actions", "koboshi.held", "koboshi.restarts"),
        *("koboshi.status.seconds", "koboshi.prompts.answered", "koboshi.crashes"),
        *("koboshi.recoveries", "koboshi.recovery.seconds", "koboshi.up", "koboshi.tokens"),
        *("koboshi.uptime.seconds", "koboshi.uptime.mean.seconds", "koboshi.context.percent"),
        "koboshi.last.crash",
    }
    assert metrics["koboshi.uptime.seconds"].gauge.data_points[0].as_double == 10.0
    assert metrics["koboshi.status.seconds"].sum.data_points[0].as_double == 61.5


def test_a_collector_that_says_no_or_nothing_is_a_reason() -> None:
    """Within a time limit."""
    with Webhook().open() as collector:
        collector.status = 400
        assert export([FIGURES], UTC, f"http://127.0.0.1:{collector.port}/v1/metrics")
    assert export([FIGURES], UTC, "http://")
