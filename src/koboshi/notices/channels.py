"""Channels: one address each. `send` says why it could not, or nothing.

Rule 1: whatever goes wrong is a sentence, and there is no address and no secret in it.
Rule 2: nothing takes for ever: every connection has its time limit.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from koboshi.config.addresses import VOICE, channel_of, expanded, secrets
from koboshi.core.events import Severity
from koboshi.store.redaction import redact, secret_values

from .notice import Letter
from .voice import Voice

#: What apprise calls it.
_KINDS = {Severity.P0: "failure", Severity.P1: "warning", Severity.P2: "info"}


class Channel(Protocol):
    """A way to reach a person; called from a thread of its own."""

    def send(self, letter: Letter) -> str:
        """Tell them; why that did not work, or nothing."""
        ...


class Broken:
    """An address that cannot be used now: its variable is not set, its library is missing."""

    def __init__(self, why: str) -> None:
        self._why = why

    def send(self, letter: Letter) -> str:  # noqa: ARG002
        """Why not."""
        return self._why


class AppriseChannel:
    """Anything that apprise can reach."""

    def __init__(self, made: Any, masked: tuple[str, ...]) -> None:  # noqa: ANN401 - apprise's
        self._made, self._masked = made, masked

    def send(self, letter: Letter) -> str:
        """Send it; apprise says only yes or no, its log says why."""
        heard = _Ear()
        logger = logging.getLogger("apprise")
        logger.addHandler(heard)
        try:
            sent = self._made.notify(
                body=letter.body, title=letter.title, notify_type=_KINDS[letter.severity]
            )
        except Exception as error:  # noqa: BLE001 - some hundred plug-ins, by many hands
            return self._bare(f"{type(error).__name__}: {error}")
        finally:
            logger.removeHandler(heard)
        return "" if sent else self._bare(heard.said or "it was not accepted")

    def _bare(self, text: str) -> str:
        """Without what stands in the address."""
        known = (*self._masked, *secret_values(os.environ))
        return redact(" ".join(text.split()), secrets=known)[:300]


class _Ear(logging.Handler):
    """Remembers the last complaint of this thread; many channels send at once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = threading.get_ident()
        self.said = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what this thread was told."""
        if record.thread == self._thread:
            self.said = record.getMessage()


def channel(address: str, environment: Mapping[str, str] | None = None) -> Channel:
    """The channel of an address; one that cannot be used says so when it is used."""
    around = os.environ if environment is None else environment
    try:
        url = expanded(address, around)
    except KeyError as missing:
        return Broken(f"{missing.args[0]} is not set in the environment of the daemon")
    if url.startswith(f"{VOICE}://"):
        return Voice(url)
    made = channel_of(url)
    if made is None:
        return Broken("apprise cannot use this address here")
    return AppriseChannel(made, secrets(address, around))
