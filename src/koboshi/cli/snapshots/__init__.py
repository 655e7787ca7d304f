"""`koboshi snapshots`: an agent's uncommitted work, listed, taken, shown, restored."""

from .group import snapshots

__all__ = ["snapshots"]
