"""`parse`: any text → a Plan; what is wrong with it is told with line and reason, never raised."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from typing import TypeVar

from .lines import PENDING, plain
from .sheets import Sheet, sheet
from .values import Current, Fault, Plan, PlanStatus, Step, StepResult, StepState

_STATE = re.compile(r"\[[ \t]*([A-Za-z]*)[ \t]*\](?:[ \t\u3000]+|$)")
_TIME = re.compile(r"(?:([0-9]{1,6})\s*h)?\s*(?:([0-9]{1,8})\s*m(?:in)?)?\s*(?:([0-9]{1,9})\s*s?)?")
_MARKER = re.compile(r"(?:<{7}|={7}|>{7})(?: |$)")
#: What nobody has to write twice, by where it stands.
_ONCE = {
    (): "STATUS GOAL CONSTRAINTS PLAN CURRENT RESULTS LAST_ACTION NEXT_ACTION",
    ("PLAN",): "TOTAL_STEPS CURRENT_STEP STEPS",
    ("CURRENT",): "TASK_ID CC_PID SPAWN_TIME COMMAND",
}
#: More steps than anybody plans; a number far away would make a long report of missing ones.
MOST_STEPS = 999
_Word = TypeVar("_Word", bound=enum.Enum)


def parse(text: str) -> Plan:
    """The plan in that text; `plan.faults` says why it cannot be worked with, if so."""
    return _Reader(sheet(text)).plan()


def render(plan: Plan) -> str:
    """The text of that plan, to the last blank."""
    return plan.sheet.text


@dataclass(slots=True)
class _Reader:
    sheet: Sheet
    faults: list[Fault] = field(default_factory=list)

    def plan(self) -> Plan:
        """Everything, section by section."""
        self._repeated()
        self._strange()
        status = self._status()
        steps = self._steps()
        plan = Plan(
            sheet=self.sheet,
            status=status,
            goal=self._words("GOAL"),
            constraints=self._words("CONSTRAINTS"),
            current_step=self._number("PLAN", "CURRENT_STEP") or 0,
            steps=steps,
            current=self._current(),
            results=self._results(steps),
            last_action=self._words("LAST_ACTION"),
            next_action=self._words("NEXT_ACTION"),
        )
        self._agree(plan)
        faults = tuple(sorted(self.faults, key=lambda fault: fault.line))
        return Plan(**{name: getattr(plan, name) for name in Plan.__slots__} | {"faults": faults})

    # -- sections ------------------------------------------------------------------------------

    def _status(self) -> PlanStatus:
        number = self.sheet.find("STATUS")
        if number is None:
            self._fault(None, "no STATUS line: expected 'STATUS: RUNNING' or the like")
            return PlanStatus.IDLE
        return self._word(number, plain(self.sheet.lines[number].value), PlanStatus.IDLE)

    def _steps(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        for number in self._under("PLAN", "STEPS"):
            line = self.sheet.lines[number]
            expected = len(steps) + 1
            if not line.key.isdigit():
                self._fault(number, f"expected step {expected} as '{expected}: [PENDING] …'")
                continue
            if line.key != str(expected):
                self._fault(number, f"expected step {expected}, not {line.key}")
            steps.append(self._step(number, expected))
        if len(steps) > MOST_STEPS:
            self._fault(None, f"expected at most {MOST_STEPS} steps, not {len(steps)}")
        return tuple(steps)

    def _step(self, number: int, count: int) -> Step:
        value = self.sheet.lines[number].value
        found = _STATE.match(value)
        if found is None:
            self._fault(number, f"expected '{count}: [PENDING] …' with a state in brackets")
        state = self._word(number, found[1], StepState.PENDING) if found else StepState.PENDING
        inner = (self.sheet.lines[under] for under in self.sheet.under(number))
        rows = [value[found.end() :] if found else value]
        rows += [line.value for line in inner if not line.key]
        text = "\n".join(row for row in rows if row)
        if not text:
            self._fault(number, f"step {count} does not say what to do")
        return Step(
            number=count,
            state=state,
            text=text,
            verify=self._items(number, "VERIFY"),
            touch=self._globs(number),
            timeout=self._seconds(number),
            agent=" ".join(self._items(number, "AGENT")),
            retries=self._option(number, "RETRIES"),
        )

    def _current(self) -> Current:
        spawned = self._words("CURRENT", "SPAWN_TIME")
        return Current(
            task_id=self._words("CURRENT", "TASK_ID"),
            pid=self._number("CURRENT", "CC_PID"),
            spawned=spawned,
            command=self._words("CURRENT", "COMMAND"),
        )

    def _results(self, steps: tuple[Step, ...]) -> dict[int, StepResult]:
        results: dict[int, StepResult] = {}
        for number in self._under("RESULTS"):
            key = self.sheet.lines[number].key
            found = re.fullmatch(r"STEP_([1-9][0-9]{0,2})", key)
            if found is None:
                continue  # a person's own
            count = int(found[1])
            if count > len(steps):
                self._fault(number, f"{key}: there is no step {count}")
            if count in results:
                self._fault(number, f"{key} stands here for the second time")
            results[count] = self._result(number)
        return results

    def _result(self, number: int) -> StepResult:
        at = {self.sheet.lines[n].key: n for n in self.sheet.under(number)}
        said = {key: self._said(n) for key, n in at.items()}
        verified = {"true": True, "false": False, "": None}.get(said.get("VERIFIED", "").lower())
        if verified is None and said.get("VERIFIED"):
            self._fault(at["VERIFIED"], "VERIFIED: expected true, false or (pending)")
        return StepResult(
            exit=self._integer(at["EXIT"], "EXIT") if "EXIT" in at else None,
            commit=said.get("COMMIT", ""),
            summary=said.get("SUMMARY", ""),
            verified=verified,
            evidence=said.get("EVIDENCE", ""),
            tried=said.get("TRIED", ""),
            answer=said.get("ANSWER", ""),
            attempts=self._integer(at["ATTEMPTS"], "ATTEMPTS") if "ATTEMPTS" in at else None,
        )

    # -- what must agree -----------------------------------------------------------------------

    def _agree(self, plan: Plan) -> None:
        total = self._number("PLAN", "TOTAL_STEPS")
        count = len(plan.steps)
        if total is not None and total != count:
            reason = f"TOTAL_STEPS says {total}, and {count} are listed"
            self._fault(self.sheet.find("PLAN", "TOTAL_STEPS"), reason)
        if not 0 <= plan.current_step <= max(count, 1):
            there = "is 1 step" if count == 1 else f"are {count} steps"
            reason = f"CURRENT_STEP says {plan.current_step}, and there {there}"
            self._fault(self.sheet.find("PLAN", "CURRENT_STEP"), reason)
        if not plan.goal and plan.status is not PlanStatus.IDLE:
            self._fault(self.sheet.find("GOAL"), "expected 'GOAL: …': what the plan is for")
        running = [step for step in plan.steps if step.state is StepState.RUNNING]
        for step in running[1:]:
            where = self.sheet.all("PLAN", "STEPS", str(step.number))
            reason = f"steps {running[0].number} and {step.number} are both RUNNING"
            self._fault(next(iter(where), None), reason)

    def _repeated(self) -> None:
        for path, keys in _ONCE.items():
            for key in keys.split():
                for number in self.sheet.all(*path, key)[1:]:
                    self._fault(number, f"{key} stands here for the second time")

    def _strange(self) -> None:
        for number, line in enumerate(self.sheet.lines):
            if _MARKER.match(line.raw.rstrip("\r\n")):
                self._fault(number, "a merge left its marker here")
            if "\0" in line.raw:
                self._fault(number, "a NUL character stands here: part of the file was lost")
            if any("\ud800" <= char <= "\udfff" for char in line.raw):
                self._fault(number, "expected UTF-8")

    # -- parts ---------------------------------------------------------------------------------

    def _fault(self, number: int | None, reason: str) -> None:
        self.faults.append(Fault(line=0 if number is None else number + 1, reason=reason))

    def _under(self, *path: str) -> list[int]:
        number = self.sheet.find(*path)
        return [] if number is None else list(self.sheet.under(number))

    def _said(self, number: int) -> str:
        words = self.sheet.words(number)
        pending = self.sheet.lines[number].value == PENDING
        return "" if pending else words

    def _words(self, *path: str) -> str:
        number = self.sheet.find(*path)
        return "" if number is None else self._said(number)

    def _word(self, number: int, word: str, default: _Word) -> _Word:
        words = type(default)
        try:
            return words(word)
        except ValueError:
            known = ", ".join(str(each.value) for each in words)
            self._fault(number, f"expected one of {known}, not {word!r}")
            return default

    def _number(self, *path: str) -> int | None:
        number = self.sheet.find(*path)
        return None if number is None else self._integer(number, path[-1])

    def _integer(self, number: int, key: str) -> int | None:
        said = self._said(number)
        if re.fullmatch(r"-?[0-9]{1,12}", said):
            return int(said)
        if said:
            self._fault(number, f"{key}: expected a number, not {said!r}")
        return None

    # -- options of a step -----------------------------------------------------------------------

    def _items(self, step: int, key: str) -> tuple[str, ...]:
        """All values of that key under a step: it may be there often, or have a list under it."""
        items: list[str] = []
        for number in self.sheet.under(step):
            if self.sheet.lines[number].key != key:
                continue
            rows = self._said(number).split("\n")
            items += [row.removeprefix("- ").strip() for row in rows]
        return tuple(item for item in items if item)

    def _globs(self, step: int) -> tuple[str, ...]:
        parts = (part for item in self._items(step, "TOUCH") for part in re.split("[,、]", item))
        return tuple(part.strip() for part in parts if part.strip())

    def _option(self, step: int, key: str) -> int | None:
        numbers = [n for n in self.sheet.under(step) if self.sheet.lines[n].key == key]
        return self._integer(numbers[0], key) if numbers else None

    def _seconds(self, step: int) -> float | None:
        numbers = [n for n in self.sheet.under(step) if self.sheet.lines[n].key == "TIMEOUT"]
        said = self._said(numbers[0]) if numbers else ""
        found = _TIME.fullmatch(said)
        if not said:
            return None
        if found is None or not any(found.groups()):
            self._fault(
                numbers[0], f"TIMEOUT: expected a time such as 90s, 45m or 1h, not {said!r}"
            )
            return None
        return float(
            sum(int(p or 0) * unit for p, unit in zip(found.groups(), (3600, 60, 1), strict=True))
        )
