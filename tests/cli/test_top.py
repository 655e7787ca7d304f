"""`koboshi top`: the board follows the daemon, and keys become orders."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from koboshi.cli.printing import clock
from koboshi.cli.top import app as module
from koboshi.cli.top import visits
from koboshi.cli.top.app import Top, about
from koboshi.cli.top.board import cells, details, gauge, ordered
from koboshi.daemon.control.client import Refused
from koboshi.errors import DaemonError
from koboshi.store.roster import Entry, Roster
from tests.cli.journals import run

QUESTION = {
    "nth": 2,
    "kind": "permission",
    "question": "Do you want to proceed?",
    "subject": "rm -rf build",
    "options": [{"text": "Yes", "meaning": "once"}, {"text": "No", "meaning": "no"}],
    "selected": 0,
    "since": 0.0,
    "left_to_person": "",
}


def agent(name: str, status: str = "working", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """What the daemon says of one."""
    known = {
        "agent": name,
        "type": "claude",
        "host": "tmux",
        "mode": "keep",
        "cwd": "/src",
        "watched": True,
        "trouble": "",
        "status": status,
        "reason": "spinner",
        "since": 0.0,
        "run": {"number": 1, "exit": None},
        "context": 50.0,
    }
    return {**known, **more}


def questions(each: dict[str, Any]) -> list[dict[str, Any]]:
    """What the daemon says of what that agent asks."""
    common = {"agent": each["agent"], "kind": "permission", "shown": []}
    found = [{**common, **ask, "subject": "", "through": "tool"} for ask in each.get("asked", ())]
    for line in found:
        line["options"] = [{"text": text} for text in line["options"]]
    question = each.get("question")
    if question:
        found.append({**common, **question, "id": f"{each['agent']}:1.2", "through": "keys"})
    return found


class House:
    """A daemon that tells what a test puts in, and notes what it is asked."""

    def __init__(self, *agents: dict[str, Any], follows: bool = True) -> None:
        self.agents = {each["agent"]: each for each in agents}
        self.orders: list[tuple[str, dict[str, Any]]] = []
        self.epoch, self.count, self.follows = "e1", 1, follows
        self.gone = ""
        self.plans: list[dict[str, Any]] = []
        self._changed = asyncio.Event()

    def change(self, *agents: dict[str, Any]) -> None:
        """Something happened."""
        self.agents.update((each["agent"], each) for each in agents)
        self.count += 1
        self._changed.set()

    async def ask(self, verb: str, *, patience: float = 10.0, **args: Any) -> Any:  # noqa: ANN401, ARG002
        """What a daemon does."""
        if self.gone:
            raise DaemonError(self.gone)
        if verb == "follow" and self.follows:
            return await self._follow(args)
        if verb == "follow":
            raise Refused("expected one of ls, status, not 'follow'", hint="", exit_code=2)
        if verb == "plan-follow":
            return await self._plans(args)
        if verb == "ls":
            return list(self.agents.values())
        if verb == "questions":
            return [line for each in self.agents.values() for line in questions(each)]
        self.orders.append((verb, args))
        return {"agent": args.get("name", ""), "outcome": "done", "why": "", "argv": ["tmux", "x"]}

    async def _plans(self, args: dict[str, Any]) -> dict[str, Any]:
        if args["epoch"]:
            await asyncio.Event().wait()  # nothing more ever happens to them
        return {"epoch": "p", "count": 1, "full": True, "plans": self.plans, "gone": []}

    async def _follow(self, args: dict[str, Any]) -> dict[str, Any]:
        full = args["epoch"] != self.epoch
        while not full and args["after"] >= self.count:
            self._changed.clear()
            await self._changed.wait()
        told = list(self.agents.values())
        return {"epoch": self.epoch, "count": self.count, "full": full, "agents": told, "gone": []}


def play(
    house: House,
    act: Callable[[Pilot[None]], Awaitable[None]],
    state: Path,
    size: tuple[int, int] = (100, 30),
    driver: type[Driver] | None = None,
) -> None:
    """Run the board, and do that to it."""

    async def played() -> None:
        top = Top(house, state)
        top.driver_class = driver or top.driver_class
        async with top.run_test(size=size, headless=driver is None) as pilot:
            await pilot.pause()
            await act(pilot)

    asyncio.run(played())


def table(pilot: Pilot[None]) -> list[list[str]]:
    """The cells, as they are shown."""
    shown = pilot.app.query_one(DataTable)
    return [[cell.plain for cell in shown.get_row_at(n)] for n in range(shown.row_count)]


def text(pilot: Pilot[None], name: str) -> str:
    """What a part of the board says."""
    return str(pilot.app.query_one(name, Static).render())


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Let the board go on until that is so."""
    for _ in range(200):
        if true():
            return
        await pilot.pause()
    raise AssertionError(table(pilot))


