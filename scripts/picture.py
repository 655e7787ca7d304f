"""Makes the picture of a report that the README shows: from the journal of a demo, in Chromium.

python scripts/picture.py STATE AGENT FILE.png   STATE: what KOBOSHI_STATE was for `koboshi demo`
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from koboshi.core.view import evolve
from koboshi.reports.gathering import gather
from koboshi.reports.page import page
from koboshi.store.paths import known_journal_dir
from koboshi.store.queries import recent
from koboshi.store.shelves import DiskShelf

#: Seconds around the night, and the size of the picture.
AROUND, SIZE = 5.0, "900,680"


def main() -> None:
    """Gather, draw, take the picture."""
    state, agent, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    times = [
        c.decision.now.utc for c in recent(DiskShelf(known_journal_dir(state, agent)), None).chains
    ]
    since, until = min(times) - AROUND, max(times) + AROUND
    report = gather(state, (agent,), since=since, until=until)
    # The name and the folder of a demo say nothing.
    shown = tuple(evolve(each, agent="api", folder="~/src/api") for each in report.agents)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(page(evolve(report, agents=shown)).replace(agent, "api"), encoding="utf-8")
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        subprocess.run(
            [
                *(
                    "chromium",
                    "--headless",
                    "--disable-gpu",
                    "--hide-scrollbars",
                    "--disable-dev-shm-usage",
                    *root,
                ),
                *(f"--user-data-dir={folder}/profile", f"--window-size={SIZE}"),
                *(f"--screenshot={target.absolute()}", file.as_uri()),
            ],
            check=True,
            timeout=120,
            capture_output=True,
        )


if __name__ == "__main__":
    main()
