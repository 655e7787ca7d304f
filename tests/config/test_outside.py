"""Channels in a file: what is wrong is said without the address; a stranger's are not looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from koboshi.config.addresses import expanded, objection, secrets
from koboshi.config.hours import Hours, hours
from koboshi.config.load import parse
from koboshi.config.owned import owned
from koboshi.config.resolve import Subject, resolve
from koboshi.core.events import Severity

FILE = """\
[notify]
quiet = "22:00-07:00"
group = "1m"

[notify.channels.phone]
url = "ntfys://${KOBOSHI_TEST_TOPIC}"
severity = "P0"
"""


def test_a_channel_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable stays a variable: what is read can be shown."""
    monkeypatch.setenv("KOBOSHI_TEST_TOPIC", "my-agents")
    (tmp_path / "koboshi.toml").write_text(FILE, encoding="utf-8")
    found = owned(tmp_path)

    assert found.mistakes == ()
    notify = found.file.notify
    assert notify.channels["phone"].url == "ntfys://${KOBOSHI_TEST_TOPIC}"
    assert notify.channels["phone"].severity is Severity.P0
    assert (notify.group, notify.quiet) == (60.0, Hours(22 * 60, 7 * 60))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('url = "bogus://x"', "an address that apprise can use here"),
        ('url = "json://user:hunter2secret@127.0.0.1/"', "secret part of the address"),
        ('url = "json://${NOT_SET_ANYWHERE}/"', "NOT_SET_ANYWHERE to be set in the environment"),
        ("url = 3", "an address such as"),
        ('url = ""', "an address such as"),
        ('url = "voicevox://?speaker=x"', "voicevox://HOST:PORT?speaker=NUMBER"),
        ('url = "voicevox://127.0.0.1:99999999"', "voicevox://HOST:PORT?speaker=NUMBER"),
        ('url = "json://127.0.0.1/"\nseverity = "P9"', "'P0', 'P1' or 'P2'"),
        ('url = "json://127.0.0.1/"\nquiet = "at night"', "hours such as '22:00-07:00'"),
        ('url = "json://127.0.0.1/"\nseverty = "P0"', "did you mean 'severity'?"),
        ("", "an address, not none"),
    ],
)
def test_what_is_wrong_is_said_once_and_without_the_address(row: str, expected: str) -> None:
    """With file, line and key."""
    sheet = parse(f"[notify.channels.phone]\n{row}\n", "koboshi.toml")

    (mistake,) = sheet.mistakes
    assert expected in str(mistake)
    assert "hunter2" not in str(mistake)
    assert str(mistake).startswith("koboshi.toml:")
    assert "notify.channels.phone" in str(mistake)


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    """Somebody forgot the name of the channel."""
    sheet = parse('[notify]\nchannels = "slack://hunter2secret/x/y"\n', "koboshi.toml")

    assert len(sheet.mistakes) == 1
    assert "hunter2" not in str(sheet.mistakes[0])


