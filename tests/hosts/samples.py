"""What the contract types, presses and ends with."""

from __future__ import annotations

from hypothesis import strategies as st

TEXTS = (
    "plain",
    'it\'s "quoted" and `ticked`',
    "a; b;",
    ";",
    "-l --flag",
    "~",
    "~root/x",
    "#{pane_id} #S #(date) ##",
    "$HOME ${HOME} $(date)",
    "back\\slash \\n \\033 \\",
    "%begin 1 1 1",
    "%end 1 1 1",
    "{ braces } %if",
    "日本語のテキスト、全角",
    "🎉 👩‍👩‍👧 é é ✳",
    "a\ttab",
    "line one\nline two\n\nline four",
    "windows\r\nlines",
    " leading and trailing ",
    "Enter",
    "C-c",
    "x" * 5000,
)

KEYS = {
    "Enter": b"\r",
    "Escape": b"\x1b",
    "Tab": b"\t",
    "BTab": b"\x1b[Z",
    "BSpace": b"\x7f",
    "Space": b" ",
    "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Left": b"\x1b[D",
    "Right": b"\x1b[C",
    "PageUp": b"\x1b[5~",
    "DC": b"\x1b[3~",
    "C-u": b"\x15",
    "C-c": b"\x03",
    "M-x": b"\x1bx",
    "y": b"y",
    "1": b"1",
    ";": b";",
    "-": b"-",
    "~": b"~",
    "$": b"$",
    "'": b"'",
    '"': b'"',
    "\\": b"\\",
    "#": b"#",
    "é": "é".encode(),
    "日": "日".encode(),
}

ENDS = [(0, 0, None), (7, 7, None), (137, 137, None), (-9, None, 9), (-15, None, 15)]

printable = st.characters(exclude_categories=("Cs", "Cc"))
nasty = st.sampled_from([*"\"'\\;~$#{}%-`!\n\t", "#{pane_id}", "%end 1 1 1\n", "日本", "🎉"])
texts = st.lists(nasty | st.text(printable, max_size=6), min_size=1, max_size=8).map("".join)


def pasted(text: str) -> bytes:
    """The bytes of a text as a terminal pastes it."""
    return text.replace("\r\n", "\r").replace("\n", "\r").encode()
