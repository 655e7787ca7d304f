"""Questions that hooks tell of, and the answers that go back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.asking import asked, decision
from koboshi.core.readings import Meaning, Option, Prompt, PromptKind

COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
}


def payload(tool: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401
    """What a hook is told about that call."""
    return {"hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": given}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (payload("Bash", command="ls", description="d"), ("Allow Bash?", "ls")),
        (payload("Edit", file_path="/a/b", old_string="x"), ("Allow Edit?", "/a/b")),
        (payload("WebFetch", url="http://x/", prompt="p"), ("Allow WebFetch?", "http://x/")),
        (payload("mcp__a__b", n=1), ("Allow mcp__a__b?", '{"n": 1}')),
        ({"tool_input": [1]}, ("Allow this?", "")),
    ],
)
def test_a_hook_says_what_it_asks_for(told: dict[str, Any], expected: tuple[str, str]) -> None:
    """In words that people can be shown."""
    prompt = asked(told)

    assert prompt.kind is PromptKind.PERMISSION
    assert (prompt.question, prompt.subject) == expected


def test_the_agents_own_question_has_its_options() -> None:
    """One question, of which one answer is picked."""
    assert asked(payload("AskUserQuestion", questions=[COLOUR])) == Prompt(
        kind=PromptKind.QUESTION,
        question="Which colour?",
        options=(Option(text="Red"), Option(text="Blue")),
    )
    assert asked(payload("AskUserQuestion", questions=[COLOUR, COLOUR])).options == ()
    assert asked(payload("ExitPlanMode", plan="first")).kind is PromptKind.PLAN


def said(answer: dict[str, Any] | None) -> Any:  # noqa: ANN401
    """The decision in what the hook prints."""
    if answer is None:
        return None
    output = answer["hookSpecificOutput"]
    assert output["hookEventName"] == "PermissionRequest"
    return output["decision"]


def test_yes_and_no() -> None:
    """A no carries its reason."""
    bash = payload("Bash", command="x")

    assert said(decision(bash, Meaning.ONCE)) == {"behavior": "allow"}
    assert said(decision(bash, Meaning.NO, reason="because")) == {
        "behavior": "deny",
        "message": "because",
    }
    assert decision(bash, Meaning.OTHER, text="Red") is None


def test_a_plan_is_approved_with_its_input() -> None:
    """Claude Code 2.1.325 passes a bare yes over."""
    assert said(decision(payload("ExitPlanMode", plan="p"), Meaning.ONCE)) == {
        "behavior": "allow",
        "updatedInput": {"plan": "p"},
    }


def test_always_is_what_the_dialog_would_have_done() -> None:
    """What the CLI suggests itself; where it suggests nothing it is not said."""
    suggested = [{"type": "addRules"}]
    bash = payload("Bash", command="x")

    assert decision(bash, Meaning.ALWAYS) is None
    assert said(decision({**bash, "permission_suggestions": suggested}, Meaning.ALWAYS)) == {
        "behavior": "allow",
        "updatedPermissions": suggested,
    }


def test_a_question_is_never_answered_with_a_bare_yes() -> None:
    """Claude Code 2.1.197 would tell the model that nothing was chosen."""
    question = payload("AskUserQuestion", questions=[COLOUR])

    assert decision(question, Meaning.ONCE) is None
    assert (
        decision(payload("AskUserQuestion", questions=[COLOUR] * 2), Meaning.OTHER, text="Red")
        is None
    )
    assert said(decision(question, Meaning.OTHER, text="blue")) == {
        "behavior": "allow",
        "updatedInput": {"questions": [COLOUR], "answers": {"Which colour?": "Blue"}},
    }
    assert said(decision(question, Meaning.NO, reason="choose yourself"))["behavior"] == "deny"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["tool_name", "tool_input", "questions", "question", "options", "label"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
TOOLS = st.sampled_from(["AskUserQuestion", "ExitPlanMode", "Bash"]) | JSON


@given(JSON, TOOLS, st.sampled_from(list(Meaning)), st.text(max_size=5))
def test_whatever_a_hook_tells_is_a_question_and_never_an_error(
    given_: Any,  # noqa: ANN401
    tool: Any,  # noqa: ANN401
    choice: Meaning,
    text: str,
) -> None:
    """What cannot be answered gives no answer; nothing but a yes allows."""
    told = {"tool_name": tool, "tool_input": given_}
    prompt = asked(told)
    answer = said(decision(told, choice, text=text))

    assert len(prompt.subject) <= 4096
    if answer is not None:
        assert (answer["behavior"] == "deny") == (choice is Meaning.NO)
