"""`koboshi lint`: what the rules say about a log or a journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koboshi.core.rules import Rule
    from koboshi.core.settings import Settings
    from koboshi.store.lints import Remark

_EPILOG = """\b
Examples:
  koboshi lint agent.log
  koboshi lint --rules new-rules.toml ~/.local/state/koboshi/logs/*.log
  koboshi lint --format github build.log

\b
Exit codes: 0 nothing was found · 1 something was
2 no such file, or a mistake in the rules · 3 the journal cannot be used
"""
#: What GitHub calls it.
_LEVELS = {"P0": "error", "P1": "warning", "P2": "notice"}
_HEAD = 64


@click.command(epilog=_EPILOG)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--rules", metavar="RULES", help="Add the rules of this file to your own and those of plug-ins."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "github")),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
def lint(*, files: tuple[str, ...], rules: str | None, form: str) -> None:
    """Run the rules over each FILE and print what they find, as FILE:LINE: CODE message.

    A FILE is a plain log, the log of a pane, or a segment of a journal. In a log only rules that
    listen to lines find anything; when a line was written is taken from a time at its beginning.
    """
    from .printing import say, to_json

    used, settings = _rules(rules)
    remarks: list[Remark] = []
    for name in files:
        for remark in _remarks(name, used, settings):
            remarks.append(remark)
            if form != "json":
                say(_github(remark) if form == "github" else _text(remark))
    if form == "json":
        say(to_json([_facts(remark) for remark in remarks]))
    if remarks:
        raise SystemExit(1)


def _rules(named: str | None) -> tuple[tuple[Rule, ...], Settings]:
    """All rules, and what the files say of the texts that rules listen for."""
    from koboshi.config.files import sheet_of
    from koboshi.config.resolve import FILE
    from koboshi.core.settings import Settings
    from koboshi.plugins.manager import in_force
    from koboshi.store.manifests import config_dir

    own = config_dir() / FILE
    files = [str(own)] if own.exists() else []
    sheets = [sheet_of(name) for name in (*files, *((named,) if named is not None else ()))]
    rules = {rule.code: rule for sheet in sheets for rule in sheet.book.rules}
    told = {
        name: getattr(sheet.model, name)
        for sheet in sheets
        for name in ("fatal_text", "same_error_max")
        if name in sheet.model.model_fields_set
    }
    return in_force(tuple(rules.values())), Settings(**told)


def _remarks(name: str, rules: tuple[Rule, ...], settings: Settings) -> Iterator[Remark]:
    from pathlib import Path

    from koboshi.errors import FileUnreadable
    from koboshi.store.lints import is_journal, lint_journal, lint_log
    from koboshi.store.queries import OneSegment, segment

    path = Path(name)
    try:
        with path.open("rb") as stream:
            journal = is_journal(stream.read(_HEAD))
        if journal:
            yield from lint_journal(segment(OneSegment(path), path.name), name, rules)
            return
        with path.open(encoding="utf-8", errors="replace", newline="\n") as text:
            yield from lint_log((row.rstrip("\r\n") for row in text), name, rules, settings)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileUnreadable(f"{name}: {reason}") from error


def _text(remark: Remark) -> str:
    from .printing import plain

    return plain(f"{remark.file}:{remark.line}: {remark.code} {remark.message}")


def _github(remark: Remark) -> str:
    """A workflow command; what would end it or a property early is written as GitHub wants it."""
    from .printing import plain

    def safe(text: str, more: str = "") -> str:
        for char in f"%\r\n{more}":
            text = text.replace(char, f"%{ord(char):02X}")
        return plain(text)

    place = f"file={safe(remark.file, ':,')},line={remark.line}"
    title = f"title={safe(f'{remark.code} {remark.name}', ':,')}"
    return f"::{_LEVELS[remark.severity.value]} {place},{title}::{safe(remark.message)}"


def _facts(remark: Remark) -> dict[str, Any]:
    """A finding; the keys are a public contract (docs/reference/json.md)."""
    return {
        "file": remark.file,
        "line": remark.line,
        "code": remark.code,
        "name": remark.name,
        "severity": remark.severity.value,
        "message": remark.message,
    }
