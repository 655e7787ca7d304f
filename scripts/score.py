"""How well `koboshi inspect --jsonl` reads recorded screens whose truth is known.

    python scripts/score.py [--failures N] FILE.jsonl ...

A line holds `agent`, `agent_version`, `state`, `screen`, `truth` and what `koboshi inspect` takes.
Prints a table per agent and version, then the failures, compactly. Exit code 0 whatever the score.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Recorded state → the statuses that are right.
RIGHT: dict[str, frozenset[str]] = {
    state: frozenset(words.split())
    for state, words in {
        "starting": "starting unknown",
        "trust_prompt": "asking",
        "permission_prompt": "asking",
        "question_prompt": "asking",
        "idle": "idle",
        "typing": "idle",
        "context_low": "idle working",
        "busy": "working",
        "compacting": "working",
        "api_error_retrying": "working",
        "hung": "working",
        "api_error_final": "failed",
        "limit_reached": "limited",
        "menu_open": "idle working asking",
        "exited_to_shell": "gone",
        "crashed": "gone",
    }.items()
}
ASKED = frozenset({"trust_prompt", "permission_prompt", "question_prompt"})
COLUMNS = ("status", "prompt", "context", "limit", "error", "draft")

Record = dict[str, Any]


def squeezed(text: object) -> str:
    """Wrapping loses and gains blanks, and nothing else."""
    return "".join(str(text).split())


def statuses(record: Record) -> frozenset[str]:
    """The statuses that are right for that record."""
    right = RIGHT[record["state"]]
    for other in record["truth"].get("also_acceptable") or ():
        right |= RIGHT[other]
    if record["state"] == "limit_reached" and record["truth"].get("menu"):
        right |= {"asking"}
    if record["truth"].get("visible_indicator") is False:
        right |= {"unknown"}
    return right


def check_status(record: Record, reading: Record) -> str | None:
    """What is wrong with the status."""
    right = statuses(record)
    if reading["status"] in right:
        return None
    return f"status {reading['status']} ({reading['reason']}), expected {'/'.join(sorted(right))}"


def check_prompt(record: Record, reading: Record) -> str | None:
    """What is wrong with the question: its words, options, selection, subject."""
    truth, prompt = record["truth"], reading["prompt"]
    if prompt is None:
        return "no prompt"
    wanted = [squeezed(text) for text in truth.get("options") or ()]
    if wanted and wanted != [squeezed(text) for text in prompt["options"]]:
        return f"options {prompt['options']}, expected {truth['options']}"
    if "selected" in truth and truth["selected"] != prompt["selected"]:
        return f"selected {prompt['selected']}, expected {truth['selected']}"
    if "question" in truth and squeezed(truth["question"]) != squeezed(prompt["question"]):
        return f"question {prompt['question']!r}, expected {truth['question']!r}"
    for key in ("subject", "command", "file", "url"):
        about = truth.get(key)
        if isinstance(about, str) and not same_subject(about, prompt["subject"]):
            return f"subject {prompt['subject']!r}, expected {about!r}"
    return None


def same_subject(wanted: str, read: str) -> bool:
    """The screen may shorten a path to `~/…` or `../…`, or ask about the folder it is in."""
    short = wanted.rpartition("/")[2] if read.startswith(("~/", "../")) else wanted
    return squeezed(short) in squeezed(read) or (len(read) > 1 and wanted.startswith(read + "/"))


def check_context(record: Record, reading: Record) -> str | None:
    """What is wrong with the share of the context in use."""
    truth, context = record["truth"], reading["context"]
    used, left = truth.get("percent_used"), truth.get("percent_left")
    wanted = float(used) if used is not None else 100.0 - float(left)
    if context is None:
        return f"no context, expected {wanted:g} % used"
    return None if context["used"] == wanted else f"context {context['used']:g}, not {wanted:g}"


def check_limit(record: Record, reading: Record) -> str | None:
    """What is wrong with the moment of the reset."""
    limit = reading["limit"]
    wanted = record["truth"].get("reset_epoch")
    if wanted is None:
        wanted = record["meta"]["t"] + record["truth"]["reset_epoch_in"]
    slack = 60 if "reset_epoch" in record["truth"] else 180  # seconds from the error to the look
    if limit is None or limit["resets_at"] is None:
        return f"no reset, expected {wanted}"
    off = limit["resets_at"] - wanted
    return None if abs(off) <= slack else f"reset is {off:+.0f} s off"


def check_error(record: Record, reading: Record) -> str | None:
    """What is wrong with the error: code where the screen shows one, attempts, retrying."""
    truth, error = record["truth"], reading["error"]
    if error is None:
        return "no error"
    retrying = record["state"] == "api_error_retrying"
    if error["retrying"] != retrying:
        return f"retrying {error['retrying']}"
    for key, mine in (("attempt", "attempt"), ("max_attempts", "of")):
        if key in truth and truth[key] != error[mine]:
            return f"{mine} {error[mine]}, expected {truth[key]}"
    code = str(truth.get("code") or "")
    if code and f"{code} " in record["screen"] and error["code"] != code:
        return f"code {error['code']}, expected {code}"
    return None


def check_draft(record: Record, reading: Record) -> str | None:
    """What is wrong with the draft."""
    wanted = record["truth"]["input"]
    right = squeezed(wanted) == squeezed(reading["draft"])
    return None if right else f"draft {reading['draft']!r}, expected {wanted!r}"


def checks(record: Record) -> dict[str, Any]:
    """The checks that apply to the record."""
    truth, state = record["truth"], record["state"]
    found: dict[str, Any] = {"status": check_status}
    if state in ASKED or (state == "limit_reached" and truth.get("menu")):
        found["prompt"] = check_prompt
    if truth.get("percent_used") is not None or truth.get("percent_left") is not None:
        found["context"] = check_context
    if state == "limit_reached" and truth.get("reset_on_screen", True):
        found["limit"] = check_limit
    if state in {"api_error_final", "api_error_retrying"} and truth.get("line", True):
        found["error"] = check_error
    if isinstance(truth.get("input"), str) and state not in ASKED:
        found["draft"] = check_draft
    return found


def readings(path: Path) -> list[Record]:
    """What `koboshi inspect --jsonl` says, a line each."""
    argv = [sys.executable, "-m", "koboshi", "inspect", "--jsonl", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, encoding="utf-8")
    if done.returncode:
        sys.exit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    """Score the files named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--failures", type=int, default=60, help="how many are shown")
    parser.add_argument("files", nargs="+", type=Path)
    chosen = parser.parse_args()
    good: collections.Counter[tuple[str, str]] = collections.Counter()
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    failures: list[str] = []
    for path in chosen.files:
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for number, (record, reading) in enumerate(zip(records, readings(path), strict=True)):
            who = f"{record['agent']} {record['agent_version']}"
            for column, check in checks(record).items():
                wrong = check(record, reading)
                seen[who, column] += 1
                good[who, column] += wrong is None
                if wrong:
                    size = f"{record['cols']}x{record['rows']}"
                    what = f"{path.stem}#{number} {who} {record['state']} {size}"
                    failures.append(f"{what}: {wrong} | {record.get('how', '')[:60]}")
    print(f"{'':20}" + "".join(f"{column:>12}" for column in COLUMNS))
    for who in sorted({who for who, _ in seen}):
        cells = (f"{good[who, c]}/{seen[who, c]}" if seen[who, c] else "-" for c in COLUMNS)
        print(f"{who:20}" + "".join(f"{cell:>12}" for cell in cells))
    print(*failures[: chosen.failures], sep="\n")
    if len(failures) > chosen.failures:
        print(f"… and {len(failures) - chosen.failures} more")


if __name__ == "__main__":
    main()
