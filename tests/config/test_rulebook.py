"""Rules that people write into a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.config.facts import NAMES
from koboshi.config.load import parse
from koboshi.config.resolve import Subject, resolve
from koboshi.core.actions import Escalate, Notify, Refresh, Send
from koboshi.core.events import Heard, LinesHeard, RunExited, Severity, Ticked
from koboshi.core.gate import Word
from koboshi.core.readings import Status
from koboshi.core.rules import Rule
from koboshi.core.settings import Settings
from tests.core.worlds import Driver, admitted, blank, reading, words

LIMITS = """
[[rule]]
code = "OWN001"
name = "too-many-429"
severity = "P0"
on = ["log"]
when = 'count("log", "429", "5m") >= 3 && status != "limited"'
match = ["HTTP 429 Too Many Requests", {log = ["429", "429", "429"], status = "idle"}]
not_match = ["HTTP 200", {log = ["429"]}, {log = ["429", "429", "429"], status = "limited"}]
actions = ["notify"]
"""


def one(text: str) -> Rule:
    """The only rule of a file without mistakes."""
    sheet = parse(text, "k.toml")
    assert [str(each) for each in sheet.mistakes] == []
    [rule] = sheet.book.rules
    return rule


def own(when: str, *more: str, actions: str = '["notify"]') -> Rule:
    """A rule of that condition."""
    rows = ("[[rule]]", 'code = "OWN001"', 'name = "of-mine"', f"when = '{when}'")
    return one("\n".join((*rows, f"actions = {actions}", *more)))


def driver(rule: Rule, status: Status = Status.IDLE, **settings: float) -> Driver:
    """An agent at which only that rule looks."""
    made = Driver(blank(Settings(**settings), rules=(rule,)))  # type: ignore[arg-type]
    made.start()
    made.see(reading(status))
    return made


def hear(driven: Driver, what: str, times: int = 1, after: float = 1.0) -> list[str]:
    """Kinds of what is done about that."""
    said = (Heard(what=what, text=f"line with {what}", times=times),)
    return [a.kind for a in admitted(driven.tell(LinesHeard(run=1, heard=said), after=after))]


# -- what a rule does -----------------------------------------------------------------------------


def test_a_rule_counts_what_is_heard_in_a_window() -> None:
    """Three in five minutes."""
    driven = driver(one(LIMITS))

    assert [hear(driven, "429", after=100.0) for _ in range(2)] == [[], []]
    assert hear(driven, "429", after=301.0) == []
    assert hear(driven, "429", times=2) == ["notify"]


def test_it_says_what_it_found() -> None:
    """Code, name, severity, the line."""
    driven = driver(one(LIMITS))
    hear(driven, "429", times=3)
    [decision] = driven.decided

    assert decision.finding.code == "OWN001"
    assert decision.finding.severity is Severity.P0
    assert decision.action == Notify(
        about="OWN001.heard1.0", text="a1: too many 429: line with 429", severity=Severity.P0
    )
    assert decision.finding.evidence[0] == "line with 429"


def test_it_is_done_once_per_occurrence() -> None:
    """Time alone is none."""
    driven = driver(one(LIMITS))
    hear(driven, "429", times=3)

    assert admitted(driven.tell(Ticked(), after=10.0)) == []
    assert hear(driven, "429") == ["notify"]


def test_a_cooldown_holds_it_up_and_it_is_asked_again() -> None:
    """Law 1: a refusal is not final."""
    driven = driver(own('count("log", "x", "5m") >= 1', 'cooldown = "1m"'))
    hear(driven, "x")
    held = driven.tell(LinesHeard(run=1, heard=(Heard(what="x", text="x"),)), after=10.0)

    assert [word for _, word in words(held)] == [Word.COOLING]
    assert [a.kind for a in admitted(driven.tell(Ticked(), after=51.0))] == ["notify"]


def test_a_rule_that_observes_only_shows() -> None:
    """What it would have done."""
    driven = driver(own('status == "idle"', 'mode = "observe"'))

    assert {word for _, word in words(tuple(driven.decided))} == {Word.WOULD}


def test_a_rule_that_is_not_enabled_does_not_look() -> None:
    """It is checked all the same."""
    sheet = parse(f"{LIMITS}enabled = false", "k.toml")

    assert (sheet.book.rules, sheet.mistakes) == ((), ())


def test_a_stretch_of_one_status_is_one_occasion() -> None:
    """And the next one is another."""
    driven = driver(own('status == "idle" && age >= 60'))
    driven.tell(Ticked(), after=61.0)
    driven.tell(Ticked(), after=61.0)
    driven.see(reading(Status.WORKING))
    driven.see(reading(Status.IDLE))
    driven.tell(Ticked(), after=61.0)

    assert len(admitted(driven.decided)) == 2


def test_what_is_seldom_is_counted_over_hours() -> None:
    """However much is seen in between: the third exit within an hour, and not the second."""
    driven = driver(own('count("run-exited", "code=7", "1h") >= 3'))
    for run in (1, 2, 3):
        assert admitted(driven.decided) == []
        driven.tell(RunExited(run=run, code=7), after=600.0)
        driven.start(run=run + 1)
        for _ in range(40):
            driven.see(reading(Status.WORKING))

    assert [a.kind for a in admitted(driven.decided)] == ["notify"]


def test_what_was_held_up_is_asked_for_whatever_is_seen_meanwhile() -> None:
    """Law 1 for `on`: an exit, and a line, while the rule was cooling down."""
    for on, when in (("run-exited", "true"), ("log", 'count("log", "x", "1h") >= 1')):
        driven = driver(own(when, f'on = ["{on}"]', 'cooldown = "10m"'))
        for after in (1.0, 60.0):
            said = (Heard(what="x", text="x"),)
            driven.tell(LinesHeard(run=driven.view.run.number, heard=said), after=after)
            driven.tell(RunExited(run=driven.view.run.number, code=1))
            driven.start(run=driven.view.run.number + 1)
        for _ in range(40):
            driven.see(reading(Status.WORKING))
        before = len(admitted(driven.decided))
        driven.tell(Ticked(), after=600.0)

        assert (on, before, len(admitted(driven.decided))) == (on, 1, 2)


def test_on_says_when_to_look() -> None:
    """Each bad exit is one occasion."""
    rule = own("exit_code > 0", 'on = ["run-exited"]', actions='["escalate"]')
    driven = driver(rule)
    before = list(driven.decided)
    driven.tell(RunExited(run=1, code=3))
    driven.tell(Ticked())

    assert before == []
    assert [type(a) for a in admitted(driven.decided)] == [Escalate]


@pytest.mark.parametrize(
    ("when", "statuses"),
    [
        ('status == "idle" && age > 1', (Status.IDLE,)),
        ('age > 1 && status == "idle"', (Status.IDLE,)),
        ('status == "idle" || age > 1', ()),
        ('(status == "idle" || age > 1)', ()),
        ('age > 1 ? status == "idle" : true', ()),
        ('!(status == "idle") && age > 1', ()),
        ('status == "idle" == false', ()),
        ('status != "idle"', ()),
        ("age > 1", ()),
    ],
)
def test_a_rule_is_asked_only_when_it_can_hold(when: str, statuses: tuple[Status, ...]) -> None:
    """What it names in a row of `&&` and nothing else."""
    assert own(when).during == statuses


def test_a_restart_goes_through_the_refresh() -> None:
    """The same session in a new process, within the one budget."""
    driven = driver(own('count("log", "stuck", "5m") >= 1', actions='["restart"]'), quiet=0.0)
    hear(driven, "stuck")

    [action] = admitted(driven.decided)

    assert isinstance(action, Refresh)
    assert action.back


def test_a_restart_is_not_asked_for_again_by_what_the_run_before_said() -> None:
    """The two hours are not over, and the cure was taken: only a new line asks for another."""
    driven = driver(own('count("log", "stuck", "2h") >= 1', actions='["restart"]'), quiet=0.0)
    hear(driven, "stuck")
    [refresh] = admitted(driven.decided)
    driven.finish(refresh)
    driven.tell(RunExited(run=1, code=0))
    driven.decided.clear()
    driven.start(run=2)
    driven.see(reading(Status.IDLE))
    driven.tell(Ticked(), after=3000.0)
    before = [a.kind for a in admitted(driven.decided)]
    said = (Heard(what="stuck", text="stuck again"),)

    assert before == []
    assert [a.kind for a in admitted(driven.tell(LinesHeard(run=2, heard=said)))] == ["refresh"]


def test_another_run_is_no_new_occasion() -> None:
    """For what is told, and for what was typed before."""
    rule = own('count("log", "x", "5m") >= 1', actions='["notify", {send = "look"}]')
    driven = driver(rule, quiet=0.0)
    hear(driven, "x")
    [send] = [a for a in admitted(driven.decided) if isinstance(a, Send)]
    driven.finish(send)
    driven.decided.clear()
    driven.start(run=2)
    driven.see(reading(Status.IDLE))
    driven.tell(Ticked(), after=60.0)

    assert admitted(driven.decided) == []


def test_what_could_not_be_typed_is_for_the_next_run() -> None:
    """It was in its turn until it crashed."""
    rule = own('count("log", "x", "5m") >= 1', actions='[{send = "look"}]')
    driven = driver(rule, Status.WORKING, quiet=0.0)
    hear(driven, "x")
    driven.start(run=2)
    driven.see(reading(Status.IDLE))
    driven.tell(Ticked(), after=10.0)

    assert [a.kind for a in admitted(driven.decided)] == ["send"]


def test_a_text_waits_for_the_prompt() -> None:
    """It is not typed into a turn; when the turn is over, it is."""
    rule = own('count("log", "x", "5m") >= 1', actions='[{send = "look at the tests"}]')
    driven = driver(rule, Status.WORKING)

    assert hear(driven, "x") == []
    driven.see(reading(Status.IDLE))
    [action] = admitted(driven.decided)
    assert isinstance(action, Send)
    assert action.text == "look at the tests"


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ('"debug_collect"', "bundle"),
        ('"generate_prompt"', "fix-prompt"),
        ('{command = "page"}', "command"),
        ('{notify = "come here"}', "notify"),
        ('"escalate"', "escalate"),
    ],
)
def test_every_other_action_is_one_word(action: str, kind: str) -> None:
    """As the reference says."""
    driven = driver(own('status == "idle"', actions=f"[{action}]"))

    assert [a.kind for a in admitted(driven.decided)] == [kind]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_looked_at(name: str) -> None:
    """And has a value of one type, whatever is known."""
    rule = own(f"{name} == {name}")

    assert rule.check(driver(rule).view, driver(rule).now) is not None


# -- mistakes -------------------------------------------------------------------------------------


def wrong(*rows: str) -> list[str]:
    """What is told of a rule with these rows."""
    base = {"code": 'code = "OWN001"', "name": 'name = "of-mine"', "when": "when = 'age > 1'"}
    for row in rows:
        base[row.split(" = ")[0]] = row
    sheet = parse("\n".join(("[[rule]]", *base.values())), "k.toml")
    assert sheet.book.rules == ()
    return [str(mistake) for mistake in sheet.mistakes]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('code = "x"', "k.toml:2: rule.0.code: expected a code"),
        ('code = "RUN001"', "k.toml:2: rule.0.code: expected a code that no other rule has"),
        ('name = "Not A Name"', "k.toml:3: rule.0.name: expected a name"),
        ('severity = "P7"', "k.toml:5: rule.0.severity: expected 'P0', 'P1' or 'P2'"),
        ('on = ["nothing"]', "k.toml:5: rule.0.on: expected a list of event types"),
        ('actions = ["explode"]', "k.toml:5: rule.0.actions: expected a list of actions"),
        ('actions = ["send"]', "k.toml:5: rule.0.actions: expected a list of actions"),
        ('cooldown = "soon"', "k.toml:5: rule.0.cooldown: expected a time"),
        ("enabled = 1", "k.toml:5: rule.0.enabled: expected true or false"),
        ('mode = "auto"', "k.toml:5: rule.0.mode: expected 'act' or 'observe'"),
        ('cooldwn = "1m"', "did you mean 'cooldown'?"),
        ("when = 'nope > 1'", "expected a name that is known, not 'nope'\n  nope > 1\n  ^"),
        ("when = 'age >'", "expected a condition in CEL, not mismatched input 'the end'"),
        ("when = 'age'", "expected a condition that is true or false, not one that is"),
        ("when = 'age > status'", "expected a condition that is true or false"),
        ("when = 'age > 1 && shout(age)'", "not 'shout'\n  age > 1 && shout(age)\n             ^"),
        ("""when = 'count("log", "(", "5m") > 1'""", "(RE2), not missing ): (\n"),
        ("""when = 'count("log", "x", "soon") > 1'""", "expected a time such as"),
        ("""when = 'count("logs", "x", "5m") > 1'""", "expected one of log, "),
        ("""when = 'count("log", status, "5m") > 1'""", "expected three texts"),
        ('match = ["a line"]', "rule.0.match: expected a table such as"),
        ("match = [{age = 1}]", "expected something for which 'when' is true"),
        ("not_match = [{age = 2}]", "expected something for which 'when' is false"),
        ("match = [{agee = 2}]", "expected only names that are known, not 'agee'"),
    ],
)
def test_a_mistake_names_file_line_and_key(row: str, said: str) -> None:
    """And what was expected there."""
    assert said in "\n".join(wrong(row))


def test_all_mistakes_are_told_at_once() -> None:
    """Five in two rules, and nothing of the file's rules is used."""
    text = f"""{LIMITS}
[[rule]]
code = "x"
name = "y z"
when = 'status = "idle"'
actions = ["explode"]

[[rule]]
code = "OWN001"
name = "doubled"
when = 'age > 1'
"""
    sheet = parse(text, "k.toml")

    assert [m.line for m in sheet.mistakes] == [13, 14, 15, 16, 19]
    assert sheet.book.rules == ()


