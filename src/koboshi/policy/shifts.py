"""What a command line changes under its own feet.

Paths are resolved before anything runs. `ln -s / x; rm -rf x/etc` looks like `x/etc` in the
worktree then: a link that is made, a tree that is unpacked or checked out makes what later paths
lead to unknowable.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .archives import archive
from .scenes import Scene, below, pieces
from .shell.calls import Argument, Call, Script, Touch
from .targets import behind, git_verb, operands, targets

WHY = "a path leads through what the same command line has made or unpacked"
_COPIES_LINKS = re.compile(r"-[a-zA-Z]*[arRdP][a-zA-Z]*|--archive|--recursive|--no-dereference")
_GIT_LAYS_OUT = frozenset(
    "checkout switch pull merge rebase reset restore cherry-pick revert am apply clone read-tree"
    " checkout-index worktree submodule stash".split()
)
_NEW_BRANCH = frozenset({"-b", "-B", "-c", "-C", "--create", "--orphan"})
#: They tell of a name, not of what is behind it.
_TELLS = frozenset("ls echo printf stat file readlink realpath test [ [[ basename dirname".split())
_SHOWS = frozenset(
    "cat head tail less more bat nl od xxd hexdump base64 strings sort cut jq yq diff cmp cp"
    " grep egrep fgrep awk sed tac rev curl".split()
)
_REMOVES = frozenset({"rm", "rmdir", "unlink"})
_RECURSES = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Names that mean something else from that step on; `spots` is None where any may."""

    call: Call
    spots: tuple[str, ...] | None
    tree: bool  #: everything below was laid out: only what is read or written there counts
    itself: bool = True  #: also the name itself, not only what is below


def through_shifts(script: Script, scene: Scene) -> Iterator[Call | Touch]:
    """The parts of a command line that go through what it changes itself."""
    shifts = [each for call in script.calls for each in _shifts(call, scene)]
    if not shifts:
        return
    parts: list[Call | Touch] = [*script.calls, *script.touches]
    for part in parts:
        for shift in shifts:
            later = not script.ordered or part.step > shift.call.step
            if part is not shift.call and later and _goes_through(part, shift, scene):
                yield part
                break


def _shifts(call: Call, scene: Scene) -> Iterator[Shift]:
    name, words = call.name, call.words[1:]
    if name in ("ln", "link", "mount"):
        yield from _named(call, scene, itself=True)
    elif name == "mv" or (name == "cp" and any(_COPIES_LINKS.fullmatch(w) for w in call.rest)):
        moves_link = any(_is_link(word, call, scene) for word in operands(words)[:-1])
        yield from _named(call, scene, itself=moves_link)
    elif name in ("tar", "gtar", "bsdtar") and archive(words).extracts:
        yield _laid_out(call, archive(words).given("C"), scene)
    elif name == "unzip":
        yield _laid_out(call, tuple(behind(words, ("-d",))), scene)
    elif name in ("patch", "cpio", "7z", "7za", "unrar"):
        yield _laid_out(call, (), scene)
    elif name == "rsync":
        yield _laid_out(call, operands(words)[-1:], scene)
    elif name == "git" and _lays_out(call):
        yield _laid_out(call, git_verb(words)[0], scene)


def _named(call: Call, scene: Scene, *, itself: bool) -> Iterator[Shift]:
    """The names that a link, or what is moved, gets."""
    words = call.words[1:]
    folders = tuple(behind(words, ("-t", "--target-directory")))
    rest = operands(words)
    sources = tuple(word for word in rest if word not in folders)
    if not folders and len(sources) > 1:
        folders, sources = sources[-1:], sources[:-1]
    names = [posixpath.basename(word.text.rstrip("/")) for word in sources]
    landed = [Argument(text=posixpath.join(f.text, n)) for f in folders for n in names]
    if not folders:
        landed = [Argument(text=name) for name in names]
    elif len(sources) == 1 and not folders[0].text.endswith(("/", ".")):
        landed += folders
    for word in landed:
        yield Shift(call=call, spots=scene.spots(word, call.places), tree=False, itself=itself)


def _is_link(word: Argument, call: Call, scene: Scene) -> bool:
    """Whether a word is read differently from what is on the disk."""
    bases = ("",) if word.text.startswith("/") else call.places
    if bases is None or not word.known:
        return True
    return any(scene.is_link(posixpath.join(base, word.text)) for base in bases)


def _laid_out(call: Call, folders: tuple[Argument, ...], scene: Scene) -> Shift:
    found: list[str] = []
    for folder in folders or (Argument(text="."),):
        spots = scene.spots(folder, call.places)
        if spots is None:
            return Shift(call=call, spots=None, tree=True)
        found += spots
    return Shift(call=call, spots=tuple(found), tree=True)


def _lays_out(call: Call) -> bool:
    """Whether git puts files there: not for a new branch at the same commit."""
    _, rest = git_verb(call.words[1:])
    texts = [word.text for word in rest]
    verb = texts[0] if texts else ""
    if verb == "stash":
        return texts[1:2] in (["pop"], ["apply"], ["branch"])
    if verb in ("worktree", "submodule"):
        return texts[1:2] in (["add"], ["update"])
    if verb == "reset":
        return any(text in ("--hard", "--merge", "--keep") for text in texts)
    if verb in ("checkout", "switch") and any(text in _NEW_BRANCH for text in texts):
        return len(operands(rest[1:])) > 1
    return verb in _GIT_LAYS_OUT


def _goes_through(part: Call | Touch, shift: Shift, scene: Scene) -> bool:
    if isinstance(part, Touch):
        return _is_there(part.target, part, shift, scene)
    if part.carrier or part.name in _TELLS:
        return False
    if not shift.tree:
        return _enters(part, shift) or any(
            _is_there(Argument(text=piece, globs=word.globs), part, shift, scene)
            for word in (part.words if "/" in part.words[0].text else part.words[1:])
            for piece in pieces(word.text)
        )
    return any(_is_there(word, part, shift, scene) for word in _opened(part))


def _enters(call: Call, shift: Shift) -> bool:
    """Whether it may run in a folder that is such a name."""
    if call.name == "cd" or shift.spots is None:
        return False
    places = call.places or ()
    return any(below(place, spot) for place in places for spot in shift.spots)


def _opened(call: Call) -> Iterator[Argument]:
    """What of a laid out tree a call reads or writes; git itself follows no links."""
    alone = call.places is not None and len(call.places) == 1
    if call.name == "git" and alone:
        return
    for word in targets(call):
        plain = word.text.removeprefix("./")
        # `rm x` removes a link, not what is behind it; `rm x/y` goes through.
        if not (call.name in _REMOVES and alone and "/" not in plain):
            yield word
    searches = "grep" in call.name and any(_RECURSES.fullmatch(word) for word in call.rest)
    if call.name in _SHOWS and not searches:
        # The first word of these is no file.
        first = 1 if "grep" in call.name or call.name in ("awk", "sed", "jq", "yq") else 0
        files = operands(call.words[1:])[first:]
        yield from (word for word in files if "://" not in word.text)


def _is_there(word: Argument, part: Call | Touch, shift: Shift, scene: Scene) -> bool:
    if not word.text or word.text == "-":
        return False
    spots = scene.spots(word, part.places)
    if spots is None or shift.spots is None:
        return True
    found = (
        below(spot, root) and (spot != root or (shift.itself and not shift.tree))
        for spot in spots
        for root in shift.spots
    )
    return any(found)
