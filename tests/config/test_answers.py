"""`[answers]`: what it says, all that is wrong in it, and what a project may not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.config.answers import EXAMPLES, read_answers
from koboshi.config.load import parse
from koboshi.config.resolve import Resolved, Subject, resolve
from koboshi.core.readings import PromptKind
from koboshi.policy.judging import judge
from koboshi.policy.policies import AnswerRule, Policy, QuestionRule
from koboshi.policy.requests import Request, Word

FULL = """
[answers]
plan = "allow"
variables = ["MY_*"]
override_builtin = ["force-push"]

[[answers.rule]]
do = "allow"
command = ["git push *", "ls *"]
answer = "always"
match = ["git push origin topic", "ls -la"]
not_match = ["git pull", "ls | sh", "git push $X"]

[[answers.rule]]
do = "deny"
path = "secret/**"
reason = "keep out"
match = ["secret/a", "src/../secret/b"]
not_match = ["secrets/a"]

[[answers.rule]]
do = "allow"
tool = "WebFetch"
domain = "python.org"
match = ["python.org", "docs.python.org"]
not_match = ["evilpython.org", "python.org.evil.example"]

[[answers.rule]]
do = "allow"
mcp = "github/get_*"
match = ["mcp__github__get_issue"]
not_match = ["mcp__github__create_issue", "mcp__gitlab__get_issue"]

[[answers.question]]
pattern = "*which database*"
answer = "PostgreSQL"
match = ["Which database shall I use?"]
not_match = ["Which colour?"]
"""


def test_every_key_becomes_a_part_of_the_policy() -> None:
    """The whole value at once."""
    sheet = parse(FULL, "k.toml")

    assert sheet.mistakes == ()
    assert sheet.answers.policy == Policy(
        rules=(
            AnswerRule(
                do=Word.ALLOW,
                name="answers.rule[0]",
                commands=("git push *", "ls *"),
                always=True,
            ),
            AnswerRule(
                do=Word.DENY, name="answers.rule[1]", paths=("secret/**",), reason="keep out"
            ),
            AnswerRule(
                do=Word.ALLOW,
                name="answers.rule[2]",
                tools=("WebFetch",),
                domains=("python.org",),
            ),
            AnswerRule(do=Word.ALLOW, name="answers.rule[3]", mcp=("github/get_*",)),
        ),
        questions=(
            QuestionRule(
                pattern="*which database*", answer="PostgreSQL", name="answers.question[0]"
            ),
        ),
        plan=Word.ALLOW,
        variables=("MY_*",),
        overridden=frozenset({"force-push"}),
    )


WRONG = """idle_after = "soon"
[answers]
trust = "yes"
plann = "ask"
override_builtin = ["everything"]
variables = 3

[[answers.rule]]
do = "permit"
command = "ls"

[[answers.rule]]
do = "allow"

[[answers.rule]]
do = "allow"
command = "git 'x"
answer = "forever"

[[answers.rule]]
do = "allow"
command = "git status *"
match = ["git log"]
not_match = ["git status -s"]

[[answers.rule]]
do = "allow"
command = "git push *"
match = [
  "git push --force",
]
domain = "x y"

