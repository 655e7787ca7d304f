"""`koboshi inspect`: what a screen shows; for people, for scripts, for thousands at once."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from .printing import plain, say, to_json

if TYPE_CHECKING:
    from koboshi.core.readings import Reading
    from koboshi.observations import ScreenSeen
    from koboshi.store.manifests import Chosen

_EPILOG = """\b
Examples:
  tmux capture-pane -e -p -t %1 | koboshi inspect --agent claude -
  koboshi inspect --agent codex --json screen.txt
  koboshi inspect --jsonl screens.jsonl > readings.jsonl

\b
Exit codes: 0 every screen was judged (also as unknown)
2 the input cannot be used
"""

_MAX_BYTES = 16 * 1024 * 1024  # a screen has some kilobytes; this is not one
_GAP = re.compile(r" {4,}")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B])")
_JUNK_SHARE = 0.1  # of characters no terminal shows; more is not text


@click.command(epilog=_EPILOG)
@click.option("--agent", metavar="NAME", help="Whose screen it is: claude, codex, gemini, …")
@click.option("--json", "as_json", is_flag=True, help="Print the reading as one JSON object.")
@click.option(
    "--jsonl",
    is_flag=True,
    help='Read {"agent": …, "screen": …} per line, write one reading per line.',
)
@click.option(
    "--cli-version",
    default="",
    metavar="VERSION",
    help="Of the CLI whose screen it is, as it prints it.",
)
@click.option(
    "--at", type=float, metavar="SECONDS", help="Epoch seconds of the look (for reset times)."
)
@click.argument("file", metavar="FILE|-", default="-")
def inspect(
    *,
    agent: str | None,
    as_json: bool,
    jsonl: bool,
    cli_version: str,
    at: float | None,
    file: str,
) -> None:
    """Say what the screen in FILE (or on stdin) shows: status, question, context, limit, error."""
    from koboshi.errors import InputError

    try:
        if jsonl:
            clean = _inspect_lines(file, agent, cli_version)
        else:
            clean = _inspect_one(file, agent, cli_version, at, as_json=as_json)
    except InputError as error:
        _complain(str(error))
        clean = False
    except BrokenPipeError:
        _hush()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    if not clean:
        raise SystemExit(InputError.exit_code)


def _inspect_one(
    file: str, agent: str | None, version: str, at: float | None, *, as_json: bool
) -> bool:
    from koboshi.adapters.registry import names
    from koboshi.errors import InputError
    from koboshi.observations import ScreenSeen

    if agent is None:
        raise InputError(f"expected --agent NAME, one of {', '.join(names())}")
    chosen = _chosen(agent, version)
    drawn = _text(_read_all(file), _shown(file))
    text = _ESCAPES.sub("", drawn)
    seen = ScreenSeen(text=text, ansi=None if text == drawn else drawn, utc=at)
    reading = chosen.adapter.read(seen)
    say(_json(reading, chosen.source) if as_json else describe(reading, chosen.source))
    sys.stdout.buffer.flush()
    return True


def _chosen(agent: str, version: str) -> Chosen:
    """The adapter with the user's manifest; one that cannot be used is named, and ours is taken."""
    from koboshi.store.manifests import adapter_in, config_dir

    chosen = adapter_in(config_dir(), agent, version)
    for wrong in chosen.complaints:
        _complain(wrong)
    return chosen


def _inspect_lines(file: str, agent: str | None, version: str) -> bool:
    """Judge a line at a time; a bad one is named on stderr and the others go on."""
    from koboshi.errors import InputError

    readers: dict[tuple[str, str], Chosen] = {}

    clean, number = True, 0
    with _opened(file) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                record = _record(line)
                name, seen = _look(record, agent)
                key = (name, _field(record, "agent_version", version))
                chosen = readers[key] if key in readers else _chosen(*key)
                reading = readers.setdefault(key, chosen).adapter.read(seen)
            except InputError as error:
                _complain(f"{_shown(file)}, line {number}: {error}")
                clean = False
                continue
            say(_json(reading, chosen.source))
    sys.stdout.buffer.flush()
    if not number:
        raise InputError(f"{_shown(file)}: expected a JSON object per line, found nothing")
    return clean


def contract(reading: Reading) -> dict[str, Any]:
    """The public JSON form of a reading; its keys do not change."""
    prompt, context, limit, error = reading.prompt, reading.context, reading.limit, reading.error
    return {
        "status": reading.status.value,
        "reason": reading.reason,
        "evidence": list(reading.evidence),
        "prompt": prompt
        and {
            "kind": prompt.kind.value,
            "question": prompt.question,
            "options": [option.text for option in prompt.options],
            "selected": prompt.selected,
            "subject": prompt.subject,
        },
        "context": context
        and {"used": context.used, "left": context.left, "source": context.source},
        "limit": limit and {"kind": limit.kind, "resets_at": limit.resets_at},
        "error": error
        and {
            "code": error.code,
            "retrying": error.retrying,
            "attempt": error.attempt,
            "of": error.of,
        },
        "draft": reading.draft,
    }


def _json(reading: Reading, source: str) -> str:
    from koboshi.store.manifests import BUILT_IN

    own = {} if source == BUILT_IN else {"manifest": source}
    return to_json(contract(reading) | own)


