"""What the rows above and below the input box say: a turn that runs, or how the last one ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from koboshi.adapters.text import width
from koboshi.core.readings import ContextUse, Status

from .manifests import NEVER

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from .boxes import Box
    from .frames import Frame
    from .manifests import Manifest, Sign

_MAX_BLOCKS = 12  # looked at, from the last one upwards
_MAX_BLOCK_ROWS = 12  # of a block that is joined into one line
_MAX_LOOK_UP = 200
_HEADER_ROWS = 6
_LONG_WORD = 40  # characters: an address that had to be broken, not a word


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A sign and the line it was found in."""

    sign: Sign
    line: str
    found: re.Match[str]

    @property
    def evidence(self) -> str:
        """The sign's name and its line."""
        return f"{self.sign.name}: {self.line.strip()}"


class Block(NamedTuple):  # made up to a dozen times a look
    """Rows of the transcript that belong together."""

    start: int
    end: int
    head: str


def first_match(signs: Iterable[Sign], lines: Iterable[str]) -> Match | None:
    """The first sign, in the signs' order, that any of the lines bears."""
    return _first_match(tuple(signs), tuple(lines))


@lru_cache(maxsize=2048)
def _first_match(signs: tuple[Sign, ...], lines: tuple[str, ...]) -> Match | None:
    """Most lines stand where they stood at the last look."""
    for sign in signs:
        for line in lines:
            found = sign.pattern.search(line)
            if found:
                return Match(sign=sign, line=line, found=found)
    return None


class Blocks:
    """The last blocks above a row, the last one first; found as far as anybody asks for them."""

    __slots__ = ("_found", "_rest")

    def __init__(self, manifest: Manifest, frame: Frame, end: int) -> None:
        self._found: list[Block] = []
        self._rest = _upwards(manifest, frame, end)

    def nth(self, place: int) -> Block | None:
        """The one at that place, the last one being 0."""
        while len(self._found) <= place:
            block = next(self._rest, None)
            if block is None:
                return None
            self._found.append(block)
        return self._found[place]

    def __iter__(self) -> Iterator[Block]:
        """All that are looked at."""
        place = 0
        while (block := self.nth(place)) is not None:
            yield block
            place += 1


def _upwards(manifest: Manifest, frame: Frame, end: int) -> Iterator[Block]:
    opens, rows, count = manifest.blocks.head.match, frame.rows, 0
    for index in range(end - 1, max(end - _MAX_LOOK_UP, -1), -1):
        row = rows[index]
        if row and opens(row):
            yield Block(index, end, row)
            end, count = index, count + 1
            if count == _MAX_BLOCKS:
                return


def notices(frame: Frame, box: Box) -> list[str]:
    """The rows that speak about the session, not for it: under the box, and right above it."""
    below = [row for row in frame.rows[box.bottom :] if row]
    above = frame.rows[box.top - 1] if box.top > 0 else ""
    return [above, *below] if above.startswith("  ") else below


def menu_doubt(manifest: Manifest, frame: Frame, box: Box) -> tuple[str, str]:
    """Why Enter may run another command than the one in the box, and the row that tells; else "".

    A menu is drawn later than the text it belongs to: `/quit` typed on a busy machine stands above
    no menu, then above one that begins with `clear`, and Enter takes that, drawn or not.
    """
    if not box.draft.startswith("/"):
        return "", ""
    typed, *arguments = box.draft[1:].split(" ", 1)
    found = _menu_entry(manifest.box.menu, frame, box)
    if found is not None:
        return ("", "") if found["entry"] == typed else ("menu_differs", found.string.strip())
    expected = manifest.box.menu is not NEVER and not arguments
    return ("menu_not_seen", "") if expected else ("", "")


def _menu_entry(menu: re.Pattern[str], frame: Frame, box: Box) -> re.Match[str] | None:
    """The entry that Enter runs: the marked one, or the first where none is marked."""
    below = [found for row in frame.rows[box.bottom :] if (found := menu.match(row))]
    rows = takewhile(bool, reversed(frame.rows[: max(box.top, 0)]))
    above = [found for row in rows if (found := menu.match(row))]
    for found in (*below, *above):
        if found.groupdict().get("mark"):
            return found
    # Above the box the rows may be an agent's: there only a mark makes them a menu.
    return below[0] if below else None