@pytest.mark.parametrize("size", [(40, 12), (24, 8)])
def test_a_small_terminal_shows_who_waits(tmp_path: Path, size: tuple[int, int]) -> None:
    """Its name and its status, whatever else there is no room for."""
    evidence = ["a line of the terminal that is much longer than this one is wide"]
    asking = agent("fix-login", "asking", question=QUESTION, evidence=evidence)
    house = House(agent("api"), asking)

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 2)
        await pilot.pause()
        drawn = pilot.app.export_screenshot()
        assert drawn.count("fix-login") == 2  # in its row, and in what is said of it below
        assert "asking" in drawn

    play(house, act, tmp_path, size)


@pytest.mark.parametrize(
    ("cols", "words"),
    [
        (24, "t a r s w q"),
        (40, "t term a ans r new s stop w why q quit"),
        (80, "t terminal  a answer  r hand over  s stop  w why  q quit"),
    ],
)
def test_every_key_is_seen_in_as_many_words_as_there_is_room_for(
    tmp_path: Path, cols: int, words: str
) -> None:
    """Also when the terminal becomes larger or smaller meanwhile."""

    async def act(pilot: Pilot[None]) -> None:
        for size in ((cols, 12), (120 - cols, 12), (cols, 12)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await until(pilot, lambda: " ".join(last_row(pilot).split()) == " ".join(words.split()))

    play(House(agent("api")), act, tmp_path, (cols, 12))


def last_row(pilot: Pilot[None]) -> str:
    """What can be read on the lowest row."""
    shown = pilot.app.export_screenshot()
    rows = re.findall(r'<text [^>]* y="([0-9.]+)"[^>]*>([^<]*)</text>', shown)
    lowest = max(float(y) for y, _ in rows)
    return html.unescape(" ".join(text for y, text in rows if float(y) == lowest))


@pytest.mark.parametrize("follows", [True, False])
def test_the_board_follows_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, follows: bool
) -> None:
    """Who waits for a person comes up to the top by itself, and stays chosen if it was."""
    monkeypatch.setattr(visits, "AGAIN", 0.01)
    house = House(agent("api"), agent("web"), follows=follows)

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 2)
        assert [row[1] for row in table(pilot)] == ["api", "web"]
        assert "nobody waiting" in text(pilot, "#head")
        house.change(agent("web", "asking", question=QUESTION))
        await until(pilot, lambda: table(pilot)[0][1] == "web")
        assert table(pilot)[0][:3] == ["?", "web", "asking"]
        assert "rm -rf build" in table(pilot)[0][6]
        assert "1 waiting for you" in text(pilot, "#head")
        assert text(pilot, "#details").startswith("api  claude  /src")

    play(house, act, tmp_path)


def test_a_daemon_that_went_away_is_said_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was known stays on the board, marked as old."""
    monkeypatch.setattr(visits, "AGAIN", 0.01)
    house = House(agent("api"))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 1)
        house.gone = "the daemon is not there"
        house.change()
        await until(pilot, lambda: "NOT LIVE: the daemon is not there" in text(pilot, "#head"))
        assert [row[1] for row in table(pilot)] == ["api"]
        house.gone, house.epoch = "", "e2"
        house.agents = {"new": agent("new")}
        await until(pilot, lambda: [row[1] for row in table(pilot)] == ["new"])
        assert "NOT LIVE" not in text(pilot, "#head")

    play(house, act, tmp_path)


@pytest.mark.parametrize(
    ("keys", "orders"),
    [
        (("s", "n"), []),
        (("s", "escape"), []),
        (("s", "y"), [("stop", {"name": "api", "wait": module.WATCHED})]),
        (("r", "y"), [("refresh", {"name": "api", "reason": "a person asked for it"})]),
        (("a", "escape"), []),
        (("a", "enter", "escape"), []),
        (
            ("a", "down", "down", "enter"),
            [("answer", {"id": "api:1.2", "text": "No", "wait": module.WATCHED})],
        ),
    ],
)
def test_keys_become_orders(
    tmp_path: Path, keys: tuple[str, ...], orders: list[tuple[str, dict[str, Any]]]
) -> None:
    """What is not safe is asked once more."""
    house = House(agent("api", "asking", question=QUESTION))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 1)
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: not any(w.group == "orders" for w in pilot.app.workers))

    play(house, act, tmp_path)
    assert house.orders == orders


def test_what_the_agent_asks_by_its_tool_is_answered_in_words(tmp_path: Path) -> None:
    """Typed, and sent under the question's own name."""
    asked = {"id": "api:ask1", "question": "Which port?", "options": [], "since": 0.0}
    house = House(agent("api", asked=[asked]))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 1)
        assert table(pilot)[0][6] == "asks you: Which port?"
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("8", "0", "enter")
        await until(pilot, lambda: bool(house.orders))

    play(house, act, tmp_path)
    assert house.orders == [("answer", {"id": "api:ask1", "text": "80", "wait": module.WATCHED})]


