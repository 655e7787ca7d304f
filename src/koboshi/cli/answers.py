"""`koboshi answers`: what would be answered to an agent, which rule says so, and all rules."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from koboshi.config.resolve import Resolved
    from koboshi.policy.policies import AnswerRule
    from koboshi.policy.requests import Opinion

_EPILOG = """\b
Examples:
  koboshi answers test 'git push --force origin main'
  koboshi answers test 'npm test && git status' --json
  koboshi answers test --tool Edit --path src/app.py
  koboshi answers test --tool WebFetch --domain docs.python.org
  koboshi answers test --tool mcp__github__create_issue
  koboshi answers show

\b
Exit codes: 0 fine, whatever the verdict · 2 the input cannot be used
"""


@click.group(epilog=_EPILOG)
def answers() -> None:
    """Say what would be answered to an agent in this folder, and why.

    Works anywhere, without a daemon; nothing is run. The rules are in [answers] of koboshi.toml
    and count in mode auto; the built-in deny set always does.
    """


@answers.command(epilog=_EPILOG)
@click.argument("command", required=False, default="")
@click.option("--tool", default="", help="The tool that asks: Bash, Edit, mcp__server__tool …")
@click.option("--path", "paths", multiple=True, help="A file that the tool would touch.")
@click.option("--reads", is_flag=True, help="The files are only read.")
@click.option("--domain", "domains", multiple=True, help="A host that the tool would talk to.")
@click.option("--question", default="", help="A question that the agent asks its user.")
@click.option("--option", "options", multiple=True, help="A choice that it offers.")
@click.option("--cwd", default="", help="The folder in which it would happen; else this one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def test(  # noqa: PLR0913 - one for each option
    *,
    command: str,
    tool: str,
    paths: tuple[str, ...],
    reads: bool,
    domains: tuple[str, ...],
    question: str,
    options: tuple[str, ...],
    cwd: str,
    as_json: bool,
) -> None:
    """Say what would be answered to COMMAND, or to a tool."""
    from koboshi.core.readings import PromptKind
    from koboshi.performers.policing import surroundings
    from koboshi.policy.judging import judge
    from koboshi.policy.requests import Request

    if not (command or tool or paths or domains or question):
        raise click.UsageError("expected a command, --tool, --path, --domain or --question")
    folder = str(Path(cwd or ".").absolute())
    request = Request(
        kind=PromptKind.QUESTION if question else PromptKind.PERMISSION,
        tool=tool or ("Bash" if command else ""),
        command=command,
        paths=paths,
        writes=not reads,
        domains=domains,
        question=question,
        options=options,
        cwd=folder,
    )
    found = judge(request, _resolved(folder).answers, surroundings(folder))
    _tell(found, as_json=as_json)


@answers.command(epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(*, as_json: bool) -> None:
    """List all rules in the order in which they count, the built-in deny set first."""
    from .printing import plain, say, to_json

    facts = policy_facts(_resolved(str(Path.cwd())))
    if as_json:
        say(to_json(facts))
        return
    for row in _rows(facts):
        say(plain(row))


def _tell(found: Opinion, *, as_json: bool) -> None:
    from .printing import plain, say, to_json

    facts = {"verdict": found.verdict.value, "rule": found.rule, "why": found.why}
    if found.text:
        facts["answer"] = found.text
    if as_json:
        say(to_json(facts))
        return
    say(plain(f"{found.verdict.value}  {found.rule}"))
    say(plain(found.why + (f": {found.text!r}" if found.text else "")))


def _resolved(folder: str) -> Resolved:
    from koboshi.config.resolve import Subject, resolve
    from koboshi.config.variables import relevant
    from koboshi.store.manifests import config_dir

    from .printing import complain

    subject = Subject(agent="", agent_type="", cwd=folder, variables=relevant(os.environ))
    found = resolve(subject, config_dir())
    for each in (*found.mistakes, *found.foreign, *found.notes):
        complain(str(each))
    return found


def policy_facts(resolved: Resolved) -> dict[str, Any]:
    """A policy; the keys are a public contract (docs/reference/json.md)."""
    from koboshi.policy.bans import BANS

    policy = resolved.answers
    return {
        "mode": resolved.settings.mode.name.lower(),
        "builtin": [
            {"name": ban.name, "reason": ban.reason, "overridden": ban.name in policy.overridden}
            for ban in BANS
        ],
        "rules": [_rule_facts(rule) for rule in (*policy.stricter, *policy.rules)],
        "exact": list(policy.exact),
        "questions": [
            {"rule": each.name, "pattern": each.pattern, "answer": each.answer}
            for each in policy.questions
        ],
        "plan": policy.plan.value,
        "trust": policy.trust.value,
        "variables": list(policy.variables),
        "default": "ask",
    }


def _rule_facts(rule: AnswerRule) -> dict[str, Any]:
    return {
        "rule": rule.name,
        "do": rule.do.value,
        "tool": list(rule.tools),
        "command": list(rule.commands),
        "path": list(rule.paths),
        "domain": list(rule.domains),
        "mcp": list(rule.mcp),
        "answer": "always" if rule.always else "once",
        "reason": rule.reason,
    }


def _rows(facts: dict[str, Any]) -> Iterator[str]:
    yield f"mode {facts['mode']}; these rules answer in mode auto"
    for ban in facts["builtin"]:
        word = "OVERRIDDEN by your koboshi.toml" if ban["overridden"] else "deny"
        yield f"{word:<6} builtin:{ban['name']}  {ban['reason']}"
    for rule in facts["rules"]:
        about = [
            f"{key} {', '.join(rule[key])}"
            for key in ("tool", "command", "path", "domain", "mcp")
            if rule[key]
        ]
        reason = f"  ({rule['reason']})" if rule["reason"] else ""
        yield f"{rule['do']:<6} {rule['rule']}  {'; '.join(about)}{reason}"
    for each in facts["exact"]:
        yield f"allow  allow  exactly {each!r}"
    for each in facts["questions"]:
        yield f"answer {each['rule']}  {each['pattern']!r}: {each['answer']!r}"
    yield f"{facts['plan']:<6} answers.plan"
    yield f"{facts['trust']:<6} answers.trust"
    yield "ask    default"
