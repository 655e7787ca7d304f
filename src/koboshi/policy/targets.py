"""Which of its words a program removes, overwrites or changes.

Rule 1: too many is a question too much, too few is a hole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .archives import archive
from .shell.calls import Argument, Call

Words = tuple[Argument, ...]

#: Everything that is no option.
_ALL = frozenset(
    "rm rmdir shred unlink truncate mv tee chmod chown chgrp chflags chattr srm wipe ed ex vi vim"
    " nvim nano emacs pico gzip gunzip bzip2 xz trash rename setfacl xattr patch strip".split()
)
#: The last word, or what stands behind `-t`.
_LAST = frozenset("cp install ln rsync scp ditto gcp ginstall ffmpeg convert magick".split())
#: What stands behind an option.
_OPTION = {
    "curl": ("-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar",
             "--trace", "--trace-ascii", "--stderr", "--etag-save", "--hsts", "--libcurl"),
    "wget": ("-O", "--output-document", "-P", "--directory-prefix", "-o", "-a", "--output-file"),
    "sort": ("-o", "--output"),
    "find": ("-fprint", "-fprint0", "-fprintf", "-fls"),
    "tree": ("-o",),
    "git": ("--output", "-o"),
    "zip": ("-O", "--out", "-b"),
    "shuf": ("-o", "--output"),
    "openssl": ("-out", "-keyout", "-writerand"),
    "gpg": ("-o", "--output"),
    "ssh-keygen": ("-f",),
    "pandoc": ("-o", "--output", "--extract-media"),
    "go": ("-o", "-coverprofile", "-cpuprofile", "-memprofile"),
    "patch": ("-d", "--directory", "-o", "--output"),
    "csplit": ("-f", "--prefix"),
    "time": ("-o", "--output"),
    "pip": ("-d", "--dest", "-t", "--target"),
    "jq": ("-o",),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "rustc", "as"), ("-o",)),
    **dict.fromkeys(("docker", "podman"), ("--cidfile", "--iidfile", "-o")),
}  # fmt: skip
_LISTS = re.compile(r"-[a-zA-Z]*[lptvzZ][a-zA-Z]*")
_INPLACE = re.compile(r"-[a-zA-Z]*i.*|--in-place.*")
_GIT_SPOILS = frozenset("clean reset checkout restore rm stash worktree gc prune switch".split())
_GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"})


def targets(call: Call) -> Iterator[Argument]:
    """The words of a call whose files it may spoil."""
    name, words = call.name, call.words[1:]
    if name in _ALL:
        yield from operands(words)
    if name in _LAST:
        yield from operands(words)[-1:]
        yield from behind(words, ("-t", "--target-directory"))
    if name in _OPTION:
        yield from behind(words, _OPTION[name])
    if special := _SPECIAL.get(name):
        yield from special(words)


def creations(call: Call) -> Iterator[Argument]:
    """The words of a call that it makes new, where nothing is lost."""
    words = call.words[1:]
    if call.name in ("mkdir", "touch", "mkfifo", "mknod"):
        yield from operands(words)
    if call.name == "git":
        _, rest = git_verb(words)
        verb = [word.text for word in rest[:2]]
        if verb[:1] == ["init"]:
            yield from operands(rest[1:])
        if verb == ["worktree", "add"]:
            yield from operands(rest[2:])[:1]


def operands(words: Words) -> Words:
    """The words that are no options."""
    found, ended = [], False
    for word in words:
        if word.text == "--" and not ended:
            ended = True
        elif ended or not word.text.startswith("-") or word.text == "-":
            found.append(word)
    return tuple(found)


def behind(words: Words, options: tuple[str, ...]) -> Iterator[Argument]:
    """The values of these options, however they are written."""
    for at, word in enumerate(words):
        text = word.text
        for option in options:
            if text == option and at + 1 < len(words):
                yield words[at + 1]
            elif option.startswith("--") and text.startswith(f"{option}="):
                yield Argument(text=text.partition("=")[2], globs=word.globs)
            elif _clustered(text, option):
                value = text.partition(option[1])[2]
                if value:
                    yield Argument(text=value, globs=word.globs)
                elif at + 1 < len(words):
                    yield words[at + 1]


def _clustered(text: str, option: str) -> bool:
    """`-sSLo x`, `-ox`: a short option among others."""
    short = len(option) == 2 and option[1] != "-"  # noqa: PLR2004
    return short and text != option and text[:1] == "-" != text[1:2] and option[1] in text


def _dd(words: Words) -> Iterator[Argument]:
    for word in words:
        if word.text.startswith("of="):
            yield Argument(text=word.text[3:])


def _in_place(words: Words) -> Iterator[Argument]:
    """The files of `sed -i`, without the program that is run over them."""
    if not any(_INPLACE.fullmatch(word.text) for word in words):
        return
    given = tuple(behind(words, ("-e", "-f", "--expression", "--file", "-E")))
    texts = {word.text for word in given}
    files = [word for word in operands(words) if word.text not in texts]
    yield from files if given else files[1:]


def _tar(words: Words) -> Iterator[Argument]:
    yield from archive(words).spoils


def _first(words: Words) -> Iterator[Argument]:
    yield from (word for word in operands(words)[:1] if word.text != "-")


def _second(words: Words) -> Iterator[Argument]:
    """`uniq in out`, `split in prefix`; before them may stand the value of an option."""
    yield from operands(words)[1:]


def _unzip(words: Words) -> Iterator[Argument]:
    if not any(_LISTS.fullmatch(word.text) for word in words):
        yield from tuple(behind(words, ("-d",))) or (Argument(text="."),)


def _into(words: Words) -> Iterator[Argument]:
    """`7z x a -oDIR`; without it in the folder."""
    found = [Argument(text=word.text[2:]) for word in words if word.text.startswith("-o")]
    yield from found or (Argument(text="."),)


def _container(words: Words) -> Iterator[Argument]:
    """`docker cp c:/x HERE`."""
    files = operands(words)
    if any(word.text == "cp" for word in files[:2]) and ":" not in files[-1].text:
        yield files[-1]


def _find(words: Words) -> Iterator[Argument]:
    if any(word.text == "-delete" for word in words):
        roots = []
        for word in words:
            if word.text[:1] in ("-", "(", "!") and word.text not in ("-H", "-L", "-P"):
                break
            roots.append(word)
        yield from roots or (Argument(text="."),)


def _git(words: Words) -> Iterator[Argument]:
    """The folder in which git would spoil something, and what is named behind the verb."""
    folders, rest = git_verb(words)
    verb, *more = [word.text for word in rest] or [""]
    harmless = verb in ("worktree", "stash") and more[:1] in (["add"], ["list"], ["show"])
    if verb in _GIT_SPOILS and not harmless:
        yield from folders or (Argument(text="."),)
        if verb in ("clean", "worktree", "rm", "checkout", "restore"):
            yield from operands(rest[1:])
    if verb == "clone" and len(operands(rest[1:])) > 1:
        yield operands(rest[1:])[-1]
    if verb == "bundle" and more[:1] == ["create"]:
        yield from operands(rest[2:])[:1]


def git_verb(words: Words) -> tuple[Words, Words]:
    """The folders that git is sent to, and its words from the verb on."""
    at, folders = 0, []
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        name, equals, value = text.partition("=")
        if name in _GIT_VALUED and not equals:
            value = words[at + 1].text if at + 1 < len(words) else ""
            at += 1
        if name in ("-C", "--work-tree", "--git-dir"):
            folders.append(Argument(text=value))
        at += 1
    return tuple(folders), words[at:]


_SPECIAL: dict[str, Callable[[Words], Iterator[Argument]]] = {
    "dd": _dd,
    "sed": _in_place,
    "gsed": _in_place,
    "perl": _in_place,
    "ruby": _in_place,
    "find": _find,
    "gfind": _find,
    "git": _git,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "zip": _first,
    "unzip": _unzip,
    "ar": _second,
    "uniq": _second,
    "split": _second,
    "7z": _into,
    "7za": _into,
    "docker": _container,
    "podman": _container,
}
