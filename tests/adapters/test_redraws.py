"""Dialogs of the real CLIs while they are drawn: what they wrote, byte by byte, is read all along.

A look may fall between any two bytes. What is read there is a dialog that the recording really
holds, or nothing that anybody could be asked about in its words, or answer.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

import pytest

from koboshi.adapters.registry import adapter
from koboshi.core.readings import Prompt, PromptKind
from koboshi.hosts.screens import open_screen
from koboshi.observations import ScreenSeen
from koboshi.policy.dialogs import request_of_prompt

REDRAWS = Path(__file__).parents[1] / "cases" / "redraws"
#: Whose terminal (120 columns, 40 rows), from which byte on it is read, and every how many bytes.
RECORDED = {
    "claude-2-1-197": (0, 5),
    "claude-2-1-325": (0, 5),
    "codex-0-166-0": (0, 3),
    "opencode-1-18-33": (145_000, 67),
}
#: What was asked there, and about what.
BASH, FETCH = "Do you want to proceed?", "Do you want to allow Claude to fetch this content?"
CLAUDE = {
    (BASH, "touch a.txt"),
    (BASH, "touch q.txt"),
    ("Do you want to create new.txt?", "new.txt"),
    ("Do you want to make this edit to poem.txt?", "poem.txt"),
    (FETCH, "http://127.0.0.1:9/x"),
}
ASKED = {
    "claude": CLAUDE,
    "codex": set[tuple[str, str]](),  # its dialogs do not tell their folder
    "opencode": {
        ("Permission required", "app.py"),
        ("Permission required", "new.py"),
        ("Permission required", "https://example.com/a"),
    },
}
ROW = re.compile(r"\d{1,2}\. \S")


@cache
def drawn(name: str) -> tuple[Prompt, ...]:
    """Every question that is read while that recording is drawn."""
    first, step = RECORDED[name]
    cli, screen, seen = name.split("-", 1)[0], open_screen(120, 40), ""
    found = []
    written = gzip.decompress((REDRAWS / f"{name}.bin.gz").read_bytes())
    screen.feed(written[:first])
    for at in range(first, len(written), step):
        screen.feed(written[at : at + step])
        if (text := screen.text()) == seen:
            continue
        seen = text
        look = ScreenSeen(text=text, ansi=screen.ansi(), cols=120, rows=40, title=screen.title)
        prompt = adapter(cli).read(look).prompt
        if prompt is not None:
            found.append(prompt)
    return tuple(found)


@pytest.mark.parametrize("name", RECORDED)
def test_a_half_drawn_dialog_is_none(name: str) -> None:
    """No row of a list is ever a question, and all that could be allowed is there as it was."""
    cli = name.split("-", 1)[0]
    prompts = drawn(name)
    questions = {prompt.question for prompt in prompts}
    allowable = {p for p in prompts if request_of_prompt(p, cli, "/", 120).complete and p.tool}

    assert not [text for text in questions if ROW.match(text) or not re.search(r"\w", text)]
    assert {(each.question, each.subject) for each in allowable} == ASKED[cli]
    assert {p.question for p in prompts if p.kind is PromptKind.PERMISSION}


@pytest.mark.parametrize("name", [name for name in RECORDED if name.startswith("claude")])
def test_its_options_are_all_there_or_it_is_none(name: str) -> None:
    """Also in a dialog that names no keys below its list, whose last row grows letter by letter."""
    lists: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for prompt in drawn(name):
        if prompt.kind is PromptKind.PERMISSION:
            key = (prompt.question, prompt.subject)
            lists.setdefault(key, set()).add(tuple(option.text for option in prompt.options))

    for found in lists.values():
        whole = max(found, key=lambda texts: len(texts[-1]))
        assert all(texts[:-1] == whole[:-1] for texts in found)
        assert all(whole[-1].startswith(texts[-1]) and texts[-1][:2] == "No" for texts in found)
