"""What is right in every key and wrong as a whole: a channel to nowhere, an empty command line."""

from __future__ import annotations

from collections.abc import Iterator

from koboshi.core.actions import ACTION_KINDS, Action, Start, Telling
from koboshi.core.events import Origin

from .lines import Key
from .model import File

#: The words of rules for kinds that have another name.
_WORDS = {"bundle": "debug_collect", "fix-prompt": "generate_prompt"}
_RESTART = "restart"
#: What a program may do in koboshi's place. All else is a part of something that only koboshi sees
#: through: an answer to the one question that is open, a stage of a refresh.
_REPLACED = (
    _RESTART,
    "send",
    *(kind for kind, cls in ACTION_KINDS.items() if issubclass(cls, Telling)),
    *_WORDS.values(),
)
_KINDS = (_RESTART, *ACTION_KINDS, *_WORDS.values())


def hook_names(action: Action) -> tuple[str, ...]:
    """The names that a hook for it may have, the narrowest first; the first start is no restart."""
    again = isinstance(action, Start) and action.origin is not Origin.FIRST
    word = _RESTART if again else _WORDS.get(action.kind, "")
    return (word, action.kind) if word else (action.kind,)


def unfinished(model: File) -> Iterator[tuple[Key, str, str]]:
    """Key, what was expected there, and what came."""
    for name, channel in model.notify.channels.items():
        if not channel.url:
            yield ("notify", "channels", name, "url"), "an address", "none"
    for table, programs in (("commands", model.commands), ("actions", model.actions)):
        for name, program in programs.items():
            if bool(program.run) == bool(program.shell):
                came = "both" if program.run else "neither"
                yield (table, name, "run"), "either 'run' or 'shell'", came
    for name, hook in model.actions.items():
        if name not in _KINDS:
            yield ("actions", name), f"one of {', '.join(_KINDS)}", repr(name)
        elif hook.when == "instead" and name not in _REPLACED:
            expected = f"'before' or 'after': only {', '.join(_REPLACED)} can be replaced"
            yield ("actions", name, "when"), expected, "'instead'"
