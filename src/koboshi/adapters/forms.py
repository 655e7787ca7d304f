"""An agent's own question as a form: options to pick or to tick, a row to type into, a way on.

As Claude Code draws it: the options, a row for words of one's own, where boxes are ticked a row
that hands them in, and a way out. The agent names the options: a row counts as the form's own by
where it stands, never by its words alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from koboshi.core.readings import PromptKind

if TYPE_CHECKING:
    from koboshi.core.readings import Prompt

_LEAVE = "Chat about this"
_EMPTY = ("Type something", "Type something.")
_ON = ("Submit", "Next")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Where its rows stand; `labels` are the agent's own options."""

    question: str
    labels: tuple[str, ...]
    free: int  #: the row to type into
    typed: str  #: what was typed there
    on: int | None  #: the row that hands ticked boxes in; None: Enter picks

    def same(self, other: Form | None) -> bool:
        """Whether that is the same form, whatever was ticked or typed meanwhile."""
        if other is None:
            return False
        ours, theirs = (self.question, self.labels, self.on), (other.question, other.labels)
        return ours == (*theirs, other.on)


def form_of(prompt: Prompt | None) -> Form | None:
    """The form that it is; None: another kind of question, or one that is not whole."""
    if prompt is None or prompt.kind is not PromptKind.QUESTION:
        return None
    texts, last = [option.text for option in prompt.options], len(prompt.options) - 1
    tail = 2 if prompt.several else 1
    free, on = last - tail, last - 1 if prompt.several else None
    if free < 1 or texts[last] != _LEAVE or not all(o.key for o in prompt.options[:free]):
        return None
    if on is not None and (texts[on] not in _ON or prompt.options[on].key):
        return None
    boxed = {option.checked is not None for option in prompt.options[: free + 1]}
    if boxed != {prompt.several}:
        return None
    typed = "" if texts[free] in _EMPTY else texts[free]
    return Form(question=prompt.question, labels=tuple(texts[:free]), free=free, typed=typed, on=on)
