"""`koboshi loop`: plans that agents work through, step by step."""

from .group import loop

__all__ = ["loop"]
