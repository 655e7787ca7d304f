"""Lanes, what they need, and a report of everything that was skipped and why.

Rule 1: a lane that cannot run says so at the end, with its reason. A skip without a reason fails
the run.
Rule 2: no test sees the person's HOME, tmux server, git identity or keys.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".provision" / "state.json"
# The first that fits: tests of the stage lane are in the lab's folder.
LANES = ("tmux", "browser", "stage", "lab", "soak")

# What pytest writes when the author gave no reason.
NO_REASON = frozenset({"", "Skipped", "unconditional skip"})

pytest_plugins = ["pytester"]

# No deadline: the machine is shared. On CI the same cases every time: red means the change did it.
hypothesis.settings.register_profile("koboshi", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("koboshi")


# Whoever starts the tests in the background of a script ignores Ctrl-C, and would hand that down.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# --- lanes ---------------------------------------------------------------------------------------


def lane_of(keywords: object) -> str:
    """The lane a test belongs to, from its marks."""
    return next((lane for lane in LANES if lane in keywords), "unit")  # type: ignore[operator]


def provisioned(thing: str) -> Path | str:
    """Where `scripts/provision` put a thing, or the reason why there is none."""
    try:
        known = json.loads(STATE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = {}
    entry = known.get(thing, {})
    if "reason" in entry:
        return f"{thing}: {entry['reason']}"
    path = entry.get("path") or shutil.which(thing)
    if path and Path(path).exists():
        return Path(path)
    return f"{thing} is not there; `make test` or `scripts/provision` brings it"


def need(thing: str) -> Path:
    """The path of a provisioned thing; skips the test with the recorded reason otherwise."""
    found = provisioned(thing)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test under tests/<lane>/ is in that lane, marked or not."""
    for item in items:
        for lane in LANES:
            if Path(__file__).parent / lane in item.path.parents:
                item.add_marker(lane)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The tmux lane needs tmux before any fixture of it runs."""
    if item.get_closest_marker("tmux"):
        need("tmux")


# --- the report ----------------------------------------------------------------------------------


class LaneReport:
    """Counts outcomes per lane and keeps every reason; speaks at the end of the run."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.skipped: dict[str, Counter[str]] = {}
        self.reasonless: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes in each finished test, from this process or from an xdist worker."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.add_skip(report.nodeid, lane_of(report.keywords), report.longrepr)
        elif report.when == "call":
            self.ran[lane_of(report.keywords)] += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Takes in modules that skipped themselves."""
        if report.skipped:
            folder = Path(report.nodeid).parts[1:2]
            lane = folder[0] if folder and folder[0] in LANES else "unit"
            self.add_skip(report.nodeid, lane, report.longrepr)

    def add_skip(self, nodeid: str, lane: str, longrepr: object) -> None:
        """Keeps the reason of one skip."""
        text = str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
        reason = text.removeprefix("Skipped:").strip()
        if reason in NO_REASON:
            self.reasonless.append(nodeid)
            reason = "no reason given"
        self.skipped.setdefault(lane, Counter())[reason] += 1

    def lines(self) -> list[str]:
        """One line per lane that ran, one per lane and reason that did not."""
        lines = []
        for lane in ("unit", *LANES):
            if self.ran[lane]:
                lines.append(f"lane {lane}: {self.ran[lane]} ran")
            for reason, count in sorted(self.skipped.get(lane, Counter()).items()):
                tests = "1 test" if count == 1 else f"{count} tests"
                lines.append(f"lane {lane} skipped: {reason} ({tests})")
        lines += [f"skipped without a reason: {nodeid}" for nodeid in self.reasonless]
        return lines

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A skip without a reason is a failure."""
        if self.reasonless and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the lines, and adds them to the file whose content ends `make test`."""
        lines = self.lines()
        terminalreporter.section("lanes")
        for line in lines:
            terminalreporter.write_line(line)
        if target := os.environ.get("KOBOSHI_LANE_REPORT"):
            with Path(target).open("a", encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in lines)


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that talks to the person reports; xdist workers send it their results."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(LaneReport(), "koboshi-lanes")


# --- the surroundings of a test ------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def _own_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An own HOME, own XDG folders, a git identity, no tmux of the person's, a UTF-8 locale.

    For the whole session, not per test: Hypothesis objects to per-test fixtures around `@given`.
    """
    home = tmp_path_factory.mktemp("home")
    # Sockets live here, and a socket's path may have only about 100 bytes.
    short = tempfile.mkdtemp(prefix="kob-", dir="/tmp")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TMUX", "TMUX_PANE", "XDG_CACHE_HOME", "KOBOSHI_LANE_REPORT"):
            patch.delenv(name, raising=False)
        for name in ("config", "data", "state"):
            patch.setenv(f"XDG_{name.upper()}_HOME", str(home / name))
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "A Tester")
            patch.setenv(f"GIT_{role}_EMAIL", "tester@example.invalid")
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("HOME", str(home))
        patch.setenv("TMUX_TMPDIR", short)
        patch.setenv("XDG_RUNTIME_DIR", short)
        patch.setenv("LC_ALL", os.environ.get("LC_ALL", "C.UTF-8"))
        yield
    shutil.rmtree(short, ignore_errors=True)


class AgentCli(Protocol):
    """Looks up one agent CLI."""

    def __call__(self, name: str, version: str) -> Path:
        """The executable of `name` in exactly this version; skips the test when there is none."""


@pytest.fixture
def agent_cli() -> AgentCli:
    """Finds a pinned agent CLI. Start it only with `clean_env`."""
    return lambda name, version: need(f"{name}-{version}")


@pytest.fixture
def chromium() -> Path:
    """The browser of the browser lane."""
    return need("chromium")


@pytest.fixture
def clean_env(tmp_path: Path) -> dict[str, str]:
    """The whole environment for an agent CLI: nothing inherited, dummy keys, nobody to call.

    The base addresses point at a closed port of this machine; a test with a model server of its
    own replaces them.
    """
    home = tmp_path / "home"
    home.mkdir()
    nowhere = "http://127.0.0.1:9"
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(need("node").parent), "/usr/bin", "/bin"]),
        "TERM": "xterm-256color",
        "LC_ALL": os.environ["LC_ALL"],
        "ANTHROPIC_API_KEY": "dummy-key-000000",
        "ANTHROPIC_BASE_URL": nowhere,
        "OPENAI_API_KEY": "dummy-key-000000",
        "OPENAI_BASE_URL": nowhere,
        "GEMINI_API_KEY": "dummy-key-000000",
        "GOOGLE_GEMINI_BASE_URL": nowhere,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
