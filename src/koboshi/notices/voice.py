"""VOICEVOX: a notice as speech, from an engine on this machine or in the same house.

Two calls: text → query, query → WAV. It is played by the first player that is there; with
`&save=FOLDER` it is kept there instead.
"""

from __future__ import annotations

import http.client
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from koboshi.config.addresses import VOICE_PORT
from koboshi.store.shelves import make_private, write_whole

from .notice import Letter

#: Seconds for an answer, and for the longest speech.
ANSWERS, SPEAKS = 20.0, 60.0
#: Characters that are spoken: a list of twenty is for the eyes.
LONGEST = 200
#: Bytes of a WAV that are taken, and how many are kept.
MOST_BYTES, KEPT = 32 << 20, 20
PLAYERS = (
    ("afplay",),
    ("paplay",),
    ("pw-play",),
    ("aplay", "-q"),
    ("ffplay", "-nodisp", "-autoexit"),
)


class Voice:
    """One speaker of one engine."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        asked = parse_qs(parts.query)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or VOICE_PORT
        self._speaker = asked.get("speaker", ["0"])[0]
        self._folder = asked.get("save", [""])[0]

    def send(self, letter: Letter) -> str:
        """Say it; why that did not work, or nothing."""
        first = letter.body.partition("\n")[0]
        try:
            wav = self._spoken(first[:LONGEST])
            return self._keep(wav) if self._folder else _play(wav)
        except (OSError, http.client.HTTPException, subprocess.SubprocessError) as error:
            return f"VOICEVOX: {type(error).__name__}: {error}"

    def _spoken(self, text: str) -> bytes:
        query = self._ask(f"/audio_query?text={quote(text)}&speaker={self._speaker}", b"")
        wav = self._ask(f"/synthesis?speaker={self._speaker}", query)
        if not wav.startswith(b"RIFF"):
            raise http.client.HTTPException("expected a WAV, and it is something else")
        return wav

    def _ask(self, path: str, body: bytes) -> bytes:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=ANSWERS)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read(MOST_BYTES)
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise http.client.HTTPException(f"expected 200, not {answer.status}")
        return content

    def _keep(self, wav: bytes) -> str:
        folder = Path(self._folder).expanduser()
        make_private(folder)
        write_whole(folder / f"koboshi-{time.time_ns()}.wav", wav, sync=False)
        for old in sorted(folder.glob("koboshi-*.wav"))[:-KEPT]:
            old.unlink(missing_ok=True)
        return ""


def _play(wav: bytes) -> str:
    player = next((words for words in PLAYERS if shutil.which(words[0])), None)
    if player is None:
        return f"VOICEVOX: expected a player ({', '.join(w[0] for w in PLAYERS)}), or &save=FOLDER"
    import tempfile  # noqa: PLC0415 - only where there is something to hear

    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        file.write(wav)
        file.flush()
        ended = subprocess.run(
            [*player, file.name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SPEAKS,
            check=False,
        )
    return "" if ended.returncode == 0 else f"VOICEVOX: {player[0]} ended with {ended.returncode}"
