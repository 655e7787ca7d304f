"""Gemini CLI, as seen from outside; its screen grammar is `manifest.toml`."""

from .adapter import GeminiAdapter

__all__ = ["GeminiAdapter"]
