"""What must hold for every command line: a part more, or a wrapper, never makes it more allowed."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from koboshi.core.readings import PromptKind
from koboshi.policy.judging import judge, judge_bare
from koboshi.policy.policies import AnswerRule, Policy
from koboshi.policy.requests import Opinion, Request, Surroundings, Word, stricter
from tests.policy.test_commands import table
from tests.policy.worlds import AROUND, GENEROUS, POLICY, judged

ORDER = (Word.ALLOW, Word.ASK, Word.DENY)
COMMANDS = [command for _, _, command in table()]
#: Those that a shell would take as they are; the others swallow what is put behind them.
WHOLE = [
    command
    for _, rule, command in table()
    if rule != "unparsed" and "<<" not in command and "#" not in command
]
SIGNS = st.sampled_from(["&&", "||", ";", "|", "\n"])
WORDS = st.sampled_from(
    [
        *("git", "rm", "-rf", "-f", "push", "status", "/srv/x", "~/.ssh", "../x", "src/a", "sh"),
        *("bash", "-c", "eval", "env", "sudo", "timeout", "5", "xargs", "cd", "..", "$X", "$(id)"),
        *("`id`", "*", "{a,b}", ">", "<", "|", "&&", ";", "&", "(", ")", "<<EOF", "\\", "#", "!"),
        *("if", "then", "fi", "'a b'", '"a $X"', "\n", "'", '"', "[[", "]]", "$((", "${", "\\\n"),
    ]
)
LINES = st.lists(WORDS, max_size=10).map(" ".join) | st.text(max_size=40)


def _strictness(opinion: Opinion) -> int:
    return ORDER.index(opinion.verdict)


@given(
    st.sampled_from(WHOLE), st.sampled_from(WHOLE), st.sampled_from(["&&", "||", ";", "|", "\n"])
)
def test_two_parts_are_at_least_as_strict_as_each(one: str, other: str, sign: str) -> None:
    """Judged in the same folder: `cd` in the first part only adds to what the second may mean."""
    both = judged(f"{one} {sign} {other}")

    assert _strictness(both) >= _strictness(judged(one))
    assert _strictness(both) >= _strictness(judged(other))


@pytest.mark.parametrize(
    "wrapper",
    [
        "bash -c {}",
        "sh -ec {}",
        "bash -lc {}",
        "eval {}",
        "timeout 5 bash -c {}",
        "env CI=1 sh -c {}",
        "nohup nice -n 5 sh -c {} &",
        "if true; then eval {}; fi",
    ],
)
@given(command=st.sampled_from(COMMANDS))
def test_a_shell_around_it_never_makes_it_laxer(wrapper: str, command: str) -> None:
    """The text is read as it would be by itself."""
    wrapped = judged(wrapper.format(shlex.quote(command)))

    assert _strictness(wrapped) >= _strictness(judged(command))


@pytest.mark.parametrize(
    "wrapper", ["echo $({}\n)", 'echo "$({}\n)"', "cat <({}\n)", "({}\n)", "{{ {}\n}}", "! {}"]
)
@given(command=st.sampled_from(WHOLE))
def test_a_substitution_around_it_never_makes_it_laxer(wrapper: str, command: str) -> None:
    """Neither do brackets."""
    assert _strictness(judged(wrapper.format(command))) >= _strictness(judged(command))


PLAIN = [
    c for c in WHOLE if not set(c) & set("|&;<>(){}\n$`!=#[") and not c.startswith(("cd ", "\\"))
]


@pytest.mark.parametrize(
    "wrapper",
    [
        "env CI=1 {}",
        "timeout 5 {}",
        "nice {}",
        "nohup {}",
        "time {}",
        "command {}",
        "CI=1 {}",
        "exec {}",
    ],
)
@given(command=st.sampled_from(PLAIN))
def test_a_program_around_it_never_makes_it_laxer(wrapper: str, command: str) -> None:
    """What a wrapper runs needs the same rule."""
    assert _strictness(judged(wrapper.format(command))) >= _strictness(judged(command))


def _quotings(word: str) -> st.SearchStrategy[str]:
    octal = "".join(f"\\{ord(char):03o}" for char in word) if word.isascii() else ""
    ways = [
        shlex.quote(word),
        "'" + word.replace("'", "'\\''") + "'",
        "".join(f"\\{char}" for char in word),
        word[:1] + '""' + word[1:] if word.isalnum() else shlex.quote(word),
    ]
    return st.sampled_from([*ways, f"$'{octal}'"] if octal else ways)


@st.composite
def _said_twice(draw: st.DrawFn) -> tuple[str, str]:
    words = shlex.split(draw(st.sampled_from([c for c in PLAIN if not set(c) & set("*?~'\"\\")])))
    return shlex.join(words), " ".join(draw(_quotings(word)) for word in words)


@given(_said_twice())
def test_quoting_does_not_matter(pair: tuple[str, str]) -> None:
    """However it is spelt, it is the same command."""
    one, other = (judged(each) for each in pair)

    assert (one.verdict, one.rule) == (other.verdict, other.rule)


@given(LINES)
@example("\\")
@example("a" * 70_000)
@example("(" * 500)
@example("$(" * 200)
@example("bash -c " * 50)
@example("{a,{b,c}}" * 20)
def test_every_text_gets_an_opinion(text: str) -> None:
    """Without the net: nothing raises."""
    for policy in (POLICY, GENEROUS, Policy()):
        assert judged(text, policy).verdict in ORDER


@given(LINES)
def test_without_rules_nothing_is_allowed(text: str) -> None:
    """The default asks."""
    assert judged(text, Policy()).verdict is not Word.ALLOW


@given(LINES, st.sampled_from(list(PromptKind)))
def test_what_was_not_seen_whole_is_never_allowed(text: str, kind: PromptKind) -> None:
    """Whatever it is, and however generous the owner is."""
    policy = Policy(rules=GENEROUS.rules, plan=Word.ALLOW, trust=Word.ALLOW)
    request = Request(kind=kind, tool="Bash", command=text, question=text, complete=False)

    assert judge_bare(request, policy, AROUND).verdict is not Word.ALLOW


@given(LINES)
def test_a_deny_more_never_makes_it_laxer(text: str) -> None:
    """At the beginning of the rules."""
    more = AnswerRule(do=Word.DENY, name="more", commands=("git *", "rm *"))
    stricter_policy = Policy(rules=(more, *POLICY.rules))

    assert _strictness(judged(text, stricter_policy)) >= _strictness(judged(text))


def test_a_fault_in_the_surroundings_ends_in_a_question() -> None:
    """`judge` has a net."""

    def fails(path: str) -> str:
        raise KeyError(path)

    around = Surroundings(worktree="/w", home="/h", resolve=fails)
    request = Request(kind=PromptKind.PERMISSION, tool="Bash", command="rm x")

    assert judge(request, GENEROUS, around) == Opinion(
        verdict=Word.ASK, rule="unparsed", why="it could not be judged (KeyError)"
    )


def test_the_stricter_of_two_is_kept() -> None:
    """Deny before ask before allow; the first of equals."""
    allow, ask, deny = (Opinion(verdict=word, rule=word.value, why="") for word in ORDER)

    assert stricter(allow, ask) is stricter(ask, allow) is ask
    assert stricter(ask, deny) is stricter(deny, allow) is deny
    other = Opinion(verdict=Word.ASK, rule="other", why="")
    assert stricter(ask, other) is ask
