"""`koboshi metrics`."""

from __future__ import annotations

import time

import click

_EPILOG = """\b
Examples:
  koboshi metrics
  koboshi metrics NAME --json | jq '.[].restarts'
  koboshi metrics --prometheus

\b
Exit codes: 0 fine · 2 no such agent · 3 the journal cannot be used
"""


@click.command(epilog=_EPILOG)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, a day each.")
@click.option("--prometheus", is_flag=True, help="Print the last day as Prometheus reads it.")
def metrics(*, name: str | None, as_json: bool, prometheus: bool) -> None:
    """Count what happened to the agent NAME, or to all, day by day, from the journals."""
    from koboshi.metrics.past import days
    from koboshi.metrics.prometheus import exposition
    from koboshi.store.journal import read
    from koboshi.store.paths import agents, known_journal_dir, state_dir
    from koboshi.store.shelves import DiskShelf

    from .printing import plain, say, to_json

    state = state_dir()
    found = {
        agent: days(agent, read(DiskShelf(known_journal_dir(state, agent))))
        for agent in ((name,) if name else agents(state))
    }
    if prometheus:
        say(exposition((all_[-1] for all_ in found.values()), time.time()).rstrip())
    elif as_json:
        say(to_json([each.image() for all_ in found.values() for each in all_]))
    else:
        for all_ in found.values():
            for each in all_:
                for row in _rows(each):
                    say(plain(row))


def _rows(each: object) -> list[str]:
    """A day of one agent."""
    from koboshi.config.durations import shown
    from koboshi.metrics.figures import DAY, Figures

    assert isinstance(each, Figures)  # noqa: S101 - imported late
    day = time.strftime("%Y-%m-%d", time.gmtime(each.day * DAY))
    spent = ", ".join(f"{k} {shown(round(v) * 1.0)}" for k, v in sorted(each.seconds.items()))
    restarts = ", ".join(f"{k} {n}" for k, n in sorted(each.restarts.items()))
    done = ", ".join(f"{k} {n}" for k, n in sorted(each.actions.items()))
    recovery = f", back after {each.recovering / each.recovered:.0f} s" if each.recovered else ""
    return [
        f"{each.agent} {day}: {sum(each.events.values())} events, {each.crashes} crashes{recovery}",
        f"  time: {spent or 'none'}",
        f"  runs started: {restarts or 'none'}",
        f"  done: {done or 'nothing'}",
    ]
