"""`koboshi why`: from what was seen to what was done, or not done."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from koboshi.core.events import Event
    from koboshi.core.view import Belief
    from koboshi.store.queries import Chain, Story

#: Decisions shown unless --all.
RECENT = 20

_EPILOG = """\b
Examples:
  koboshi why NAME
  koboshi why NAME --event e42
  koboshi why M1.md
  koboshi why NAME --all --json | jq '.[] | select(.verdict.admitted)'

\b
Exit codes: 0 fine · 2 no such agent or event · 3 the journal cannot be used
"""


@click.command(epilog=_EPILOG)
@click.argument("name")
@click.option("--event", metavar="ID", help="Only what this event caused or ended, such as e42.")
@click.option("--all", "everything", is_flag=True, help=f"All decisions, not the last {RECENT}.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of JSON objects.")
def why(*, name: str, event: str | None, everything: bool, as_json: bool) -> None:
    """Tell why something was done about the agent or plan NAME, or was not.

    For each decision: what was seen, which rule spoke, what it proposed, what the gate said, and
    what came of it. A plan is named by its file.
    """
    from koboshi.daemon.control.masking import Masks
    from koboshi.store.paths import known_journal_dir, state_dir
    from koboshi.store.queries import about_event, chain_facts, event_number, recent
    from koboshi.store.roster import Roster
    from koboshi.store.shelves import DiskShelf

    from .loop.telling import plan_meant, tell_why
    from .printing import say, to_json

    if plan := plan_meant(name):
        tell_why(plan, event, None if everything else RECENT, as_json=as_json)
        return
    state = state_dir()
    shelf, masks = DiskShelf(known_journal_dir(state, name)), Masks(Roster(state))
    if event is not None:
        story = about_event(shelf, event_number(event))
    else:
        story = recent(shelf, None if everything else RECENT)
    if as_json:
        say(to_json(masks.value(name, [chain_facts(chain) for chain in story.chains])))
    else:
        _tell(story, partial(masks.text, name))


def _tell(story: Story, masked: Callable[..., str]) -> None:
    from .printing import COLUMNS, columns, day, paint, say

    room = columns() or COLUMNS
    today = ""
    if story.event is not None and story.belief is not None:
        today = day(story.event.now.utc)
        say(paint(today, "bold"))
        say(masked(_event_words(story.event, story.belief, room), cols=room))
    if not story.chains:
        say("nothing was decided then" if story.event else "nothing was decided yet")
    for chain in story.chains:
        date = day(chain.decision.now.utc)
        if date != today:
            say(paint(date, "bold"))
            today = date
        say("")
        say(masked(chain_words(chain, room), cols=room))


def _event_words(event: Event, belief: Belief, room: int) -> str:
    from koboshi.store.wording import event_words

    from .printing import clock, labelled, plain

    words = plain(f"{event.id} {event_words(event.body)}")
    rows = [labelled(clock(event.now.utc), words, room, indent=0)]
    status = plain(f"{belief.status.value}: {belief.reason.replace('_', ' ')}")
    rows.append(labelled("status", status, room))
    return "\n".join(rows)


def chain_words(chain: Chain, room: int) -> str:
    """One decision, from what was seen to what came of it, in rows of that width."""
    from koboshi.store.wording import action_words, event_words, verdict_words

    from .colours import SEVERITY_COLOURS
    from .printing import clock, labelled, paint, plain, wrap

    finding, verdict = chain.decision.finding, chain.decision.verdict
    head = f"{clock(chain.decision.now.utc)} {finding.code} {finding.name}"
    first, *more = wrap(plain(head), room)
    rows = [paint(first, SEVERITY_COLOURS[finding.severity]), *more]
    rows.append(labelled("seen", plain(f"{chain.cause.id} {event_words(chain.cause.body)}"), room))
    rows += [labelled("", plain(line.strip()), room, mark="│ ") for line in finding.evidence]
    rows.append(labelled("found", plain(finding.message), room))
    rows.append(labelled("action", plain(action_words(chain.decision.action)), room))
    rows.append(labelled("verdict", plain(verdict_words(verdict)), room))
    if verdict.admitted:
        rows += [labelled("touched", _touched(chain), room)]
        rows += [labelled("outcome", plain(_outcome(chain)), room)]
    return "\n".join(rows)


def _touched(chain: Chain) -> str:
    from .printing import clock

    return f"from {clock(chain.touched.utc)} on" if chain.touched else "nothing outside"


def _outcome(chain: Chain) -> str:
    from koboshi.core.events import ActionFinished

    from .printing import clock

    event = chain.outcome
    if event is None or not isinstance(event.body, ActionFinished):
        return "not written yet"
    outcome = event.body.outcome
    reason = f": {outcome.why}" if outcome.why else ""
    return f"{outcome.ending.value} at {clock(event.now.utc)} ({event.id}){reason}"