def test_a_command_that_the_file_does_not_name_is_a_mistake() -> None:
    """At load, and not at night; where the file names none at all they are in another one."""
    rows = ("[[rule]]", 'code = "OWN001"', 'name = "x"', "when = 'true'")
    text = "\n".join((*rows, 'actions = [{command = "pgae"}]'))
    named = text + '\n[commands.page]\nrun = ["page-me"]\n'
    [mistake] = parse(named, "k.toml").mistakes

    assert str(mistake) == (
        "k.toml:5: rule.0.actions: expected a command that is configured (page), not 'pgae'"
    )
    assert parse(named.replace("pgae", "page"), "k.toml").mistakes == ()
    assert parse(text, "k.toml").mistakes == ()


def test_they_are_told_in_the_order_of_their_lines() -> None:
    """Also where only the rules are asked for."""
    rows = ("[[rule]]", 'code = "OWN001"', 'name = "x"', 'when = "agee > 1"', 'mode = "x"')
    mistakes = parse("\n".join((*rows, 'severity = "P9"')), "k.toml").book.mistakes

    assert [each.line for each in mistakes] == sorted(each.line or 0 for each in mistakes)
    assert len(mistakes) >= 3


def test_a_caret_stands_below_the_place() -> None:
    """In the row of the condition."""
    [mistake] = parse("[[rule]]\ncode='A1'\nname='a'\nwhen='age > 1 && agee < 2'", "k").mistakes

    assert mistake.mark == "  age > 1 && agee < 2\n             ^"


