"""A command line → every program it would start, every file it redirects, every doubt about it.

Rule 1: a node that is not known here is a doubt, never passed over.
Rule 2: `places` only grows: a `cd` may fail, or stand in a branch that is not taken.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from . import quoting, trees
from .calls import UNKNOWN, Argument, Call, Places, Script, Touch
from .words import UNPARSED, VALUES, WordReader
from .wrappers import SHELLS, unwrap

if TYPE_CHECKING:
    from tree_sitter import Node

#: Levels of nesting, and of command lines within command lines.
MOST_NESTED, MOST_DEEP = 60, 6
MOST_PLACES = 12
MOST_CALLS = 2000

_STRUCTURE = frozenset(
    {
        "program", "list", "subshell", "if_statement", "elif_clause", "else_clause", "do_group",
        "negated_command", "case_statement", "case_item", "variable_assignments",
    }
)  # fmt: skip
_LOOPS = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
_WRITES, _READS = frozenset({">", ">>", "&>", "&>>", ">|", ">&"}), frozenset({"<", "<&"})
_CLOSES = frozenset({">&-", "<&-"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
#: As the name of a program each of these means that the tree was read wrongly.
_RESERVED = frozenset(
    "{ } ! if then elif else fi do done case esac while until for select function in ]]".split()
)
_HEREDOC = frozenset({"heredoc_start", "heredoc_end", "file_descriptor"})
_MOVES = frozenset({"cd", "chdir", "pushd", "popd"})


def read_script(text: str, *, cwd: str, home: str) -> Script:
    """What that text would do, run in `cwd`; total."""
    reader = _Reader(home, frozenset({cwd}) if cwd else None)
    reader.read(text, deep=0)
    return reader.script()


class _Reader(WordReader):
    """Collects while it walks over the tree."""

    def __init__(self, home: str, places: Places) -> None:
        super().__init__(home, places)
        self._calls: list[Call] = []
        self._touches: list[Touch] = []
        self._assigned: list[str] = []
        self._nested = self._deep = 0
        self._looped = self._moved = self._at_once = False

    def script(self) -> Script:
        """What was found."""
        if self._looped and self._moved:
            # The second round starts where the first one ended.
            self._doubt("it changes its folder, and repeats itself")
        return Script(
            calls=tuple(self._calls),
            touches=tuple(self._touches),
            assigned=tuple(self._assigned),
            doubts=tuple(self._doubts),
            ordered=not (self._looped or self._at_once),
        )

    def read(self, text: str, *, deep: int) -> None:
        """One text; `deep` counts command lines within command lines."""
        why = trees.unreadable(text)
        if why or deep > MOST_DEEP:
            self._doubt(why or "command lines within command lines, too many of them")
            return
        before, self._deep = self._deep, deep
        self._at_once = self._at_once or "<(" in text or ">(" in text or "coproc" in text
        root = trees.parser().parse(text.encode()).root_node
        self._visit(root)
        if root.has_error:
            self._doubt(UNPARSED)
        if UNPARSED in self._doubts:
            self._salvage(text)
        self._deep = before

    def _salvage(self, text: str) -> None:
        """What is forbidden is not to become a question by a bracket too many: piece by piece."""
        for piece in trees.fragments(text):
            root = trees.parser().parse(piece.encode()).root_node
            if not root.has_error:
                self._visit(root)

    # -- statements -----------------------------------------------------------------------------

    def _visit(self, node: Node, *, fed: bool = False) -> None:
        self._nested += 1
        if self._nested > MOST_NESTED or len(self._calls) > MOST_CALLS:
            self._doubt("it is nested too deeply, or too long")
        else:
            if trees.leaves_out(node):
                self._doubt(UNPARSED)
            self._statement(node, fed=fed)
        self._nested -= 1

    def _statement(self, node: Node, *, fed: bool) -> None:
        kind = node.type
        if kind == "command":
            self._command(node, [], fed=fed)
        elif kind == "pipeline":
            self._pipeline(node, fed=fed)
        elif kind == "redirected_statement":
            self._redirected(node, fed=fed)
        elif kind == "variable_assignment":
            self._assignment(node)
        elif kind in ("declaration_command", "unset_command"):
            self._declaration(node)
        elif kind == "test_command":
            self._test(node)
        elif kind in VALUES:  # what a `for` or a `case` looks at
            self._marks(node)
        elif kind in _STRUCTURE:
            self._inside(node, fed=fed)
        else:
            self._unusual(node, fed=fed)

    def _unusual(self, node: Node, *, fed: bool) -> None:
        kind = node.type
        if kind in _LOOPS:
            self._looped = True
            self._assigned += [
                trees.text_of(each) for each in node.children if each.type == "variable_name"
            ]
        elif kind == "compound_statement":
            if node.children and node.children[0].type == "((":
                self._doubt("it calculates")
        elif kind == "function_definition":
            self._looped = True
            self._doubt("it defines a function")
        else:
            self._doubt(UNPARSED if kind == "ERROR" else f"it holds a {kind}")
        self._inside(node, fed=fed)

    def _inside(self, node: Node, *, fed: bool) -> None:
        for n, child in enumerate(node.children):
            if child.type == "comment":
                start = child.start_byte - node.start_byte
                before = (node.text or b"")[max(0, start - 1) : start].decode(errors="replace")
                if trees.misplaced_comment(child, before):
                    self._doubt(UNPARSED)
            elif child.is_named or child.is_error:
                name = node.type in _LOOPS and child.type == "variable_name"
                name = name or (node.type == "function_definition" and n < 2)  # noqa: PLR2004
                if not name:
                    self._visit(child, fed=fed)
            elif child.type == "&":
                self._at_once = True

    def _pipeline(self, node: Node, *, fed: bool) -> None:
        self._at_once = True
        for child in node.children:
            if child.is_named:
                self._visit(child, fed=fed)
            elif child.type in ("|", "|&"):
                fed = True
            else:
                self._doubt(UNPARSED)

    def _assignment(self, node: Node) -> None:
        name, *rest = [child for child in node.children if child.type not in ("=", "+=")]
        self._assigned.append(trees.text_of(name))
        if name.type != "variable_name":
            self._doubt("it sets a part of a variable")
        for value in rest:
            if value.type == "array":
                self._doubt("it sets a list")
                self._inside(value, fed=False)
            else:
                self._marks(value)

    def _declaration(self, node: Node) -> None:
        first, *rest = node.children
        words = [Argument(text=trees.text_of(first))]
        for child in rest:
            if child.type == "variable_assignment":
                self._assignment(child)
                words.append(Argument(text=trees.text_of(child)))
            else:
                words += quoting.arguments(self._marks(child), self._home)
        names = [word.text.partition("=")[0] for word in words[1:]]
        self._assigned += [name for name in names if not name.startswith("-")]
        self._emit(tuple(words), fed=False)

    def _test(self, node: Node) -> None:
        text = trees.text_of(node)
        for found in trees.substitutions(node):
            self._substitution(found)
        words = [Argument(text=node.children[0].type), Argument(text=text)]
        if trees.is_obscure_test(text):
            words[1] = Argument(text=UNKNOWN)
            self._doubt(UNPARSED)
        self._emit(tuple(words), fed=False)

    # -- commands -------------------------------------------------------------------------------

    def _command(
        self, node: Node, extra: list[Argument], *, fed: bool, told: str | None = None
    ) -> None:
        words: list[Argument] = []
        last: Node | None = None
        for child in node.children:
            if child.type in _REDIRECTS:
                more, reads, text = self._redirect(child)
                words += more
                fed, told = fed or reads, told if text is None else text
                last = None
                continue
            if last is not None and not trees.split_apart(last, child, node):
                self._doubt(UNPARSED)
            last = child
            if child.type == "variable_assignment":
                self._assignment(child)
            elif child.type in ("subshell", "ERROR"):
                self._doubt(UNPARSED)
                self._visit(child, fed=fed)
            else:
                value = child.children[0] if child.type == "command_name" else child
                fed = fed or any(
                    each.type == "process_substitution" for each in trees.substitutions(value)
                )
                words += quoting.arguments(self._marks(value), self._home)
        self._emit((*words, *extra), fed=fed)
        if told is not None and words and posixpath.basename(words[0].text) in SHELLS:
            self.read(told, deep=self._deep + 1)

    def _step(self) -> int:
        return len(self._calls) + len(self._touches)

    def _emit(
        self, words: tuple[Argument, ...], *, fed: bool, deep: int = 0, lent: bool = False
    ) -> None:
        if not words:
            return
        call = Call(words=words, places=self._places, fed=fed, carrier=lent, step=self._step())
        if words[0].text in _RESERVED:
            self._doubt(UNPARSED)
        inside = unwrap(call) if deep <= MOST_DEEP else None
        if deep > MOST_DEEP:
            self._doubt("commands within commands, too many of them")
        if inside is None:
            self._calls.append(call)
            self._move(call)
            return
        self._calls.append(replace(call, carrier=lent or not inside.alone))
        self._assigned += inside.assigned
        for why in inside.doubts:
            self._doubt(why)
        for each in inside.calls:
            self._emit(each, fed=fed, deep=deep + 1, lent=inside.lent)
        for text in inside.texts:
            self.read(text, deep=self._deep + 1)

    def _move(self, call: Call) -> None:
        if call.name not in _MOVES:
            return
        self._moved = True
        operands = [word for word in call.words[1:] if word.text not in ("-L", "-P", "--")]
        target = operands[0] if operands else Argument(text=self._home or UNKNOWN)
        plain = target.known and not target.globs and target.text[:1] not in ("-", "+")
        if self._places is None or not plain or call.name == "popd" or len(operands) > 1:
            self._places = None
            return
        joined = {posixpath.join(place, target.text) for place in self._places}
        # A shell goes up by name, the kernel by folder: with a link in it these are two.
        places = self._places | joined | {posixpath.normpath(each) for each in joined}
        self._places = places if len(places) <= MOST_PLACES else None

    # -- redirects ------------------------------------------------------------------------------

    def _redirected(self, node: Node, *, fed: bool) -> None:
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        bodies = [child for child in node.children if child.type not in _REDIRECTS]
        while [body.type for body in bodies] == ["negated_command"]:
            bodies = bodies[0].children[1:]  # behind the `!`
        extra: list[Argument] = []
        told: str | None = None
        first = len(self._touches)
        for each in redirects:
            more, reads, text = self._redirect(each)
            extra += more
            fed, told = fed or reads, told if text is None else text
        last = len(self._touches)
        self._bodies(bodies, redirects, extra, fed=fed, told=told)
        # Of `a && b > x` the tree says that it is all redirected; it is after `a`.
        for at in range(first, last):
            self._touches[at] = replace(self._touches[at], step=self._step())

    def _bodies(
        self,
        bodies: list[Node],
        redirects: list[Node],
        extra: list[Argument],
        *,
        fed: bool,
        told: str | None,
    ) -> None:
        if sum(each.type == "heredoc_redirect" for each in redirects) > 1:
            self._doubt("it holds several here-documents")
        if [body.type for body in bodies] == ["command"]:
            self._command(bodies[0], extra, fed=fed, told=told)
            return
        if extra or len(bodies) > 1:
            self._doubt(UNPARSED)
        for body in bodies:
            self._visit(body, fed=fed)

    def _redirect(self, node: Node) -> tuple[list[Argument], bool, str | None]:
        """Words behind it that belong to the command; whether it feeds it; the text that does."""
        if node.type == "heredoc_redirect":
            return self._here_document(node)
        if node.type == "herestring_redirect":
            marks = [
                mark for child in node.children if child.is_named for mark in self._marks(child)
            ]
            return [], True, "".join(char for char, _ in marks)
        operator = ""
        targets: list[Node] = []
        for child in node.children:
            if child.type in _WRITES | _READS | _CLOSES:
                operator = child.type
            elif child.type != "file_descriptor":
                if targets and not trees.split_apart(targets[-1], child, node):
                    self._doubt(UNPARSED)
                targets.append(child)
        words = [quoting.arguments(self._marks(each), self._home) for each in targets]
        if not operator or (not words and operator not in _CLOSES):
            self._doubt(UNPARSED)
        elif words and operator not in _CLOSES:
            for target in words.pop(0):
                self._touch(operator, target)
        return [each for some in words for each in some], operator in _READS, None

    def _touch(self, operator: str, target: Argument) -> None:
        if operator in (">&", "<&") and (target.text.isdigit() or target.text == "-"):
            return
        writes = operator in _WRITES
        touch = Touch(target=target, places=self._places, writes=writes, step=self._step())
        self._touches.append(touch)

    def _here_document(self, node: Node) -> tuple[list[Argument], bool, str | None]:
        text, literal, certain = trees.here_document(node)
        if not certain:
            self._doubt("its here-document has no certain end")
        extra: list[Argument] = []
        for child in node.children:
            if child.type == "file_redirect":
                extra += self._redirect(child)[0]
            elif child.type == "heredoc_body":
                self._body(child, literal=literal)
            elif child.type in VALUES:
                extra += quoting.arguments(self._marks(child), self._home)
            elif child.is_named and child.type not in _HEREDOC:
                self._visit(child, fed=True)
        return extra, True, text if literal else None

    def _body(self, body: Node, *, literal: bool) -> None:
        for each in trees.substitutions(body):
            self._substitution(each)
        if not literal and trees.is_live(trees.around(body)):
            self._doubt("its here-document cannot be read")
