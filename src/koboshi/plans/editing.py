"""Edits: Plan → Plan, each touching only the lines it must.

Rule 1: a value that is there already is left alone, to the last blank.
Rule 2: what is missing comes where a person would look for it, set in as its neighbours are.
"""

from __future__ import annotations

import re

from .lines import PENDING, Line, look, one_line, spliced, written
from .reading import parse
from .sheets import UNIT, Path, Sheet
from .values import Current, Plan, PlanStatus, Step, StepResult, StepState

#: The order of the sections in a file; a new one comes before those after it.
SECTIONS = (
    *("STATUS", "GOAL", "CONSTRAINTS", "PLAN", "CURRENT", "RESULTS"),
    *("LAST_ACTION", "NEXT_ACTION"),
)
#: Values of ours that may go on over several lines; what stands under others is not a part of them.
_PROSE = frozenset(
    {"LAST_ACTION", "NEXT_ACTION", "SUMMARY", "EVIDENCE", "COMMAND", "ANSWER", "TRIED"}
)
#: Sections with a blank line before them.
_APART = ("PLAN", "CURRENT", "RESULTS", "LAST_ACTION")


def set_status(plan: Plan, status: PlanStatus) -> Plan:
    """The plan with that status."""
    return put(plan, ("STATUS",), status.value)


def set_state(plan: Plan, step: int, state: StepState) -> Plan:
    """The plan with that step in that state; only the word in the brackets changes."""
    number = plan.sheet.find("PLAN", "STEPS", str(step))
    if number is None:
        return plan
    line = plan.sheet.lines[number]
    value = re.sub(r"^\[[^\]]*\]", f"[{state.value}]", line.value)
    return _with(plan.sheet, number, spliced(line, value))


def set_current_step(plan: Plan, step: int) -> Plan:
    """The plan at that step."""
    return put(plan, ("PLAN", "CURRENT_STEP"), str(step))


def set_current(plan: Plan, current: Current) -> Plan:
    """The plan with that run at work; fields that are empty are shown as pending."""
    pid = PENDING if current.pid is None else str(current.pid)
    command = written(current.command, quotes=True) if current.command else PENDING
    plan = put(plan, ("CURRENT", "TASK_ID"), written(current.task_id) or PENDING)
    plan = put(plan, ("CURRENT", "CC_PID"), pid)
    plan = put(plan, ("CURRENT", "SPAWN_TIME"), written(current.spawned) or PENDING)
    return put(plan, ("CURRENT", "COMMAND"), command)


def set_result(plan: Plan, step: int, result: StepResult) -> Plan:
    """The plan with that result; what is not known and is not there is not written."""
    verified = "" if result.verified is None else str(result.verified).lower()
    values = {
        "EXIT": PENDING if result.exit is None else str(result.exit),
        "COMMIT": written(result.commit),
        "SUMMARY": written(result.summary),
        "VERIFIED": verified,
        "EVIDENCE": written(result.evidence),
        "ATTEMPTS": "" if result.attempts is None else str(result.attempts),
        "TRIED": written(result.tried),
        "ANSWER": written(result.answer),
    }
    for key, value in values.items():
        path = ("RESULTS", f"STEP_{step}", key)
        if value or plan.sheet.find(*path) is not None:
            plan = put(plan, path, value or PENDING)
    return plan


def set_actions(plan: Plan, *, last: str = "", following: str = "") -> Plan:
    """The plan with what was done last and what comes next, where they are given."""
    plan = put(plan, ("LAST_ACTION",), written(last)) if last else plan
    return put(plan, ("NEXT_ACTION",), written(following)) if following else plan


def replace_steps(plan: Plan, after: int, steps: tuple[Step, ...]) -> Plan:
    """The plan with these steps behind step `after`, in the place of those that were there."""
    if plan.sheet.find("PLAN", "STEPS") is None:
        plan = put(plan, ("PLAN", "STEPS"), "")
    head = plan.sheet.find("PLAN", "STEPS")
    if head is None:
        return plan
    sheet = plan.sheet
    old = list(sheet.under(head))
    first = sheet.last(old[after - 1]) + 1 if 0 < after <= len(old) else head + 1
    last = sheet.last(old[-1]) if len(old) > after else first - 1
    beside = old[after - 1] if 0 < after <= len(old) else next(iter(old), None)
    indent = _indent(sheet, head, beside)
    rows = [row for step in steps for row in step_rows(step, indent)]
    sheet = _inserted(sheet, first, last, rows)
    kept = min(after, len(old))
    return put(parse(sheet.text), ("PLAN", "TOTAL_STEPS"), str(kept + len(steps)))


