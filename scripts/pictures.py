"""Draws docs/pictures from a living koboshi: scripted agents in a tmux of its own, a real browser.

python scripts/pictures.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.browsers import Tab, browser  # noqa: E402
from tests.browser.serving import Served, started  # noqa: E402
from tests.conftest import provisioned  # noqa: E402
from tests.daemon.trials import trial  # noqa: E402

TO = ROOT / "docs" / "pictures"
END = '\n[[act]]\ndo = "end_turn"\n'
WORK = '[[act]]\ndo = "work"\nseconds = 600\nsay = "{say}"\ncontext = {context}\n'
CREW = {
    "api": WORK.format(say="Rewriting the session store", context=41),
    "docs": '[[act]]\ndo = "work"\nseconds = 1\nsay = "All pages are written."\n' + END,
    "release": '[[act]]\ndo = "ask"\ncommand = "git push origin v1.4.0"\n' + END,
    "search": '[[act]]\ndo = "limit"\nseconds = 5400\n',
    "tests": WORK.format(say="Running the slow tests", context=63),
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
        served = Served(koboshi)
        try:
            for name, script in CREW.items():
                started(koboshi, name, script)
            koboshi.until_status("release", "asking")
            koboshi.until_status("search", "limited")
            with browser(chromium, Path(folder) / "chromium") as made:
                _draw(made.tab(), served)
        finally:
            served.end()
    return 0


def _draw(tab: Tab, served: Served) -> None:
    tab.size(390, 700, phone=True)
    tab.open(served.link)
    tab.until_shown("limited", "section:last-of-type")
    tab.until_shown("asking", "section:first-of-type")
    tab.picture("board-phone", TO)
    tab.size(1100, 420, phone=False, dark=True)
    tab.picture("board", TO)
    print(f"drawn in {TO}")


if __name__ == "__main__":
    sys.exit(main())
