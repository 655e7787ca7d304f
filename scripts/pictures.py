"""Draws the pictures of README and docs/web.md: the night of `koboshi demo`, lived through here.

python scripts/pictures.py

The demo's agent lives its night in a tmux of its own; then a koboshi with its page takes its
journal up, beside agents that are in the middle of something, and a real browser looks at it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from koboshi.core.view import evolve  # noqa: E402
from koboshi.demo.run import Demo, end_server  # noqa: E402
from koboshi.reports.gathering import gather  # noqa: E402
from koboshi.reports.page import page  # noqa: E402
from koboshi.store.roster import Entry, Roster  # noqa: E402
from tests.browser.browsers import Tab, browser  # noqa: E402
from tests.browser.serving import Served, started  # noqa: E402
from tests.conftest import provisioned  # noqa: E402
from tests.daemon.trials import Trial, trial  # noqa: E402

TO = ROOT / "docs" / "pictures"
AGENT = "api"  #: the demo's, as the pictures call it
END = '\n[[act]]\ndo = "end_turn"\n'
WORK = '[[act]]\ndo = "work"\nseconds = 600\nsay = "{say}"\ncontext = {context}\n'
CREW = {
    "docs": '[[act]]\ndo = "work"\nseconds = 1\nsay = "All pages are written."\n' + END,
    "release": '[[act]]\ndo = "ask"\ncommand = "git push origin v1.4.0"\n' + END,
    "search": '[[act]]\ndo = "limit"\nseconds = 5400\n',
    "tests": WORK.format(say="Running the slow tests", context=63),
    "web": WORK.format(say="Rewriting the session store", context=41),
}


def main() -> int:
    """Draw them all."""
    chromium = provisioned("chromium")
    if isinstance(chromium, str):
        print(chromium)
        return 1
    with (
        tempfile.TemporaryDirectory(prefix="kob-", dir="/tmp") as folder,
        trial(Path(folder)) as koboshi,
    ):
        since = time.time()
        _night(koboshi)
        report = _report(koboshi, since)
        served = Served(koboshi)
        try:
            for name, script in CREW.items():
                started(koboshi, name, script)
            koboshi.until_status("release", "asking")
            koboshi.until_status("search", "limited")
            with browser(chromium, Path(folder) / "chromium") as made:
                _draw_report(made.tab(), report)
                _draw_page(made.tab(), served)
        finally:
            served.end()
    return 0


def _night(koboshi: Trial) -> None:
    """The demo, with its journal where this koboshi looks; then the agent is on its roster."""
    work = koboshi.folder / AGENT
    demo = Demo(agent=AGENT, state=koboshi.state, work=work, host="tmux")
    try:
        demo.run(lambda at, entry: print(f"{at:5.1f} s  {entry.mark}  {entry.text}"))
    finally:
        end_server(work)
    failed = [each.text for each in demo.results() if not each.held]
    if failed:
        raise SystemExit(f"the demo failed: {failed}")
    # It only looks: the night is over, and nothing more shall happen to its agent.
    entry = Entry(
        agent=AGENT,
        agent_type="scripted",
        argv=("true",),
        cwd=str(work),
        mode="observe",
        created=time.time(),
    )
    Roster(koboshi.state).keep(entry, {})
    koboshi.say("history", AGENT)  # its runs are written down for whoever shows them


def _report(koboshi: Trial, since: float) -> Path:
    report = gather(koboshi.state, (AGENT,), since=since, until=time.time())
    # The folder of a demo says nothing.
    shown = tuple(evolve(each, folder="~/src/api") for each in report.agents)
    file = koboshi.folder / "report.html"
    file.write_text(page(evolve(report, agents=shown)), encoding="utf-8")
    return file


def _draw_report(tab: Tab, report: Path) -> None:
    tab.size(900, 680, phone=False)
    tab.open(report.as_uri())
    tab.until_shown(AGENT)
    tab.picture("report", TO, most=900)


def _draw_page(tab: Tab, served: Served) -> None:
    tab.size(390, 700, phone=True)
    tab.open(served.link)
    tab.until_shown("limited", "section:last-of-type")
    tab.until_shown("asking", "section:first-of-type")
    tab.picture("board-phone", TO)
    tab.size(1100, 420, phone=False, dark=True)
    tab.picture("board", TO)
    tab.size(1100, 900, phone=False)
    tab.run(f"location.hash = '#/agent/{AGENT}'")
    tab.until("document.querySelectorAll('.timeline .mark').length > 10")
    tab.until("document.querySelectorAll('.chains li').length > 5")
    tab.until("document.querySelectorAll('.runs tbody tr').length > 3")
    tab.picture("agent", TO, most=1500)
    tab.size(390, 844, phone=True)
    tab.run("location.hash = '#/incidents'")
    tab.until_shown(AGENT, ".incidents")
    tab.picture("incidents-phone", TO, most=1000)
    print(f"drawn in {TO}")


if __name__ == "__main__":
    sys.exit(main())
