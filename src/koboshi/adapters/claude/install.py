"""What `koboshi init` puts into a project for Claude Code."""

from __future__ import annotations

from koboshi.adapters.splicing import Splice

from .equip import ASKS, ASKS_TIMEOUT, EVENTS, TIMEOUT

HOOKS = Splice(EVENTS, {"timeout": TIMEOUT, "async": True}, (ASKS, {"timeout": ASKS_TIMEOUT}))
#: `/reload`, as a command of the project.
RELOAD = """\
---
description: Restart yourself through koboshi; your next run is told the reason and the context
argument-hint: [reason]
allowed-tools: Bash(koboshi reload:*)
---
Restart yourself now. Call exactly one command and end your turn after it:

    koboshi reload --reason "$ARGUMENTS" --context "<what your next run has to know, in short>"

Put into the context what you were doing, what is done, and what comes next. Add `--fresh` if you
want to begin with an empty context; otherwise your session goes on.
"""
