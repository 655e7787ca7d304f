"""Where the live region is: the input box, or the dialog below it.

An agent that prints moves what stands above its box, and the box stays: so it is looked for once.
What is remembered is only ever what the same rows would say again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .boxes import Box, find_box
from .dialogs import read_dialog

if TYPE_CHECKING:
    from .dialogs import DialogRead
    from .frames import Frame
    from .manifests import Manifest

#: Boxes that are remembered, each by what stands in the last row.
_MOST = 256
#: By columns and last row: whose box it is, its rows to the end of the screen, and where in them.
_known: dict[tuple[int, str], tuple[Manifest, list[str], Box]] = {}


def find_regions(manifest: Manifest, frame: Frame) -> tuple[Box | None, DialogRead | None]:
    """The lowest box, and the dialog that the screen ends with."""
    box = _found_again(manifest, frame)
    if box is not None:
        return box, None
    box = find_box(manifest, frame)
    dialog = read_dialog(manifest.dialog, frame, box.bottom + 1 if box else 0)
    if box is not None and dialog is None and _stands_alone(manifest, frame):
        _remember(manifest, frame, box)
    return box, dialog


def _stands_alone(manifest: Manifest, frame: Frame) -> bool:
    """Whether a box is found by its own rows: not where styles, or rows above it, count."""
    return frame.seen.plain and manifest.box.layout == "ruled" and bool(frame.rows)


def _found_again(manifest: Manifest, frame: Frame) -> Box | None:
    if not _stands_alone(manifest, frame):
        return None
    whose, rows, box = _known.get((frame.columns, frame.rows[-1]), (None, [], None))
    above = len(frame.rows) - len(rows)
    if whose is not manifest or box is None or above < 0 or frame.rows[above:] != rows:
        return None
    return Box(top=above, bottom=above + box.bottom, draft=box.draft)


def _remember(manifest: Manifest, frame: Frame, box: Box) -> None:
    if len(_known) >= _MOST:
        _known.clear()
    rows = frame.rows[box.top :]
    known = Box(top=0, bottom=box.bottom - box.top, draft=box.draft)
    _known[frame.columns, frame.rows[-1]] = (manifest, rows, known)
