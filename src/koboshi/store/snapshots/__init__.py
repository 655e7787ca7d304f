"""Snapshots of an agent's uncommitted work, in private refs of its own repository."""

from .aside import snapshot_for
from .records import Change, Snapshot, between, changes, find, list_snapshots, prune
from .restoring import Restored, restore_here, restore_to
from .taking import Limits, Skipped, size_words, take

__all__ = [
    "Change",
    "Limits",
    "Restored",
    "Skipped",
    "Snapshot",
    "between",
    "changes",
    "find",
    "list_snapshots",
    "prune",
    "restore_here",
    "restore_to",
    "size_words",
    "snapshot_for",
    "take",
]
