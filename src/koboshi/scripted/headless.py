"""The scripted agent without a terminal: one prompt, one JSON object, like `claude -p`.

    python -m koboshi.scripted --headless --script work.toml --state DIR "PROMPT"

The script is a list of `[[work]]`: `match` is searched in the prompt, `says` is what it answers,
`write` are files by path. Who fits several plays them one after the other, the last one for ever.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

_COUNTS = "played.json"


def main(argv: list[str] | None = None) -> int:
    """Play one prompt; 1 where the script knows no answer."""
    given = _arguments(argv)
    try:
        works = tomllib.loads(given.script.read_text("utf-8")).get("work", [])
        played = _counts(given.state)
    except (OSError, ValueError) as error:
        print(f"scripted agent: {given.script}: {error}", file=sys.stderr)  # noqa: T201 - a program
        return 2
    fitting = [work for work in works if re.search(work.get("match", ""), given.prompt)]
    if not fitting:
        _say({"is_error": True, "result": "The script knows no answer to that."})
        return 1
    key = fitting[0].get("match", "")
    nth = played.get(key, 0)
    _play(fitting[min(nth, len(fitting) - 1)])
    given.state.mkdir(parents=True, exist_ok=True)
    (given.state / _COUNTS).write_text(json.dumps({**played, key: nth + 1}), encoding="utf-8")
    return 0


def _play(work: dict[str, Any]) -> None:
    for name, text in work.get("write", {}).items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _say({"is_error": False, "result": work.get("says", "Done.")})


def _say(words: dict[str, Any]) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20}
    said = {"type": "result", "subtype": "success", "session_id": "scripted", "usage": usage}
    print(json.dumps({**said, "total_cost_usd": 0.0, **words}))  # noqa: T201 - a program of its own


def _counts(state: Path) -> dict[str, int]:
    try:
        found = json.loads((state / _COUNTS).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m koboshi.scripted --headless")
    parser.add_argument("--headless", action="store_true", help="without a terminal")
    parser.add_argument("--script", type=Path, required=True, help="TOML file with the work")
    parser.add_argument("--state", type=Path, required=True, help="where it counts what it played")
    parser.add_argument("prompt")
    return parser.parse_args(argv)
