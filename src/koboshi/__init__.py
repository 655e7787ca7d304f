"""koboshi keeps coding agents on their feet. Start reading in `core/engine.py`."""

from koboshi._version import __version__

__all__ = ["__version__"]
