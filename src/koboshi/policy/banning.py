"""Which of the built-in bans a part of a request breaks; the table is in `bans`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import bans
from .bans import Ban
from .scenes import Scene, pieces
from .shell.calls import Argument, Call, Script, Touch
from .shell.wrappers import SHELLS
from .targets import git_verb, operands, targets

_NETWORK = frozenset(
    "curl wget fetch aria2c nc ncat netcat socat http https xh lynx ftp tftp telnet axel httpie"
    " curlie wget2 lwp-request get".split()
)
_INTERPRETER = re.compile(
    r"(?:python|pypy)[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby[\d.]*|php[\d.]*|osascript"
    r"|lua[\d.]*|tclsh|pwsh|powershell|rscript|source|\."
)
_INLINE = re.compile(r"-[a-zA-Z]*[cerEp]|--(?:eval|execute|print|command|run)(?:=.*)?")
_FETCHES = re.compile(
    r"urlopen|urllib|requests\.|httpx|https?://|fetch\(|socket|LWP|Net::HTTP|open-uri"
)
_RUNS = re.compile(r"exec|eval|system|subprocess|popen|spawn|Function\(|compile|`")
_ADMIN = frozenset(
    "sudo su doas pkexec run0 runuser fdisk sfdisk cfdisk gdisk sgdisk parted mount umount useradd"
    " userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup passwd chpasswd"
    " gpasswd chsh chfn visudo vipw vigr crontab at batch systemctl service launchctl shutdown"
    " reboot halt poweroff init telinit swapon swapoff losetup cryptsetup lvremove lvcreate"
    " vgremove pvremove pvcreate mdadm zpool zfs wipefs blkdiscard hdparm sysctl modprobe insmod"
    " rmmod iptables ip6tables nft ufw firewall-cmd chroot nsenter setcap setenforce diskutil dscl"
    " dseditgroup csrutil spctl pmset nvram kexec update-rc.d chkconfig hostnamectl timedatectl"
    " loginctl machinectl networksetup newfs newfs_apfs security_authtrampoline".split()
)
_ADMIN_LOOKS = {
    "systemctl": ("status", "is-active", "is-enabled", "is-failed", "list-units", "show", "cat"),
    "service": (),
    "crontab": ("-l",),
    "launchctl": ("list", "print"),
    "diskutil": ("list", "info"),
    "zpool": ("list", "status"),
    "zfs": ("list", "get"),
    "sysctl": ("-a",),
}
#: First words of programs that print secrets.
_TELLS_SECRETS = (
    "gh auth token", "gcloud auth print-access-token", "gcloud auth print-identity-token",
    "aws configure get", "aws configure export-credentials", "az account get-access-token",
    "security find-generic-password", "security find-internet-password", "security dump-keychain",
    "security export", "secret-tool lookup", "secret-tool search", "pass show", "op read",
    "op item get", "keyring get", "git credential fill", "git credential-store",
    "gpg --export-secret-keys", "gpg --export-secret-subkeys", "kubectl get secret",
    "kubectl get secrets", "vault read", "vault kv get", "docker-credential-*", "npm token",
    "heroku auth:token", "ssh-add -D", "bw get",
)  # fmt: skip
#: They print their words, and open no file.
_SPEAKS = frozenset({"echo", "printf"})
#: They look at files and change none.
_READERS = frozenset(
    "cat less more head tail grep egrep fgrep rg ag wc ls stat file diff cmp jq yq bat nl od xxd"
    " sort uniq cut echo printf test [ [[ cd du find fd tree md5sum sha1sum sha256sum realpath"
    " readlink basename dirname git which type".split()
)
_OWN_LOOKS = frozenset(
    "ls status why events history inspect rules config answers doctor reload mcp questions"
    " snapshots replay --version --help -h".split()
)
_SKIPS = re.compile(
    r"--(?:dangerously-[a-z-]+|allow-dangerously-[a-z-]+|yolo|full-auto)|--permission-mode(?:=.*)?"
)
_FORCE = ("--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune")
_SHORTEST = 4  # `--fo` and `--d` are enough for git


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A ban, and the part of a command line that breaks it."""

    ban: Ban
    part: Call | Touch | str

    @property
    def said(self) -> str:
        """The part in words."""
        if isinstance(self.part, Call):
            return " ".join(word.text for word in self.part.words)
        return self.part.target.text if isinstance(self.part, Touch) else self.part


