"""Claude Code, as seen from outside; its screen grammar is `manifest.toml`."""

from .adapter import ClaudeAdapter

__all__ = ["ClaudeAdapter"]