[[answers.question]]
pattern = "*"
"""


def test_all_mistakes_are_told_with_line_and_key() -> None:
    """Those of other tables, too."""
    told = [(each.line, each.key, each.meant) for each in parse(WRONG, "k.toml").mistakes]

    assert told == [
        (1, "idle_after", ""),
        (3, "answers.trust", ""),
        (4, "answers.plann", "plan"),
        (5, "answers.override_builtin", ""),
        (6, "answers.variables", ""),
        (9, "answers.rule.0.do", ""),
        (13, "answers.rule.1.do", ""),
        (17, "answers.rule.2.command", ""),
        (18, "answers.rule.2.answer", ""),
        (23, "answers.rule.3.match", ""),
        (24, "answers.rule.3.not_match", ""),
        (28, "answers.rule.4.command", ""),
        (32, "answers.rule.4.domain", ""),
        (34, "answers.question.0.answer", ""),
    ]


def test_an_example_that_the_deny_set_denies_is_told_of() -> None:
    """An allow has no effect there, and its author learns it when the file is read."""
    text = '[[answers.rule]]\ndo = "allow"\ncommand = "git push *"\nmatch = ["git push -f"]\n'
    [mistake] = parse(text, "k.toml").mistakes

    assert "builtin:force-push" in mistake.expected
    assert (mistake.line, mistake.came) == (4, "'git push -f'")


def test_a_table_with_a_mistake_allows_nothing_and_still_denies() -> None:
    """A deny that was left out must not leave its allow behind."""
    text = """
    [[answers.rule]]
    do = "deny"
    command = "ls /srv *"
    [[answers.rule]]
    do = "allow"
    command = "ls *"
    [[answers.rule]]
    do = "dney"
    command = "ls *"
    """
    policy = parse(text, "k.toml").answers.policy

    assert [rule.do for rule in policy.rules] == [Word.DENY]


KEYS = ["x", "do", "tool", "command", "path", "domain", "mcp", "answer", "reason", "match"]
KEYS += ["not_match", "rule", "question", "pattern", "plan", "trust", "variables"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["allow", "deny", "always", "git *", "inside", "force-push"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_value_makes_reading_raise_and_a_faulty_one_allows_nothing(raw: object) -> None:
    """The file of a project may come from a stranger."""
    answers = read_answers(raw)

    if answers.faults:
        assert not any(rule.do is Word.ALLOW for rule in answers.policy.rules)
        assert answers.policy.questions == ()
        assert answers.policy.overridden == frozenset()


# -- two files ----------------------------------------------------------------------------------


def _resolved(tmp_path: Path, own: str, project: str) -> Resolved:
    for name, text in (("own", own), ("project", project)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "koboshi.toml").write_text(text)
    subject = Subject(agent="a", agent_type="claude", cwd=str(tmp_path / "project"))
    return resolve(subject, tmp_path / "own")


def _verdict(resolved: Resolved, command: str) -> tuple[str, str]:
    request = Request(kind=PromptKind.PERMISSION, tool="Bash", command=command)
    found = judge(request, resolved.answers, EXAMPLES)
    return found.verdict.value, found.rule


ALLOWS = """
[answers]
variables = ["PATH"]
override_builtin = ["force-push"]
plan = "allow"
[[answers.rule]]
do = "allow"
tool = "*"
[[answers.question]]
pattern = "*"
answer = "yes"
"""


def test_a_project_can_allow_nothing(tmp_path: Path) -> None:
    """Whatever it says; and the owner is told of each."""
    found = _resolved(tmp_path, "", ALLOWS)

    assert found.answers == Policy()
    assert len(found.notes) == 5
    assert all("may only deny or ask" in note for note in found.notes)
    assert _verdict(found, "git push -f")[0] == "deny"


@pytest.mark.parametrize(
    ("own", "project", "verdict"),
    [
        ("allow", "deny", "deny"),
        ("allow", "ask", "ask"),
        ("deny", "ask", "deny"),
        ("ask", "deny", "deny"),
        ("deny", "allow", "deny"),
    ],
)
def test_of_two_files_the_stricter_word_counts(
    tmp_path: Path, own: str, project: str, verdict: str
) -> None:
    """A project's `ask` does not replace the owner's `deny`."""
    text = '[[answers.rule]]\ndo = "{}"\ncommand = "ls *"\n'
    found = _resolved(tmp_path, text.format(own), text.format(project))

    assert _verdict(found, "ls -la")[0] == verdict


def test_whole_commands_are_still_allowed_word_for_word(tmp_path: Path) -> None:
    """Also one with a variable in it; but not under the deny set or a rule that denies."""
    own = """
    allow = ["make $TARGET", "git push -f", "npm publish", "ls *"]
    [[answers.rule]]
    do = "deny"
    command = "npm *"
    """
    found = _resolved(tmp_path, own, "")

    assert _verdict(found, "make $TARGET") == ("allow", "allow")
    assert _verdict(found, "make $OTHER")[0] == "ask"
    assert _verdict(found, "ls -la")[0] == "ask"
    assert _verdict(found, "git push -f") == ("deny", "builtin:force-push")
    assert _verdict(found, "npm publish") == ("deny", "answers.rule[0]")


def test_an_overridden_ban_leaves_it_to_the_rules(tmp_path: Path) -> None:
    """Said by name in the owner's file; the others stay."""
    own = """
    [answers]
    override_builtin = ["force-push"]
    [[answers.rule]]
    do = "allow"
    command = "git push *"
    """
    found = _resolved(tmp_path, own, "")

    assert _verdict(found, "git push -f origin x") == ("allow", "answers.rule[0]")
    assert _verdict(found, "git push -f && sudo ls") == ("deny", "builtin:administration")
