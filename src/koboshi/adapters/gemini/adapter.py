"""Knowledge about Gemini CLI, on top of its manifest."""

from __future__ import annotations

from koboshi.adapters.clis import CliAdapter


class GeminiAdapter(CliAdapter):
    """Knowledge about Gemini CLI."""

    name = "gemini"

    def resume_argv(self, *, program: tuple[str, ...], session: str) -> tuple[str, ...]:
        """A run that goes on where the session ended; it takes no id for a fresh one."""
        return (*program, "--resume", session)
