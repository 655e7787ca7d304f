"""The page of a report: one file, everything in it text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from koboshi.reports.page import page
from koboshi.reports.values import (
    Account,
    Commit,
    Doing,
    Level,
    Mishap,
    Refreshed,
    Reply,
    Report,
    Restart,
    Spent,
    Stretch,
)

#: What a page of ours is made of; no script, no link, no image, no form.
ELEMENTS = """
    html head meta title style body header main section h1 h2 h3 span small p b ul li div
    details summary pre figure figcaption svg rect path polyline text
"""
ATTRIBUTES = """
    lang charset http-equiv content name class role aria-label viewbox x y width height d points
    text-anchor
"""


class Reader(HTMLParser):
    """Notes what a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element and its attributes."""
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        """Text."""
        self.texts.append(data)


def everywhere(text: str) -> Report:
    """A report that has that text wherever one can be."""
    account = Account(
        agent=text,
        type=text,
        folder=text,
        status=text,
        stretches=(Stretch(doing=Doing.WORKING, start=1000.0, end=2000.0),),
        restarts=(Restart(at=1100.0, run=2, origin=text, why=text),),
        refreshes=(Refreshed(at=1200.0, why=text, note=text, text=text, ending=text),),
        replies=(
            Reply(at=1300.0, question=text, subject=text, answer=text, rule=text, ending=text),
        ),
        errors=(Mishap(at=1400.0, what=text),),
        limits=(Mishap(at=1500.0, what=text),),
        calls=(Mishap(at=1600.0, what=text),),
        would=(Mishap(at=1650.0, what=text),),
        progress=(Mishap(at=1660.0, what=text),),
        plan=(text,),
        commits=(Commit(at=1700.0, id=text, subject=text),),
        context=(Level(at=1100.0, used=10.0), Level(at=1900.0, used=70.0)),
        spent=Spent(read=1_200_000, written=3400),
        needs=(text,),
        troubles=(text,),
    )
    return Report(since=1000.0, until=2000.0, agents=(account,))


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "</style><script>",
            "</title></svg><iframe src=//x>",
            "' onload='x",
            "<!--",
            "]]><![CDATA[",
            "\x1b]0;x\x07\u202e",
            "\ud800",
        ]
    ),
)


@given(text=HOSTILE)
def test_whatever_an_agent_wrote_stays_text(text: str) -> None:
    """No element, no attribute comes from it; what a terminal or a reader obeys is marked."""
    made = page(everywhere(text))
    reader = Reader()
    reader.feed(made)

    assert reader.elements <= set(ELEMENTS.split())
    assert reader.attributes <= set(ATTRIBUTES.split())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", made)


def test_the_page_is_one_file_that_reaches_for_nothing() -> None:
    """It shows what there is, works where there is no net, and its policy forbids the rest."""
    made = page(everywhere("日本語 <api>"))
    reader = Reader()
    reader.feed(made)
    told = " ".join(reader.texts)

    assert "default-src 'none'" in made
    assert not re.search(r"https?:|//|url\(|@import|src=|href=", made)
    assert "日本語 <api>" in told
    assert "1.2 M read, 3.4 k written" in told
    assert 'class="spark"' in made
    assert page(Report(since=0.0, until=10.0)).count("No agent did anything then.") == 1
