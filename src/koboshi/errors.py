"""Every exception koboshi raises on purpose.

::

    KoboshiError
    ├── InputError          what a person gave us cannot be used (exit code 2)
    │   ├── ConfigBroken
    │   ├── FileUnreadable
    │   ├── ManifestBroken
    │   ├── PlanDamaged
    │   ├── UnknownAgent
    │   ├── UnknownRule
    │   ├── UnknownSnapshot
    │   └── UnknownTask
    ├── JournalError        the record on disk cannot be used (exit code 3)
    │   ├── JournalTooNew
    │   ├── JournalDamaged
    │   └── SnapshotDamaged
    ├── DaemonError         the daemon could not be reached or started (exit code 4)
    ├── GitError            git could not do what was asked (exit code 4)
    │   ├── GitMissing      git is not installed
    │   └── NoWorktree      the folder is in no git worktree
    ├── MarkNotWritten      the journal could not say that the outside is about to be reached
    ├── StylesWanted        a screen cannot be read without its styles, which were not captured
    └── HostError           a terminal could not be reached (exit code 4)
        ├── HostMissing     the host's own program is not installed
        └── PlaceGone       the terminal we meant is not there any more

Messages are lower case, say what was expected and what came, and may carry a second line
that says what to do.
This module imports nothing of ours: every layer may raise from here.
"""

from __future__ import annotations


class KoboshiError(Exception):
    """koboshi could not do what was asked"""

    exit_code = 1

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or ""))
        self.hint = hint


class InputError(KoboshiError):
    """the input cannot be used"""

    exit_code = 2


class ConfigBroken(InputError):
    """the configuration cannot be used"""

    def __init__(self, complaints: tuple[str, ...]) -> None:
        super().__init__("\n".join(complaints), hint="'koboshi config --check' tells it again")
        self.complaints = complaints  #: each with its file, its line and its key


class FileUnreadable(InputError):
    """the file cannot be read"""


class ManifestBroken(InputError):
    """the manifest cannot be used"""

    def __init__(self, complaints: tuple[str, ...]) -> None:
        super().__init__("\n".join(complaints))
        self.complaints = complaints  #: each with its line and its key


class PlanDamaged(InputError):
    """the plan cannot be worked with"""

    def __init__(self, path: str, faults: tuple[str, ...]) -> None:
        rows = "\n".join(f"{path}: {fault}" for fault in faults)
        super().__init__(rows, hint="the file was left as it is; mend it and try again")
        self.faults = faults  #: each with its line, where it has one


class UnknownAgent(InputError):
    """no agent of that name is known"""


class UnknownRule(InputError):
    """no rule of that code is known"""


class UnknownSnapshot(InputError):
    """no snapshot of that name is known"""


class UnknownTask(InputError):
    """no task of that id is known"""


class JournalError(KoboshiError):
    """the journal cannot be used"""

    exit_code = 3


class JournalTooNew(JournalError):
    """the journal was written by a newer koboshi"""


class JournalDamaged(JournalError):
    """the journal is damaged in the middle"""


class SnapshotDamaged(JournalError):
    """the snapshot does not match its checksum"""


class DaemonError(KoboshiError):
    """the daemon could not be reached"""

    exit_code = 4


class GitError(KoboshiError):
    """git could not do what was asked"""

    exit_code = 4


class GitMissing(GitError):
    """git is not installed"""


class NoWorktree(GitError):
    """not a git worktree"""


class MarkNotWritten(KoboshiError):
    """the journal could not be written, so nothing was done"""

    exit_code = 3


class StylesWanted(KoboshiError):
    """that screen cannot be read without its styles"""


class HostError(KoboshiError):
    """the terminal could not be reached"""

    exit_code = 4


class HostMissing(HostError):
    """the host's own program is not installed"""


class PlaceGone(HostError):
    """the terminal is not there any more"""
