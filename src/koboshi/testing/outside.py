"""The border between a supervisor and the world: every touch is counted, and can be the last."""

from __future__ import annotations


class Killed(BaseException):
    """The supervisor was killed here; nothing after this line has happened."""


class Outside:
    """Counts touches and kills at the ones it was given."""

    def __init__(self) -> None:
        self.touches = 0
        self.kill_at = -1  #: number of the touch that kills; even: before it happens, odd: after

    def before(self) -> None:
        """Called before something reaches the outside."""
        self.touches += 1
        if self.touches == self.kill_at and self.kill_at % 2 == 0:
            raise Killed

    def after(self) -> None:
        """Called when it has."""
        if self.touches == self.kill_at:
            raise Killed
