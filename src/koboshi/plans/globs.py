"""Which files a step may change: globs as people write them, and none of them guessed wider."""

from __future__ import annotations

import functools
import re


def outside(paths: tuple[str, ...], globs: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that none of the globs allows; without globs all are allowed."""
    if not globs:
        return ()
    return tuple(path for path in paths if not any(allows(glob, path) for glob in globs))


def allows(glob: str, path: str) -> bool:
    """Whether a glob allows a path; one that names a folder allows all that is in it.

    `*` and `?` stay in one folder, `**` does not. Both are relative to where the plan works; a path
    that climbs out of it is allowed by nothing.
    """
    if path.startswith(("../", "/")):
        return False
    folders = [path, *_above(path)]
    return any(_compiled(glob).fullmatch(each) is not None for each in folders)


def _above(path: str) -> list[str]:
    """The folders that a path is in, the nearest first."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


@functools.lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    pieces = re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|[^*?\[]+|\[", _tidy(glob))
    return re.compile("".join(map(_piece, pieces)), re.DOTALL)


def _tidy(glob: str) -> str:
    return glob.strip().removeprefix("./").rstrip("/")


def _piece(piece: str) -> str:
    known = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece in known:
        return known[piece]
    if piece.startswith("[") and piece.endswith("]"):
        inner = piece[1:-1]
        negated, inner = ("^/", inner[1:]) if inner[0] in "!^" else ("", inner)
        return (
            f"[{negated}{re.escape(inner).replace(chr(92) + '-', '-')}]"
            if inner
            else re.escape(piece)
        )
    return re.escape(piece)
