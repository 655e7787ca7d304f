"""The built-in rules, a file per family, a function per rule."""

from .catalogue import BUILTIN, find

__all__ = ["BUILTIN", "find"]
