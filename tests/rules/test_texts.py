"""TXT: what an agent prints, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koboshi.adapters.hearing import Ear
from koboshi.core.actions import Bundle, Escalate, FixPrompt, Notify
from koboshi.core.events import Heard, LinesHeard, RunExited, Severity, Ticked
from koboshi.core.gate import Word
from koboshi.core.readings import Status
from koboshi.core.rules import ERRORS
from koboshi.core.settings import Settings
from koboshi.core.view import THINGS
from koboshi.rules import BUILTIN, texts
from tests.core.worlds import Driver, admitted, blank, reading, words

FATAL, MEMORY = texts.FATAL[2], texts.MEMORY[0]


def at_work(settings: Settings | None = None) -> Driver:
    """An agent in its turn."""
    driver = Driver(blank(settings or Settings(silence_after=0.0)))
    driver.start()
    driver.see(reading(Status.WORKING))
    return driver


def of_type(driver: Driver, kind: str) -> Driver:
    """The same, of another program."""
    view = driver.world.view
    context = replace(view.context, agent_type=kind)
    driver.world = replace(driver.world, view=replace(view, context=context))
    return driver


def claude_at_work() -> Driver:
    """Of a CLI whose limits are known by their own sign."""
    return of_type(at_work(), "claude")


def hear(driver: Driver, what: str, text: str, *, times: int = 1, after: float = 1.0) -> list[str]:
    """That stands in new lines; what is done about it."""
    body = LinesHeard(run=1, heard=(Heard(what=what, text=text, times=times),))
    return [a.kind for a in admitted(driver.tell(body, after=after))]


def test_fatal_words_are_told_once_per_occurrence() -> None:
    """And a prompt is written; time alone tells nothing again."""
    driver = at_work()

    assert hear(driver, FATAL, "Fatal error: x") == ["notify", "fix-prompt"]
    assert admitted(driver.tell(Ticked(), after=30.0)) == []
    assert hear(driver, FATAL, "Fatal error: y", after=61.0) == ["notify", "fix-prompt"]


def test_another_run_makes_no_old_words_new() -> None:
    """What the run before printed was told; a restart within the five minutes is no occurrence."""
    driver = at_work()
    hear(driver, FATAL, "Fatal error: x")
    hear(driver, MEMORY, "out of memory")
    hear(driver, f"{ERRORS}typeerror", "TypeError: x", times=3)
    driver.tell(RunExited(run=1, code=1))
    driver.decided.clear()
    driver.start(run=2)
    driver.see(reading(Status.WORKING))
    driver.tell(Ticked(), after=90.0)
    words = {d.finding.code for d in driver.decided if d.verdict.admitted}

    assert words & {"TXT001", "TXT002", "TXT004"} == set()


def test_words_are_told_again_whatever_was_heard_in_between() -> None:
    """What is heard is forgotten when much else is; that it was told before is no reason then."""
    driver = at_work()
    hear(driver, FATAL, "Fatal error: x")
    many = tuple(Heard(what=f"{ERRORS}{n}", text="Error: n") for n in range(THINGS))
    driver.tell(LinesHeard(run=1, heard=many), after=61.0)

    assert hear(driver, FATAL, "Fatal error: y") == ["notify", "fix-prompt"]


def test_fatal_words_restart_nothing() -> None:
    """An agent that works on a SIGTERM bug prints the word all day."""
    driver = at_work()
    for _ in range(50):
        hear(driver, texts.FATAL[4], "the SIGTERM handler", after=20.0)

    kinds = {type(action) for action in admitted(driver.decided)}

    assert kinds == {Notify, FixPrompt}


@pytest.mark.parametrize(
    "line",
    [
        'API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}',
        "HTTP/1.1 429 Too Many Requests",
        "Rate limit exceeded, retry in 20 s",
        "You've hit your usage limit · resets 9:58am",
        "Claude usage limit reached",
        "Error: RESOURCE_EXHAUSTED",
    ],
)
def test_a_limit_as_programs_word_it_is_heard(line: str) -> None:
    """By one pattern at least, as RE2 reads it."""
    assert [each.text for each in Ear(texts.LIMIT).hear([line])][:1] == [line]


@pytest.mark.parametrize(
    "line", ["I add a rate limit to /login", "429 lines changed", "the limit is 10 MB"]
)
def test_words_about_limits_are_none(line: str) -> None:
    """An agent that works on a rate limiter speaks of them all day."""
    assert Ear(texts.LIMIT).hear([line]) == ()


def test_a_printed_limit_is_told_and_restarts_nothing() -> None:
    """Once in ten minutes, and of agents whose limits are not known otherwise."""
    driver = at_work()
    view = driver.world.view
    driver.world = replace(
        driver.world, view=replace(view, context=replace(view.context, agent_type="generic"))
    )

    assert hear(driver, texts.LIMIT[0], "429 Too Many Requests") == ["notify"]
    for _ in range(10):
        assert hear(driver, texts.LIMIT[0], "429 Too Many Requests", after=50.0) == []
    assert hear(driver, texts.LIMIT[0], "429 Too Many Requests", after=110.0) == ["notify"]
    assert hear(claude_at_work(), texts.LIMIT[0], "429 Too Many Requests") == []


def test_a_storm_of_fatal_words_is_told_once_a_minute() -> None:
    """The rest is cooling down, and the latest is told when that is over."""
    driver = at_work()
    told = [hear(driver, FATAL, f"Fatal error {n}") for n in range(130)]

    assert sum(1 for kinds in told if "notify" in kinds) == 3
    assert Word.COOLING in {d.verdict.word for d in driver.decided}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (2, []),
        (3, ["notify", "fix-prompt"]),
        (5, ["notify", "fix-prompt", "escalate"]),
    ],
)
def test_the_same_error_again_and_again(times: int, expected: list[str]) -> None:
    """Three times: told; five times: asked."""
    driver = at_work()

    assert hear(driver, f"{ERRORS}typeerror", "TypeError: x", times=times) == expected


def test_different_errors_are_not_the_same() -> None:
    """However many."""
    driver = at_work()

    assert [hear(driver, f"{ERRORS}{n}", f"Error: {n}", times=2) for n in range(9)] == [[]] * 9


def test_old_errors_do_not_count() -> None:
    """Two, and another one much later."""
    driver = at_work()
    hear(driver, f"{ERRORS}x", "Error: x", times=2)

    assert hear(driver, f"{ERRORS}x", "Error: x", after=texts.AGAIN + 1.0) == []


def test_no_memory_is_told() -> None:
    """P1."""
    driver = at_work()
    hear(driver, MEMORY, "JavaScript heap out of memory")

    [note] = admitted(driver.decided)

    assert isinstance(note, Notify)
    assert note.severity is Severity.P1


def test_silence_is_told_once_per_turn() -> None:
    """Thirty seconds without a sign of work."""
    driver = at_work(Settings())
    for _ in range(9):
        driver.tell(Ticked(), after=10.0)

    assert [a.kind for a in admitted(driver.decided)] == ["notify"]


def test_silence_of_any_program_is_told() -> None:
    """Of which no turns are known: once for a silence, and seldom however often it pauses."""
    quiet = Settings(silence_after=30.0, unknown_after=9e9)
    driver = of_type(Driver(blank(quiet)), "generic")
    driver.start()
    driver.see(reading(Status.UNKNOWN))
    for _ in range(3):
        driver.tell(Ticked(), after=40.0)
    for _ in range(5):
        driver.see(reading(Status.UNKNOWN, lines=(f"row {driver.at}",)))
        driver.tell(Ticked(), after=31.0)
    soon = [a.kind for a in admitted(driver.decided)]
    driver.see(reading(Status.UNKNOWN, lines=("waiting for the lock",)), after=600.0)
    driver.tell(Ticked(), after=31.0)

    assert soon == ["notify"]
    assert [a.kind for a in admitted(driver.decided)] == ["notify", "escalate"]


def test_silence_of_one_who_waits_asks_a_person() -> None:
    """`Waiting for …` stands in its last lines."""
    driver = Driver(blank(Settings()))
    driver.start()
    driver.see(reading(Status.WORKING, lines=("● Waiting for your approval",)))
    driver.tell(Ticked(), after=31.0)

    [asked] = admitted(driver.decided)

    assert isinstance(asked, Escalate)
    assert "Waiting for your approval" in asked.text


@pytest.mark.parametrize("status", [Status.IDLE, Status.STARTING])
def test_who_does_not_work_may_be_silent(status: Status) -> None:
    """Other rules look after them."""
    driver = Driver(blank(Settings(idle_after=1e6)))
    driver.start()
    driver.see(reading(status))
    driver.tell(Ticked(), after=50.0)

    assert admitted(driver.decided) == []


@pytest.mark.parametrize("end", [RunExited(run=1, code=1), RunExited(run=1, signal=9)])
def test_a_bad_end_is_told_and_bundled(end: RunExited) -> None:
    """Beside the restart."""
    driver = at_work()
    decided = driver.tell(end)

    tellings = [a for a in admitted(decided) if isinstance(a, Notify | Bundle)]

    assert [type(a) for a in tellings] == [Notify, Bundle]


@pytest.mark.parametrize(
    "end",
    [
        RunExited(run=1, code=0),
        RunExited(run=1, code=1, meant=True),
        RunExited(run=1),
        RunExited(run=1, code=130),
        RunExited(run=1, signal=2),
    ],
)
def test_other_ends_are_not(end: RunExited) -> None:
    """Nothing is known of an error, or a person pressed the key."""
    driver = at_work()
    decided = driver.tell(end)

    assert not [key for key, _ in words(decided) if key == "1.exit.bundle"]


def test_an_interrupt_by_a_person_is_noted() -> None:
    """For the record; koboshi's own is not."""
    driver = at_work()
    shown = reading(Status.IDLE)
    driver.see(type(shown)(status=Status.IDLE, reason="interrupted", lines=shown.lines))

    assert [key for key, _ in words(tuple(driver.decided))] == ["1.broken1.notify"]


