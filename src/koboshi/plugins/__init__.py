"""How other packages add to koboshi: pluggy, entry-point group `koboshi`."""

from koboshi.core.rules import Proposal, rule

from .hookspecs import hookimpl

__all__ = ["Proposal", "hookimpl", "rule"]
