"""Plays the part of `claude -p`: does what a screenplay says for the step it is told to do.

The screenplay is JSON: step number → list of attempts, each {"write": {path: text}, "sh": line,
"says": {…}, "code": 0}. The last attempt is played again when there are more. Each call is noted.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

GOOD = {
    "type": "result", "subtype": "success", "is_error": False, "result": "All done.",
    "session_id": "s-1", "total_cost_usd": 0.25, "permission_denials": [],
    "usage": {"input_tokens": 100, "output_tokens": 20},
}  # fmt: skip


def alive(pid: int) -> bool:
    """Whether that player still plays."""
    try:
        return b"player.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def main() -> int:
    """One attempt."""
    folder = Path(os.environ["PLAYER"])
    told = sys.argv[-1]
    found = re.search(r"on step (\d+) of", told)
    step = found[1] if found else "0"
    with (folder / "calls.jsonl").open("a", encoding="utf-8") as calls:
        call = {"step": step, "told": told, "argv": sys.argv[1:-1], "pid": os.getpid()}
        calls.write(json.dumps(call) + "\n")
    others = [other for other in (folder / "on").glob("*") if alive(int(other.name))]
    if others:
        (folder / "twice").write_text(f"{step}: {others}", encoding="utf-8")
    (folder / "on").mkdir(exist_ok=True)
    (folder / "on" / str(os.getpid())).touch()
    calls_so_far = (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    nth = sum(json.loads(row)["step"] == step for row in calls_so_far)
    scenes = json.loads((folder / "play.json").read_text(encoding="utf-8"))[step]
    scene = scenes[min(nth, len(scenes)) - 1]
    for path, text in scene.get("write", {}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    if "sh" in scene:
        subprocess.run(["/bin/sh", "-c", scene["sh"]], check=False)
    with (folder / "ends").open("a", encoding="utf-8") as ends:
        ends.write(f"{step} {os.getpid()}\n")
    if scene.get("says", True) is not None:
        more = {"structured_output": scene["plan"]} if "plan" in scene else {}
        sys.stdout.write(json.dumps({**GOOD, **scene.get("says", {}), **more}) + "\n")
    return int(scene.get("code", 0))


sys.exit(main())
