"""`koboshi import`: the configuration of a codexHaltMonitor as a koboshi.toml."""

from __future__ import annotations

from pathlib import Path

import click

_EPILOG = """\b
Examples:
  koboshi import halt-monitor.json
  koboshi import halt-monitor.json --output ~/.config/koboshi/koboshi.toml

\b
Exit codes: 0 fine
2 no such file, no such configuration, or the output is there already
"""


@click.command("import", epilog=_EPILOG)
@click.argument("file")
@click.option("--output", metavar="PATH", help="Write it there, where nothing is yet.")
def import_(*, file: str, output: str | None) -> None:
    """Turn FILE, the JSON configuration of a codexHaltMonitor, into a koboshi.toml.

    Each key becomes a value, a rule, or a comment that says what became of it. What has to be
    mended by hand is told.
    """
    from koboshi.config.imports import imported
    from koboshi.config.load import parse
    from koboshi.errors import FileUnreadable, InputError

    from .printing import complain, say

    try:
        text = imported(Path(file).read_text(encoding="utf-8-sig"), file)
    except (OSError, UnicodeDecodeError) as error:
        raise FileUnreadable(f"{file}: {error}") from error
    place = output or "koboshi.toml"
    if output is None:
        say(text.rstrip("\n"))
    else:
        try:
            with Path(output).open("x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise InputError(f"{output}: cannot be written ({error.strerror})") from error
    for mistake in parse(text, place).mistakes:
        complain(str(mistake))
