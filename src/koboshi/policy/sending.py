"""Programs that send files away: what they are given from outside of the worktree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .scenes import Scene
from .shell.calls import Argument, Call, Script
from .targets import operands

#: They talk to other machines.
SENDERS = frozenset(
    "curl wget wget2 nc ncat netcat socat http https xh httpie curlie rsync scp sftp ftp lftp tftp"
    " aws gcloud gsutil az gh glab rclone s3cmd mail mailx mutt sendmail msmtp telnet openssl"
    " aria2c websocat grpcurl kubectl docker podman".split()
)
_REMOTE = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//).*|(?:rsync|ssh|sftp|scp|ftp)://.*")
_PATH = re.compile(r"(?:^|[=@<:,;])\s*((?:/|~/|\.\./|\.\.$)[^,;]*)")
#: Options of curl that name a file which is not sent.
_KEPT = frozenset(
    "-o --output --output-dir -D --dump-header --cacert --capath --stderr --trace -w".split()
)
OUTSIDE = "it may send a file from outside of the worktree away"


def sends(script: Script, scene: Scene) -> Iterator[tuple[Call, str]]:
    """The calls that may send away what is not of the worktree, and why."""
    for call in script.calls:
        if call.name not in SENDERS:
            continue
        if _copies(call):
            yield call, "it copies between machines"
        if any(_outside(each, call, scene) for each in _given(call)):
            yield call, OUTSIDE
        if call.fed and _reads_outside(script, call, scene):
            yield call, OUTSIDE


def _copies(call: Call) -> bool:
    if call.name == "rsync":
        return any(_REMOTE.fullmatch(word.text) for word in operands(call.words[1:]))
    return call.name in ("scp", "sftp", "ftp", "lftp", "tftp", "rclone")


def _given(call: Call) -> Iterator[str]:
    """Paths in its words that lead up or begin at the root."""
    kept = False
    for word in call.rest:
        skipped, kept = kept, word in _KEPT
        if skipped:
            continue
        if word.lower().startswith("file:"):
            yield "/" + word[len("file:") :].lstrip("/")
        elif "://" not in word or "@/" in word:
            yield from _PATH.findall(word)
        if word[:1] == "-" != word[1:2] and word[2:3] in ("/", "@", "~"):
            yield word[2:].lstrip("@")


def _outside(path: str, call: Call, scene: Scene) -> bool:
    home = scene.home()
    text = home + path[1:] if path.startswith("~/") and home else path
    spots = scene.spots(Argument(text=text), call.places)
    return spots is None or any(not scene.inside(spot) and not _free(spot, scene) for spot in spots)


def _free(spot: str, scene: Scene) -> bool:
    return scene.temporary(spot) or spot.startswith("/dev/")


def _reads_outside(script: Script, sender: Call, scene: Scene) -> bool:
    """Whether something in the same line opens a file outside; it may be piped into the sender."""
    if any(
        not touch.writes and _outside(touch.target.text, sender, scene) for touch in script.touches
    ):
        return True
    return any(
        _outside(word.text, call, scene)
        for call in script.calls
        if call is not sender and call.name not in ("cd", "echo", "printf")
        for word in operands(call.words[1:])
        if word.text.startswith(("/", "~/", "..")) or not word.known
    )
