"""Verbs that a broad rule does not speak of: `docker *` is not meant as `docker exec c sh`.

Rule 1: they are asked about unless the owner's rule spells them out: `npx *` does not let
`npx prettier` pass, `npx prettier *` does.
"""

from __future__ import annotations

import re

from .policies import AnswerRule, command_fits, pattern_words
from .shell.calls import Call

_FOREIGN = "it runs what may come from the network"
_REACHES = "it reaches into what is not of the worktree"
_SETTINGS = "it changes settings that other programs go by"
_PUBLISHES = "it publishes, and that cannot be taken back"
_MACHINE = "it changes what is installed on the machine"
#: The words that must be spelled, and why. `*` is any word.
_VERBS: dict[str, str] = {
    **dict.fromkeys(
        (
            "npx *", "bunx *", "uvx *", "npm exec *", "npm x *", "npm create *", "npm init *",
            "pnpm dlx *", "pnpm create *", "yarn dlx *", "yarn create *", "bun x *",
            "bun create *", "uv tool run *", "uv tool install *", "pipx run *", "pipx install *",
            "nix run *", "nix shell *", "nix-shell *", "gh extension *", "go get *",
            "npm explore *",
        ),
        _FOREIGN,
    ),
    **dict.fromkeys(
        (
            "docker exec", "docker cp", "docker attach", "docker commit", "docker plugin",
            "docker swarm", "docker context", "docker system prune", "docker volume rm",
            "docker volume prune", "docker image prune", "docker container exec",
            "docker container cp", "docker compose exec", "docker compose run", "docker load",
            "docker import", "docker push", "docker login", "kubectl exec", "kubectl cp",
            "kubectl delete", "kubectl apply", "kubectl create", "kubectl replace",
            "kubectl patch", "kubectl edit", "kubectl run", "kubectl drain", "kubectl debug",
            "kubectl attach", "kubectl scale", "kubectl proxy", "kubectl config",
            "helm install", "helm upgrade", "helm uninstall", "helm plugin", "terraform apply",
            "terraform destroy", "terraform import", "pulumi up", "pulumi destroy",
            "ansible *", "ansible-playbook *", "vagrant ssh", "aws *", "gcloud *", "az *",
            "gsutil *", "rclone *", "s3cmd *", "heroku *", "flyctl *", "fly *", "vercel *",
            "netlify *", "wrangler *", "firebase *", "redis-cli flushall", "redis-cli flushdb",
            "dropdb", "multipass exec", "lima *", "limactl shell", "adb shell", "wsl *",
        ),
        _REACHES,
    ),
    **dict.fromkeys(
        (
            "npm config set", "npm config delete", "npm config edit", "npm set", "npm login",
            "npm adduser", "npm logout", "npm owner", "npm access", "npm hook", "npm link",
            "pnpm config set", "yarn config set", "yarn login", "pip config set",
            "pip config unset", "pip config edit", "poetry config", "cargo login", "go env -w",
            "bundle config", "composer config", "gem sources", "conda config", "git remote add",
            "git remote set-url", "git maintenance start", "git maintenance register",
            "git lfs install", "direnv allow", "direnv permit", "mise trust", "gh auth login",
            "gh auth logout", "gh auth refresh", "gh auth setup-git", "gh alias *", "gh config set",
            "gh secret *", "gh variable set", "gh variable delete", "gh ssh-key *", "gh gpg-key *",
            "gh repo delete", "gh repo edit", "gh repo archive", "gh repo rename",
            "gh repo deploy-key", "gh workflow *", "gh run delete", "gh run cancel",
            "gh release delete", "gh codespace *", "code --install-extension", "corepack enable",
            "pre-commit install",
        ),
        _SETTINGS,
    ),
    **dict.fromkeys(
        (
            "npm publish", "npm unpublish", "npm deprecate", "npm dist-tag", "pnpm publish",
            "yarn publish", "yarn npm publish", "bun publish", "cargo publish", "cargo yank",
            "cargo owner", "gem push", "gem yank", "twine upload", "poetry publish", "uv publish",
            "hatch publish", "flit publish", "mvn deploy", "gh gist *", "gh release create",
            "gh release upload", "gh pr merge", "gh repo create",
        ),
        _PUBLISHES,
    ),
    **dict.fromkeys(
        (
            "apt *", "apt-get *", "dnf *", "yum *", "pacman *", "zypper *", "apk *", "snap *",
            "flatpak *", "brew install", "brew uninstall", "brew upgrade", "brew services",
            "port *", "nix-env *", "dpkg *", "rpm *", "rustup *", "nvm install", "npm install -g",
            "npm i -g", "npm install --global", "npm uninstall -g",
        ),
        _MACHINE,
    ),
}  # fmt: skip
_READS_ONLY = re.compile(
    r"(?:(?:list|show|search|info|get|describe|view|status)(?:-.*)?|--?(?:h|help|v|version))$"
)
_SAME = {"podman": "docker", "nerdctl": "docker", "gmake": "make"}
_BY_PROGRAM: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _verb, _why in _VERBS.items():
    _first, *_rest = _verb.split()
    _BY_PROGRAM.setdefault(_first, []).append((tuple(_rest), _why))


def hazards(call: Call, rule: AnswerRule) -> tuple[str, ...]:
    """Why a call is asked about although that rule allows it."""
    name, rest = spoken(call)
    found = []
    for words, why in _BY_PROGRAM.get(name, ()):
        looks = words == ("*",) and why is not _FOREIGN and _READS_ONLY.match(" ".join(rest[:1]))
        if not looks and _speaks(rest, words) and not _spelled(rule, call, words):
            found.append(why)
    return tuple(found)


def spoken(call: Call) -> tuple[str, tuple[str, ...]]:
    """The program that is meant, and its words: `python3 -m pip` and `uv pip` are `pip`."""
    name, rest = call.name, call.rest
    name = _SAME.get(name, name)
    if re.fullmatch(r"python[\d.]*", name) and "-m" in rest[:-1]:
        at = rest.index("-m")
        if rest[at + 1] in ("pip", "twine", "pipx", "poetry", "uv"):
            return rest[at + 1], rest[at + 2 :]
    if name == "uv" and rest[:1] == ("pip",):
        return "pip", rest[1:]
    if re.fullmatch(r"pip[\d.]+", name):
        return "pip", rest
    return name, rest


def _speaks(rest: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the words of a call begin like that, options between them left out."""
    named = [word for word in words if not word.startswith("-")]
    if any(word.startswith("-") and word not in rest for word in words):
        return False
    return any(
        len(plain) >= len(named)
        and all(want in ("*", word) for want, word in zip(named, plain, strict=False))
        for plain in _readings(rest)
    )


def _readings(rest: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words without options; and also without what may be the values of options."""
    plain = [word for word in rest if not word.startswith("-")]
    pairs = zip(("", *rest), rest, strict=False)
    bare = [word for before, word in pairs if word[:1] != "-" and before[:1] != "-"]
    return plain, bare


def _spelled(rule: AnswerRule, call: Call, words: tuple[str, ...]) -> bool:
    """Whether a rule names the program and as many words behind it, without a glob."""
    options = {word for word in words if word.startswith("-")}
    count = len(words) - len(options)
    for pattern in rule.commands:
        literal = 0
        for word in pattern_words(pattern):
            if any(char in word for char in "*?["):
                break
            literal += not word.startswith("-") or literal == 0
        whole = literal > count and options <= set(pattern_words(pattern))
        if whole and command_fits(call, pattern, exact=True):
            return True
    return False