def broken(script: Script, scene: Scene) -> Iterator[Breach]:
    """The bans that a command line breaks, each with the part that does."""
    for call in script.calls:
        for ban in _by_call(call, script, scene):
            yield Breach(ban=ban, part=call)
    for touch in script.touches:
        for ban in by_touch(touch, scene):
            yield Breach(ban=ban, part=touch)
    for name in script.assigned:
        if name.upper().startswith("KOBOSHI"):
            yield Breach(ban=bans.OWN_CONTROLS, part=name)


def by_touch(touch: Touch, scene: Scene) -> Iterator[Ban]:
    """The bans that reading or writing that file breaks."""
    spots = scene.spots(touch.target, touch.places)
    if spots is None:
        yield from _by_ending(touch.target, scene)
        return
    for spot in spots:
        if scene.secret(spot):
            yield bans.CREDENTIALS
        if touch.writes:
            yield from _spoiled(spot, scene)


def _spoiled(spot: str, scene: Scene) -> Iterator[Ban]:
    if scene.control(spot):
        yield bans.OWN_CONTROLS
    if scene.temporary(spot):
        return
    if spot.startswith("/dev/"):
        yield bans.ADMINISTRATION
    elif not scene.inside(spot):
        yield bans.OUTSIDE_WORKTREE


def _by_ending(word: Argument, scene: Scene) -> Iterator[Ban]:
    """Of a path whose beginning is not known its end may still say enough: `$X/.ssh/id_rsa`."""
    ending = "/" + word.text.rpartition("\ue000")[2].lstrip("/")
    home = scene.home()
    if len(ending) > 1 and (scene.secret(ending) or (home and scene.secret(home + ending))):
        yield bans.CREDENTIALS


def _by_call(call: Call, script: Script, scene: Scene) -> Iterator[Ban]:
    if _administers(call):
        yield bans.ADMINISTRATION
    if _forces(call):
        yield bans.FORCE_PUSH
    if _runs_network(call, script):
        yield bans.NETWORK_INTO_SHELL
    if _steers(call, scene):
        yield bans.OWN_CONTROLS
    if _tells_secrets(call, scene):
        yield bans.CREDENTIALS
    for target in targets(call):
        for spot in scene.spots(target, call.places) or ():
            yield from _spoiled(spot, scene)


# -- one question each --------------------------------------------------------------------------


def _administers(call: Call) -> bool:
    name, rest = call.name, call.rest
    if name.startswith(("mkfs", "fsck")):
        return True
    if name in ("chown", "chmod", "chgrp") and "/" in rest:
        return True
    if name == "mount" and not rest:
        return False
    if name not in _ADMIN:
        return False
    looks = _ADMIN_LOOKS.get(name)
    if name == "service" and rest[-1:] == ("status",):
        return False
    return not (looks and rest and rest[0] in looks)


def _forces(call: Call) -> bool:
    if call.name in ("git-push", "git-send-pack"):
        return _is_forced(call.rest)
    if call.name not in ("git", "hub"):
        return False
    _, rest = git_verb(call.words[1:])
    texts = [word.text for word in rest]
    if texts[:1] in (["push"], ["send-pack"]) and _is_forced(texts[1:]):
        return True
    if texts[:2] in (["subtree", "push"], ["lfs", "push"]) and _is_forced(texts[2:]):
        return True
    # An alias of the moment: `git -c alias.p='push -f' p`.
    settings = [text for text in call.rest if text.lower().startswith(("alias.", "remote."))]
    return any(
        "push" in text and _is_forced(re.split(r"[\s=]+", text)) for text in settings
    ) or any("mirror" in text.lower() or "=+" in text for text in settings)


