"""Knowledge about Claude Code, on top of its manifest."""

from __future__ import annotations

from typing import ClassVar

from koboshi.adapters.clis import CliAdapter


class ClaudeAdapter(CliAdapter):
    """Knowledge about Claude Code."""

    name = "claude"
    # 0: /exit, Ctrl-C twice, SIGINT. 143 and 129: SIGTERM and SIGHUP, after its own clean-up.
    clean_codes: ClassVar[frozenset[int]] = frozenset({0, 129, 143})
