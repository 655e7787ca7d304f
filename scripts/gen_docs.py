"""Writes the pages of docs/ that come from code: rules, command line, configuration, status table.

python scripts/gen_docs.py           write them
python scripts/gen_docs.py --check   exit 1 and name the pages that are stale
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from koboshi.cli.group import VERBS, koboshi
from koboshi.cli.rules import read_page
from koboshi.config.model import Values, is_time, trust
from koboshi.config.resolve import plain_value, shown_value
from koboshi.config.variables import PLAIN, PREFIX, Plain
from koboshi.core import arbiter
from koboshi.core.readings import Status
from koboshi.core.rules import Rule
from koboshi.core.settings import Settings
from koboshi.core.status import TRANSITIONS
from koboshi.rules.catalogue import ALL

DOCS = Path(__file__).resolve().parent.parent / "docs"
#: Only generated pages live here; a page of a rule that is gone is stale.
OWNED = "rules"
COLUMNS = 80

EXIT_CODES = """\
| code | means |
|---|---|
| 0 | fine |
| 1 | the command ran and found something: `replay` a difference, `demo` an act that failed |
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
    rows = ["| variable | sets | a bare number is |", "|---|---|---|"]
    for variable, plain in PLAIN.items():
        rows.append(f"| `{variable}` | `{plain.field}` | {_unit(plain)} |")
    rows.append("| `ON_ERR_400_ACTION` … `ON_ERR_5XX_ACTION` | `on_error` for that code | |")
    rows.append(
        "| `TARGET`, else `SESSION` | the TARGET of `koboshi watch` where none is given | |"
    )
    return "\n\n".join(part.strip() for part in [*parts, VARIABLES, "\n".join(rows)])


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
