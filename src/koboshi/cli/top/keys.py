"""The row of keys, in as many words as there is room for: none may fall over the edge."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Footer

#: Columns that all keys take with all their words, and with the short ones.
LONG, SHORT = 60, 38
#: By action: what fits beside five others into forty columns.
BRIEF = {"attach": "term", "answer": "ans", "hand_over": "new"}


class Keys(Footer):
    """The footer; a small terminal has every key, with a shorter word or with none."""

    def compose(self) -> ComposeResult:
        """The keys that are good for something now."""
        room = self.app.size.width
        self.compact = room < LONG
        for key in super().compose():
            words = getattr(key, "description", "")
            if room < LONG:
                words = BRIEF.get(getattr(key, "action", ""), words) if room >= SHORT else ""
            # The class of a key is none of Textual's public names.
            setattr(key, "description", words)  # noqa: B010
            yield key

    async def on_resize(self) -> None:
        """Another width, other words."""
        await self.recompose()
