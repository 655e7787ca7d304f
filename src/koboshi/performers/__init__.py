"""The hands: each performer looks again, then acts, then sees what came of it."""

from .acting import PERFORMERS, perform, settle
from .hands import Gear, Hands, Program

__all__ = ["PERFORMERS", "Gear", "Hands", "Program", "perform", "settle"]
