"""The board as a Textual application: it shows what the daemon tells and passes orders on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.widgets import DataTable, Static

from koboshi.cli.printing import clock, plain
from koboshi.daemon.control.visitor import Asked
from koboshi.errors import KoboshiError
from koboshi.wording import many

from . import board
from .keys import Keys
from .screens import Choose, Page, Sure
from .visits import News, news, steps

#: Seconds that an order is watched for what comes of it.
WATCHED = 10.0
#: Decisions that `w` shows, and rows of what a question is about.
DECISIONS, ROWS = 20, 12
#: Columns from which on there is room for the name and the time beside what waits.
WIDE = 60
#: What a hook that waits takes; the options of its dialog are known to the terminal alone.
PLAIN = ("yes", "no")


class Top(App[None]):
    """All agents; who waits for a person is on top."""

    CSS_PATH = "top.tcss"
    TITLE = "koboshi top"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("t", "attach", "terminal"),  # Enter is the table's own key, and does the same
        ("a", "answer", "answer"),
        ("r", "hand_over", "hand over"),
        ("s", "stop", "stop"),
        ("w", "why", "why"),
        ("q", "quit", "quit"),
    ]

    def __init__(self, daemon: Asked, state: Path) -> None:
        super().__init__()
        self._daemon, self._state = daemon, state
        self._news = News()
        self._steps: dict[str, str] = {}
        self._shown: dict[str, tuple[str, ...]] = {}

    def compose(self) -> ComposeResult:
        """Head, table, details, keys."""
        yield Static(id="head", markup=False)
        yield DataTable[Text](id="agents", cursor_type="row", zebra_stripes=True)
        yield Static(id="details", markup=False)
        yield Keys()

    def on_mount(self) -> None:
        """Begin to listen."""
        table = self._table
        for number, name in enumerate(board.HEAD):
            table.add_column(name, key=str(number))
        table.focus()
        self._listen()
        self._mind_plans()
        self.set_interval(1.0, self._draw)  # "for 5s" grows by itself

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#agents", DataTable)

    @work(exclusive=True, group="news")
    async def _listen(self) -> None:
        async for known in news(self._daemon):
            self._news = known
            self._draw()

    @work(exclusive=True, group="steps")
    async def _mind_plans(self) -> None:
        async for known in steps(self._daemon):
            self._steps = known
            self._draw()

    # -- showing -------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Show what is known, as long as nothing lies over the board."""
        if len(self.screen_stack) != 1 or not self.query("#details"):
            return  # or the application is on its way out
        agents = board.ordered(self._news.agents.values())
        shown = {each["agent"]: board.cells(each, time.time()) for each in agents}
        if list(shown) != list(self._shown):
            self._rebuild(agents)
        else:
            for each in agents:
                self._update(each, shown[each["agent"]])
        self._shown = shown
        self._head(agents)
        self._details()

    def _rebuild(self, agents: list[board.Known]) -> None:
        """Others, or in another order; the row that was chosen stays chosen, wherever it goes."""
        table, chosen, top = self._table, self._chosen(), self._table.scroll_y
        table.clear()
        for each in agents:
            table.add_row(*_painted(each), key=each["agent"])
        names = [each["agent"] for each in agents]
        if chosen in names:
            table.move_cursor(row=names.index(chosen), animate=False, scroll=False)
        table.scroll_to(y=top, animate=False)

    def _update(self, each: board.Known, cells: tuple[str, ...]) -> None:
        """Only what is new: hundreds of rows are not drawn once a second."""
        name = each["agent"]
        if cells == self._shown[name]:
            return
        for number, cell in enumerate(_painted(each)):
            if cells[number] != self._shown[name][number]:
                self._table.update_cell(name, str(number), cell, update_width=True)

    def _head(self, agents: list[board.Known]) -> None:
        waiting = sum(map(board.waits, agents))
        words = f"{many(len(agents), 'agent')}, {waiting or 'nobody'} waiting for you"
        if self.size.width >= WIDE:
            words = f"koboshi  {words}  {clock(time.time())}"
        head = self.query_one("#head", Static)
        head.set_class(bool(self._news.trouble), "stale")
        head.update(plain(f"NOT LIVE: {self._news.trouble}" if self._news.trouble else words))

    def _details(self) -> None:
        each = self._news.agents.get(self._chosen())
        step = self._steps.get(each["cwd"], "") if each else ""
        rows = list(board.details(each, time.time(), step)) if each else []
        self.query_one("#details", Static).update("\n".join(rows))

    def _chosen(self) -> str:
        table = self._table
        if not table.row_count:
            return ""
        key = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
        return key or ""

    def on_data_table_row_highlighted(self) -> None:
        """Another agent was chosen."""
        self._details()

    def on_data_table_row_selected(self) -> None:
        """Enter on a row; the table takes that key for itself."""
        self.action_attach()

    # -- orders --------------------------------------------------------------------------------

    @work(exclusive=True, group="orders")
    async def action_attach(self) -> None:
        """Show its terminal in this one; its own detach key leads back."""
        name = self._chosen()
        said = await self._ask("attach", name=name) if name else None
        if said is None:
            return
        trouble = ""
        try:
            # Nothing is drawn meanwhile: nobody takes it from Textual's queue then, and once that
            # is full, whoever draws waits for ever. Nothing is raised in there: it would stay so.
            with self.batch_update(), self.suspend():
                trouble = await asyncio.to_thread(show, said["argv"])
        except SuspendNotSupported:
            trouble = "this terminal cannot be lent to another program"
        if trouble:
            self._tell(trouble, bad=True)
        self.refresh()

    @work(exclusive=True, group="orders")
    async def action_answer(self) -> None:
        """Answer the oldest of what it asks: on its screen, through a hook, or by its tool."""
        name = self._chosen()
        found = [q for q in await self._ask("questions") or () if q["agent"] == name]
        if not found:
            self._tell(f"{name or 'nobody'} asks nothing")
            return
        asked = found[0]
        rows = about(asked)
        options = [option["text"] for option in asked["options"]]
        free = asked["through"] in ("tool", "hook")  # also "no: use pnpm"
        if asked["through"] == "hook" and asked["kind"] != "question":
            options = options or list(PLAIN)
        words = await self._choose(
            "\n".join([asked["question"], *rows]).strip(), options, free=free
        )
        if words:
            await self._order("answer", id=asked["id"], text=words, wait=WATCHED)

    @work(exclusive=True, group="orders")
    async def action_hand_over(self) -> None:
        """Have its work saved and go on in a fresh run."""
        name = self._chosen()
        if name and await self._sure(f"Have {name} save its work and go on in a fresh run?"):
            await self._order("refresh", name=name, reason="a person asked for it")

    @work(exclusive=True, group="orders")
    async def action_stop(self) -> None:
        """End it, and leave it ended."""
        name = self._chosen()
        if name and await self._sure(f"Stop {name} and all it started?"):
            await self._order("stop", name=name, wait=WATCHED)

    @work(exclusive=True, group="orders")
    async def action_why(self) -> None:
        """The last decisions about it, newest first."""
        name = self._chosen()
        if not name:
            return
        try:
            text = await asyncio.to_thread(decisions, self._state, name, self.size.width - 6)
        except (KoboshiError, OSError) as error:
            self._tell(str(error), bad=True)
            return
        self.push_screen(Page(f"why: {name}", text))

    # -- parts ---------------------------------------------------------------------------------

    async def _sure(self, question: str) -> bool:
        answer = await self.push_screen_wait(Sure(question))
        return answer is True

    async def _choose(self, question: str, options: list[str], *, free: bool) -> str:
        shown = [plain(option) for option in options]
        words = await self.push_screen_wait(Choose(plain_rows(question), shown, free=free))
        # What was picked goes out as the agent wrote it, not as it was shown.
        return options[shown.index(words)] if words in shown else words

    async def _order(self, verb: str, **args: object) -> None:
        said = await self._ask(verb, **args)
        if said is None:
            return
        why = said.get("why", "")
        words = f"{said.get('agent', '')}: {verb} {said.get('outcome', 'is under way')}"
        self._tell(f"{words}{f': {why}' if why else ''}", bad=said.get("outcome") == "failed")

    async def _ask(self, verb: str, **args: object) -> Any:  # noqa: ANN401 - what the daemon said
        try:
            return await self._daemon.ask(verb, patience=WATCHED + 10.0, **args)
        except KoboshiError as error:
            unknown = str(error).endswith(f", not {verb!r}")
            words = f"this daemon cannot {verb}; t shows the terminal" if unknown else str(error)
            self._tell(f"{words} {error.hint}".strip(), bad=True)
            return None

    def _tell(self, words: str, *, bad: bool = False) -> None:
        self.notify(plain(words), severity="error" if bad else "information", markup=False)


