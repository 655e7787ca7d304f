"""Writes the pages of docs/ that come from code: rules, command line, configuration, status table.

python scripts/gen_docs.py           write them
python scripts/gen_docs.py --check   exit 1 and name the pages that are stale
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import click
from pydantic import BaseModel

from koboshi.cli.group import VERBS, koboshi
from koboshi.config.durations import shown
from koboshi.config.facts import NAMES
from koboshi.config.facts import TYPES as EVENT_TYPES
from koboshi.config.model import Values, is_time, trust
from koboshi.config.outside import TABLES
from koboshi.config.proposals import KINDS as ACTIONS
from koboshi.config.resolve import plain_value, shown_value
from koboshi.config.rulebook import RuleTable
from koboshi.config.variables import PLAIN, PREFIX, Plain
from koboshi.core import arbiter
from koboshi.core.readings import Status
from koboshi.core.rules import Rule
from koboshi.core.settings import Settings
from koboshi.core.status import TRANSITIONS
from koboshi.rules.catalogue import ALL
from koboshi.rules.pages import read_page

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: Only generated pages live here; a page of a rule that is gone is stale.
OWNED = "rules"
COLUMNS = 80

EXIT_CODES = """\
| code | means |
|---|---|
| 0 | fine |
| 1 | the command ran and found something: `replay`, `lint`, a failed act of `demo` |
| 2 | what was given cannot be used: a word, a file, a name, an id |
| 3 | the journal cannot be used: damaged, or written by a newer koboshi |
| 4 | the surroundings failed: no terminal, disk full, permission denied |
| 5 | not yet: `check` of a task that still runs |
| 130 | ended by Ctrl-C |

A reader that goes away (`| head`) ends a command quietly with 0.
Errors are one line on stderr that begins with `koboshi`, and often a second one with what to do.
`NO_COLOR` turns colours off; there are none when the output is not a terminal.
`COLUMNS` says how wide a page is.
`KOBOSHI_STATE` is the folder of the journals; else `$XDG_STATE_HOME/koboshi`, else
`~/.local/state/koboshi`.
The keys of `--json`: [json.md](json.md).
"""


CONFIGURATION = """\
# Configuration

Later wins: default, your own file, the project's file, environment, command line (`--mode`).

| place | is |
|---|---|
| your own file | `koboshi.toml` in `$KOBOSHI_CONFIG`, else in `~/.config/koboshi` (XDG) |
| the project's file | `koboshi.toml` in the folder the agent works in |
| environment | the variables below, of the shell that typed `koboshi run` or `watch` |

```toml
idle_after = "10m"              # for all agents; a time is "45s", "10m", "1h30m", or seconds
context_max = 70                # percent

[types.claude]                  # for all agents of a type
on_error = {"429" = "retry", "5xx" = "safe-restart"}

[agents.api]                    # for the agent of that name
mode = "auto"
allow = ["npm test", "make check"]

[[answers.rule]]                # rules for questions, for all agents: docs/answers.md
do = "allow"
command = "git status *"
```

In a file a value for a name wins over one for a type, and that over one for all. `on_error` is
put together code by code.

`koboshi config NAME` shows each value and where it comes from, `koboshi config` what an agent
would get that is started here, `koboshi config --check [FILE]` only what is wrong; all with
`--json`. A file that changed counts from the next time an agent is taken up: run, watched, or
after `koboshi daemon restart`.

## Mistakes

All are told at once, each with file, line, key, what was expected and what came. A key that is
not known is a mistake. `koboshi run` and `koboshi watch` refuse to begin with a mistake in your
own file or environment. An agent that is already looked after is never left alone for one: what
is wrong is left out and logged. Only a `mode` that cannot be read becomes `observe`, and an
`allow` that cannot be read allows nothing; so does a whole file of yours that cannot be read.

## A project's file is a stranger's

It may come with a repository. It can ask for less, never for more: "only lower", "only higher"
and "only fewer" are measured against your own file. It cannot set anything that is typed or run.
What it may not set is left out and told.

## Values
"""

OUTSIDE = """\
## Tables of your own file alone

A project's file may not have them: they reach people and run programs. They are read again a few
seconds after the file has changed; a bad edit keeps what was good, and the daemon's log says so.

