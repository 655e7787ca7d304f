"""A person's edit and ours, put together by what was changed; the person's text is the ground.

Our changes are made once more, in the text that the person left. What both changed to different
ends is a conflict: nobody's words are chosen, and both are shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from .editing import drop, put, replace_steps, set_state
from .lines import one_line
from .reading import parse
from .sheets import Path, Sheet
from .values import Plan, PlanStatus, StepState

_STEPS: Path = ("PLAN", "STEPS")
#: The part of a step that is its state; no key of a file is written like it.
_STATE = "[state]"
_TOTAL: Path = ("PLAN", "TOTAL_STEPS")
#: Where a step's number stands in a path.
_STEP_DEPTH = len(_STEPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """One thing that both changed; None: it is not there any more."""

    path: Path
    base: str | None
    ours: str | None
    theirs: str | None

    def __str__(self) -> str:
        name = ".".join(self.path)
        return f"{name}: koboshi has {_shown(self.ours)}, the file has {_shown(self.theirs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Both edits in one text; where they contradict each other, the text is the other's."""

    plan: Plan
    clashes: tuple[Clash, ...] = ()


def merge(base: Plan, ours: Plan, theirs: Plan) -> Merged:
    """Our changes since `base`, made in the text that somebody else made of it."""
    if theirs.sheet.text in (base.sheet.text, ours.sheet.text):
        return Merged(plan=ours)
    if ours.sheet.text == base.sheet.text:
        return Merged(plan=theirs)
    old, mine, other = (fields(plan.sheet) for plan in (base, ours, theirs))
    changed = {path for path in old.keys() | mine.keys() if old.get(path) != mine.get(path)}
    edited = {path for path in old.keys() | other.keys() if old.get(path) != other.get(path)}
    both = [path for path in changed & edited if mine.get(path) != other.get(path)]
    clashing = {*both, *_entangled(changed, edited)}
    clashes = (
        Clash(path=p, base=old.get(p), ours=mine.get(p), theirs=other.get(p))
        for p in sorted(clashing)
    )
    wanted = changed - edited - _held(changed, clashing)
    return Merged(plan=_applied(ours, theirs, wanted, mine), clashes=tuple(clashes))


def waiting(merged: Merged) -> Plan:
    """The plan that says which versions a person has to choose from, and waits for that."""
    plan = drop(merged.plan, ("CONFLICT",))
    if not merged.clashes:
        return plan
    plan = put(plan, ("STATUS",), PlanStatus.WAITING.value)
    for number, clash in enumerate(merged.clashes, start=1):
        plan = put(plan, ("CONFLICT", str(number)), one_line(str(clash)))
    return plan


def fields(sheet: Sheet) -> dict[Path, str]:
    """Every value by its path; a step's state stands apart from what it says."""
    found: dict[Path, str] = {}
    paths: dict[int, Path] = {-1: ()}
    for number, line in enumerate(sheet.lines):
        if not line.content:
            continue
        above = paths[sheet.above[number]]
        paths[number] = (*above, line.key)
        path = paths[number] if line.key else above
        value = line.value if line.key else line.raw.strip()
        if len(path) == _STEP_DEPTH + 1 and path[:_STEP_DEPTH] == _STEPS and line.key:
            state, _, value = value.partition("]")
            found[*path, _STATE] = state.removeprefix("[").strip()
        found[path] = f"{found[path]}\n{value}" if path in found else value
    return found


def _step_of(path: Path) -> str:
    """The number of the step that a path is about; empty for others."""
    inside = len(path) > _STEP_DEPTH and path[:_STEP_DEPTH] == _STEPS
    return path[_STEP_DEPTH] if inside else ""


def _entangled(changed: set[Path], edited: set[Path]) -> set[Path]:
    """What a person changed of a step whose state we change, or of the list that we rewrite."""
    mine = {_step_of(path) for path in changed if path[-1] == _STATE}
    rewritten = any(_step_of(path) and path[-1] != _STATE for path in changed)
    return {
        path
        for path in edited
        if (step := _step_of(path)) and path[-1] != _STATE and (rewritten or step in mine)
    }


def _held(changed: set[Path], clashing: set[Path]) -> set[Path]:
    """What of ours must not be done then: a step that was reworded is not the one that was done."""
    steps = {_step_of(path) for path in clashing if _step_of(path)}
    rewritten = any(_step_of(path) and path[-1] != _STATE for path in changed)
    held = {path for path in changed if _step_of(path) and (rewritten or _step_of(path) in steps)}
    return held | {_TOTAL} if rewritten and steps else held if steps else set()


def _applied(ours: Plan, theirs: Plan, changed: set[Path], mine: dict[Path, str]) -> Plan:
    plan = theirs
    rewritten = sorted(int(step) for path in changed if (step := _step_of(path)).isdigit())
    if any(_step_of(path) and path[-1] != _STATE for path in changed):
        after = rewritten[0] - 1
        plan = replace_steps(plan, after, ours.steps[after:])
    for path in sorted(changed, key=lambda path: _order(ours.sheet, path)):
        step = _step_of(path)
        if step:
            if path[-1] == _STATE and path in mine and mine[path] in StepState.__members__:
                plan = set_state(plan, int(step), StepState[mine[path]])
        elif path != _TOTAL:
            plan = put(plan, path, mine[path]) if path in mine else drop(plan, path)
    total = str(len(plan.steps))
    return put(plan, _TOTAL, total) if _TOTAL in changed else parse(plan.sheet.text)


def _order(sheet: Sheet, path: Path) -> int:
    """Where our text has it: lines come in the order in which we wrote them."""
    number = sheet.find(*path)
    return -1 if number is None else number


def _shown(value: str | None) -> str:
    return "nothing" if value is None else repr(value)
