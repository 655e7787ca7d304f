"""Figures in the words of Prometheus: for a file that its node exporter reads, or a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client.core import Metric

    from .figures import Figures


def exposition(
    all_: Iterable[Figures], utc: float, notices: Mapping[str, int] | None = None
) -> str:
    """The text of all agents' figures."""
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - 0.1 s

    registry = CollectorRegistry()
    registry.register(_Collector(tuple(all_), utc, notices or {}))
    return generate_latest(registry).decode()


class _Collector:
    """What prometheus-client asks for."""

    def __init__(self, all_: tuple[Figures, ...], utc: float, notices: Mapping[str, int]) -> None:
        self._all, self._utc, self._notices = all_, utc, notices

    def collect(self) -> Iterator[Metric]:
        """Every family once, with a row for each agent."""
        yield self._pairs("koboshi_events", "What was seen", ("type", "severity"), "events")
        yield self._pairs("koboshi_actions", "What was done", ("kind", "outcome"), "actions")
        yield self._pairs("koboshi_held", "What was decided against", ("kind", "verdict"), "held")
        yield self._single("koboshi_restarts", "Runs started, by reason", "reason", "restarts")
        yield self._single("koboshi_status_seconds", "Time in each status", "status", "seconds")
        for name, told, attribute in (
            ("koboshi_prompts_answered", "Questions answered", "answered"),
            ("koboshi_crashes", "Runs that ended badly", "crashes"),
        ):
            yield self._counter(name, told, attribute)
        yield from self._gauges()
        yield self._recovery()

    def _pairs(self, name: str, told: str, labels: tuple[str, str], attribute: str) -> Metric:
        from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

        family = CounterMetricFamily(name, told, labels=("agent", *labels))
        for each in self._all:
            for key, count in sorted(getattr(each, attribute).items()):
                one, _, other = key.partition(" ")
                family.add_metric((each.agent, one, other), count)
        return family

    def _single(self, name: str, told: str, label: str, attribute: str) -> Metric:
        from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

        family = CounterMetricFamily(name, told, labels=("agent", label))
        for each in self._all:
            for key, count in sorted(getattr(each, attribute).items()):
                family.add_metric((each.agent, key), count)
        return family

    def _counter(self, name: str, told: str, attribute: str) -> Metric:
        from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

        family = CounterMetricFamily(name, told, labels=("agent",))
        for each in self._all:
            family.add_metric((each.agent,), getattr(each, attribute))
        return family

    def _gauges(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

        rows: tuple[tuple[str, str, list[tuple[str, float | None]]], ...] = (
            ("koboshi_up", "Whether a run is up", [(f.agent, _up(f)) for f in self._all]),
            (
                "koboshi_uptime_seconds",
                "Age of the run that is up",
                [(f.agent, f.uptime(self._utc)) for f in self._all],
            ),
            (
                "koboshi_uptime_mean_seconds",
                "How long runs lived that have ended",
                [(f.agent, f.mean_uptime()) for f in self._all],
            ),
            (
                "koboshi_context_used_percent",
                "Context in use",
                [(f.agent, f.context) for f in self._all],
            ),
            ("koboshi_tokens", "Tokens in the context", [(f.agent, f.tokens) for f in self._all]),
            (
                "koboshi_last_crash_timestamp_seconds",
                "When a run last ended badly",
                [(f.agent, f.last_crash) for f in self._all],
            ),
        )
        for name, told, values in rows:
            family = GaugeMetricFamily(name, told, labels=("agent",))
            for agent, value in values:
                if value is not None:
                    family.add_metric((agent,), value)
            yield family
        for name, count in self._notices.items():
            yield GaugeMetricFamily(f"koboshi_notices_{name}", "Notices to people", value=count)

    def _recovery(self) -> Metric:
        from prometheus_client.core import SummaryMetricFamily  # noqa: PLC0415

        family = SummaryMetricFamily(
            "koboshi_recovery_seconds", "From a crash to being on its feet", labels=("agent",)
        )
        for each in self._all:
            family.add_metric((each.agent,), each.recovered, each.recovering)
        return family


def _up(figures: Figures) -> float:
    return float(figures.run_since is not None)
