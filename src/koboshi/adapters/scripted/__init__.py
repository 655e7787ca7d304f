"""The bundled scripted agent, as seen from outside; its screen grammar is `manifest.toml`."""

from .adapter import ScriptedAdapter

__all__ = ["ScriptedAdapter"]
