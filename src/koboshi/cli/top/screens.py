"""What opens over the board: a yes or no, the options of a question, a page to read.

Rule 1: everything an agent wrote is shown with `markup=False`: in markup it could draw and link.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option


class Sure(ModalScreen[bool]):
    """Asks before something is done that cannot be taken back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "say(True)", "yes"),
        ("n", "say(False)", "no"),
        ("escape", "say(False)", "no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question."""
        with Vertical(classes="box"):
            yield Label(self._question, markup=False)
            yield Label("y  yes     n  no", classes="faint", markup=False)

    def action_say(self, yes: bool) -> None:  # noqa: FBT001 - the key says which
        """Close with that."""
        self.dismiss(yes)


class Choose(ModalScreen[str]):
    """Lets a person pick an option, or type an answer where one can be typed; empty: neither."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "leave", "leave")]

    def __init__(self, question: str, options: list[str], *, free: bool) -> None:
        super().__init__()
        self._question, self._options, self._free = question, options, free

    def compose(self) -> ComposeResult:
        """The question, its options, a line to type in."""
        with Vertical(classes="box"):
            # Of a long question a part is shown, and can be scrolled: what can be said comes first.
            with VerticalScroll(classes="asked", can_focus=False):
                yield Label(self._question, markup=False)
            if self._options:
                yield OptionList(*(Option(text) for text in self._options), markup=False)
            if self._free:
                yield Input(placeholder="your answer")
            yield Label("Enter answers     Esc leaves it", classes="faint", markup=False)

    def on_mount(self) -> None:
        """Nothing is chosen yet: a second Enter in a hurry must not say yes."""
        for options in self.query(OptionList):
            options.highlighted = None

    def on_option_list_option_selected(self, chosen: OptionList.OptionSelected) -> None:
        """That one."""
        self.dismiss(self._options[chosen.option_index])

    def on_input_submitted(self, typed: Input.Submitted) -> None:
        """These words, if there are any."""
        if typed.value.strip():
            self.dismiss(typed.value.strip())

    def action_leave(self) -> None:
        """Nothing is answered."""
        self.dismiss("")


class Page(ModalScreen[None]):
    """Something to read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave", "leave"),
        ("q", "leave", "leave"),
        ("w", "leave", "leave"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """The text, to be scrolled."""
        with Vertical(classes="page"):
            yield Label(self._title, markup=False)
            with VerticalScroll():
                yield Static(self._text, markup=False)

    def action_leave(self) -> None:
        """Back to the board."""
        self.dismiss(None)
