"""The hands: each performer looks again, then acts, then sees what came of it."""

from .acting import PERFORMERS, perform, settle
from .hands import Hands, Program

__all__ = ["PERFORMERS", "Hands", "Program", "perform", "settle"]
