"""Figures for an OpenTelemetry collector: an extra, imported when there is an address.

The figures are counted already, so that nothing of the SDK counts beside them: they are put into
its words and handed to its exporter, one call, no thread of its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from koboshi._version import __version__

from .figures import DAY

if TYPE_CHECKING:
    from .figures import Figures

#: Seconds for one export, retries and all.
PATIENCE = 10
_COUNTED = {
    "koboshi.events": ("events", ("type", "severity")),
    "koboshi.actions": ("actions", ("kind", "outcome")),
    "koboshi.held": ("held", ("kind", "verdict")),
    "koboshi.restarts": ("restarts", ("reason",)),
    "koboshi.status.seconds": ("seconds", ("status",)),
}
_SINGLE = {
    "koboshi.prompts.answered": "answered",
    "koboshi.crashes": "crashes",
    "koboshi.recoveries": "recovered",
    "koboshi.recovery.seconds": "recovering",
}

#: Value and labels of one row.
Row = tuple[float, dict[str, str], int]


def export(all_: Iterable[Figures], utc: float, address: str) -> str:
    """Send them there; why that did not work, or nothing."""
    try:
        sdk = importlib.import_module("opentelemetry.sdk.metrics.export")
        resources = importlib.import_module("opentelemetry.sdk.resources")
        scopes = importlib.import_module("opentelemetry.sdk.util.instrumentation")
        http = importlib.import_module("opentelemetry.exporter.otlp.proto.http.metric_exporter")
    except ImportError:
        return "expected OpenTelemetry: pip install 'koboshi[otel]'"
    figures = tuple(all_)
    metrics = [*_sums(sdk, figures, utc), *_gauges(sdk, figures, utc)]
    scope = sdk.ScopeMetrics(
        scope=scopes.InstrumentationScope("koboshi", __version__), metrics=metrics, schema_url=""
    )
    resource = resources.Resource.create({"service.name": "koboshi"})
    whole = sdk.ResourceMetrics(resource=resource, scope_metrics=[scope], schema_url="")
    try:
        exporter = http.OTLPMetricExporter(endpoint=address, timeout=PATIENCE)
        result = exporter.export(sdk.MetricsData(resource_metrics=[whole]))
        exporter.shutdown()
    except Exception as error:  # noqa: BLE001 - a collector may fail in any way, and ends nothing
        return f"{type(error).__name__}: {error}"
    return "" if result is sdk.MetricExportResult.SUCCESS else "the collector did not take them"


def _sums(sdk: Any, figures: tuple[Figures, ...], utc: float) -> Iterator[Any]:  # noqa: ANN401
    for name, (attribute, labels) in _COUNTED.items():
        rows = [
            (count, {"agent": f.agent, **dict(zip(labels, key.split(" "), strict=False))}, f.day)
            for f in figures
            for key, count in getattr(f, attribute).items()
        ]
        yield _sum(sdk, name, rows, utc)
    for name, attribute in _SINGLE.items():
        rows = [(getattr(f, attribute), {"agent": f.agent}, f.day) for f in figures]
        yield _sum(sdk, name, rows, utc)


def _sum(sdk: Any, name: str, rows: list[Row], utc: float) -> Any:  # noqa: ANN401
    """Counters of a day, from its beginning on."""
    total = sdk.AggregationTemporality.CUMULATIVE
    points = [_point(sdk, *row, utc) for row in rows]
    summed = sdk.Sum(data_points=points, aggregation_temporality=total, is_monotonic=True)
    return sdk.Metric(name=name, description="", unit="", data=summed)


def _gauges(sdk: Any, figures: tuple[Figures, ...], utc: float) -> Iterator[Any]:  # noqa: ANN401
    values: dict[str, list[tuple[Figures, float | None]]] = {
        "koboshi.up": [(f, float(f.run_since is not None)) for f in figures],
        "koboshi.uptime.seconds": [(f, f.uptime(utc)) for f in figures],
        "koboshi.uptime.mean.seconds": [(f, f.mean_uptime()) for f in figures],
        "koboshi.context.percent": [(f, f.context) for f in figures],
        "koboshi.tokens": [(f, f.tokens) for f in figures],
        "koboshi.last.crash": [(f, f.last_crash) for f in figures],
    }
    for name, rows in values.items():
        points = [_point(sdk, v, {"agent": f.agent}, f.day, utc) for f, v in rows if v is not None]
        yield sdk.Metric(name=name, description="", unit="", data=sdk.Gauge(data_points=points))


def _point(sdk: Any, value: float, labels: dict[str, str], day: int, utc: float) -> Any:  # noqa: ANN401
    return sdk.NumberDataPoint(
        attributes=labels,
        start_time_unix_nano=int(day * DAY * 1e9),
        time_unix_nano=int(utc * 1e9),
        value=value,
    )