```toml
[notify]
quiet = "22:00-07:00"                   # only P0 wakes

[notify.channels.phone]
url = "ntfys://${NTFY_TOPIC}"           # secrets come from the environment of the daemon

[notify.channels.desk]
url = "voicevox://127.0.0.1:50021?speaker=3"
severity = "P0"
```

`koboshi notify test` tries every channel. What is to be told is kept in `notices.json` of the state
folder until it is out: a channel that does not work is tried again after 5 s, 10 s … 15 minutes,
three days long, and holds up no other. What comes within `group` is one message with a count.

```toml
[incidents]
upload = "s3://my-nights/koboshi"       # keys from the environment of the daemon

[actions.escalate]                      # a program with every action of that kind
run = ["~/bin/page-me", "--loud"]
timeout = "10s"

[actions.restart]                       # a program in the place of that action
run = ["~/bin/raise"]
when = "instead"

[commands.tidy]                         # a program that a rule can run
shell = "docker compose restart db"
```

Bundles are in `agents/NAME/bundles` of the state folder, prompts in `agents/NAME/prompts`. An
upload that did not work is kept in `uploads` there and tried again after 5 s, 10 s … 15 minutes,
three days long, also by a daemon that was started meanwhile; the journal has what came of it.

A program gets one JSON object on its standard input: `reason`, `eventId`, `severity`, `details`
(the action, the rule, its evidence, the outcome) and `context` (agent, run, status, last lines,
paths). Its exit code and the end of what it prints are in the journal. One that runs longer than
its `timeout` is killed with all it started, and has failed.

- `before`: the action waits for the program and is then done, whatever came of it: a broken program
  leaves no agent lying.
- `after`: the program runs when the action was done or has failed, not when it was put off; nothing
  waits for it.
- `instead`: nothing but the program is run. Its exit code is what came of the action: 0 is done,
  everything else has failed, and koboshi does not do it after all. `send` gets the text as
  `details.action.text`.

`restart` is every start but an agent's first, also the one of a refresh, after the work was saved
and the old run has ended; it is within the one restart budget whoever does it. `details.argv` says
what koboshi would start. In a pane of your own (`koboshi watch`) the program has to start the agent
there: it is done when the agent is seen at work in it, within 30 s. In a terminal of koboshi's own
nobody else can start a run: there the program says by its exit code whether, and koboshi opens the
terminal (`restart_command` says with what).
"""

RULES = """\
## Rules of your own

```toml
[[rule]]
code = "OWN001"
name = "too-many-429"
severity = "P0"
on = ["log"]
when = 'count("log", "429", "5m") >= 3 && status != "limited"'
match = ["HTTP 429 Too Many Requests"]            # run when the file is read
not_match = ["HTTP 200", {log = ["429"], status = "idle"}]
actions = ["notify", {send = "Slow down: one request at a time."}]
cooldown = "10m"
```

A rule looks at what is known, after every event; `on` only says when to look, so that what could
not be done at one moment is asked for again at the next. The same occasion (something new that was
heard, an event of `on`, a stretch of one status) is acted upon once.