def _is_forced(words: tuple[str, ...] | list[str]) -> bool:
    for word in words:
        if word[:1] in ("+", ":") and len(word) > 1:
            return True
        name = word.partition("=")[0]
        if name.startswith("--"):
            if len(name) >= _SHORTEST and any(each.startswith(name) for each in _FORCE):
                return True
        elif word[:1] == "-" and ("f" in word[1:] or "d" in word[1:]) and word[1:2] != "o":
            return True
    return False


def _runs_network(call: Call, script: Script) -> bool:
    name, rest = call.name, call.rest
    interprets = _INTERPRETER.fullmatch(name) is not None
    if interprets and any(_INLINE.fullmatch(word) for word in rest):
        code = " ".join(rest)
        if _FETCHES.search(code) and _RUNS.search(code):
            return True
    if name not in SHELLS and not interprets and name not in ("eval", "xargs"):
        return False
    if not any(each.name in _NETWORK for each in script.calls):
        return False
    takes = call.fed or any(not word.known for word in call.words)
    # A pipe into `python script.py` is input for the script, not a script.
    own_file = interprets and any(not word.startswith("-") for word in rest)
    substituted = any(not word.known for word in call.words[1:])
    return takes and (not own_file or substituted or name in ("source", "."))


def _tells_secrets(call: Call, scene: Scene) -> bool:
    said = [call.name, *call.rest]
    for each in _TELLS_SECRETS:
        wanted = each.split()
        if said[: len(wanted)] == wanted or (
            each.endswith("*") and call.name.startswith(each[:-1])
        ):
            return True
    if call.name in _SPEAKS:
        return False
    return any(_is_secret(word, call, scene) for word in call.words)


def _is_secret(word: Argument, call: Call, scene: Scene) -> bool:
    if not word.known:
        return any(True for _ in _by_ending(word, scene))
    for piece in pieces(word.text):
        text = piece
        if piece.startswith("~/") and scene.home():
            text = scene.home() + piece[1:]
        spots = scene.spots(Argument(text=text, globs=word.globs), call.places)
        if any(scene.secret(spot) for spot in spots or ()):
            return True
    return False


def _steers(call: Call, scene: Scene) -> bool:
    name, rest = call.name, call.rest
    if name == "koboshi":
        return _own_verb(rest)
    if rest[:2] == ("-m", "koboshi") or (rest[:1] and rest[0].startswith("-mkoboshi")):
        return _own_verb(rest[2:])
    if name in ("kill", "pkill", "killall", "skill"):
        return any(
            "koboshi" in word or "tmux" in word or word == "-1" for word in _aims(name, rest)
        )
    if name == "tmux":
        verbs = ("kill-", "send", "respawn-", "pipe-", "load-", "paste-", "set-", "run", "if-")
        return any(word.startswith(verbs) for word in rest)
    if name in ("unset", "export", "declare", "typeset", "readonly"):
        return any(word.upper().startswith("KOBOSHI") for word in rest)
    if any(_SKIPS.fullmatch(word) for word in rest):
        return True
    if name in _READERS:
        return False
    return any(
        scene.control(spot)
        for word in operands(call.words[1:])
        for spot in scene.spots(word, call.places) or ()
    )


def _aims(name: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    """What is to be ended; `kill -1 PID` is a signal, `kill -9 -1` everybody."""
    if name == "kill" and rest[:1] == ("-1",) and len(rest) > 1:
        return rest[1:]
    return rest


def _own_verb(rest: tuple[str, ...]) -> bool:
    return not rest or rest[0] not in _OWN_LOOKS
