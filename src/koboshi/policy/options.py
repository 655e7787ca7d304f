"""Options and words by which a program starts, loads or writes more than its name tells.

Rule 1: only what stands in the call; a file of the worktree may say as much (a makefile), and who
allows the program allows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .archives import archive
from .hazards import spoken
from .shell.calls import Call
from .targets import git_verb

#: Options that run a program or write a file; a long one may be shortened.
_RUNS = {
    "git": ("--config-env", "--exec-path", "--exec", "--upload-pack", "--receive-pack",
            "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "--output", "--extcmd",
            "--template", "--separate-git-dir", "--git-dir", "--work-tree", "--unsafe-paths"),
    "tar": ("--checkpoint-action", "--to-command", "-I", "--use-compress-program", "-F",
            "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o", "-F"),
    "sftp": ("-S", "-o", "-F", "-b"),
    "make": ("--eval", "-E"),
    "sort": ("--compress-program",),
    "zip": ("-TT", "--unzip-command", "-m", "--move"),
    "unzip": ("-:",),
    "man": ("-P", "--pager", "-H"),
    "rg": ("--pre", "--hostname-bin"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "curl": ("-K", "--config", "-T", "--upload-file", "-x", "--proxy", "--preproxy"),
    "wget": ("--use-askpass", "--post-file", "--body-file", "-e", "--execute"),
    "npm": ("--script-shell", "--node-options", "--userconfig", "--globalconfig", "--registry",
            "--git", "--call"),
    "pnpm": ("--script-shell", "--registry", "--shell-mode"),
    "yarn": ("--registry", "--script-shell"),
    "pip": ("--target", "-t", "--prefix", "--root", "--index-url", "-i", "--extra-index-url",
            "--find-links", "-f", "--trusted-host", "--proxy", "--config-settings"),
    "uv": ("--index-url", "--extra-index-url", "--index", "--default-index", "--find-links"),
    "gem": ("--source", "-s", "--clear-sources"),
    "less": ("-k", "-o", "-O", "--lesskey-src"),
    "go": ("-toolexec", "-exec", "-vettool", "-overlay", "-modfile"),
    "cargo": ("--config", "--index", "--registry"),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"),
                    ("-wrapper", "-B", "-fplugin", "-specs", "-fuse-ld")),
    "node": ("--loader", "--experimental-loader", "--import", "--require"),
    "pandoc": ("--filter", "--lua-filter", "-F", "-L", "--pdf-engine"),
    "gradle": ("-I", "--init-script"),
    "pytest": ("-p", "--pdbcls"),
    "openssl": ("-engine", "-provider-path"),
    "split": ("--filter",),
    "tcpdump": ("-z", "-w"),
    "ctags": ("--options",),
}  # fmt: skip
#: They begin like one of these, and are something else.
_OTHER_OPTIONS = {"pip": ("--pre",), "go": ("-v", "-e"), "gcc": ("-fPIC",)}
_GIT_RUNS = (
    ["bisect", "run"], ["submodule", "foreach"], ["filter-branch"], ["config"], ["difftool"],
    ["mergetool"], ["daemon"], ["instaweb"], ["send-email"], ["credential"], ["hook"], ["svn"],
    ["p4"], ["gui"], ["citool"], ["web--browse"], ["shell"], ["http-backend"], ["remote-ext"],
    ["remote-fd"], ["filter-repo"], ["cvsserver"], ["archimport"], ["imap-send"], ["fast-import"],
    ["upload-pack"], ["receive-pack"], ["for-each-repo"],
)  # fmt: skip
_FOREIGN = re.compile(
    r"(?:git\+|github:|gitlab:|bitbucket:|gist:|https?://|git://|ssh://|git@).*"
    r"|.+@\s*(?:git\+|https?:|ssh:).*"
)
_SHORTHAND = re.compile(r"[\w-]+/[\w.-]+(?:#.*)?")  # `user/repository`, for npm and its like
_INSTALLS = frozenset("install i add in isntall ci download wheel".split())
_SETS_ID = re.compile(r"(?:.*,)?[ugoa]*(?:[-+=][rwxXtugo]*)*[+=][rwxXt]*s.*|0*[2-7][0-7]{3}")
_DATABASES = re.compile(
    r"(?:^|[;\n])\s*\.(?:shell|system|output|once|load|import|read|save|backup|open|excel|log|cd)\b"
    r"|\\!|\\copy|\\o\b|\\i\b|\\g\b|\bsystem\b|to\s+program|from\s+program|load_extension"
    r"|outfile|dumpfile",
    re.IGNORECASE,
)
_SHORTEST = 5  # `--exe`: shorter ones are ambiguous mostly
_HOST = re.compile(r"(?:--net|--network)?=?host")
_DOORS = (
    "--volume", "--mount", "--priv", "--pid", "--ipc", "--uts", "--userns", "--device", "--cap-add",
    "--security-opt", "--cgroup", "--env-file", "--group-add", "--gpus", "--sysctl", "--runtime",
)  # fmt: skip
_EDITORS = "vi vim nvim view ex ed emacs nano pico micro".split()
_CLIENTS = "sqlite3 psql mysql mariadb duckdb".split()
#: They go by what they are fed.
_FED = frozenset({*_EDITORS, *_CLIENTS, "source", "."})
#: What a word begins with that makes more of a program than it seems.
_TELLING = {
    **dict.fromkeys(_EDITORS, re.compile(r"[-+]")),
    **dict.fromkeys(_CLIENTS, re.compile(rf"-f$|(?s:.*?)(?:{_DATABASES.pattern})", re.IGNORECASE)),
    **dict.fromkeys(("less", "more", "most"), re.compile(r"\+")),
    **dict.fromkeys(("nc", "netcat"), re.compile(r"-\w*[ecl]")),
    **dict.fromkeys(("find", "gfind"), re.compile(r"-(?:L|follow)$")),
    **dict.fromkeys(
        "ghci ghc sbt scala julia elixir erl swipl gnuplot".split(), re.compile(r"-[eE]|--?eval")
    ),
    "curl": re.compile(r"-[sSLfkviIgGnNOqRJja0-9#:Z]+[TKx]"),
    "jq": re.compile(r"(?s:.*?)(?:\benv\b|\$ENV)"),
    "cmake": re.compile(r"-E$"),
    "mvn": re.compile(r"exec:|-Dexec|antrun:"),
    "rustc": re.compile(r".*(?:linker|sysroot)"),
    "tmux": re.compile(r"new|split|display-p|popup"),
}
_LOADS = frozenset("pip npm pnpm yarn bun uv cargo deno go".split())


def risky_options(call: Call) -> Iterator[str]:
    """Reasons to ask about a call that are in its options."""
    meant, given = spoken(call)
    if any(_runs(meant, word) for word in given) or _git_runs(call):
        yield "one of its options can run or write something else"
    if meant in _LOADS:
        yield from _installs(meant, given)
    if call.name in ("chmod", "install") and any(_sets_id(word) for word in call.rest):
        yield "it lets others run something as its owner"
    if _starts_more(call):
        yield "it starts something that is not looked into"


def _installs(name: str, rest: tuple[str, ...]) -> Iterator[str]:
    """What comes from elsewhere than the usual place."""
    runs = name in ("deno", "bun", "go") and rest[:1] == ("run",)
    if not runs and not _INSTALLS & set(rest[:3]):
        return
    short = name in ("npm", "pnpm", "yarn", "bun") and not runs
    for word in rest:
        pinned = runs and "@" in word
        if pinned or _FOREIGN.fullmatch(word) or (short and _SHORTHAND.fullmatch(word)):
            yield "it loads code from an address of its own"


def _sets_id(word: str) -> bool:
    return _SETS_ID.fullmatch(word.removeprefix("-m").removeprefix("--mode=")) is not None


def _starts_more(call: Call) -> bool:
    """Programs that are harmless with some words and start others with some more."""
    name, rest = call.name, call.rest
    if name in _FED and call.fed:
        return True
    if (telling := _TELLING.get(name)) and any(telling.match(word) for word in rest):
        return True
    if name in ("tar", "gtar", "bsdtar"):
        return archive(call.words[1:]).wanders
    if name in ("env", "set", "export", "declare"):
        return rest in ((), ("-p",)) and not call.carrier
    if name in ("docker", "podman", "nerdctl"):
        return _opens_container(rest)
    if name == "screen":
        return bool(rest) and rest[0] not in ("-ls", "-list", "-v")
    return name == "gh" and (rest[:1] == ("api",) or "delete" in rest)


def _opens_container(rest: tuple[str, ...]) -> bool:
    """Options by which a container reaches the machine, or the client another machine."""
    verb = next((n for n, word in enumerate(rest) if not word.startswith("-")), len(rest))
    before = ("-H", "--host", "-c", "--context", "--config", "--url", "--connection", "--remote")
    if any(word.partition("=")[0] in before for word in rest[:verb]):
        return True
    if not {"run", "create", "buildx", "build"} & set(rest[verb : verb + 2]):
        return False
    doors = ("-v", "--allow", *_DOORS)
    return any(word.startswith(doors) or _HOST.fullmatch(word) for word in rest[verb:])


def _runs(name: str, word: str) -> bool:
    options = _RUNS.get("pip" if name.startswith("pip") else name, ())
    given = word.partition("=")[0]
    if given in _OTHER_OPTIONS.get(name, ()):
        return False
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
    if texts[:1] == ["clone"] and any(
        word.startswith(("-u", "-c", "--conf")) and word != "--" for word in texts
    ):
        return True
    if texts[:1] == ["rebase"] and any(word.startswith("-x") for word in texts):
        return True
    return any(texts[: len(each)] == each for each in _GIT_RUNS) or any(
        text.startswith("ext::") for text in texts
    )