`when` is [CEL](https://cel.dev): `&&`, `||`, `!`, `==`, `<`, `in`, `lines.exists(l, …)`, at most
1,000 characters. `count(type, pattern, window)` takes three texts: how often an event of that type
with that pattern (RE2, linear time) was there within that time. For `log` these are new lines of
the agent's own: its messages, the errors that its CLI reports, and what stands there without any
form, as a crash does; not what a person typed, nor what a tool printed or a file has. It counts to
128. Of other events the last 128 of the agent are known, and of those that come with every look
(`screen-read`, `signal-read`, `hook-read`, `hook-over`, `person-typed`) those among its last 32.

A file that changed is read again within a few seconds, without any restart. All mistakes are told
at once, with file, line, key and a caret; then the rules that were good go on. The rules of a
project's file may `notify`, `escalate`, `debug_collect` and `generate_prompt`, nothing else.
`koboshi lint FILE` runs them over a log, `koboshi replay NAME --rules FILE` over an old journal.
In Python: a plug-in (`koboshi/plugins/hookspecs.py`).
"""

VARIABLES = """\
## Plain variables

`koboshi watch` reads these, too; the `KOBOSHI_…` variable of the same value wins. An empty
variable is one that is not set (but an empty `KOBOSHI_ALLOW` allows nothing). `KOBOSHI_ALLOW` has
a command per line, or is a JSON list; `KOBOSHI_ON_ERROR` is `429=retry,5xx=skip`.
"""


def pages() -> dict[str, str]:
    """Every generated page: path below docs/ → text."""
    rules = sorted(ALL, key=lambda rule: rule.code)
    made = {f"{OWNED}/{rule.code}.md": _rule(rule) for rule in rules}
    made[f"{OWNED}/index.md"] = _index(rules)
    made["reference/cli.md"] = _command_line()
    made["reference/config.md"] = _configuration()
    made["status.md"] = _statuses()
    return {path: f"{text.rstrip()}\n" for path, text in made.items()}


def stale(folder: Path = DOCS) -> list[str]:
    """Pages that differ from what the code says, and pages of rules that are gone."""
    wanted = pages()
    differ = [p for p, text in wanted.items() if _text(folder / p) != text]
    gone = [
        path
        for page in sorted((folder / OWNED).glob("*"))
        if (path := f"{OWNED}/{page.name}") not in wanted
    ]
    return differ + gone


def write(folder: Path = DOCS) -> list[str]:
    """Bring the pages up to date; says which ones changed."""
    wanted, changed = pages(), stale(folder)
    for path in changed:
        page = folder / path
        if path not in wanted:
            page.unlink()
            continue
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(wanted[path], encoding="utf-8")
    return changed


def _text(page: Path) -> str | None:
    return page.read_text(encoding="utf-8") if page.is_file() else None


def _rule(rule: Rule) -> str:
    return f"# {rule.code} {rule.name}\n\nSeverity {rule.severity.value}.\n{rule.page}\n"


def _index(rules: list[Rule]) -> str:
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} "
        f"| {read_page(rule.page)[0]} |"
        for rule in rules
    ]
    head = "# Rules\n\n`koboshi rules CODE` shows the same pages.\n"
    return "\n".join([head, "| code | name | severity | found when |", "|---|---|---|---|", *rows])


def _command_line() -> str:
    parts = ["# Command line", "## Exit codes", EXIT_CODES, "## koboshi", _help(koboshi)]
    with click.Context(koboshi, info_name="koboshi") as parent:
        for name in sorted(VERBS):
            command = koboshi.get_command(parent, name)
            if command is not None:
                parts += [f"## koboshi {name}", _help(command, parent)]
                parts += _below(command, parent)
    return "\n\n".join(part.strip() for part in parts)


def _configuration() -> str:
    """The page of the model: every field with its default, its variable and its sentence."""
    defaults = Settings()
    parts = [CONFIGURATION]
    for name, field in Values.model_fields.items():
        value = getattr(defaults, name)
        default = shown_value(name, value) if plain_value(name, value) else "none"
        if isinstance(value, int | float) and not value:
            default = "0"
        told = " ".join((field.description or "").split())
        rows = [f"### {name}", "", told]
        facts = (
            f"Default: {default} · `{PREFIX}{name.upper()}` · project's file: {trust(name).value}"
        )
        parts.append("\n".join([*rows, "", facts]))
    parts += [RULES, _table("[rule]", RuleTable), _words()]
    parts.append(OUTSIDE)
    parts += [_table(name, table) for name, table in TABLES.items()]
    rows = ["| variable | sets | a bare number is |", "|---|---|---|"]
    for variable, plain in PLAIN.items():
        rows.append(f"| `{variable}` | `{plain.field}` | {_unit(plain)} |")
    rows.append("| `ON_ERR_400_ACTION` … `ON_ERR_5XX_ACTION` | `on_error` for that code | |")
    rows.append(
        "| `TARGET`, else `SESSION` | the TARGET of `koboshi watch` where none is given | |"
    )
    return "\n\n".join(part.strip() for part in [*parts, VARIABLES, "\n".join(rows)])


def _words() -> str:
    """What a condition can look at, and what a rule can ask for."""
    rows = ["### Names in `when`", "", "| name | is |", "|---|---|"]
    rows += [f"| `{name}` | {told} |" for name, (told, _) in NAMES.items()]
    types = ", ".join(f"`{each}`" for each in EVENT_TYPES)
    acts = ", ".join(f"`{each}`" for each in ACTIONS)
    rows += ["", f"Types of events: {types}.", "", f"Actions: {acts}. `send` needs a text,"]
    rows += ["`command` the name of a program (`[commands.NAME]`). `restart` goes on with the same"]
    rows += [
        "session in a new process, `refresh` with a fresh one and a note; both save first, at a"
    ]
    rows += ["turn boundary, within the one restart budget, and by one rule once in half an hour"]
    rows += ["where it has no `cooldown`."]
    return "\n".join(rows)


def _table(name: str, table: type[BaseModel]) -> str:
    """One table of the owner's file."""
    rows = [f"### [{name}]", ""]
    for key, field in table.model_fields.items():
        told = " ".join((field.description or "").split())
        rows.append(f"- `{key}`{_default(field.get_default(call_default_factory=True))}: {told}")
    return "\n".join(rows)


def _default(value: object) -> str:
    """In words, where there is one."""
    if isinstance(value, float):
        return f" [{shown(value)}]"
    if isinstance(value, Enum):
        return f" [`{value.value}`]"
    if isinstance(value, bool):
        return f" [`{str(value).lower()}`]"
    return f" [`{value}`]" if isinstance(value, str | int) and value else ""


def _unit(plain: Plain) -> str:
    if plain.unit == "m":
        return "minutes"
    if isinstance(getattr(Settings(), plain.field), str | int):
        return ""
    return "seconds" if is_time(plain.field) else "percent"


def _below(command: click.Command, parent: click.Context) -> list[str]:
    """The commands of a command that has some."""
    parts = []
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=command.name, parent=parent)
        for name, each in command.commands.items():
            parts += [f"### koboshi {command.name} {name}", _help(each, context)]
    return parts