def _painted(each: board.Known) -> list[Text]:
    """A row with its colours; never as markup, in which an agent could draw and link."""
    row = [Text(cell, no_wrap=True) for cell in board.cells(each, time.time())]
    for cell in row[:3:2]:
        cell.stylize(board.colour(each))
    if board.waits(each):
        row[1].stylize("bold")
    return row


def show(argv: list[str]) -> str:
    """Run the program that shows a terminal, until it is left; why that could not be done."""
    around = {name: value for name, value in os.environ.items() if name != "TMUX"}
    try:
        ran = subprocess.run(argv, env=around, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        return f"{argv[0]} cannot be run: {error.strerror}"
    said = ran.stderr.decode(errors="replace").strip()
    return (said or f"{argv[0]} ended with {ran.returncode}") if ran.returncode else ""


def decisions(state: Path, name: str, room: int) -> str:
    """The last decisions about that agent, newest first, without its secrets."""
    from koboshi.cli.why import chain_words
    from koboshi.daemon.control.masking import Masks
    from koboshi.store.paths import known_journal_dir
    from koboshi.store.queries import recent
    from koboshi.store.roster import Roster
    from koboshi.store.shelves import DiskShelf

    chains = recent(DiskShelf(known_journal_dir(state, name)), DECISIONS).chains
    told = [Text.from_ansi(chain_words(chain, max(20, room))).plain for chain in reversed(chains)]
    shown = Masks(Roster(state)).text(name, "\n\n".join(told), cols=max(20, room))
    return shown or "nothing was decided yet"


def about(asked: dict[str, Any]) -> list[str]:
    """What is asked about, then the rows around it that say something more.

    Frames and empty rows, and what stands there already, would take the room of the rest.
    """
    first = [asked["subject"]] if asked["subject"] else []
    known = {"", asked["question"], *first, *(option["text"] for option in asked["options"])}
    told = [row for row in asked["shown"] if row.strip() not in known]
    return first + [row for row in told if any(char.isalnum() for char in row)][-ROWS:]


def plain_rows(text: str) -> str:
    """Safe to show; line ends stay."""
    return "\n".join(plain(row) for row in text.split("\n"))