def describe(reading: Reading, source: str = "") -> str:
    """The reading for a person: a fact per line, labels in one column."""
    facts = [("status", f"{reading.status.value} ({reading.reason.replace('_', ' ')})")]
    if reading.prompt is not None:
        prompt = reading.prompt
        facts += [("question", f"{prompt.question} [{prompt.kind.value}]")]
        facts += [("about", prompt.subject)] if prompt.subject else []
        marks = ("❯" if i == prompt.selected else " " for i in range(len(prompt.options)))
        rows = (
            f"{mark} {number}. {option.text} [{option.meaning.value}]"
            for number, (mark, option) in enumerate(zip(marks, prompt.options, strict=True), 1)
        )
        facts += [("options", "\n".join(rows))]
    if reading.context is not None:
        facts += [("context", f"{reading.context.used:g} % used, {reading.context.left:g} % left")]
    if reading.limit is not None:
        facts += [("limit", f"{reading.limit.kind}, {_resets(reading.limit.resets_at)}")]
    if reading.error is not None:
        retry = (
            f", attempt {reading.error.attempt} of {reading.error.of}"
            if reading.error.retrying
            else ""
        )
        facts += [("error", reading.error.code + retry)]
    facts += [("draft", reading.draft)] if reading.draft else []
    facts += [("evidence", "\n".join(map(_short, reading.evidence)))] if reading.evidence else []
    facts += [("manifest", source)] if source else []
    return "\n".join(_row(label, text) for label, text in facts)


def _row(label: str, text: str) -> str:
    """A label and its text; nothing in it moves the reader's own terminal."""
    rows = map(plain, text.split("\n"))
    return f"{label + ':':<10}" + ("\n" + " " * 10).join(rows)


def _short(line: str) -> str:
    return _GAP.sub("   ", line.strip())


def _resets(at: float | None) -> str:
    import datetime as dt

    if at is None:
        return "when it resets is not known (say when it was seen: --at)"
    return f"resets {dt.datetime.fromtimestamp(at, dt.UTC):%Y-%m-%d %H:%M:%S} UTC"


# --- input ---------------------------------------------------------------------------------------


def _opened(file: str) -> BinaryIO:
    from koboshi.errors import FileUnreadable

    if file == "-":
        return sys.stdin.buffer
    try:
        if Path(file).is_dir():
            raise FileUnreadable(f"{file}: expected a file, not a directory")
        return Path(file).open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileUnreadable(f"{file}: {reason[0].lower() + reason[1:]}") from error


def _read_all(file: str) -> bytes:
    from koboshi.errors import FileUnreadable

    try:
        with _opened(file) as stream:
            return stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise FileUnreadable(f"{_shown(file)}: {error.strerror}") from error


def _text(content: bytes, where: str) -> str:
    from koboshi.errors import InputError

    if not content:
        raise InputError(f"{where}: expected a screen, found nothing")
    if len(content) > _MAX_BYTES:
        raise InputError(f"{where}: expected a screen, not more than {_MAX_BYTES} bytes")
    text = content.decode("utf-8", "replace")
    junk = sum(
        1 for char in text if char == "\ufffd" or (char < " " and char not in "\n\r\t\x1b\f")
    )
    if "\0" in text or junk > _JUNK_SHARE * len(text):
        raise InputError(f"{where}: expected the text of a screen, not binary junk")
    return text


def _record(line: bytes) -> dict[str, Any]:
    from koboshi.errors import InputError

    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"expected an object, not {type(value).__name__}")
    return value


def _look(record: dict[str, Any], agent: str | None) -> tuple[str, ScreenSeen]:
    from koboshi.errors import InputError
    from koboshi.observations import ScreenSeen

    meta = record.get("meta")
    if meta is None:
        meta = {}
    if not isinstance(meta, dict):
        raise InputError(f"key 'meta': expected an object, not {type(meta).__name__}")
    name = _field(record, "agent", agent or "")
    if not name:
        raise InputError("expected the key 'agent', or --agent NAME for all lines")
    ansi = _field(record, "screen_ansi", "")
    if record.get("screen") is None and not ansi:
        raise InputError("expected the key 'screen'")
    moment = _number(record, "at")
    return name, ScreenSeen(
        text=_field(record, "screen", _ESCAPES.sub("", ansi)),
        ansi=ansi or None,
        utc=_number(meta, "t") if moment is None else moment,
        title=_field(record, "pane_title", "") or _field(meta, "pane_title", ""),
        command=_field(record, "pane_current_command", "")
        or _field(meta, "pane_current_command", ""),
        cols=int(_number(record, "cols") or 0),
        rows=int(_number(record, "rows") or 0),
        cursor=_cursor(_field(meta, "cursor", "")),
        alive=_field(meta, "pane_dead", "") != "1",
    )


def _cursor(text: str) -> tuple[int, int] | None:
    """Column and row as tmux prints them: `2,36`."""
    column, _, row = text.partition(",")
    return (int(column), int(row)) if column.isdecimal() and row.isdecimal() else None


def _field(record: dict[str, Any], key: str, default: str) -> str:
    from koboshi.errors import InputError

    value = record.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InputError(f"key {key!r}: expected a string, not {type(value).__name__}")
    return value


def _number(record: dict[str, Any], key: str) -> float | None:
    from koboshi.errors import InputError

    value = record.get(key)
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"key {key!r}: expected a number, not {type(value).__name__}")
    return number


# --- output --------------------------------------------------------------------------------------


def _shown(file: str) -> str:
    return "stdin" if file == "-" else file


def _complain(message: str) -> None:
    click.echo(f"koboshi inspect: {message}", err=True)


def _hush() -> None:
    """Nobody reads any more: what is still buffered goes nowhere, quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