def _help(command: click.Command, parent: click.Context | None = None) -> str:
    name = command.name or "koboshi"
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=COLUMNS,
        max_content_width=COLUMNS,
    )
    rows = (row.rstrip() for row in command.get_help(context).split("\n"))
    return "```text\n" + "\n".join(rows) + "\n```"


def _statuses() -> str:
    names = list(Status)
    rows = [
        "| from ↓ to → | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
        *(f"| **{before}** | " + " | ".join(_cells(before)) + " |" for before in names),
    ]
    text = """\
# Status

What evidence about one run may turn a status into; from `core/status.py`.
A claim that is not in the table is a contradiction: the status becomes `unknown`.
A run that is gone stays gone; a new run begins at `starting`.
"""
    return "\n".join([text, *rows, "", "```mermaid", *_diagram(), "```", "", _fusion()])


def _fusion() -> str:
    """How signals become one status: the page of the arbiter, which is its docstring."""
    page = inspect.cleandoc(arbiter.__doc__ or "").partition("\n")[2].strip()
    return f"## From signals to a status\n\nFrom `core/arbiter.py`.\n{page}"


def _cells(before: Status) -> Iterator[str]:
    for after in Status:
        may = "yes" if after in TRANSITIONS[before] else ""
        yield "·" if after is before else may


def _diagram() -> Iterator[str]:
    """Statuses with the same arrows out and in, also to each other, are one box."""
    boxes: dict[tuple[frozenset[Status], ...], list[Status]] = {}
    for status in Status:
        before = frozenset(s for s in Status if status in TRANSITIONS[s])
        boxes.setdefault((TRANSITIONS[status] | {status}, before | {status}), []).append(status)
    name_of = {status: "_".join(box) for box in boxes.values() for status in box}
    yield "stateDiagram-v2"
    for box in boxes.values():
        yield f"    {'_'.join(box)}: {' ⇄ '.join(box)}"
    yield f"    [*] --> {name_of[Status.STARTING]}: a run starts"
    arrows = {(name_of[a], name_of[b]): None for a in Status for b in Status if b in TRANSITIONS[a]}
    for one, other in arrows:
        if one != other:
            yield f"    {one} --> {other}"


def main() -> int:
    """Write, or check."""
    if "--check" in sys.argv[1:]:
        old = stale()
        for path in old:
            print(f"docs/{path} is stale: run `make docs`")
        return int(bool(old))
    for path in write():
        print(f"docs/{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
