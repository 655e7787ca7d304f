"""Knowledge about OpenCode, on top of its manifest."""

from __future__ import annotations

from koboshi.adapters.clis import CliAdapter


class OpenCodeAdapter(CliAdapter):
    """Knowledge about OpenCode. SIGTERM and SIGHUP end it with 0, too."""

    name = "opencode"