def test_enter_lends_the_terminal_to_the_agents_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command that the daemon names; the board comes back after it."""
    shown = list[list[str]]()
    monkeypatch.setattr(module, "show", shown.append)
    house = House(agent("api"))

    class Lent:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    async def act(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(pilot.app, "suspend", Lent)
        await until(pilot, lambda: len(table(pilot)) == 1)
        await pilot.press("enter")
        await until(pilot, lambda: bool(shown))

    play(house, act, tmp_path)
    assert (house.orders, shown) == ([("attach", {"name": "api"})], [["tmux", "x"]])


class Counting(HeadlessDriver):
    """A terminal that can be lent, and counts what is drawn by whose turn it is."""

    is_headless, can_suspend = False, True
    lent = False

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - as Textual has it
        super().__init__(*given, **named)
        self.drawn = {True: 0, False: 0}

    def write(self, data: str) -> None:  # noqa: ARG002
        """Only that there was something."""
        self.drawn[self.lent] += 1

    def suspend_application_mode(self) -> None:
        """Another program has it."""
        self.lent = True

    def resume_application_mode(self) -> None:
        """Back."""
        self.lent = False
        super().resume_application_mode()


def test_nothing_is_drawn_on_a_terminal_that_is_lent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the board hears meanwhile; it is all there afterwards."""
    left = threading.Event()
    monkeypatch.setattr(module, "show", lambda _: "" if left.wait(30) else "nobody left it")
    house = House(agent("api"))

    async def act(pilot: Pilot[None]) -> None:
        driver = pilot.app._driver  # noqa: SLF001 - Textual shows it in no other way
        assert isinstance(driver, Counting)
        await until(pilot, lambda: len(table(pilot)) == 1)
        await pilot.press("enter")
        await until(pilot, lambda: driver.lent)
        for count in range(2, 6):
            house.change(*(agent(f"api{number}") for number in range(1, count)))
            await until(pilot, lambda: len(table(pilot)) == len(house.agents))
            await pilot.pause()
        meanwhile, before = driver.drawn[True], driver.drawn[False]
        left.set()
        assert meanwhile == 0
        await until(pilot, lambda: driver.drawn[False] > before > 0)

    play(house, act, tmp_path, driver=Counting)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["true"], ""),
        (["sh", "-c", "echo no such session >&2; exit 1"], "no such session"),
        (["sh", "-c", "exit 3"], "sh ended with 3"),
        (["/no/such/tmux"], "/no/such/tmux cannot be run: No such file or directory"),
    ],
)
def test_why_a_terminal_could_not_be_shown_is_told(argv: list[str], said: str) -> None:
    """Nothing is raised: the board would not get its terminal back."""
    assert module.show(argv) == said


