"""Knowledge about OpenCode, on top of its manifest."""

from __future__ import annotations

from typing import ClassVar

from koboshi.adapters.clis import CliAdapter


class OpenCodeAdapter(CliAdapter):
    """Knowledge about OpenCode. SIGTERM and SIGHUP end it with 0, too."""

    name = "opencode"
    offers: ClassVar[tuple[str, ...]] = ("process", "screen")  # its title is the same throughout