def test_a_rule_without_a_condition_is_a_mistake() -> None:
    """It would always be found."""
    [mistake] = parse('[[rule]]\ncode = "A1"\nname = "a"\n', "k").mistakes

    assert str(mistake) == "k:1: rule.0.when: expected this key, not nothing"


@pytest.mark.parametrize("text", ["rule = 3", "rule = [3]", "[rule]\ncode = 1"])
def test_what_is_no_list_of_tables_is_a_mistake(text: str) -> None:
    """And no error of ours."""
    assert parse(text, "k").mistakes


@pytest.mark.parametrize(
    "when",
    [
        "(" * 30 + "true" + ")" * 30,
        "true || " * 200 + "true",
        "lines.all(a, lines.all(b, lines.all(c, a == b)))",
    ],
)
def test_depth_length_and_loops_are_capped(when: str) -> None:
    """A stranger's file must not keep us busy."""
    assert "at most" in "\n".join(wrong(f"when = '{when}'"))


@given(st.text(max_size=80))
def test_no_condition_raises(text: str) -> None:
    """Whatever somebody writes is a rule or a mistake."""
    quoted = text.encode(errors="replace").decode().replace("'", "")
    sheet = parse(f"[[rule]]\ncode='A1'\nname='a'\nwhen='''\n{quoted}'''", "k")

    assert bool(sheet.mistakes) != bool(sheet.book.rules)


