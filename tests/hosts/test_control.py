"""The control-mode parser and the quoting, without tmux."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.errors import HostError
from koboshi.hosts.control import (
    ConnectionLost,
    ControlClient,
    Notice,
    Parser,
    Reply,
    quote,
    unescape,
)

ATTACHED = b"%begin 100 1 0\n%end 100 1 0\n%session-changed $0 hub\n"

# What a screen may hold, protocol words included.
lines = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
    | st.sampled_from(
        ["%end", "%end 1 2 1", "%error 100 7 1", "%begin 100 7 1", "%output %1 x", "%"]
    ),
    max_size=6,
)


def block(number: int, body: list[str], *, word: str = "end", flags: int = 1) -> bytes:
    """One answered command as tmux writes it."""
    head, tail = f"%begin 100 {number} {flags}", f"%{word} 100 {number} {flags}"
    return "".join(f"{line}\n" for line in (head, *body, tail)).encode()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data in pieces, cut anywhere."""
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(edges)]


def test_an_attach_a_reply_and_a_refusal_are_told_apart() -> None:
    """Flags 0 is tmux's own doing."""
    data = ATTACHED + block(2, ["one", "", "two"]) + block(3, ["no such thing"], word="error")

    assert Parser().feed(data) == [
        Reply(own=False),
        Notice(name="session-changed", rest=b"$0 hub"),
        Reply(said=("one\n\ntwo",)),
        Reply(said=("no such thing",), failed=True),
    ]


@given(st.lists(lines, max_size=5), st.lists(st.integers(min_value=0), max_size=12))
def test_chunks_may_be_cut_anywhere(bodies: list[list[str]], places: list[int]) -> None:
    """Also inside a character, and whatever the lines of a block begin with."""
    data = b"".join(block(1000 + i, body) for i, body in enumerate(bodies))
    parser = Parser()

    found = [item for piece in cut(data, places) for item in parser.feed(piece)]

    assert [reply.lines for reply in found if isinstance(reply, Reply)] == list(map(tuple, bodies))


@given(st.lists(st.tuples(lines, st.sampled_from(["end", "error"]), st.sampled_from([0, 1]))))
def test_a_block_is_the_same_in_one_piece_and_line_by_line(
    blocks: list[tuple[list[str], str, int]],
) -> None:
    """Whole ones are taken in one go, refusals and others are not."""
    data = b"".join(block(n, body, word=w, flags=f) for n, (body, w, f) in enumerate(blocks, 1000))
    by_line, line_by_line = Parser(), data.splitlines(keepends=True)

    assert Parser().feed(data) == [item for line in line_by_line for item in by_line.feed(line)]


def test_a_refusal_is_one_whatever_a_later_screen_shows() -> None:
    """The words that would have ended it well stand in an answer to something else."""
    data = block(7, ["no"], word="error") + block(8, ["%end 100 7 1"])

    assert Parser().feed(data) == [
        Reply(said=("no",), failed=True),
        Reply(said=("%end 100 7 1",)),
    ]


def test_a_screen_that_imitates_the_end_of_its_block_is_noticed() -> None:
    """What follows the false end is no line of the protocol: better no answer than a wrong one."""
    data = block(7, ["%end 100 7 1", "innocent line"])
    with pytest.raises(ConnectionLost, match="innocent line"):
        Parser().feed(data)


def escaped(data: bytes) -> bytes:
    """As tmux writes %output."""
    return b"".join(
        b"\\%03o" % byte if byte < 0x20 or byte == 0x5C else bytes((byte,)) for byte in data
    )


@given(st.binary())
def test_unescape_undoes_what_tmux_does_to_output(data: bytes) -> None:
    """Byte for byte."""
    assert unescape(escaped(data)) == data


@given(st.text(), st.lists(st.integers(min_value=0), max_size=4))
def test_a_character_split_between_two_notices_is_whole_again(text: str, places: list[int]) -> None:
    """A notice keeps bytes for that reason."""
    raw = text.encode(errors="replace")
    stream = b"".join(b"%output %1 " + escaped(piece) + b"\n" for piece in cut(raw, places))

    notices = [item for item in Parser().feed(stream) if isinstance(item, Notice)]

    assert b"".join(unescape(n.rest.partition(b" ")[2]) for n in notices) == raw


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", '"plain"'),
        ("", '""'),
        ("it's; #{x} -l {a}", '"it\'s; #{x} -l {a}"'),
        ('say "hi"', r'"say \042hi\042"'),
        ("~/$HOME\\", r'"\176/\044HOME\134"'),
        ("two\nlines\ttab", r'"two\012lines\011tab"'),
        ("日本🎉", '"日本🎉"'),
    ],
)
def test_a_quoted_word_is_one_word_for_tmux(word: str, expected: str) -> None:
    """Dollar, tilde, backslash, quote and newline mean something inside double quotes."""
    assert quote(word) == expected


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_a_quoted_word_never_spans_lines(word: str) -> None:
    """A newline would end the command, and an empty line detach us."""
    quoted = quote(word)

    assert not set(quoted[1:-1]) & set('\n\r"$~\0')
    assert unescape(quoted[1:-1].encode()).decode() == word


