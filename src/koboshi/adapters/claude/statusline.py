"""The JSON that Claude Code gives its status line: how full the context is, and which session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.adapters.values import member, money, percent, tokens, word
from koboshi.core.events import SignalRead, Source
from koboshi.core.readings import ContextUse

if TYPE_CHECKING:
    from koboshi.observations import StatusLineSeen


def read_statusline(seen: StatusLineSeen) -> SignalRead | None:
    """What it says; None when it has no session, which every real one has.

    The share is of the whole window; before the first answer there is none. (The notice on the
    screen counts against a window that is smaller by the room for an answer.)
    """
    session, window = word(seen.payload, "session_id"), member(seen.payload, "context_window")
    if not session:
        return None
    used = percent(window, "used_percentage")
    return SignalRead(
        run=seen.run,
        source=Source.STATUSLINE,
        session=session,
        context=None if used is None else ContextUse(used=used, source=Source.STATUSLINE.value),
        window=tokens(window, "context_window_size"),
        cost=money(member(seen.payload, "cost"), "total_cost_usd"),
    )
