"""`koboshi top`: the agents, live, in a terminal."""

from .command import top

__all__ = ["top"]
