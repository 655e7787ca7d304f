"""Knowledge about Gemini CLI, on top of its manifest."""

from __future__ import annotations

from koboshi.adapters.clis import CliAdapter


class GeminiAdapter(CliAdapter):
    """Knowledge about Gemini CLI."""

    name = "gemini"
