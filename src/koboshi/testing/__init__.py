"""Fakes for tests, public for plug-in authors too: terminals, disk, clock and agents in memory."""

from .agents import ScriptedAgent
from .disk import MemoryShelf
from .hosts import FakeHost, Faults
from .laws import Laws, Violation
from .nights import Night
from .outside import Killed, Outside
from .runtime import FakeRuntime

__all__ = [
    "FakeHost",
    "FakeRuntime",
    "Faults",
    "Killed",
    "Laws",
    "MemoryShelf",
    "Night",
    "Outside",
    "ScriptedAgent",
    "Violation",
]