def test_a_strangers_channels_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even checked: to check an address is to give it the secrets that it names."""
    asked: list[str] = []
    monkeypatch.setattr("koboshi.config.outside.objection", asked.append)
    project = tmp_path / "project"
    project.mkdir()
    (project / "koboshi.toml").write_text(FILE, encoding="utf-8")
    subject = Subject(agent="api", agent_type="claude", cwd=str(project))
    found = resolve(subject, tmp_path)

    assert asked == []
    assert found.foreign == ()
    (note,) = found.notes
    assert note == (
        f"{project}/koboshi.toml:1: [notify] is ignored: the file of a project may not set this; "
        "your own koboshi.toml can"
    )


def test_a_broken_file_has_no_channels(tmp_path: Path) -> None:
    """And says so."""
    (tmp_path / "koboshi.toml").write_text("[notify\n", encoding="utf-8")
    found = owned(tmp_path)

    assert found.file.notify.channels == {}
    assert len(found.mistakes) == 1


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("${ALL}", "json://h/@?#"),
        ("json://${PART}@h/", "json://u:p%40s%23@h/"),
        ("json://h/${PLAIN}/${PLAIN}", "json://h/T1/B2/T1/B2"),
        ("json://h/$HOME/${}", "json://h/$HOME/${}"),
    ],
)
def test_variables_become_parts(address: str, url: str) -> None:
    """The whole address is taken as it is; a part cannot become more than a part."""
    around = {"ALL": "json://h/@?#", "PART": "u:p@s#", "PLAIN": "T1/B2"}

    assert expanded(address, around) == url
    assert all(value in {*around.values(), "u:p%40s%23"} for value in secrets(address, around)) or (
        address == "${ALL}"
    )


def test_an_address_from_the_environment_may_hold_secrets() -> None:
    """That is what it is for."""
    around = {"HOOK": "json://user:hunter2@127.0.0.1/"}

    assert objection("${HOOK}", around) == ""
    assert objection("json://user:${P}@127.0.0.1/", {"P": "x"}) == ""


@pytest.mark.parametrize(
    ("text", "minute", "left"),
    [
        ("22:00-07:00", 23 * 60, 8 * 60),
        ("22:00-07:00", 6 * 60 + 59, 1),
        ("22:00-07:00", 7 * 60, 0),
        ("22:00-07:00", 12 * 60, 0),
        ("12:00-13:30", 12 * 60, 90),
        ("9:00-9:00", 9 * 60, 0),
        ("", 0, 0),
    ],
)
def test_hours_go_over_midnight(text: str, minute: float, left: float) -> None:
    """How long they still last."""
    found = hours(text)

    assert found is not None
    assert found.left(minute) == left


@pytest.mark.parametrize("text", ["25:00-07:00", "22-7", "night", "22:00", "22:60-07:00"])
def test_what_is_no_hours_is_none(text: str) -> None:
    """A file that says so is told."""
    assert hours(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[commands.x]\n", "commands.x.run: expected either 'run' or 'shell', not neither"),
        (
            '[commands.x]\nrun = ["a"]\nshell = "b"\n',
            "commands.x.run: expected either 'run' or 'shell', not both",
        ),
        ('[commands.x]\nrun = "a b"\n', "commands.x.run: expected a program and its words"),
        ("[commands.x]\nrun = []\n", "commands.x.run: expected a program and its words"),
        ('[actions.nofity]\nshell = "x"\n', "actions.nofity: expected one of restart, answer"),
        (
            '[actions.start]\nshell = "x"\nwhen = "instead"\n',
            "actions.start.when: expected 'before' or 'after': only restart, send, notify",
        ),
        ('[actions.start]\nshell = "x"\nwhen = "never"\n', "'before', 'after' or 'instead'"),
        (
            "[incidents]\nhand_over = 1\n",
            "incidents.hand_over: expected 'run', 'headless' or 'none'",
        ),
        ("[incidents]\nkeeep = 1\n", "did you mean 'keep'?"),
    ],
)
def test_programs_and_incidents_are_checked(text: str, expected: str) -> None:
    """Once each, with file and line."""
    (mistake,) = parse(text, "koboshi.toml").mistakes

    assert expected in str(mistake)
    assert mistake.line


@pytest.mark.parametrize(
    "name",
    [
        *("restart", "notify", "debug_collect", "generate_prompt", "escalate", "send", "command"),
        *("bundle", "fix-prompt"),
    ],
)
def test_every_action_of_a_rule_can_be_replaced(name: str) -> None:
    """By the words that rules use, and by our own names for them."""
    text = f'[actions.{name}]\nrun = ["x"]\nwhen = "instead"\n'

    assert parse(text, "koboshi.toml").mistakes == ()


@pytest.mark.parametrize("table", ["commands.x", "actions.notify", "incidents"])
def test_a_stranger_runs_no_program(tmp_path: Path, table: str) -> None:
    """Nor says where bundles go."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "koboshi.toml").write_text(f'[{table}]\nshell = "touch /tmp/owned"\n')
    found = resolve(Subject(agent="a", agent_type="x", cwd=str(tmp_path / "p")), tmp_path)

    assert found.foreign == ()
    assert "is ignored: the file of a project may not set this" in found.notes[0]