def test_a_nul_is_refused() -> None:
    """The word would be cut there."""
    with pytest.raises(HostError, match="NUL"):
        quote("a\0b")


# -- the client, against a tmux of a few lines -----------------------------------------------------


def pretender(body: str) -> list[str]:
    """A program that attaches like tmux and then does as `body` says."""
    start = """
        import sys
        def say(text): sys.stdout.write(text); sys.stdout.flush()
        say("%begin 1 1 0\\n%end 1 1 0\\n")
    """
    return [sys.executable, "-c", textwrap.dedent(start) + textwrap.dedent(body)]


ECHO = """
    for number, line in enumerate(sys.stdin):
        say(f"%window-add @{number}\\n%begin 1 {number} 0\\n%end 1 {number} 0\\n")
        say(f"%begin 2 {number} 1\\n{line}%end 2 {number} 1\\n")
"""


def test_answers_are_matched_to_their_commands() -> None:
    """Many askers at once, tmux's own blocks and notices in between."""

    async def run() -> None:
        client = await ControlClient.open(pretender(ECHO), {})
        asked = [client.ask(("say", f"{i}"), ("more", f"{i}")) for i in range(50)]
        for i, (first, second) in enumerate(await asyncio.gather(*asked)):
            assert (first.text, second.text) == (f'"say" "{i}"', f'"more" "{i}"')
        await client.close()
        with pytest.raises(ConnectionLost):
            await client.ask(("say", "more"))

    asyncio.run(run())


def test_an_asker_who_gave_up_does_not_get_others_answers_mixed_up() -> None:
    """Its answer is dropped when it comes."""
    slow = """
        line = sys.stdin.readline()
        second = sys.stdin.readline()
        say(f"%begin 2 1 1\\n{line}%end 2 1 1\\n%begin 2 2 1\\n{second}%end 2 2 1\\n")
        sys.stdin.read()
    """

    async def run() -> None:
        client = await ControlClient.open(pretender(slow), {})
        first = asyncio.create_task(client.ask(("first",)))
        await asyncio.sleep(0)
        first.cancel()
        (reply,) = await client.ask(("second",))
        assert reply.text == '"second"'
        await client.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.stdin.readline()", "ended or sent us away"),
        ("sys.stdin.readline(); sys.stderr.write('lost server')", "lost server"),
        ("sys.stdin.readline(); say('gibberish\\n'); sys.stdin.read()", "gibberish"),
    ],
)
def test_nobody_waits_for_a_tmux_that_went_away(body: str, message: str) -> None:
    """Every asker learns of it, with tmux's last words."""

    async def run() -> None:
        client = await ControlClient.open(pretender(body), {})
        asked = [asyncio.create_task(client.ask(("x",), ("y",))) for _ in range(3)]
        for error in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(error, ConnectionLost)
            assert message in str(error)
        await client.close()

    asyncio.run(run())


def test_a_tmux_that_cannot_attach_says_why() -> None:
    """The hint names the version we need."""
    refuse = ["sh", "-c", "echo '%begin 1 1 0'; echo 'unknown flag -f'; echo '%error 1 1 0'"]
    with pytest.raises(HostError, match="unknown flag -f") as caught:
        asyncio.run(ControlClient.open(refuse, {}))
    assert "3.2" in caught.value.hint

    with pytest.raises(ConnectionLost, match="no server here"):
        asyncio.run(ControlClient.open(["sh", "-c", "echo 'no server here' >&2"], {}))


def test_a_tmux_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its late answers must not be taken for those of later commands."""

    async def run() -> None:
        client = await ControlClient.open(pretender("sys.stdin.read()"), {})
        # Not before: a Python that starts may take longer.
        monkeypatch.setattr("koboshi.hosts.control.ANSWER_PATIENCE", 0.5)
        with pytest.raises(ConnectionLost, match="did not answer"):
            await client.ask(("x",))
        assert not client.alive
        await client.close()

    asyncio.run(run())
