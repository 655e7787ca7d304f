"""Forms: each tick, move and word is seen before the next key; whatever else is left alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.actions import Answer
from koboshi.core.events import Context, Ending, Moment, Outcome
from koboshi.core.readings import Meaning, Prompt
from koboshi.core.view import View
from koboshi.hosts.base import Key, Keystroke, Place
from koboshi.observations import ScreenSeen
from koboshi.performers import Hands, Program, perform

CLAUDE = adapter("claude")
RULE = "─" * 80


@dataclass
class Form:
    """A terminal in which Claude Code asks, and what it does with each key."""

    labels: tuple[str, ...] = ("Auth", "Search", "Logs")
    several: bool = True
    deaf: str = ""  #: a key that it does not take
    lies: str = ""  #: what it shows for review instead
    sent: list[str] = field(default_factory=list)
    ticked: set[int] = field(default_factory=set)
    typed: str = ""
    at: int = 0
    stage: str = "form"
    clock: float = 100.0

    def rows(self) -> list[str]:
        """What it shows."""
        if self.stage == "gone":
            return ["❯ go", "", "● Thanks.", "", RULE, "❯ ", RULE, "  ? for shortcuts"]
        head = ["❯ go", RULE, "←  ☐ Features  ✔ Submit  →" if self.several else " ☐ Features", ""]
        if self.stage == "review":
            shown = f"   → {self.lies or self.answer}"
            asks = ["Ready to submit your answers?", "❯ 1. Submit answers", "  2. Cancel"]
            return [*head, "Review your answers", " ● Which?", shown, "", asks[0], "", *asks[1:]]
        return [*head, "Which?", "", *self._list(), "", "Enter to select · Esc to cancel"]

    def _list(self) -> list[str]:
        rows = [*self.labels, self.typed or "Type something" + "." * (not self.several)]
        free = len(self.labels)
        found = []
        for index, text in enumerate(rows):
            ticked = index in self.ticked or (index == free and self.typed)
            box = f"[{'✔' if ticked else ' '}] " if self.several else ""
            found.append(f"{'❯' if index == self.at else ' '} {index + 1}. {box}{text}")
        if self.several:
            found.append(f"{'❯' if self.at == free + 1 else ' '}    Submit")
        return [*found, RULE, f"  {free + 2}. Chat about this"]

    @property
    def answer(self) -> str:
        """What was picked."""
        picked = [label for index, label in enumerate(self.labels) if index in self.ticked]
        return ", ".join([*picked, *([self.typed] if self.typed else [])])

    def key(self, name: str) -> None:
        """What a key does."""
        free = len(self.labels)
        if name == self.deaf:
            return
        if self.stage == "review":
            self.stage = "gone" if name == "1" else self.stage
        elif name in ("Up", "Down"):
            self.at += 1 if name == "Down" else -1
        elif name.isdigit() and self.at != free and int(name) <= free and self.several:
            self.ticked ^= {int(name) - 1}
        elif name.isdigit() and not self.several:
            self.at = int(name) - 1
            self.stage = "form" if self.at == free else "gone"
        elif name == "Enter" and self.at == free + 1:
            self.stage = "review"
        elif name == "Enter" and not self.several and self.typed:
            self.stage = "gone"

    async def look(self, place: Place) -> ScreenSeen:
        """The screen."""
        del place
        text = "\n".join(self.rows())
        return ScreenSeen(text=text, ansi=text, at=self.clock, cols=80, rows=40, command="claude")

    async def type(self, place: Place, strokes: tuple[Keystroke, ...]) -> None:
        """Keys and text."""
        del place
        for stroke in strokes:
            if isinstance(stroke, Key):
                self.sent.append(stroke.name)
                self.key(stroke.name)
            else:
                self.sent.append(f"“{stroke.text}”")
                if self.at == len(self.labels):
                    self.typed += stroke.text

    async def sleep(self, seconds: float) -> None:
        """Time passes."""
        self.clock += seconds

    def prompt(self) -> Prompt:
        """What is asked."""
        found = CLAUDE.read(asyncio.run(self.look(Place(agent="a", id="%1", run=1)))).prompt
        assert found is not None
        return found

    def answered(self, text: str) -> Outcome:
        """Answer with that."""
        action = Answer(
            run=1,
            nth=1,
            fingerprint=self.prompt().fingerprint,
            choice=Meaning.OTHER,
            text=text,
        )
        hands = Hands(
            agent="a",
            adapter=CLAUDE,
            host=self,  # type: ignore[arg-type]
            program=Program(argv=("claude",), cwd="/w"),
            now=lambda: Moment(at=self.clock, utc=self.clock),
            sleep=self.sleep,
            mark=lambda _: None,
            tell=lambda _: True,
            announce=lambda _: None,
            scale=lambda at: at,
            view=lambda: View(context=Context(agent="a")),
            place=Place(agent="a", id="%1", run=1),
        )
        return asyncio.run(perform(action, hands))


@pytest.mark.parametrize(
    ("text", "ticked", "sent"),
    [
        ("Logs, auth", set(), ["1", "3", "Down", "Down", "Down", "Down", "Enter", "1"]),
        ("Search", set(), ["2", "Down", "Down", "Down", "Down", "Enter", "1"]),
        ("Search", {1}, ["Down", "Down", "Down", "Down", "Enter", "1"]),
        ("use it", set(), ["Down", "Down", "Down", "“use it”", "Down", "Enter", "1"]),
        ("1\n2", set(), ["Down", "Down", "Down", "“1 2”", "Down", "Enter", "1"]),
    ],
)
def test_a_form_is_filled_in(text: str, ticked: set[int], sent: list[str]) -> None:
    """Boxes by their digit, words in their row, and in it goes once it was shown for review."""
    form = Form(ticked=ticked)

    assert form.answered(text).ending is Ending.DONE
    assert (form.sent, form.stage) == (sent, "gone")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("use it", ["Down", "Down", "Down", "“use it”", "Enter"]),
        ("Search", ["2"]),
        ("Chat about this", ["5"]),
    ],
)
def test_one_of_several_is_a_key_and_words_are_typed(text: str, sent: list[str]) -> None:
    """A row of the form's own is picked like an option."""
    form = Form(several=False)
    form.answered(text)

    assert form.sent == sent


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        (Form(deaf="3"), ["1", "3"]),
        (Form(deaf="Down"), ["1", "3", "Down"]),
        (Form(lies="Search"), ["1", "3", "Down", "Down", "Down", "Down", "Enter"]),
        (Form(deaf="Enter"), ["1", "3", "Down", "Down", "Down", "Down", "Enter"]),
    ],
    ids=["tick", "move", "review", "enter"],
)
def test_what_does_not_show_is_not_gone_on_with(form: Form, sent: list[str]) -> None:
    """No key is pressed again; a person is asked."""
    outcome = form.answered("Auth, Logs")

    assert (outcome.ending, form.sent) == (Ending.FAILED, sent)
    assert outcome.why.startswith("in doubt: ")


@pytest.mark.parametrize("form", [Form(ticked={1}), Form(typed="wait")], ids=["ticked", "typed"])
def test_what_somebody_else_fills_in_is_left_alone(form: Form) -> None:
    """They are at it."""
    assert (form.answered("Auth").ending, form.sent) == (Ending.SKIPPED, [])


def test_an_option_that_is_called_like_a_row_of_the_form_is_an_option() -> None:
    """The agent names its options; where the form's own rows stand it cannot say."""
    form = Form(labels=("Submit", "Type something", "Chat about this"))
    outcome = form.answered("Type something, Chat about this")

    assert (outcome.ending, form.answer) == (Ending.DONE, "Type something, Chat about this")
