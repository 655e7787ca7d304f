"""The folder, the links and the owner's rules that the tests of the policy judge in."""

from __future__ import annotations

import posixpath
from pathlib import Path

from koboshi.core.readings import PromptKind
from koboshi.policy.judging import judge_bare
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Opinion, Request, Surroundings, Word

CASES = Path(__file__).parent.parent / "cases" / "answers"
WORKTREE, HOME = "/home/u/src/app", "/home/u"


def resolve(path: str) -> str:
    """A disk with one link: `link` in the worktree leads out of it."""
    path = posixpath.normpath(path)
    link = f"{WORKTREE}/link"
    if path == link or path.startswith(f"{link}/"):
        return "/srv/elsewhere" + path[len(link) :]
    return path


AROUND = Surroundings(worktree=WORKTREE, home=HOME, resolve=resolve)

FILES = (
    "cat ls grep head rm mv cp mkdir sed find echo cd tee touch tar awk chmod ln truncate tail",
    "for_each true",
)

POLICY = Policy(
    rules=(
        AnswerRule(do=Word.DENY, name="no-publish", commands=("npm publish --*",)),
        AnswerRule(do=Word.DENY, name="no-secret-plans", paths=("plans/**",)),
        AnswerRule(do=Word.ASK, name="ask-tags", commands=("git tag *",)),
        AnswerRule(do=Word.ALLOW, name="git", commands=("git *",)),
        AnswerRule(
            do=Word.ALLOW,
            name="files",
            commands=tuple(f"{each} *" for each in " ".join(FILES).split()),
        ),
        AnswerRule(do=Word.ALLOW, name="files", commands=("for_each",)),
        AnswerRule(do=Word.ALLOW, name="files", tools=("Write", "Edit"), paths=("src/**",)),
        AnswerRule(do=Word.ALLOW, name="net", commands=("curl *", "wget *")),
        AnswerRule(
            do=Word.ALLOW,
            name="code",
            commands=(
                "python3 *",
                "make *",
                "[ *",
                "[[ *",
                "ssh *",
                "alias *",
                "xargs *",
                "trap *",
            ),
        ),
    )
)
#: What owners write who do not want to be asked: each of these with any words.
PROGRAMS = """
    git ls cat head tail grep rg find wc sed awk sort uniq diff mkdir touch cp mv rm ln
    chmod tar unzip zip npm pnpm yarn node tsc eslint prettier jest vitest python3 pip
    pytest ruff mypy uv poetry tox pre-commit make cmake ninja cargo go gcc rustc mvn
    gradle ./gradlew ./scripts/run.sh bundle docker kubectl terraform gh curl wget nc
    rsync echo printf date pwd whoami which test [ cd sleep jq sqlite3 psql vim less pkill
    kill ps du df tree xxd ssh-keygen openssl brew apt npx
"""
PLAIN = Policy(
    rules=(
        AnswerRule(
            do=Word.ALLOW,
            name="plain",
            commands=tuple(f"{each} *" for each in PROGRAMS.split()),
        ),
        AnswerRule(
            do=Word.ALLOW, name="inside", tools=("Read", "Write", "Edit"), paths=("inside",)
        ),
    )
)
#: Everything that a rule can allow is allowed.
GENEROUS = Policy(rules=(AnswerRule(do=Word.ALLOW, name="all", tools=("*",)),))


def judged(command: str, policy: Policy = POLICY, *, cwd: str = "") -> Opinion:
    """What is thought of a command line."""
    request = Request(kind=PromptKind.PERMISSION, tool="Bash", command=command, cwd=cwd)
    return judge_bare(request, policy, AROUND)