def step_rows(step: Step, indent: str) -> list[str]:
    """A step as a person would write it."""
    inner = indent + UNIT
    rows = [f"{indent}{step.number}: [{step.state.value}] {one_line(step.text)}"]
    rows += [f"{inner}VERIFY: {one_line(command)}" for command in step.verify]
    rows += [f"{inner}TOUCH: {one_line(', '.join(step.touch))}"] if step.touch else []
    rows += [f"{inner}TIMEOUT: {step.timeout:.0f}s"] if step.timeout is not None else []
    rows += [f"{inner}AGENT: {written(step.agent)}"] if step.agent else []
    return rows + ([f"{inner}RETRIES: {step.retries}"] if step.retries is not None else [])


def put(plan: Plan, path: Path, value: str) -> Plan:
    """The plan with that value there, as it is; the line is made where there is none."""
    sheet = plan.sheet
    number = sheet.find(*path)
    if number is None:
        return parse(_added(sheet, path, value).text)
    line = sheet.lines[number]
    last = sheet.last(number)
    whole = last == number or path[-1] not in _PROSE
    if line.value == value and whole:
        return plan
    if not whole:  # the old value went on over several lines
        sheet = sheet.replaced(number + 1, last, ())
    return _with(sheet, number, spliced(line, value))


def drop(plan: Plan, path: Path) -> Plan:
    """The plan without that line and those under it."""
    number = plan.sheet.find(*path)
    if number is None:
        return plan
    return parse(plan.sheet.replaced(number, plan.sheet.last(number), ()).text)


def _with(sheet: Sheet, number: int, line: Line) -> Plan:
    return parse(sheet.replaced(number, number, (line,)).text)


def _added(sheet: Sheet, path: Path, value: str) -> Sheet:
    """With a new line, and the ones it belongs under, where they are missing."""
    *outer, key = path
    if not outer:
        return _section(sheet, key, value)
    above = sheet.find(*outer)
    if above is None:
        sheet = _added(sheet, tuple(outer), "")
        above = sheet.find(*outer)
    if above is None:
        return sheet
    # CURRENT_STEP belongs before the list of steps, everything else behind its neighbours.
    steps = next((n for n in sheet.under(above) if sheet.lines[n].key == "STEPS"), None)
    at = sheet.last(above) + 1 if steps is None else steps
    beside = next(reversed(sheet.under(above)), None) if steps is None else steps
    row = f"{_indent(sheet, above, beside)}{key}: {value}".rstrip()
    return _inserted(sheet, at, at - 1, [row])


def _section(sheet: Sheet, key: str, value: str) -> Sheet:
    later = SECTIONS[SECTIONS.index(key) + 1 :] if key in SECTIONS else ()
    marginal = [n for n in sheet.under(-1) if sheet.lines[n].key in later]
    beside = marginal[0] if marginal else next(reversed(sheet.under(-1)), None)
    rows = [f"{_blanks(sheet, beside)}{key}: {value}".rstrip()]
    if marginal:
        rows += [""] if key in _APART and sheet.lines[marginal[0]].key in _APART else []
        return _inserted(sheet, marginal[0], marginal[0] - 1, rows)
    content = [n for n, line in enumerate(sheet.lines) if line.content]
    at = content[-1] + 1 if content else len(sheet.lines)
    return _inserted(sheet, at, at - 1, ["", *rows] if key in _APART and content else rows)


def _indent(sheet: Sheet, above: int, beside: int | None) -> str:
    """How a line is set in: as the one beside it, or one step further than the one above."""
    return _blanks(sheet, above) + UNIT if beside is None else _blanks(sheet, beside)


def _blanks(sheet: Sheet, number: int | None) -> str:
    """What stands before the first character of that line."""
    raw = "" if number is None else sheet.lines[number].raw
    return raw[: len(raw) - len(raw.lstrip("\ufeff \t\u3000"))].replace("\ufeff", "")


def _inserted(sheet: Sheet, first: int, last: int, rows: list[str]) -> Sheet:
    """With these rows in the place of `first` to `last`; a file without a last newline keeps so."""
    ending = sheet.ending
    before, after = list(sheet.lines[:first]), sheet.lines[last + 1 :]
    bare = bool(sheet.lines) and not sheet.lines[-1].ending
    new = [row + ending for row in rows]
    if bare and not after and new:
        new[-1] = new[-1].removesuffix(ending)
    if new and before and not before[-1].ending:
        before[-1] = look(before[-1].raw + ending)
    if bare and not after and not new and before:
        before[-1] = look(before[-1].raw.rstrip("\r\n"))
    return Sheet.of((*before, *(look(row) for row in new), *after))
