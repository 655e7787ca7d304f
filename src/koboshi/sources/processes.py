"""The processes of a run, as far as a source has to know them."""

from __future__ import annotations

from collections.abc import Mapping

import psutil

from koboshi.hosts.recorder import born
from koboshi.hosts.trees import living


class Being:
    """One process, told apart from a later one with the same number."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.born = born(pid)

    def lives(self) -> bool:
        """Whether it is still there, and not only its zombie."""
        return born(self.pid) == self.born and living(self.pid)

    def env(self) -> Mapping[str, str]:
        """What it was started with; empty when that cannot be seen."""
        try:
            return psutil.Process(self.pid).environ()
        except (psutil.Error, OSError):
            return {}


def family(pid: int) -> list[int]:
    """That process and what descends from it, nearest first; empty when it is gone."""
    try:
        root = psutil.Process(pid)
        kin = root.children(recursive=True)
    except psutil.Error:
        return []
    depth = {pid: 0}
    for each in kin:  # psutil lists a parent before its children
        try:
            depth[each.pid] = depth.get(each.ppid(), len(kin)) + 1
        except psutil.Error:
            continue
    return sorted(depth, key=lambda number: (depth[number], number))
