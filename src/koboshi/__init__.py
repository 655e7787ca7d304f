"""koboshi keeps coding agents on their feet. Start reading in `core/engine.py`."""

__all__ = ["__version__"]

__version__ = "0.1.0"