def test_more_fatal_words_can_be_set() -> None:
    """By `fatal_text`; those that are built in stay."""
    driver = at_work(Settings(silence_after=0.0, fatal_text=("segfault",)))

    assert hear(driver, "segfault", "a segfault") == ["notify", "fix-prompt"]
    assert hear(driver, FATAL, "Fatal error", after=61.0) == ["notify", "fix-prompt"]
    assert hear(at_work(), "segfault", "a segfault") == []


@pytest.mark.parametrize(
    ("most", "times", "expected"),
    [
        (2, 2, ["notify", "fix-prompt"]),
        (2, 4, ["notify", "fix-prompt", "escalate"]),
        (9, 8, []),
        (0, 99, []),
    ],
)
def test_how_often_the_same_error_may_come_can_be_set(
    most: int, times: int, expected: list[str]
) -> None:
    """Two more, and a person is asked; 0 is off."""
    driver = at_work(Settings(silence_after=0.0, same_error_max=most))

    assert hear(driver, f"{ERRORS}typeerror", "TypeError: x", times=times) == expected


def test_what_is_built_in_has_the_severity_of_its_kind() -> None:
    """Exits, fatal words and limits now; silence, errors, memory soon; what was meant is noted."""
    severities = {rule.code: rule.severity.value for rule in BUILTIN}
    wanted = {
        "P0": ("RUN001", "TXT005", "TXT001", "LIM001", "TXT007", "RUN002"),
        "P1": ("TXT003", "TXT002", "TXT004"),
        "P2": ("RUN003", "TXT006"),
    }

    assert {code: severities[code] for codes in wanted.values() for code in codes} == {
        code: severity for severity, codes in wanted.items() for code in codes
    }
