"""Key names and the bytes a terminal sends for them; what text may be typed at all.

The names are tmux's. A name that is not known here is refused by every host: tmux itself would
type a misspelt name letter by letter, Enter included.
"""

from __future__ import annotations

import unicodedata

from koboshi.errors import HostError

PLAIN = {
    "Enter": "\r",
    "Escape": "\x1b",
    "Tab": "\t",
    "BTab": "\x1b[Z",
    "BSpace": "\x7f",
    "Space": " ",
    "IC": "\x1b[2~",
    "DC": "\x1b[3~",
    "PPage": "\x1b[5~",
    "NPage": "\x1b[6~",
    "PageUp": "\x1b[5~",
    "PageDown": "\x1b[6~",
    **{f"F{i + 1}": f"\x1bO{letter}" for i, letter in enumerate("PQRS")},
    **{f"F{i + 5}": f"\x1b[{n}~" for i, n in enumerate((15, 17, 18, 19, 20, 21, 23, 24))},
}

#: `ESC [ x`, or `ESC O x` once the program has switched the cursor keys to application mode.
CURSOR = {"Up": "A", "Down": "B", "Right": "C", "Left": "D", "Home": "H", "End": "F"}

PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"


def encode(name: str, *, application: bool = False) -> str:
    """What a terminal sends for the key `name`."""
    if name in CURSOR:
        return f"\x1b{'O' if application else '['}{CURSOR[name]}"
    if name in PLAIN:
        return PLAIN[name]
    if name.startswith("M-") and len(name) > 2:  # noqa: PLR2004
        return "\x1b" + encode(name[2:], application=application)
    if name.startswith("C-"):
        return control(name)
    if len(name) == 1 and not unsendable(name):
        return name
    raise unknown(name)


def control(name: str) -> str:
    """What a terminal sends for `C-x`."""
    letter = "@" if name == "C-Space" else name[2:].upper()
    if len(letter) == 1 and "@" <= letter <= "_":
        return chr(ord(letter) - 64)
    raise unknown(name)


def unknown(name: str) -> HostError:
    """The error for a key nobody knows."""
    return HostError(
        f"expected a key name such as 'Enter', 'Up', 'C-u' or one character, not {name!r}"
    )


def paste(text: str) -> str:
    """The text as a terminal pastes it: every line end is a carriage return.

    Control characters are refused: an ESC inside could end a bracketed paste and press keys.
    """
    text = text.replace("\r\n", "\r").replace("\n", "\r")
    bad = unsendable(text.replace("\r", "").replace("\t", ""))
    if bad:
        message = f"expected text without control characters, not {bad!r}"
        raise HostError(message, hint="send keys by their names instead")
    return text


def unsendable(text: str) -> str:
    """The first character that is no text (a control character or half of a pair), or nothing."""
    return next((c for c in text if unicodedata.category(c) in ("Cc", "Cs")), "")
