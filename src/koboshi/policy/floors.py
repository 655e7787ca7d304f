"""Why a call is asked about whatever the rules say: it may do more than its words tell.

An owner who allows `git *` or `tar *` does not think of the options that run other programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .scenes import Scene
from .shell.calls import Call
from .shell.wrappers import SHELLS
from .targets import git_verb, targets

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
    "osascript": "it steers other programs",
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
#: Options that run a program or write a file; a long one may be shortened.
_RUNS = {
    "git": ("--config-env", "--exec-path", "--exec", "--upload-pack", "--receive-pack",
            "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "--output", "--extcmd",
            "--template", "--separate-git-dir"),
    "tar": ("--checkpoint-action", "--to-command", "-I", "--use-compress-program", "-F",
            "--info-script", "--new-volume-script", "--rsh-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o", "-F"),
    "sftp": ("-S", "-o", "-F", "-b"),
    "make": ("--eval", "-E"),
    "sort": ("--compress-program",),
    "zip": ("-TT", "--unzip-command"),
    "man": ("-P", "--pager", "-H"),
    "rg": ("--pre", "--hostname-bin"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "curl": ("-K", "--config", "-T", "--upload-file"),
    "wget": ("--use-askpass", "--post-file", "--body-file", "-e", "--execute"),
    "npm": ("--script-shell", "--prefix", "-C", "--node-options", "--userconfig", "--globalconfig"),
    "pip": ("--target", "-t", "--prefix", "--root"),
    "less": ("-k", "-o", "-O"),
    "tcpdump": ("-z", "-w"),
    "ctags": ("--options",),
}  # fmt: skip
_GIT_RUNS = (
    ["bisect", "run"], ["submodule", "foreach"], ["filter-branch"], ["config"], ["difftool"],
    ["mergetool"], ["daemon"], ["instaweb"], ["send-email"], ["credential"],
)  # fmt: skip
_AWK = re.compile(r"system|getline|[|>]|@load|@include|-f\b")
_SED = re.compile(r"s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiI0-9]*|(?:\d+|\$)?(?:,(?:\d+|\$))?!?[pdq=]")
_ARITHMETIC = frozenset(
    "[ [[ test let declare typeset local export readonly unset printf read".split()
)
_LOOKS_AT_FOLDERS = frozenset("ls cd echo printf pwd test [ [[ du df stat realpath".split())
_SHORTEST = 5  # `--exe`: shorter ones are ambiguous mostly
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
    if any(_runs(name, word) for word in rest) or _git_runs(call):
        yield "one of its options can run or write something else"
    if name in _ARITHMETIC and any("$(" in word or "`" in word for word in rest):
        yield "a shell may run a part of its words"
    if name in ("make", "gmake") and any("=" in word for word in rest):
        yield "it sets variables of the makefile"
    if name == "printf" and "-v" in rest[:1]:
        yield "it sets a variable"
    yield from _by_path(call, scene)


def _by_path(call: Call, scene: Scene) -> Iterator[str]:
    root = scene.worktree()
    for target in targets(call):
        spots = scene.spots(target, call.places)
        if spots is None:
            yield "what it would spoil is known only when it runs"
        for spot in spots or ():
            if scene.inside(spot) and "/.git/" in f"{spot}/":
                yield "it changes git's own files"
            elif call.name in _ALL_OF_IT and spot in (root, f"{root}/*", f"{root}/.*"):
                yield "it is about the whole worktree"
    if call.name in _LOOKS_AT_FOLDERS:
        return
    for word in call.words[1:]:
        for spot in scene.spots(word, call.places) or ():
            if scene.holds_home(spot) and word.text[:1] != "-":
                yield "it is about a whole home folder, secrets included"


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
    for word in rest:
        if not word.startswith("-") and word != "eval":
            return
        yield word
        if word == "-m":
            return


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


def _runs(name: str, word: str) -> bool:
    options = _RUNS.get("pip" if name.startswith("pip") else name, ())
    given = word.partition("=")[0]
    for option in options:
        if given == option:
            return True
        if option.startswith("--"):
            if len(given) >= _SHORTEST and option.startswith(given) and given.startswith("--"):
                return True
        elif len(option) == 2 and word[:1] == "-" != word[1:2] and option[1] in word[1:2]:  # noqa: PLR2004
            return True
    return False


def _git_runs(call: Call) -> bool:
    if call.name != "git":
        return False
    _, rest = git_verb(call.words[1:])
    texts = [word.text for word in rest]
    before = call.rest[: len(call.rest) - len(rest)]
    if any(word.startswith("-c") for word in before):
        return True
    if texts[:1] == ["rebase"] and any(word.startswith("-x") for word in texts):
        return True
    return any(texts[: len(each)] == each for each in _GIT_RUNS) or any(
        text.startswith("ext::") for text in texts
    )
