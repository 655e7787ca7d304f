"""Secrets out, and the screen stays a screen."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.adapters.text import width
from koboshi.store.redaction import redact, secret_values

KEY = "sk-ant-api03-" + "Ab1_" * 8

#: Made of parts, so that no scanner takes this file for a leak.
SECRETS = [
    KEY,
    "gh" + "p_" + "a1B2" * 9,
    "AKIA" + "ABCD1234" * 2,
    "AIza" + "x1y2" * 9,
    "eyJ" + "hbGciOi.eyJzdWIiOi.c2lnbmF0",
    "xox" + "b-123456789-abcdef",
    "me@example.org",
    "deadbeef" * 5,
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_secret_is_masked(secret: str) -> None:
    """In the middle of a line, with its width kept."""
    masked = redact(f"│ use {secret} now │")

    assert secret not in masked
    assert masked == f"│ use {'x' * len(secret)} now │"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("export API_KEY=hunter2hunter2", "export API_KEY=xxxxxxxxxxxxxx"),
        ('{"password": "correct horse"}', '{"password": "xxxxxxx horse"}'),
        ("Authorization: Bearer abcdefghijkl", "Authorization: Bearer xxxxxxxxxxxx"),
        ("git clone https://me:pass@host/x", "git clone https://xxxxxxx@host/x"),
        ("12% context used", "12% context used"),
        ("❯ 1. Yes, and don't ask again", "❯ 1. Yes, and don't ask again"),
    ],
)
def test_what_is_said_to_be_a_secret_is_masked_and_nothing_else(text: str, masked: str) -> None:
    """A screen must still be read as what it is."""
    assert redact(text) == masked


def test_a_secret_in_colours_is_found() -> None:
    """Escape sequences in its middle stay where they are."""
    drawn = f"\x1b[1m{KEY[:9]}\x1b[0m\x1b[31m{KEY[9:]}\x1b[0m end"

    masked = redact(drawn)

    assert masked == f"\x1b[1m{'x' * 9}\x1b[0m\x1b[31m{'x' * (len(KEY) - 9)}\x1b[0m end"


def test_a_secret_that_the_terminal_wrapped_is_found() -> None:
    """Where the row is full the next one goes on with it."""
    masked = redact(f"key is {KEY[:33]}\n{KEY[33:]}\nnext", cols=40)

    assert masked == f"key is {'x' * 33}\n{'x' * (len(KEY) - 33)}\nnext"


def test_values_of_the_environment_and_names_are_masked() -> None:
    """Whatever they look like; a short one, or a part of a word, is not."""
    secrets = secret_values({"MY_TOKEN": "plainwords", "PATH": "/usr/bin", "A_KEY": "abc"})

    assert secrets == ("plainwords",)
    said = redact(
        "plainwords in /home/mei/x on kyoto, meiji", secrets=secrets, names=("mei", "kyoto")
    )
    assert said == "xxxxxxxxxx in /home/xxx/x on xxxxx, meiji"


@given(st.text(st.sampled_from("ab1_-=.: \n\x1b[0m日ü@/"), max_size=200), st.integers(0, 12))
def test_the_shape_of_a_screen_is_kept(text: str, cols: int) -> None:
    """As many rows, each as wide; escape sequences as they were."""
    masked = redact(text, secrets=("ab1_ab1_",), names=("abba",), cols=cols)

    escapes = re.compile(r"\x1b\[[0-9]*m")
    assert escapes.findall(masked) == escapes.findall(text)
    assert [width(escapes.sub("", row)) for row in masked.split("\n")] == [
        width(escapes.sub("", row)) for row in text.split("\n")
    ]
