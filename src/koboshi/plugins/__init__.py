"""How other packages add to koboshi: pluggy, entry-point group `koboshi`."""

from .hookspecs import hookimpl

__all__ = ["hookimpl"]
