"""Secrets out of what is shown to others: keys, tokens, addresses, names.

What is replaced keeps its width, so that a screen stays a screen: a dialog with a key in it is
still read as a dialog. Escape sequences are passed over, and a key that was wrapped is found too.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from koboshi.adapters.text import width

from .secret_kinds import found

ESCAPE = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B])")
#: Variables whose value nobody else should see.
_SECRET_NAME = re.compile(
    r"(?i)key|token|secret|passw|passphrase|(?:^|_)pass(?:$|_)|_pwd|credential|auth|cookie|_dsn|webhook"
)
#: A value shorter than this would be found everywhere.
_SHORTEST = 6
_MASK = "x"
#: Between two texts that are searched as one: no secret, and nothing called one, goes over it.
_APART = "\n;\n"


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables that sound secret, as they may be written; the longest first."""
    found = {v for k, v in environment.items() if _SECRET_NAME.search(k) and len(v) >= _SHORTEST}
    written = {each for value in found for each in _written(value)}
    return tuple(sorted(written, key=lambda each: (-len(each), each)))


def _written(value: str) -> Iterator[str]:
    """As it is, inside of JSON, of an address, and of a header."""
    yield value
    content = value.encode("utf-8", "surrogateescape")
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(content, safe="")
    yield base64.b64encode(content).decode().rstrip("=")


def redact(
    text: str, *, secrets: Iterable[str] = (), names: Iterable[str] = (), cols: int = 0
) -> str:
    """The text with every secret masked; `names` are a user's, a machine's, a home's."""
    secrets, names = tuple(secrets), tuple(names)
    if _is_clean(text, secrets, names, cols):
        return text
    units = [m for m in re.split(f"({ESCAPE.pattern})", text) if m]
    chars: list[str] = []
    places: list[int] = []  # of each visible character in `chars`
    for unit in units:
        if ESCAPE.fullmatch(unit):
            chars.append(unit)
            continue
        for char in unit:
            places.append(len(chars))
            chars.append(char)
    shown = [chars[place] for place in places]
    hidden: set[int] = set()
    for visible in _readings(shown, cols):
        said = "".join(shown[n] for n in visible)
        for start, end in _found(said, secrets, names):
            hidden.update(visible[start:end])
    for n in hidden:
        chars[places[n]] = _masked(shown[n])
    return "".join(chars)


def spotless(texts: Sequence[tuple[str, int]], secrets: Iterable[str] = ()) -> bool:
    """Whether there is certainly nothing to mask in any of these, each with its columns.

    Asked of all at once: however short a text is, a hundred words are looked for in it.
    """
    if any(_wraps(text, cols) for text, cols in texts):
        return False
    return _is_clean(_APART.join(text for text, _ in texts), tuple(secrets), (), 0)


def _is_clean(text: str, secrets: tuple[str, ...], names: tuple[str, ...], cols: int) -> bool:
    """Whether there is certainly nothing to mask: so it is with most of what agents print."""
    if "\x1b" in text or _wraps(text, cols):
        return False
    return next(iter(_found(text, secrets, names)), None) is None


def _wraps(text: str, cols: int) -> bool:
    """Whether a row is full, and may go on in the next one."""
    # No character takes more than two columns, and to measure each of them takes long.
    return cols > 0 and any(
        2 * len(row) >= cols and width(row) >= cols for row in text.split("\n")[:-1]
    )


def _readings(shown: list[str], cols: int) -> list[list[int]]:
    """The characters as they stand, and, where rows are full, as if they had not been wrapped."""
    plain = list(range(len(shown)))
    if not cols:
        return [plain]
    joined, row = [], 0
    for n, char in enumerate(shown):
        if char != "\n":
            row += width(char)
            joined.append(n)
            continue
        if row < cols:
            joined.append(n)
        row = 0
    return [plain, joined]


def _found(
    text: str, secrets: tuple[str, ...], names: tuple[str, ...]
) -> Iterable[tuple[int, int]]:
    yield from found(text)
    for secret in secrets:
        if secret not in text:
            continue  # most never are, and a search takes longer
        for match in re.finditer(re.escape(secret), text):
            yield match.span()
    for name in names:
        if len(name) > 2:  # noqa: PLR2004 - two letters are in every word
            for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
                yield match.span()


def _masked(char: str) -> str:
    return char if char.isspace() else _MASK * width(char)
