"""OpenCode, as seen from outside; its screen grammar is `manifest.toml`."""

from .adapter import OpenCodeAdapter

__all__ = ["OpenCodeAdapter"]
