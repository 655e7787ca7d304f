"""What a night is made of: settings, a script for the agent, and what befalls it; from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.actions import Mode
from koboshi.core.settings import Settings
from koboshi.scripted.behaviour import (
    Act,
    Ask,
    Compact,
    Crash,
    Done,
    EndTurn,
    Fail,
    Hang,
    Limit,
    Retry,
    Script,
    Work,
)

if TYPE_CHECKING:
    from random import Random

COMMANDS = ("npm test", "make build", "git status")
#: Never allowed by the policy: a person must answer.
FORBIDDEN = "rm -rf build"
#: Refused by the policy, which says why.
DENIED = "git push --force"


def draw_settings(random: Random, more: Random) -> Settings:
    """A compressed night: the same proportions, less waiting."""
    return Settings(
        mode=Mode.AUTO if random.random() < 0.8 else Mode.KEEP,
        allow=COMMANDS,
        save_every=more.choice((0.0, 90.0)),
        hang_after=more.choice((60.0, 120.0)),
        calls_max=3,
        tasks=more.choice(("", "", "TASKS.md")),
        idle_after=random.choice((15.0, 40.0)),
        context_max=random.choice((0.0, 70.0)),
        run_max=random.choice((0.0, 250.0)),
        starting_max=10.0,
        unknown_after=60.0,
        failed_base=10.0,
        failed_max=60.0,
        limit_slack=2.0,
        limit_blind=120.0,
        person_hold=10.0,
        send_cooldown=10.0,
        answer_cooldown=random.choice((0.0, 5.0)),
        refresh_gap=60.0,
        healthy_after=60.0,
        intensity=random.choice((3, 5)),
        period=random.choice((300.0, 900.0)),
        refresh_wait=random.choice((0.0, 0.0, 20.0)),
        limit_spread=random.choice((0.0, 20.0)),
        save_text=random.choice(("", "", "/save {name}")),
        load_text=random.choice(("", "/load {name}")),
    )


def draw_script(random: Random, more: Random) -> Script:
    """What the agent has to do, and what befalls it meanwhile."""
    acts: list[Act] = []
    for _ in range(random.randint(4, 12)):
        acts.append(Work(seconds=random.uniform(1, 30), say="step", context=random.uniform(2, 25)))
        dice = random.random()
        if dice < 0.30:
            command = FORBIDDEN if random.random() < 0.1 else random.choice(COMMANDS)
            # The same words again, with no gap between: a poll cannot see that it is another one.
            acts.extend([Ask(command=command)] * random.choice((1, 1, 2, 3)))
        elif dice < 0.45:
            acts.append(EndTurn())
        elif dice < 0.57:
            acts.append(Crash(code=1, signal=random.choice((None, 9, 11))))
        elif dice < 0.65:
            acts.append(Limit(seconds=random.uniform(5, 120)))
        elif dice < 0.73:
            acts.append(Fail(code=random.choice(("500", "529"))))
        elif dice < 0.78:
            acts.append(Retry(seconds=random.uniform(2, 20)))
        elif dice < 0.82:
            acts.append(Compact(seconds=5))
        acts.extend(draw_trouble(more))
    return (*acts, Done())


def draw_trouble(more: Random) -> list[Act]:
    """What does not heal by itself: a refused request, a turn that hangs, a circle."""
    dice = more.random()
    if dice < 0.06:
        code = more.choice(("400", "401", "403", "429", "529"))
        return [Fail(code=code)] * more.choice((1, 3, 4, 5))
    if dice < 0.12:
        return [Hang()]
    if dice < 0.14:
        return [Ask(command=more.choice(COMMANDS))] * 7
    return []


def draw_rarities(rare: Random, script: Script) -> Script:
    """The script with what befalls few nights, drawn apart: the others stay as they are."""
    acts = list(script)
    if rare.random() < 0.15:
        code = rare.choice(("429", "500", "529"))
        acts.insert(rare.randrange(len(acts)), Fail(code=code, seconds=rare.uniform(300, 1200)))
    return tuple(acts)


def draw_questions(rare: Random, script: Script) -> Script:
    """The script with questions that the policy refuses, drawn apart."""
    acts = list(script)
    while rare.random() < 0.4:
        where = rare.randrange(len(acts))
        acts[where:where] = [Ask(command=DENIED)] * rare.choice((1, 1, 2, 3))
    return tuple(acts)
