"""Why a call is asked about whatever the rules say: it may do more than its words tell.

An owner who allows `git *` or `tar *` does not think of the options that run other programs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from .hazards import spoken
from .options import risky_options
from .scenes import Scene
from .shell.calls import Argument, Call
from .shell.wrappers import SHELLS
from .targets import behind, creations, git_verb, operands, targets

_ALWAYS = {
    "ssh": "it runs something on another machine",
    "mosh": "it runs something on another machine",
    "parallel": "it runs what it is fed",
    "alias": "it gives words another meaning",
    "enable": "it gives words another meaning",
    "shopt": "it gives words another meaning",
    "hash": "it gives words another meaning",
    "bind": "it gives words another meaning",
    "let": "it calculates",
    "read": "it sets variables",
    "mapfile": "it sets variables",
    "readarray": "it sets variables",
    "getopts": "it sets variables",
    "osascript": "it steers other programs",
    "printenv": "it shows variables, secrets included",
    "history": "it shows what was typed, secrets included",
    **dict.fromkeys(
        "strace ltrace gdb lldb unshare taskset numactl chrt fakeroot xvfb-run valgrind rlwrap entr"
        " perf bwrap firejail expect socat ncat dtach abduco tsp pueue proxychains cpio".split(),
        "it runs another program",
    ),
    **dict.fromkeys(
        "ex ed emacsclient".split(), "it runs what it is told in a language of its own"
    ),
    **dict.fromkeys("xdg-open open start gio".split(), "it opens something in another program"),
    **dict.fromkeys("mail mailx mutt sendmail msmtp".split(), "it sends a letter"),
    **dict.fromkeys("fc complete compgen".split(), "it gives words another meaning"),
    "ssh-copy-id": "it gives a key to another machine",
    "ssh-add": "it handles keys",
}
_CODE = {
    re.compile(r"(?:python|pypy)[\d.]*"): re.compile(r"-[a-zA-Z]*c.*"),
    re.compile(r"node|nodejs|bun"): re.compile(
        r"-[ep]+|--eval.*|--print.*|-r|--require.*|--import.*"
    ),
    re.compile(r"deno"): re.compile(r"eval"),
    re.compile(r"perl[\d.]*|ruby[\d.]*"): re.compile(r"-[a-zA-Z0-9]*[eEMr].*"),
    re.compile(r"php[\d.]*"): re.compile(r"-[rBRE].*"),
    re.compile(r"lua[\d.]*|rscript"): re.compile(r"-e.*"),
}
#: Options that send a program to another folder, whose files say what it runs.
_FOLDERS = {
    "make": ("-C", "--directory", "-f", "--file", "--makefile", "-I", "--include-dir"),
    "ninja": ("-C", "-f"),
    "cmake": ("-P", "-S", "-B", "--build", "--install", "-C"),
    "npm": ("--prefix", "-C"),
    "pnpm": ("-C", "--dir"),
    "yarn": ("--cwd",),
    "cargo": ("--manifest-path", "-C"),
    "go": ("-C",),
    "mvn": ("-f", "--file"),
    "gradle": ("-p", "--project-dir", "-b"),
    "pytest": ("-c", "--rootdir", "--confcutdir"),
    "pip": ("-r", "--requirement", "-c", "--constraint"),
    "just": ("-f", "--justfile", "-d"),
}
_SYMBOLIC = re.compile(r"-[a-qt-zA-Z]*s[a-qt-zA-Z]*|--symbolic")  # with `-r` it is worked out
_AWK = re.compile(r"system|getline|[|>]|@load|@include|-f\b")
_SED = re.compile(r"s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiI0-9]*|(?:\d+|\$)?(?:,(?:\d+|\$))?!?[pdq=]")
_ARITHMETIC = frozenset(
    "[ [[ test let declare typeset local export readonly unset printf read".split()
)
_LOOKS_AT_FOLDERS = frozenset("ls cd echo printf pwd test [ [[ du df stat realpath".split())
_ALL_OF_IT = ("rm", "mv", "shred", "rmdir", "chmod", "chown")


def floors(call: Call, scene: Scene) -> Iterator[str]:
    """Reasons to ask a person about that call."""
    name, rest = call.name, call.rest
    if any(not word.known for word in call.words):
        yield "a part of it is known only when it runs"
    if call.words[0].globs:
        yield "its program is looked up among files"
    if name in _ALWAYS:
        yield _ALWAYS[name]
    if name in SHELLS and (call.fed or not rest) and not call.carrier:
        yield "a shell runs what it is fed"
    if _is_code(name, rest) or (_interprets(name) and call.fed and not _has_file(rest)):
        yield "it runs code that is not looked into"
    yield from risky_options(call)
    if name in _ARITHMETIC and any("$(" in word or "`" in word for word in rest):
        yield "a shell may run a part of its words"
    if name in ("make", "gmake") and any("=" in word for word in rest):
        yield "it sets variables of the makefile"
    if name == "printf" and "-v" in rest[:1]:
        yield "it sets a variable"
    yield from _by_path(call, scene)


def _by_path(call: Call, scene: Scene) -> Iterator[str]:
    yield from _by_folder(call, scene)
    for made in creations(call):
        spots = scene.spots(made, call.places)
        if spots is None or any(
            not (scene.inside(spot) or scene.temporary(spot)) for spot in spots
        ):
            yield "it makes something outside of the worktree"
        elif any("/.git/" in f"{spot}/" for spot in spots):
            yield "it changes git's own files"
    for word in call.words[1:]:
        if scene.leads_out(word, call.places):
            yield "a link leads out of the worktree"
        if scene.leads_elsewhere(word):
            yield "where a path leads is known only when it runs"
        if call.name == "ln" and word.text[:1] != "-" and _links_out(word, call, scene):
            yield "it makes a link to something outside of the worktree"
        if call.name not in _LOOKS_AT_FOLDERS and word.text[:1] != "-":
            spots = scene.spots(word, call.places) or ()
            if any(scene.holds_home(spot) for spot in spots):
                yield "it is about a whole home folder, secrets included"
    for target in targets(call):
        yield from _by_target(target, call, scene)


def _by_folder(call: Call, scene: Scene) -> Iterator[str]:
    """Programs that go by the files of a folder, sent out of the worktree."""
    name, _ = spoken(call)
    folders = tuple(behind(call.words[1:], _FOLDERS.get(name, ())))
    if call.name == "git":
        folders, rest = git_verb(call.words[1:])
        verb = rest[0].text if rest else ""
        if not folders and verb not in ("clone", "init", "ls-remote", ""):
            folders = (Argument(text="."),)
        if verb == "push" and any(_is_address(word.text) for word in operands(rest[1:])[:1]):
            yield "it pushes to an address of its own"
    for folder in folders:
        spots = scene.spots(folder, call.places)
        if spots is None or any(not scene.inside(spot) for spot in spots):
            yield "it goes by files outside of the worktree, which say what it runs"
            return


def _is_address(text: str) -> bool:
    return "/" in text or ":" in text or text.startswith(".")


def _by_target(target: Argument, call: Call, scene: Scene) -> Iterator[str]:
    root = scene.worktree()
    spots = scene.spots(target, call.places)
    if spots is None:
        yield "what it would spoil is known only when it runs"
    if scene.is_home():
        yield "the worktree is a whole home folder"
    for spot in spots or ():
        if scene.inside(spot) and "/.git/" in f"{spot}/":
            yield "it changes git's own files"
        elif call.name in _ALL_OF_IT and spot in (root, f"{root}/*", f"{root}/.*"):
            yield "it is about the whole worktree"


def _links_out(word: Argument, call: Call, scene: Scene) -> bool:
    """Whether a link, or the file behind it, is outside of the worktree."""
    words = [word]
    names = operands(call.words[1:])[-1:]
    symbolic = any(_SYMBOLIC.fullmatch(each) for each in call.rest)
    if symbolic and names and word not in names and not word.text.startswith("/"):
        # Its text counts from the folder of the link, not from where it is made.
        folders = (posixpath.dirname(names[0].text), names[0].text)
        words = [Argument(text=posixpath.join(each, word.text)) for each in folders]
    found = [scene.spots(each, call.places) for each in words]
    return any(spots is None or any(not scene.inside(s) for s in spots) for spots in found)


def _interprets(name: str) -> bool:
    return any(program.fullmatch(name) for program in _CODE)


def _has_file(rest: tuple[str, ...]) -> bool:
    return any(not word.startswith("-") for word in rest) or "-m" in rest


def _is_code(name: str, rest: tuple[str, ...]) -> bool:
    for program, option in _CODE.items():
        if program.fullmatch(name):
            return any(option.fullmatch(word) for word in _own_options(rest))
    if name in ("awk", "gawk", "mawk", "nawk"):
        return any(_AWK.search(word) for word in rest)
    if name in ("sed", "gsed"):
        return not _plain_sed(rest)
    return False


def _own_options(rest: tuple[str, ...]) -> Iterator[str]:
    """The options of the interpreter; behind `-m x` or a file they are the program's."""
    valued = False
    for word in rest:
        if not word.startswith("-") and word != "eval" and not valued:
            return
        yield word
        if word == "-m":
            return
        valued = word in ("-X", "-W")


def _plain_sed(rest: tuple[str, ...]) -> bool:
    """Only substitutions and printing: `e` runs its text and `w` writes a file."""
    scripts = [rest[n + 1] for n, word in enumerate(rest[:-1]) if word in ("-e", "--expression")]
    if any(word.startswith(("-f", "--file", "--expression=")) for word in rest):
        return False
    scripts = scripts or [word for word in rest if not word.startswith("-")][:1]
    parts = [
        part.strip()
        for text in scripts
        for part in (text.split(";") if "s" not in text else [text])
    ]
    return all(_SED.fullmatch(part) for part in parts)
