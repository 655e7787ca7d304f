"""Usage limits of headless runs, as the CLIs print them."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from koboshi.adapters.resets import Reset, reset_of

UTC = 1794781884.0
EVENT = {
    "type": "rate_limit_event",
    "rate_limit_info": {"status": "rejected", "resetsAt": 1794789084, "rateLimitType": "five_hour"},
}
CODEX = (
    "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at "
    "Nov 16th, 2026 12:31 AM."
)


def test_claude_tells_the_instant() -> None:
    """By an event; an earlier warning counts no more than a later pardon."""
    rejected, allowed = json.dumps(EVENT), json.dumps(EVENT).replace("rejected", "allowed")
    words = "You've hit your 5-hour limit · resets 12:31am (UTC)"

    assert reset_of(rejected, "claude", words, UTC) == Reset(at=1794789084.0)
    assert reset_of(f"{rejected}\n{allowed}", "claude", "API Error: 500", UTC) is None


@pytest.mark.parametrize(
    "words",
    [
        "You've hit your session limit · resets 12:31am (UTC)",
        "You've hit your 5-hour limit · resets 12:31am (UTC)",
        "Claude usage limit reached. Your limit will reset at Nov 16, 12:31am (UTC)",
    ],
)
def test_words_tell_it_too(words: str) -> None:
    """Where there is no event; a minute ends before the next one begins."""
    assert reset_of("", "claude", words, UTC) == Reset(at=1794789120.0)


def test_codex_tells_a_local_time() -> None:
    """Of the machine that it runs on."""
    local = datetime(2026, 11, 16, 0, 31).timestamp()  # noqa: DTZ001 - local is meant

    assert reset_of("", "codex", CODEX, UTC) == Reset(at=local + 60)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Quota exceeded. Check your plan.", Reset()),
        ("Quota exceeded, try again in 90s", Reset(at=UTC + 90)),
        ("API Error: 500 Internal server error", None),
        ("", None),
    ],
)
def test_other_ends(words: str, found: Reset | None) -> None:
    """A limit without a time, with a span, and what is none."""
    assert reset_of("", "gemini", words, UTC) == found
