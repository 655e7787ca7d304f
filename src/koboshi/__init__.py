"""koboshi keeps coding agents on their feet while nobody watches. Start reading in `core/engine.py`."""

__all__ = ["__version__"]

__version__ = "0.1.0"
