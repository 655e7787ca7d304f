"""One word in the tree of a command line → its characters, and what is substituted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import quoting, trees
from .calls import UNKNOWN, Places

if TYPE_CHECKING:
    from tree_sitter import Node

    from .quoting import Mark

_LITERALS = frozenset({"word", "number", "extglob_pattern", "regex", "special_variable_name"})
VALUES = _LITERALS | {
    "raw_string", "ansi_c_string", "string", "concatenation", "simple_expansion", "expansion",
    "command_substitution", "process_substitution", "arithmetic_expansion", "brace_expression",
    "variable_name", "translated_string",
}  # fmt: skip


class WordReader:
    """Reads words; whoever walks over the statements says what is inside a substitution."""

    def __init__(self, home: str, places: Places) -> None:
        self._home, self._places = home, places
        self._doubts: dict[str, None] = {}

    def _doubt(self, why: str) -> None:
        self._doubts.setdefault(why)

    def _inside(self, node: Node, *, fed: bool) -> None:
        raise NotImplementedError

    def _marks(self, node: Node) -> list[Mark]:
        """The characters of a word."""
        kind, text = node.type, trees.text_of(node)
        if kind in _LITERALS or (kind == "variable_name"):
            marks = quoting.bare(text)
            if trees.strays(marks):
                self._doubt("it cannot be parsed")
            return marks
        if kind == "raw_string" and len(text) > 1 and text[0] == text[-1] == "'":
            return quoting.quoted(text[1:-1])
        if kind == "ansi_c_string" and text[:2] == "$'" and text[-1] == "'":
            return quoting.ansi(text[2:-1])
        if kind == "string":
            return self._string(node)
        if kind in ("concatenation", "brace_expression"):
            return self._concatenation(node)
        if kind in ("simple_expansion", "expansion"):
            return self._variable(node)
        if kind in ("command_substitution", "process_substitution"):
            return self._substitution(node)
        for found in trees.substitutions(node):
            self._substitution(found)
        if kind != "arithmetic_expansion":
            self._doubt("it cannot be parsed" if kind == "ERROR" else f"it holds a {kind}")
        return [(UNKNOWN, False)]

    def _concatenation(self, node: Node) -> list[Mark]:
        marks: list[Mark] = []
        for n, child in enumerate(node.children):
            if n and trees.between(node.children[n - 1], child, node):
                self._doubt("it cannot be parsed")
            plain = not child.is_named and child.type in ("{", "}", "..")
            marks += quoting.bare(child.type) if plain else self._marks(child)
        return marks

    def _string(self, node: Node) -> list[Mark]:
        source, marks, at = node.text or b"", list[quoting.Mark](), 1
        if len(source) < 2 or source[:1] != b'"' or source[-1:] != b'"':  # noqa: PLR2004
            self._doubt("it cannot be parsed")
        for child in node.children:
            if child.type in ('"', "string_content", "$"):
                continue
            marks += self._plain(source[at : child.start_byte - node.start_byte])
            marks += [(char, True) for char, _ in self._marks(child)]
            at = child.end_byte - node.start_byte
        return marks + self._plain(source[at:-1])

    def _plain(self, source: bytes) -> list[Mark]:
        text = source.decode(errors="replace")
        if trees.is_live(text):
            self._doubt("it cannot be parsed")
        return quoting.in_double_quotes(text)

    def _variable(self, node: Node) -> list[Mark]:
        for found in trees.substitutions(node):
            self._substitution(found)
        text = trees.text_of(node)
        name = text[2:-1] if text.startswith("${") else text[1:]
        if name in ("?", "#"):
            return quoting.quoted("0")
        if name == "HOME" and self._home:
            return quoting.quoted(self._home)
        if name == "PWD" and self._places is not None and len(self._places) == 1:
            return quoting.quoted(next(iter(self._places)))
        return [(UNKNOWN, False)]

    def _substitution(self, node: Node) -> list[Mark]:
        if node.type == "command_substitution" and len(node.children) == 3:  # noqa: PLR2004
            text = _only_told(node.children[1])
            if text is not None:
                return quoting.quoted(text.rstrip("\n"))
        self._inside(node, fed=False)
        return [(UNKNOWN, False)]


def _only_told(node: Node) -> str | None:
    """The text of `cat <<'EOF' …` and nothing else: how commit messages are written."""
    if node.type != "redirected_statement" or len(node.children) != 2:  # noqa: PLR2004
        return None
    body, redirect = node.children
    if redirect.type != "heredoc_redirect" or trees.text_of(body) != "cat":
        return None
    kinds = {child.type for child in redirect.children}
    text, literal, certain = trees.here_document(redirect)
    plain = kinds <= {"<<", "heredoc_start", "heredoc_body", "heredoc_end"}
    return text if plain and literal and certain else None