def test_a_terminal_that_could_not_be_shown_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the board, which is there again."""
    told = list[str]()
    monkeypatch.setattr(module, "show", lambda _: "no such session")
    monkeypatch.setattr(Top, "suspend", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(Top, "notify", lambda _, words, **__: told.append(words))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 1)
        await pilot.press("enter")
        await until(pilot, lambda: bool(told))

    play(House(agent("api")), act, tmp_path)
    assert told == ["no such session"]


def test_why_shows_the_decisions(state: Path) -> None:
    """From the journal, newest first; any of its keys leads back."""
    house = House(agent("sim"))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 1)
        await pilot.press("w")
        await until_page(pilot)
        page = str(pilot.app.screen.query_one("VerticalScroll Static", Static).render())
        assert "verdict" in page
        assert "PRM001" in page or "RUN001" in page
        await pilot.press("escape")
        await pilot.pause()
        assert len(pilot.app.screen_stack) == 1

    play(house, act, state)


async def until_page(pilot: Pilot[None]) -> None:
    """Wait for something over the board."""
    for _ in range(500):
        if len(pilot.app.screen_stack) > 1:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no page")


HOSTILE = "[bold red]x[/] \x1b[2J\u202e [@click=app.quit]y[/]"


def test_what_an_agent_wrote_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    """No markup, no escape sequence, in no part of the board."""
    question = {**QUESTION, "question": HOSTILE, "subject": HOSTILE, "options": [{"text": HOSTILE}]}
    house = House(agent("api", "asking", question=question, reason=HOSTILE, evidence=[HOSTILE]))

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(table(pilot)) == 1)
        seen = "".join(table(pilot)[0]) + text(pilot, "#details")
        assert "[bold red]x[/]" in table(pilot)[0][6]
        assert seen.count("[bold red]x[/]") >= 4
        assert not {"\x1b", "\u202e"} & set(seen)
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("down", "enter")
        await until(pilot, lambda: bool(house.orders))

    play(house, act, tmp_path)
    assert house.orders[0][1]["text"] == HOSTILE


def test_a_row_says_it_in_shapes_and_words() -> None:
    """Colours are not seen by everybody; who needs a person comes first."""
    stopped = agent("b", "gone", halted="stop", context=None)
    rows = [cells(each, 90.0) for each in ordered([stopped, agent("c"), agent("a", "failed")])]

    assert [row[:4] for row in rows] == [
        ("✗", "a", "failed", "1m"),
        ("■", "b", "stopped", "1m"),
        ("●", "c", "working", "1m"),
    ]
    assert [gauge(n) for n in (0, 50, 100)] == [
        "········   0 %",
        "████····  50 %",
        "████████ 100 %",
    ]


def test_the_details_say_what_the_pages_card_says() -> None:
    """How long it is up, restarts, limit, task, cost; what it asks before all of that."""
    busy = agent(
        "a",
        "asking",
        run={"number": 3, "exit": None, "started": 30.0},
        restarts=2,
        limit={"kind": "session", "resets_at": 210.0},
        progress={"text": "half of the tests"},
        tasks={"done": 3, "left": 4},
        cost=1.2345,
        paused=True,
        question=QUESTION,
        evidence=["❯ 1. Yes"],
    )
    rows = list(details(busy, 90.0))

    [told] = [row for row in rows if row.startswith("up ")]
    until = clock(210.0)
    assert told == (
        f"up 1m · 2 restarts · session limit: 2m left, until {until} · half of the tests · "
        "tasks 3 of 7 · $1.23 · paused"
    )
    assert rows.index(told) > next(n for n, row in enumerate(rows) if row.startswith("asks: "))
    assert rows[-1] == "  │ ❯ 1. Yes"
    assert list(details(agent("b"), 90.0)) == ["b  claude  /src  mode keep", "because: spinner"]


def test_the_step_of_a_plan_stands_beside_who_works_there(tmp_path: Path) -> None:
    """By its folder, as on the page; a plan that does not run says nothing."""
    house = House(agent("api"))
    plan = {"id": "p", "name": "M1.md", "steps": 5, "step": {"number": 2}, "cwd": "/src"}
    done = {**plan, "id": "q", "name": "M0.md", "status": "DONE"}
    house.plans = [{**plan, "status": "RUNNING"}, done]

    async def act(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: ": step 2 of 5" in text(pilot, "#details"))
        assert "M1.md: step 2 of 5" in text(pilot, "#details")

    play(house, act, tmp_path)


def test_of_what_is_asked_about_the_most_telling_comes_first() -> None:
    """Frames, empty rows, and what stands there anyway, take no room of a small terminal."""
    shown = ["> go", "──────", "", " Bash", "   npm test", " Run it?", " ❯ 1. Yes"]
    asked = {"question": "Run it?", "subject": "npm test", "shown": shown, "options": []}

    assert about(asked) == ["npm test", "> go", " Bash", " ❯ 1. Yes"]
    assert about({**asked, "subject": "", "shown": []}) == []


def test_without_textual_the_list_is_shown_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback; the same agents, once."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "textual.app", None)
    assert run("top").out.startswith("no agents yet")

    Roster(tmp_path).keep(Entry(agent="a1", agent_type="claude", argv=("x",), cwd="/"))
    monkeypatch.setattr("koboshi.daemon.control.client.call", lambda *_, **__: [agent("a1")])
    ran = run("top")
    assert ran.code == 0
    assert "pip install 'koboshi[top]'" in ran.err
    assert "a1" in ran.out


def test_without_a_terminal_top_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And starts no daemon."""
    monkeypatch.setenv("KOBOSHI_STATE", str(tmp_path))
    Roster(tmp_path).keep(Entry(agent="a1", agent_type="claude", argv=("x",), cwd="/"))
    ran = run("top")

    assert ran.code == 4
    assert "koboshi ls" in ran.err
    assert not (tmp_path / "run").exists()
