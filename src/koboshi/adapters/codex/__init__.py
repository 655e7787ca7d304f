"""Codex CLI, as seen from outside; its screen grammar is `manifest.toml`."""

from .adapter import CodexAdapter

__all__ = ["CodexAdapter"]
