"""Tokens and money, from what each CLI writes down; the shapes are those of the real ones."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koboshi.reports.phrases import tokens
from koboshi.reports.spending import Asked, spent
from koboshi.reports.values import Spent

START = 1794737100.0  # 2026-11-15T10:05Z
CODEX = "01a1e163-fdcd-7fe0-bdb6-91883533aeed"
GEMINI = "ea8aaf08-e5d3-427b-b47b-dfabaf2230da"


def asked(home: Path, *sessions: str) -> Asked:
    """An hour from the fifth minute past ten on."""
    return Asked(
        environment={"HOME": str(home)},
        sessions=sessions,
        folder="/srv/app/api",
        since=START,
        until=START + 3600,
    )


def stamp(minute: int) -> str:
    """That minute past ten."""
    return f"2026-11-15T10:{minute:02d}:00.000Z"


def write(path: Path, *rows: Any) -> None:  # noqa: ANN401 - JSON, or no JSON
    """A file of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_claude_counts_once_per_answer_and_in_those_hours(tmp_path: Path) -> None:
    """One answer is written as several lines; other sessions and lines are not counted."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 7}

    def line(name: str, minute: int, **changes: int) -> dict[str, Any]:
        message = {"id": name, "usage": {**usage, **changes}}
        return {"type": "assistant", "timestamp": stamp(minute), "message": message}

    rows = [line("m0", 1), line("m1", 10, output_tokens=1), line("m1", 10), line("m2", 20)]
    wrong = ['{"usage": 3}', 'no JSON, "usage"', '{"type":"assistant","usage":1}']
    write(tmp_path / ".claude" / "projects" / "p" / "s-1.jsonl", *rows, *wrong)

    assert spent("claude", asked(tmp_path, "s-1")) == Spent(read=210, written=14)
    assert spent("claude", asked(tmp_path, "s-2", "../x", "*")) is None
    assert spent("claude", replace(asked(tmp_path, "s-1"), environment={})) is None


def test_codex_tells_sums_and_their_growth_counts(tmp_path: Path) -> None:
    """From the last one before the hours to the last one in them."""

    def line(minute: int, read: int, written: int) -> dict[str, Any]:
        total = {"input_tokens": read, "cached_input_tokens": 3, "output_tokens": written}
        info = {"total_token_usage": total, "last_token_usage": total}
        payload = {"type": "token_count", "info": info}
        return {"timestamp": stamp(minute), "type": "event_msg", "payload": payload}

    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "15"
    rows = [line(1, 1200, 20), line(10, 2500, 50), line(30, 4000, 90)]
    nothing = {"timestamp": stamp(40), "payload": {"type": "token_count", "info": None}}
    write(folder / f"rollout-2026-11-15T10-00-00-{CODEX}.jsonl", *rows, nothing, "token_count")

    assert spent("codex", asked(tmp_path, CODEX)) == Spent(read=2800, written=70)
    later = replace(asked(tmp_path, CODEX), since=START + 3600, until=START + 7200)
    assert spent("codex", later) == Spent(read=0, written=0)
    assert spent("codex", asked(tmp_path, GEMINI)) is None


def test_gemini_is_known_by_the_whole_id_of_its_session(tmp_path: Path) -> None:
    """The name of its file has only the first part of it."""

    def line(name: str, minute: int) -> dict[str, Any]:
        used = {"input": 1200, "output": 20, "cached": 9, "thoughts": 5, "tool": 1, "total": 1226}
        return {"id": name, "timestamp": stamp(minute), "type": "gemini", "tokens": used}

    chats = tmp_path / ".gemini" / "tmp" / "proj" / "chats"
    head = {"sessionId": GEMINI, "kind": "main"}
    rows = (line("a", 1), line("b", 10), line("b", 10), {"$set": {"tokens": 1}}, line("c", 20))
    write(chats / "session-2026-11-15T10-00-ea8aaf08.jsonl", head, *rows)
    other = {"sessionId": GEMINI.replace("e5d3", "0000")}
    write(chats / "session-2026-11-15T10-03-ea8aaf08.jsonl", other, line("d", 20))

    assert spent("gemini", asked(tmp_path, GEMINI)) == Spent(read=2402, written=50)
    assert spent("gemini", asked(tmp_path, CODEX)) is None


def opencode(home: Path) -> None:
    """Its database, with two sessions of one folder and one of another."""
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "opencode.db")
    database.execute("CREATE TABLE session (id TEXT, directory TEXT)")
    database.execute("CREATE TABLE message (session_id TEXT, time_created INTEGER, data TEXT)")
    for name, where in (
        ("ses_1", "/srv/app/api"),
        ("ses_2", "/srv/app/api"),
        ("ses_3", "/elsewhere"),
    ):
        database.execute("INSERT INTO session VALUES (?, ?)", (name, where))
        used = {"input": 1200, "output": 20, "reasoning": 1, "cache": {"read": 30, "write": 4}}
        said = {"role": "assistant", "cost": 0.25, "tokens": used}
        for second in (-10, 60):
            row = (name, int((START + second) * 1000), json.dumps(said))
            database.execute("INSERT INTO message VALUES (?, ?, ?)", row)
        database.execute("INSERT INTO message VALUES (?, ?, 'x')", (name, int(START * 1000) + 5))
    database.commit()
    database.close()


def test_opencode_tells_money_too(tmp_path: Path) -> None:
    """By its sessions; where none is known, by its folder. Nothing is written there."""
    opencode(tmp_path)
    before = sorted(p.name for p in tmp_path.rglob("*"))

    assert spent("opencode", asked(tmp_path, "ses_1")) == Spent(read=1234, written=21, cost=0.25)
    assert spent("opencode", asked(tmp_path)) == Spent(read=2468, written=42, cost=0.5)
    assert spent("opencode", replace(asked(tmp_path), folder="/nowhere")) is None
    assert sorted(p.name for p in tmp_path.rglob("*")) == before


def test_a_database_of_another_kind_tells_nothing(tmp_path: Path) -> None:
    """Nor does a file that is none."""
    folder = tmp_path / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    sqlite3.connect(folder / "opencode.db").close()
    assert spent("opencode", asked(tmp_path)) is None
    (folder / "opencode.db").write_bytes(b"no database at all, and longer than its header is" * 9)
    assert spent("opencode", asked(tmp_path)) is None


@pytest.mark.parametrize("kind", ["generic", "scripted", "claude", "codex", "gemini", "opencode"])
def test_where_there_is_nothing_nobody_tells(kind: str, tmp_path: Path) -> None:
    """And no error."""
    assert spent(kind, asked(tmp_path, "s")) is None
    assert spent(kind, replace(asked(tmp_path, "s"), environment={})) is None


def test_in_words() -> None:
    """With the money, where it is known."""
    assert tokens(Spent(read=1_200_000, written=34_000, cost=0.421)) == (
        "1.2 M read, 34 k written, $0.42"
    )
    assert tokens(Spent(read=12, written=3)) == "12 read, 3 written"
