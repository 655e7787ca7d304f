"""The scripted agent's dialogs: what they say, what each row means, how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .drawing import clean, hang, wrap

if TYPE_CHECKING:
    from .acts import Ask

#: title, question, ((option, meaning) …); `{word}` is the first word of the command.
_WORDS: dict[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "permission": (
        "Bash command",
        "Do you want to proceed?",
        (
            ("Yes", "once"),
            ("Yes, and don't ask again for {word} commands", "always"),
            ("No, and tell it what to do differently", "no"),
        ),
    ),
    "question": (
        "Question",
        "Which one shall it be?",
        (("The first", "other"), ("The second", "other")),
    ),
    "plan": (
        "Ready to go?",
        "Shall this plan be carried out?",
        (("Yes, go on", "once"), ("No, keep planning", "no")),
    ),
    "trust": (
        "Folder access",
        "Do you trust this folder?",
        (("Yes, I trust it", "once"), ("No, exit", "no")),
    ),
    "picker": (
        "Select model",
        "Which model shall answer?",
        (("Scripted One", "other"), ("Scripted Two", "other")),
    ),
}

#: Rows of a dialog that are always there: rule, title, question, cancel line and the blank ones.
_FRAME_ROWS = 8


@dataclass(slots=True, kw_only=True)
class Dialog:
    """One open dialog; `number` counts the dialogs of this run."""

    number: int
    kind: str
    title: str
    subject: str
    question: str
    options: tuple[tuple[str, str], ...]
    selected: int = 0

    def rows(self, columns: int, height: int) -> list[str]:
        """The dialog as it replaces the input box."""
        options: list[str] = []
        for index, (text, _) in enumerate(self.options):
            mark = "❯" if index == self.selected else " "
            options += hang(f" {mark} {index + 1}. ", "      ", text, columns - 1)
        question = hang(" ", " ", self.question, columns - 1)
        room = max(height - _FRAME_ROWS - len(options) - len(question), 1)
        subject = wrap(self.subject, columns - 4)
        if len(subject) > room:
            subject = [*subject[: room - 1], f"… +{len(subject) - room + 1} lines"]
        rows = ["─" * columns, f" {self.title}", "", *("   " + row for row in subject), ""]
        return [row.rstrip() for row in (*rows, *question, *options, "", " Esc to cancel")]


def open_dialog(kind: str, number: int, subject: str = "", ask: Ask | None = None) -> Dialog:
    """A dialog of that kind; an act may bring its own question, a `question` its options."""
    title, question, usual = _WORDS[kind]
    subject = clean(subject)
    word = (subject.split() or [""])[0]
    options = tuple((_one_line(text.replace("{word}", word)), meaning) for text, meaning in usual)
    if ask is not None and ask.question is not None:
        question = ask.question
    if ask is not None and ask.options and kind == "question":
        options = tuple((_one_line(text), "other") for text in ask.options)
    return Dialog(
        number=number,
        kind=kind,
        title=title,
        subject=subject,
        question=_one_line(question) or title,
        options=options,
    )


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
