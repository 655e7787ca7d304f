"""One look at a screen, read with a manifest: which region is live, what it says, what proves it.

The last row decides: a dialog's cancel line, the input box's footer, or neither. Every reading
rests on two places that agree (spinner and footer, footer and last block); where they do not,
the screen is torn or new to us and the answer is `unknown` with the reason. Nothing here raises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from koboshi.core.readings import ApiError, ContextUse, Limit, Reading, Status

from .base import SHELLS
from .clocks import asked_wait, reset_instant
from .dialogs import read_dialog
from .text import rows_of, unwrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from koboshi.observations import ScreenSeen

    from .manifest import BlockPattern, Manifest

_KEPT_LINES = 40  # of the transcript, in `Reading.lines`
_MAX_BLOCK_ROWS = 24  # a block we judge by is short: an error, a limit, a spinner
_MAX_BOX_ROWS = 60
_EVIDENCE_WIDTH = 400

_SHELL_PROMPT = re.compile(
    r"^(?:\([^()]{1,60}\) )?(?:[\w.-]{1,64}@[\w.-]{1,255}[: ][^$#%]{0,300}[$#%]"
    r"|\[[\w.-]{1,64}@[\w.-]{1,255} [^\]]{1,300}\][$#%]"
    r"|(?:ba|z|da|k|a)?sh-\d[\d.]{0,8}[$#])$"
)
_PROMPT_LIKE = re.compile(r"^[^\s─❯>][^$#%]{0,300}[$#%](?: |$)|^[$#%](?: |$)")
_LIVE_ROWS = 3  # a dead frame's last rows, over one of which the shell draws its prompt


def read_gone(seen: ScreenSeen, rows: Sequence[str]) -> Reading | None:
    """`gone` when the process ended or only a shell is left, whatever the screen says."""
    if not seen.alive:
        return _reading(Status.GONE, "process_ended", rows, rows[-1] if rows else "")
    if seen.own:
        return None  # its end is told; what looks like a shell there is the program, or its print
    command = seen.command.strip().lstrip("-").rpartition("/")[2]
    if command in SHELLS:
        return _reading(Status.GONE, "shell_prompt", rows, _prompt_row(seen, rows))
    if not command and rows and _SHELL_PROMPT.match(rows[-1]):
        return _reading(Status.GONE, "shell_prompt", rows, rows[-1])
    return None


def _prompt_row(seen: ScreenSeen, rows: Sequence[str]) -> str:
    """The row the shell waits in: where the cursor is, or what looks most like a prompt."""
    if seen.cursor is not None and 0 <= seen.cursor[1] < len(rows) and rows[seen.cursor[1]]:
        return rows[seen.cursor[1]]
    last = rows[-1] if rows else ""
    return next((row for row in reversed(rows) if _PROMPT_LIKE.match(row)), last)


def _drawn_over(rows: Sequence[str]) -> str:
    """The shell prompt drawn over the last rows of a dead frame, or nothing."""
    for row in rows[-_LIVE_ROWS:]:
        if _SHELL_PROMPT.match(row.rstrip("─").rstrip()):
            return row
    return ""


def read_screen(manifest: Manifest, seen: ScreenSeen) -> Reading:
    """What the screen shows."""
    rows = rows_of(seen.text)
    gone = read_gone(seen, rows)
    if gone is not None:
        return gone
    if not rows:
        return Reading(status=Status.STARTING, reason="blank_screen")
    if manifest.dialog.cancel.match(rows[-1]):
        return _read_asking(manifest, rows)
    if manifest.footer.busy.match(rows[-1]) or manifest.footer.idle.match(rows[-1]):
        return _read_box(manifest, rows, seen)
    return _reading(Status.UNKNOWN, "no_live_region", rows, rows[-1])


def _read_asking(manifest: Manifest, rows: list[str]) -> Reading:
    found = read_dialog(manifest, rows)
    if isinstance(found, str):
        return _reading(Status.UNKNOWN, found, rows, rows[-1])
    shown = [row for row in rows[found.top + 1 :] if row]
    return Reading(
        status=Status.ASKING,
        reason=f"{found.prompt.kind}_dialog",
        evidence=tuple(row[:_EVIDENCE_WIDTH] for row in shown),
        prompt=found.prompt,
        lines=_tail(rows[: found.top]),
    )


def _read_box(manifest: Manifest, rows: list[str], seen: ScreenSeen) -> Reading:
    top = _box_top(manifest, rows)
    footer = rows[-1]
    if top is None:
        over = "" if seen.command else _drawn_over(rows)
        if over:
            return _reading(Status.GONE, "shell_prompt", rows, over)
        return _reading(Status.UNKNOWN, "input_box_torn", rows, footer)
    columns = len(rows[top])
    draft = unwrap([row[2:] for row in rows[top + 1 : -2]], columns - 3, newline="\n")
    found = manifest.footer.context_used.search(footer)
    context = ContextUse(used=float(found["used"])) if found else None
    busy = manifest.footer.busy.match(footer) is not None
    judge = _judge_busy if busy else _judge_resting
    status, reason, block, match, lines = judge(manifest, rows[:top], columns)
    return Reading(
        status=status,
        reason=reason,
        evidence=tuple(row[:_EVIDENCE_WIDTH] for row in (block, footer) if row),
        context=context,
        limit=_limit(match, seen.utc),
        error=_error(status, reason, match),
        draft=draft,
        lines=_tail(lines),
    )


def _box_top(manifest: Manifest, rows: list[str]) -> int | None:
    """The row of the rule above the input box; None when the box is not whole."""
    rule, caret = manifest.regions.rule, manifest.regions.caret
    bottom = len(rows) - 2
    if bottom < 2 or not rule.match(rows[bottom]):  # noqa: PLR2004 - rule, draft, rule
        return None
    for index in range(bottom - 1, max(bottom - _MAX_BOX_ROWS, -1), -1):
        if rule.match(rows[index]):
            first = rows[index + 1]
            whole = rows[index] == rows[bottom] and (
                first == caret or first.startswith(caret + " ")
            )
            return index if whole else None
        if rows[index] and rows[index][:2] not in ("  ", caret, caret + " "):
            return None
    return None


_Judgement = tuple[Status, str, str, "tuple[BlockPattern, re.Match[str]] | None", "list[str]"]


def _judge_busy(manifest: Manifest, rows: list[str], columns: int) -> _Judgement:
    start, block = _last_block(manifest, rows, len(rows), columns)
    for entry in manifest.working:
        match = entry.pattern.search(block)
        if match:
            return entry.status, entry.reason, block, (entry, match), rows[:start]
    return Status.UNKNOWN, "busy_without_spinner", block, None, rows


def _judge_resting(manifest: Manifest, rows: list[str], columns: int) -> _Judgement:
    start, block = _last_block(manifest, rows, len(rows), columns)
    if manifest.regions.busy_block.match(block):
        return Status.UNKNOWN, "spinner_without_busy_footer", block, None, rows
    while block and any(pattern.search(block) for pattern in manifest.local):
        start, block = _last_block(manifest, rows, start, columns)
    for entry in manifest.resting:
        match = entry.pattern.search(block)
        if match:
            return entry.status, entry.reason, block, (entry, match), rows
    reason = "output_unrecognised" if block else "last_turn_not_visible"
    return Status.UNKNOWN, reason, block, None, rows


def _last_block(manifest: Manifest, rows: list[str], end: int, columns: int) -> tuple[int, str]:
    """Where the last block before `end` starts and its text; empty when there is none."""
    while end > 0 and not rows[end - 1]:
        end -= 1
    for start in range(end - 1, max(end - _MAX_BLOCK_ROWS, 0) - 1, -1):
        head = manifest.regions.block.match(rows[start])
        if head:
            lead = head.end()
            parts = [rows[start], *(row.lstrip() for row in rows[start + 1 : end])]
            return start, parts[0] if len(parts) == 1 else _joined(parts, lead, columns)
        if not rows[start]:
            break
    return end, rows[end - 1] if end and rows[end - 1].startswith("    ") else ""


def _joined(parts: list[str], lead: int, columns: int) -> str:
    return parts[0][:lead] + unwrap([parts[0][lead:], *parts[1:]], columns - lead)


def _limit(found: tuple[BlockPattern, re.Match[str]] | None, utc: float | None) -> Limit | None:
    if found is None or found[0].status is not Status.LIMITED:
        return None
    groups = found[1].groupdict()
    return Limit(
        kind=groups.get("limit") or "usage",
        resets_at=reset_instant(groups.get("resets") or "", utc),
    )


def _error(
    status: Status, reason: str, found: tuple[BlockPattern, re.Match[str]] | None
) -> ApiError | None:
    if found is None or not (status is Status.FAILED or reason == "retrying"):
        return None
    entry, groups = found[0], found[1].groupdict()
    attempt, of = groups.get("attempt"), groups.get("of")
    return ApiError(
        code=groups.get("code") or entry.code or "api",
        retrying=status is Status.WORKING,
        attempt=int(attempt) if attempt else None,
        of=int(of) if of else None,
        wait=asked_wait(found[1].string),
    )


def _reading(status: Status, reason: str, rows: Sequence[str], line: str) -> Reading:
    return Reading(
        status=status,
        reason=reason,
        evidence=(line[:_EVIDENCE_WIDTH],) if line else (),
        lines=_tail(rows),
    )


def _tail(rows: Sequence[str]) -> tuple[str, ...]:
    return tuple(row for row in rows[-2 * _KEPT_LINES :] if row)[-_KEPT_LINES:]
