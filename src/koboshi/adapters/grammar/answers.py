"""The keys that pick an option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.readings import Meaning, PromptKind

if TYPE_CHECKING:
    from koboshi.core.readings import Prompt


def keys_to_choose(
    prompt: Prompt, choice: Meaning, *, move: tuple[str, str] = ("Up", "Down")
) -> tuple[str, ...] | None:
    """The keys that pick the first option of that meaning; None: none, or a person's menu."""
    if prompt.kind is PromptKind.PICKER:
        return None
    index = prompt.index_of(choice)
    if index is None:
        return (prompt.dismiss,) if choice is Meaning.NO and prompt.dismiss else None
    if prompt.options[index].key:
        return (prompt.options[index].key,)
    if prompt.selected is None:
        return None
    steps = index - prompt.selected
    return (move[1] if steps > 0 else move[0],) * abs(steps) + ("Enter",)
