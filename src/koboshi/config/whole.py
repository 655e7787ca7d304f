"""What is right in every key and wrong as a whole: a channel to nowhere, an empty command line."""

from __future__ import annotations

from collections.abc import Iterator

from koboshi.core.actions import ACTION_KINDS, Telling

from .lines import Key
from .model import File

#: Kinds that a program may do in koboshi's place: nothing has to be seen to have happened.
_REPLACED = tuple(kind for kind, cls in ACTION_KINDS.items() if issubclass(cls, Telling))
_KINDS = tuple(kind for kind in ACTION_KINDS if kind != "command")


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
            expected = f"'after': only {', '.join(_REPLACED[:-1])} can be replaced"
            yield ("actions", name, "when"), expected, "'instead'"
