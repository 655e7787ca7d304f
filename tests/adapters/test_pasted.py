"""What stands in a box for a text that was pasted into it, as the real CLIs show it."""

from __future__ import annotations

import pytest

from koboshi.adapters.registry import adapter

LINES = "first\n\n  second\nthird"
LONG = "x" * 1489


@pytest.mark.parametrize(
    ("cli", "draft", "text", "held"),
    [
        ("claude", "first\n second", "first second", True),
        ("claude", "[Pasted text #1 +3 lines]", LINES, True),
        ("claude", "[Pasted text #12]", LONG, True),
        ("claude", "[Pasted text #12]", LINES, False),
        ("claude", "[Pasted text #1 +2 lines]", LINES, False),
        ("claude", "and [Pasted text #12]", LONG, False),
        ("claude", "[Pasted text #1][Pasted text #2]", LONG, False),
        ("codex", "[Pasted Content 1489 chars]", LONG, True),
        ("codex", "[Pasted Content 1489 chars]", LONG + "\n", True),
        ("codex", "[Pasted Content 1488 chars]", LONG, False),
        ("codex", "↑\nsecond\nthird", LINES, True),
        ("codex", "↑\nthird", LINES, False),
        ("codex", "↑\n" + LONG[:90], LONG, True),
        ("codex", "↑\nsecond", LINES, False),
        ("codex", "↑\n", LINES, False),
        ("codex", "second\nthird", LINES, False),
        ("claude", "↑\nsecond\nthird", LINES, False),
        ("gemini", "[Pasted Text: 1489 chars]", LONG, True),
        ("gemini", "[Pasted Text: 4 lines #2]", LINES, True),
        ("gemini", "[Pasted Text: 5 lines]", LINES, False),
        ("opencode", "[Pasted ~4 lines]", LINES, True),
        ("opencode", "[Pasted ~1 lines]", LONG, True),
        ("opencode", "[Pasted ~2 lines]", LONG, False),
        ("generic", "[Pasted ~1 lines]", LONG, False),
        ("scripted", "a b", "ab", True),
    ],
)
def test_only_words_whose_numbers_fit_stand_for_a_paste(
    cli: str, draft: str, text: str, *, held: bool
) -> None:
    """A person's paste beside it, or another one, is not ours to submit."""
    assert adapter(cli).holds(draft, text) is held