def running(manifest: Manifest, frame: Frame, box: Box, blocks: Blocks) -> Match | None:
    """What proves that a turn runs: the spinner above the box, or the hint under it."""
    last = blocks.nth(0)
    # A notice right under the line of a turn that ended may end in the dots of a spinner.
    if last is not None and not manifest.blocks.ended.match(last.head):
        line = joined(manifest, frame, last)
        # A tip may hang under a spinner, by another margin than what hangs under an answer.
        spinner = first_match(manifest.sign("spinner"), [line, last.head])
        if spinner is not None and not _is_written(frame, last.start, spinner.sign):
            retried = _retried(manifest, frame, blocks)
            return retried or _with_detail(manifest, frame, last, spinner)
    below = [row for row in frame.rows[box.bottom :] if row]
    return first_match(manifest.sign("busy"), below) or _pending(manifest, frame, box, blocks)


def unboxed(manifest: Manifest, frame: Frame) -> Match | None:
    """A spinner that only the program's footer stands below: some work takes the box away."""
    footer = manifest.dialog.footer
    if footer is NEVER or not manifest.command.match(frame.seen.command):
        return None
    rows = dropwhile(lambda row: not row or footer.match(row), reversed(frame.rows))
    last = next(rows, "")
    return first_match(manifest.sign("spinner"), [last]) if last is not frame.rows[-1] else None


def _pending(manifest: Manifest, frame: Frame, box: Box, blocks: Blocks) -> Match | None:
    """A message that waits above the box to be sent: then a turn runs, or is about to."""
    last = blocks.nth(0)
    start = last.start + 1 if last else 0
    for index in range(start, max(box.top, 0)):
        found = first_match(manifest.sign("pending"), [frame.rows[index]])
        if found is not None and not _is_written(frame, index, found.sign):
            return found
    return None


def _is_written(frame: Frame, row: int, sign: Sign) -> bool:
    """Whether the row is known to be drawn as an answer is: then an agent wrote it."""
    return bool(sign.faint) and frame.is_faint(row, sign.faint) is False


def _retried(manifest: Manifest, frame: Frame, blocks: Blocks) -> Match | None:
    """Old versions hang their retries under the message, above a spinner like any other."""
    message = blocks.nth(1)
    if message is None or not manifest.blocks.user.match(message.head):
        return None
    lines = [text for _, text in trees(manifest, frame, message)]
    return first_match(manifest.sign("retried"), reversed(lines))


def _with_detail(manifest: Manifest, frame: Frame, block: Block, spinner: Match) -> Match:
    """A retry may name its cause in the row below."""
    if "code" not in spinner.sign.pattern.groupindex or spinner.found["code"]:
        return spinner
    details = [row for row in frame.rows[block.start + 1 : block.end] if row]
    return (
        first_match(
            [sign for sign in manifest.sign("detail") if details],
            [f"{spinner.line} {details[0].strip()}"] if details else [],
        )
        or spinner
    )


def joined(manifest: Manifest, frame: Frame, block: Block) -> str:
    """The block's first line, its wrapped rows put together."""
    rows = [frame.rows[block.start]]
    for index in range(block.start + 1, min(block.end, block.start + _MAX_BLOCK_ROWS)):
        row = frame.rows[index]
        if not row or manifest.blocks.tree.match(row):
            break
        rows.append(row.strip())
    return flowed(rows, frame.columns)


def flowed(rows: list[str], columns: int) -> str:
    """Prose from wrapped rows: a blank at every break, but inside a word that fills a row."""
    text = rows[0]
    for above, row in pairwise(rows):
        full = width(above) >= columns - 1 and len(above.rpartition(" ")[2]) > _LONG_WORD
        text += row if full else " " + row
    return text


def trees(manifest: Manifest, frame: Frame, block: Block) -> list[tuple[int, str]]:
    """The lines hung under a block's head: row and text, wrapped rows put together."""
    lines: list[tuple[int, list[str]]] = []
    for index in range(block.start + 1, min(block.end, block.start + _MAX_BLOCK_ROWS)):
        row, full = frame.rows[index], width(frame.rows[index - 1]) >= frame.columns
        if manifest.blocks.tree.match(row):
            lines.append((index, [row]))
        elif lines and row and not row.startswith(" ") and full:
            lines[-1][1][-1] += row  # what hangs is indented: the terminal itself broke this line
        elif lines and row:
            lines[-1][1].append(row.strip())
        elif lines:
            break
    return [(index, flowed(rows, frame.columns)) for index, rows in lines]