# -- a project's file -----------------------------------------------------------------------------


def places(tmp_path: Path, own_text: str, project_text: str) -> Iterator[Path]:
    """The owner's folder and the project's."""
    for name, text in (("own", own_text), ("project", project_text)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "koboshi.toml").write_text(text, encoding="utf-8")
        yield tmp_path / name


@pytest.mark.parametrize("action", ['"restart"', '"refresh"', '{send = "x"}', '{command = "x"}'])
def test_a_stranger_may_not_type_run_or_restart(tmp_path: Path, action: str) -> None:
    """Its rules are left out, and that is told."""
    text = LIMITS.replace('["notify"]', f'["notify", {action}]')
    config, project = places(tmp_path, "", text)
    found = resolve(Subject(agent="a", agent_type="claude", cwd=str(project)), config)

    assert found.rules == ()
    assert "in the file of a project" in str(found.foreign[0])


def test_a_stranger_may_add_rules_that_tell(tmp_path: Path) -> None:
    """But none under a code of the owner's."""
    theirs = LIMITS.replace("too-many-429", "other") + LIMITS.replace("OWN001", "OWN002")
    config, project = places(tmp_path, LIMITS, theirs)
    found = resolve(Subject(agent="a", agent_type="claude", cwd=str(project)), config)

    assert [(rule.code, rule.name) for rule in found.rules] == [
        ("OWN001", "too-many-429"),
        ("OWN002", "too-many-429"),
    ]
    assert "OWN001 is ignored" in found.notes[0]
