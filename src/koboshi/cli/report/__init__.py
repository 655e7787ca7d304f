"""`koboshi report`: what each agent did while nobody watched."""

from .command import report

__all__ = ["report"]
