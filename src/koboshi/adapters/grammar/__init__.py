"""Screens read by grammar: a TOML manifest per CLI, and one reader for all of them."""

from .manifests import Manifest, load
from .reader import read_screen

__all__ = ["Manifest", "load", "read_screen"]
