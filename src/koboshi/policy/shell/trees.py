"""The syntax tree of a command line, and distrust of it.

The grammar is made for editors: it forgives. So what it leaves out between two words is looked at
again, and what it calls plain text must hold nothing that a shell would obey.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: Characters of a command line; a longer one is asked about.
MOST_TEXT = 65_536
#: What a shell would obey in a text that the tree says is plain.
_OBEYED = frozenset(" \t\n$`\"';&|<>()")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_GAP = re.compile(r"(?:[ \t\n]|\\\n)*")
_LIVE = re.compile(r"(?:^|[^\\])(?:\\\\)*(?:`|\$[\w({@*#?!$-])")
_DELIMITER = re.compile(r"""(['"]?)(\w+)\1""")
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
#: Nodes whose inside is read as text, not as a row of words.
_TEXTUAL = frozenset(
    {
        "string", "heredoc_body", "heredoc_redirect", "expansion", "arithmetic_expansion",
        "test_command", "case_item", "ansi_c_string", "raw_string", "redirected_statement",
    }
)  # fmt: skip


@functools.cache
def parser() -> Parser:
    """The parser; imported when first needed, since most commands never do."""
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def text_of(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode(errors="replace")


def unreadable(text: str) -> str:
    """Why a text is not even parsed: what a person sees would not be what a shell reads."""
    if len(text) > MOST_TEXT:
        return f"the command is longer than {MOST_TEXT} characters"
    for char in text:
        if char in " \t\n" or " " < char < "\x7f":
            continue
        if unicodedata.category(char)[0] in "CZ":
            return f"the command holds the invisible character U+{ord(char):04X}"
    return ""


def between(one: Node, other: Node, parent: Node) -> str:
    """The source between two children."""
    start, end = one.end_byte - parent.start_byte, other.start_byte - parent.start_byte
    return (parent.text or b"")[start:end].decode(errors="replace")


def split_apart(one: Node, other: Node, parent: Node) -> bool:
    """Whether a blank, and nothing but blanks, stands between two words."""
    gap = between(one, other, parent)
    return _BLANKS.fullmatch(gap) is not None and (" " in gap or "\t" in gap)


def leaves_out(node: Node) -> bool:
    """Whether the tree passes over something that is neither a blank nor the end of a line."""
    if node.type in _TEXTUAL or not node.child_count:
        return False
    gaps = (between(one, other, node) for one, other in itertools.pairwise(node.children))
    return any(_GAP.fullmatch(gap) is None for gap in gaps)


def strays(marks: list[tuple[str, bool]]) -> bool:
    """Whether a plain word holds what a shell would obey."""
    return any(char in _OBEYED and not quoted for char, quoted in marks)


def is_live(text: str) -> bool:
    """Whether a text between double quotes, or in a here-document, holds a substitution."""
    return _LIVE.search(text) is not None


def misplaced_comment(node: Node, before: str) -> bool:
    """Whether a shell might not take this for a comment; `before` is the character before it."""
    return bool(before and before not in " \t\n;&|()") or "\n" in text_of(node)


def substitutions(node: Node) -> Iterator[Node]:
    """The outermost substitutions below a node, itself included."""
    if node.type in _SUBSTITUTIONS:
        yield node
        return
    for child in node.children:
        yield from substitutions(child)


def around(body: Node) -> str:
    """The text of a here-document without what is substituted in it."""
    source, at, text = body.text or b"", 0, b""
    for child in body.children:
        if child.type != "heredoc_content":
            text += source[at : child.start_byte - body.start_byte]
            at = child.end_byte - body.start_byte
    return (text + source[at:]).decode(errors="replace")


def here_document(redirect: Node) -> tuple[str, bool, bool]:
    """Its text, whether it is taken literally, and whether its end is beyond doubt."""
    parts = {child.type: child for child in redirect.children}
    start, body, end = (parts.get(f"heredoc_{each}") for each in ("start", "body", "end"))
    if start is None or end is None:
        return "", False, False
    text = text_of(body) if body is not None else ""
    found = _DELIMITER.fullmatch(text_of(start))
    if found is None or text_of(end) != found[2]:
        return text, False, False
    certain = all(row.strip() != found[2] for row in text.split("\n"))
    line = _line_of(end)
    line = line.lstrip("\t") if "<<-" in parts else line
    return text, bool(found[1]), certain and line == found[2]


def _line_of(node: Node) -> str:
    """The whole line that a node stands in: an indented delimiter ends nothing."""
    root = node
    while root.parent is not None:
        root = root.parent
    source, start = root.text or b"", root.start_byte
    first = source.rfind(b"\n", 0, node.start_byte - start) + 1
    last = source.find(b"\n", node.end_byte - start)
    return source[first : last if last >= 0 else len(source)].decode(errors="replace")
