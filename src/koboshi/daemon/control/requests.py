"""What a request may hold: anything else is refused, with its key."""

from __future__ import annotations

import msgspec


class NameArgs(msgspec.Struct, forbid_unknown_fields=True):
    """What takes the name of an agent."""

    name: str
    wait: float = 0.0


class StopArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`stop`."""

    name: str
    force: bool = False
    wait: float = 0.0


class SendArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`send`."""

    name: str
    text: str
    at_once: bool = False
    wait: float = 0.0


class ReloadArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`reload`."""

    name: str
    reason: str = ""
    context: str = ""
    fresh: bool = False
    run: int = 0  #: of the shell that asks; 0: a person's


class ModeArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`mode`."""

    name: str
    mode: str


class AnswerArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`answer`."""

    id: str
    text: str
    wait: float = 0.0


class OrderArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`order`."""

    name: str
    order: str


class AboutArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`bundle` and `prompt`: what it is about."""

    name: str
    text: str = ""


class NoticeArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`notice`."""

    text: str
    severity: str = "P1"
    asks: bool = False
    agent: str = ""
    key: str = ""  # of the occasion: the same one is told once
    over: bool = False  # nothing is told; what people were asked about it is over


class FollowArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`follow`: all since the number `after` of the daemon `epoch`."""

    epoch: str = ""
    after: int = 0
    wait: float = 0.0


class PictureArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`picture`: the next after the number `after` of the daemon `epoch`."""

    name: str
    epoch: str = ""
    after: int = 0
    wait: float = 0.0


class TimelineArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`timeline`: of the last so many seconds."""

    name: str
    seconds: float = 43_200.0


class WhyArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`why`."""

    name: str
    count: int = 20
    event: str = ""


class IncidentsArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`incidents`: of one agent or of all, from that severity up."""

    name: str = ""
    seconds: float = 86_400.0
    severity: str = "P1"
    count: int = 200


class PieceArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`piece`: of the bundle or prompt of that name, from that byte on."""

    name: str
    kind: str
    file: str
    offset: int = 0


class RulesArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`rules`: what each came to in the last so many seconds."""

    seconds: float = 604_800.0


class RuleArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`rule`: `observe`, `act`, or `default`, which takes back what was said."""

    code: str
    mode: str


class PlanArgs(msgspec.Struct, forbid_unknown_fields=True):
    """What takes a plan, by its id or its file."""

    id: str
    wait: float = 0.0


class PlanAnswerArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`plan-answer`."""

    id: str
    text: str
    wait: float = 0.0


class PlanEditArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`plan-edit`: the text as it was read, and as it shall be."""

    id: str
    base: str
    text: str


class PlanWhyArgs(msgspec.Struct, forbid_unknown_fields=True):
    """`plan-why`."""

    id: str
    count: int = 20