def ended(manifest: Manifest, frame: Frame, blocks: Blocks) -> tuple[Match | None, str]:
    """How the last turn ended, and the line that shows it; None when nothing is said."""
    shown = ""
    for block in blocks:
        line = joined(manifest, frame, block)
        shown = shown or line
        if manifest.blocks.ended.match(line):
            continue
        found = _ending(manifest, frame, block, line)
        if found is not None:
            return found, found.line
        if first_match(manifest.sign("local"), [line]) is None:
            return None, line
    return None, shown


def _ending(manifest: Manifest, frame: Frame, block: Block, line: str) -> Match | None:
    lines = [(block.start, line), *trees(manifest, frame, block)]
    output = manifest.blocks.tool.match(line) is not None
    program = first_match(manifest.sign("program"), [line]) is not None
    asked = program or manifest.blocks.user.match(line) is not None
    for sign in manifest.sign("ending"):
        if output and sign.status is not Status.IDLE:
            continue  # what hangs under a tool call is what the tool printed
        for index, text in lines:
            found = sign.pattern.search(text)
            if not found or not _stands_below(frame, index, sign):
                continue
            if sign.whole and not _is_whole(frame, block):
                continue
            colour = _colour(frame, index, found)
            # Under a message hangs what became of it; under an answer, what the agent wrote.
            own = index == block.start or asked or sign.status is Status.IDLE
            if (colour is not False or not sign.coloured) and (own or colour):
                return Match(sign=sign, line=text, found=found)
    return None


def _is_whole(frame: Frame, block: Block) -> bool:
    """Whether the block is one paragraph: what an agent says mostly goes on behind a blank row."""
    rows = frame.rows[block.start : block.end]
    return not any(dropwhile(bool, rows))


def _stands_below(frame: Frame, index: int, sign: Sign) -> bool:
    """Whether all around it is as the sign asks: a toast, or above a panel that says it in grey."""
    if sign.toasted and not frame.toast:
        return False
    if sign.above is None:
        return True
    said = next((n for n in range(index - 1, -1, -1) if frame.rows[n].strip(" ┃")), -1)
    if said < 0 or not sign.above.match(frame.rows[said]):
        return False
    return frame.is_faint(said, frame.rows[said].strip(" ┃")) is not False


def _colour(frame: Frame, index: int, found: re.Match[str]) -> bool | None:
    """Whether the row is drawn in a colour; in none, an agent may have written it."""
    text = frame.rows[index][found.start() :].lstrip("●■✕⎿ ")[:20].rstrip()
    return frame.is_coloured(index, text)


def still_open(manifest: Manifest, blocks: Blocks, frame: Frame) -> str:
    """The last answer when nothing shows that it is complete; empty when all is said."""
    for block in blocks:
        if not manifest.blocks.open_end.match(block.head):
            break
        # Nothing an agent answers is faint all through: that is a notice of the program's own.
        if not frame.is_faint(block.start, block.head[2:].strip()):
            return joined(manifest, frame, block)
    return ""


def context(
    manifest: Manifest, lines: list[str], frame: Frame | None = None
) -> tuple[ContextUse | None, str]:
    """The share of the context window in use, whichever way it is worded."""
    match = first_match(manifest.sign("context"), lines)
    if match is None and frame is not None:
        beside = first_match(manifest.sign("sidebar"), frame.sidebar)
        match = beside or _in_header(manifest, frame)
    if match is None:
        return None, ""
    groups = match.found.groupdict()
    share = groups.get("used") or groups.get("left")
    if share is None:
        return None, ""
    used = float(share) if groups.get("used") else 100.0 - float(share)
    return ContextUse(used=min(max(used, 0.0), 100.0)), match.evidence


def _in_header(manifest: Manifest, frame: Frame) -> Match | None:
    """What the panel at the top of the screen says, in grey: a transcript may begin there, too."""
    rows = frame.rows[:_HEADER_ROWS] if manifest.sign("header") else []
    for index, row in enumerate(rows):
        found = first_match(manifest.sign("header"), [row])
        if found is not None and frame.is_faint(index, found.found["faint"]):
            return found
    return None


def status_of(match: Match | None) -> Status:
    """What an ending makes of the agent; no ending is a quiet one."""
    return Status.IDLE if match is None else match.sign.status
