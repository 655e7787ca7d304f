"""One look at a screen, read with a manifest: which region is live, what it says, what proves it.

The lowest region is the live one: a dialog, or the input box. Everything above it is transcript,
which an agent may fill with anything. Where no region is whole the screen is torn or new to us and
the answer is `unknown` with the reason. Nothing here raises, and nothing is remembered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from koboshi.adapters.base import VIEWERS
from koboshi.adapters.clocks import asked_wait, reset_instant
from koboshi.core.readings import ApiError, ContextUse, Limit, Prompt, PromptKind, Reading, Status
from koboshi.core.view import evolve

from . import turns
from .exits import is_prompt, read_gone
from .frames import Frame
from .inline import is_asked, read_inline
from .manifests import NEVER
from .regions import find_regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from koboshi.observations import ScreenSeen

    from .boxes import Box
    from .dialogs import DialogRead
    from .manifests import Manifest
    from .turns import Blocks, Match

_OVERLAY_ROWS = 4  # in which a view names itself
_KEPT_LINES = 40  # of the transcript, in `Reading.lines`
_EVIDENCE_WIDTH = 400
_NEARLY_FULL = 80.0  # percent: what a CLI warns of


def read_screen(manifest: Manifest, seen: ScreenSeen) -> Reading:
    """What the screen shows."""
    frame = Frame(seen, toasts=manifest.box.toasts)
    gone = read_gone(manifest, frame)
    if gone is not None:
        return _made(Status.GONE, gone[0], (gone[1],), frame.rows)
    if not frame.rows:
        return Reading(status=Status.STARTING, reason="blank_screen")
    if frame.seen.command in VIEWERS:
        shown = f"in the foreground: {frame.seen.command}"
        return _made(Status.UNKNOWN, "other_program", (shown,), frame.rows)
    hidden = _hidden(manifest, frame)
    if hidden is not None:
        return hidden
    box, dialog = find_regions(manifest, frame)
    if dialog is not None and (box is None or dialog.top > box.bottom):
        return _asking(manifest, frame, dialog)
    if box is None:
        return _without_region(manifest, frame)
    if is_asked(manifest, frame, box):
        inline = read_inline(manifest, frame, box)
        if inline is None:
            return _made(Status.UNKNOWN, "dialog_not_seen", frame.rows[-1:], frame.rows)
        return _asking(manifest, frame, inline)
    return _at_box(manifest, frame, box)


def _asking(manifest: Manifest, frame: Frame, dialog: DialogRead) -> Reading:
    above, restless = max(dialog.top, 0), manifest.dialog.restless
    reading = Reading(
        status=Status.ASKING,
        reason=f"{dialog.prompt.kind}_dialog",
        evidence=tuple(row[:_EVIDENCE_WIDTH] for row in dialog.evidence),
        prompt=dialog.prompt,
        lines=_tail([row for row in frame.rows[:above] if not restless.search(row)]),
    )
    if dialog.prompt.kind is not PromptKind.LIMIT:
        return reading
    own = turns.first_match(
        manifest.sign("limit_menu"), [row.strip(" │") for row in frame.rows[above:]]
    )
    found, _ = turns.ended(manifest, frame, turns.Blocks(manifest, frame, above))
    limit = _limit(own, frame, ahead=True) or _limit(found, frame)
    return replace(reading, limit=limit or Limit(kind="usage"))


def _hidden(manifest: Manifest, frame: Frame) -> Reading | None:
    """A view over the whole screen hides box and dialog; only the title can tell what goes on."""
    rows = [row for row in frame.rows[-_OVERLAY_ROWS:] if row]
    found = turns.first_match(manifest.sign("overlay"), rows)
    if found is None:
        return None
    if manifest.title_busy.search(frame.seen.title):
        shown = (f"title: {frame.seen.title}", found.evidence)
        return _made(Status.WORKING, "title_busy", shown, frame.rows)
    reading = _made(found.sign.status, found.sign.name, (found.evidence,), frame.rows)
    if found.sign.status is not Status.ASKING:
        return reading
    return replace(reading, prompt=Prompt(kind=PromptKind.PICKER, question=found.line.strip()))


def _without_region(manifest: Manifest, frame: Frame) -> Reading:
    """Neither box nor dialog: a start, or a torn screen."""
    rows = [row for row in frame.rows if row]
    found = turns.first_match(manifest.sign("starting"), rows)
    spoken = any(map(manifest.blocks.user.match, rows))  # to one that has started
    if found is not None and not spoken and not is_prompt(rows[-1]):
        return _made(Status.STARTING, found.sign.name, (found.evidence,), frame.rows)
    title = frame.seen.title
    # The title of a killed agent spins for ever: it counts only while the agent is known to live.
    if manifest.title_busy.search(title) and manifest.command.match(frame.seen.command):
        return _made(Status.WORKING, "title_busy", (f"title: {title}",), frame.rows)
    work = turns.unboxed(manifest, frame)
    if work is not None:
        return _made(Status.WORKING, work.sign.name, (work.evidence,), frame.rows)
    return _made(Status.UNKNOWN, "no_live_region", rows[-1:], frame.rows)


def _at_box(manifest: Manifest, frame: Frame, box: Box) -> Reading:
    blocks = turns.Blocks(manifest, frame, max(box.top, 0))
    notices = turns.notices(frame, box)
    context, where = turns.context(manifest, notices, frame)
    reading = _judged(manifest, frame, box, blocks, notices)
    if context is None and reading.reason == "context_full":
        context = ContextUse(used=100.0)  # no number is shown, and none is needed
    doubt, entry = turns.menu_doubt(manifest, frame, box)
    if doubt and reading.status is Status.IDLE:
        reading = replace(reading, reason=doubt, evidence=(f"menu: {entry}",) if entry else ())
    evidence = tuple(dict.fromkeys((*reading.evidence, *([where] if where else ()))))
    return evolve(
        reading,
        evidence=tuple(row[:_EVIDENCE_WIDTH] for row in evidence),
        context=context,
        draft=box.draft,
        lines=_tail(frame.rows[: max(box.top, 0)]),
    )


def _judged(
    manifest: Manifest, frame: Frame, box: Box, blocks: Blocks, notices: list[str]
) -> Reading:
    title = frame.seen.title
    fresh = turns.first_match(manifest.sign("splash"), notices)
    if fresh is not None and turns.first_match(manifest.sign("painted"), notices) is None:
        return Reading(status=Status.STARTING, reason=fresh.sign.name, evidence=(fresh.evidence,))
    work = turns.running(manifest, frame, box, blocks)
    if work is not None:
        error = _error(work) if "attempt" in work.sign.pattern.groupindex else None
        return Reading(
            status=Status.WORKING, reason=work.sign.name, evidence=(work.evidence,), error=error
        )
    if manifest.title_busy.search(title):
        return Reading(status=Status.WORKING, reason="title_busy", evidence=(f"title: {title}",))
    if manifest.title_asking.search(title):
        return Reading(
            status=Status.UNKNOWN, reason="dialog_not_seen", evidence=(f"title: {title}",)
        )
    if _is_before_header(manifest, frame, box):
        return Reading(
            status=Status.STARTING, reason="no_header_yet", evidence=(frame.rows[-1].strip(),)
        )
    return _resting(manifest, frame, blocks, notices)


def _is_before_header(manifest: Manifest, frame: Frame, box: Box) -> bool:
    """Whether the box stands alone, as it does before what a start prints first."""
    if manifest.box.alone is NEVER or len(frame.rows) >= frame.seen.rows:
        return False
    return all(not row or manifest.box.alone.match(row) for row in frame.rows[: max(box.top, 0)])


def _resting(manifest: Manifest, frame: Frame, blocks: Blocks, notices: list[str]) -> Reading:
    standing = turns.first_match(manifest.sign("standing"), notices)
    found, line = turns.ended(manifest, frame, blocks)
    found = standing or found
    if found is not None and found.sign.noticed:
        low, where = turns.context(manifest, notices)
        if low is not None and low.used >= _NEARLY_FULL:
            # The notice says it, too: the box is open, and a smaller context is what it needs.
            return Reading(
                status=Status.IDLE, reason=found.sign.name, evidence=(found.evidence, where)
            )
    if found is not None:
        status = turns.status_of(found)
        return Reading(
            status=status,
            reason=found.sign.name,
            evidence=(found.evidence,),
            limit=_limit(found, frame),
            error=_error(found) if status is Status.FAILED else None,
        )
    ready = turns.first_match(manifest.sign("ready"), notices)
    # Last: whether an answer is one is asked of its style, which a look may have to fetch.
    rests = ready is not None or _title_rests(manifest, frame, notices)
    growing = "" if rests else turns.still_open(manifest, blocks, frame)
    if growing:
        return Reading(
            status=Status.UNKNOWN,
            reason="answer_without_end",
            evidence=(growing.strip(),),
            unended=True,
        )
    evidence = ready.evidence if ready else line.strip()
    return Reading(status=Status.IDLE, reason="at_prompt", evidence=(evidence,) if evidence else ())


def _title_rests(manifest: Manifest, frame: Frame, notices: list[str]) -> bool:
    """Whether the title says that no turn runs; a version that sets none says nothing by it."""
    untitled = turns.first_match(manifest.sign("untitled"), notices) is not None
    return not untitled and manifest.title_idle.search(frame.seen.title) is not None


def _limit(found: Match | None, frame: Frame, *, ahead: bool = False) -> Limit | None:
    if found is None or found.sign.status is not Status.LIMITED:
        return None
    groups = found.found.groupdict()
    kind = (groups.get("limit") or "usage").strip().lower()
    resets = groups.get("resets") or ""
    return Limit(kind=kind, resets_at=reset_instant(resets, frame.seen.utc, ahead=ahead))


def _error(found: Match) -> ApiError:
    groups = found.found.groupdict()
    attempt, of = groups.get("attempt"), groups.get("of")
    return ApiError(
        code=groups.get("code") or found.sign.code or "api",
        retrying=found.sign.status is Status.WORKING,
        attempt=int(attempt) if attempt else None,
        of=int(of) if of else None,
        wait=asked_wait(found.line),
    )


def _made(status: Status, reason: str, shown: Sequence[str], rows: Sequence[str]) -> Reading:
    return Reading(
        status=status,
        reason=reason,
        evidence=tuple(row[:_EVIDENCE_WIDTH] for row in shown if row),
        lines=_tail(rows),
    )


def _tail(rows: Sequence[str]) -> tuple[str, ...]:
    return tuple([row for row in rows[-2 * _KEPT_LINES :] if row])[-_KEPT_LINES:]
