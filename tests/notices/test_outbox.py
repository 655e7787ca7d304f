"""What is told when, to whom, and in how many messages: a table of times."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from koboshi.config.hours import Hours
from koboshi.core.events import Severity
from koboshi.notices.notice import Notice, letter
from koboshi.notices.outbox import AGAIN_MAX, MOST, STALE, Custom, Outbox, Route

NOON, NIGHT = 12 * 60.0, 23 * 60.0
P0, P1, P2 = Severity.P0, Severity.P1, Severity.P2


def a_notice(
    key: str = "1", severity: Severity = P1, *, utc: float = 1000.0, asks: bool = False
) -> Notice:
    """Something that happened to the agent `api`."""
    return Notice(key=key, agent="api", text=f"it did {key}", severity=severity, utc=utc, asks=asks)


def an_outbox(**more: object) -> Outbox:
    """Two channels: one for everything from P1, one for P0 alone, hushed at night."""
    routes = {"desk": Route(), "phone": Route(least=P0, quiet=Hours(22 * 60, 7 * 60))}
    return Outbox(Custom(routes=routes, **more))  # type: ignore[arg-type]


def test_severity_chooses_the_channels() -> None:
    """P0 goes everywhere, P1 to who wants it, P2 to nobody here; what asks goes everywhere."""
    outbox = an_outbox()

    assert outbox.put(a_notice("a", P0)) == ("desk", "phone")
    assert outbox.put(a_notice("b", P1)) == ("desk",)
    assert outbox.put(a_notice("c", P2)) == ()
    assert outbox.put(a_notice("d", P2, asks=True)) == ("desk", "phone")


def test_the_first_waits_a_moment_for_others() -> None:
    """One second, then it goes."""
    outbox = an_outbox()
    outbox.put(a_notice())

    assert outbox.ready("desk", 1000.0, NOON) == (None, 1.0)
    batch, _ = outbox.ready("desk", 1001.0, NOON)

    assert batch is not None
    assert batch.letter.body == "api: it did 1"


def test_a_storm_is_one_message_with_a_count() -> None:
    """Whatever comes within `group` of the last message is one."""
    outbox = an_outbox()
    outbox.put(a_notice("first"))
    batch, _ = outbox.ready("desk", 1001.0, NOON)
    assert batch is not None
    outbox.sent("desk", batch, 1001.0)
    for n in range(400):
        outbox.put(a_notice(str(n), utc=1002.0))

    assert outbox.ready("desk", 1010.0, NOON) == (None, 21.0)
    batch, _ = outbox.ready("desk", 1031.0, NOON)

    assert batch is not None
    assert "(400 notices)" in batch.letter.title
    assert batch.letter.body.endswith("… and 380 more")
    outbox.sent("desk", batch, 1031.0)
    assert outbox.items == {}


def test_the_same_words_are_told_once_with_their_count() -> None:
    """Nine crashes read as one line."""
    nine = tuple(
        Notice(key=str(n), agent="api", text="crashed", severity=P1, utc=n) for n in range(9)
    )

    assert letter(nine).body == "api: crashed (×9)"


def test_words_of_an_agent_ring_nobody() -> None:
    """Nor do they move a terminal or look like another message."""
    text = "asks \x1b[2J <!channel> @everyone @here\nNeeds you: api \u202etxt"
    said = letter((Notice(key="1", agent="api", text=text, severity=P1, utc=0.0),)).body

    assert said == "api: asks �[2J < !channel> @ everyone @ here Needs you: api �txt"


def test_something_urgent_does_not_wait_for_the_end_of_a_group() -> None:
    """A P0 goes at once unless another P0 has just gone."""
    outbox = an_outbox()
    outbox.put(a_notice("calm"))
    batch, _ = outbox.ready("desk", 1001.0, NOON)
    assert batch is not None
    outbox.sent("desk", batch, 1001.0)
    outbox.put(a_notice("fire", P0, utc=1002.0))
    batch, _ = outbox.ready("desk", 1003.0, NOON)
    assert batch is not None
    outbox.sent("desk", batch, 1003.0)
    outbox.put(a_notice("fire2", P0, utc=1004.0))

    assert outbox.ready("desk", 1005.0, NOON) == (None, 28.0)


def test_quiet_hours_let_only_the_urgent_through() -> None:
    """The rest goes when they are over."""
    outbox = Outbox(Custom(routes={"phone": Route(quiet=Hours(22 * 60, 7 * 60))}))
    outbox.put(a_notice("calm"))

    assert outbox.ready("phone", 2000.0, NIGHT) == (None, 8 * 3600.0)
    outbox.put(a_notice("fire", P0))
    batch, _ = outbox.ready("phone", 2000.0, NIGHT)
    assert batch is not None
    assert batch.ids == ("api/fire",)
    outbox.sent("phone", batch, 2000.0)
    batch, _ = outbox.ready("phone", 2000.0 + 8 * 3600, 7 * 60.0)
    assert batch is not None
    assert batch.ids == ("api/calm",)


def test_a_channel_that_fails_is_left_alone_longer_and_longer() -> None:
    """5, 10, 20 … 900 seconds; what it missed is kept."""
    outbox = an_outbox()
    outbox.put(a_notice())
    pauses = [outbox.failed("desk", 1000.0, "dead") for _ in range(12)]

    assert pauses[:3] == [5.0, 10.0, 20.0]
    assert max(pauses) == AGAIN_MAX
    assert outbox.ready("desk", 1001.0, NOON)[0] is None
    assert outbox.ready("desk", 1000.0 + AGAIN_MAX, NOON)[0] is not None
    assert outbox.troubles() == {"desk": "dead"}


def test_who_is_asked_is_asked_again_until_they_say_so() -> None:
    """On every channel, with other words the second time; `settle` ends it."""
    outbox = an_outbox(repeat=600.0)
    outbox.put(a_notice("q", asks=True))
    for channel in ("desk", "phone"):
        batch, _ = outbox.ready(channel, 1001.0, NOON)
        assert batch is not None
        assert batch.letter.body == "Needs you: api: it did q"
        outbox.sent(channel, batch, 1001.0)

    assert outbox.expire(1600.0) == ()
    assert outbox.expire(1601.0) == ("api/q",)
    outbox.ask_again("api/q")
    batch, _ = outbox.ready("phone", 1601.0, NOON)
    assert batch is not None
    assert batch.letter.body == "Still needs you: api: it did q"
    assert outbox.settle("other") == 0
    assert outbox.settle("api") == 1
    assert outbox.ready("phone", 1602.0, NOON)[0] is None


def test_a_full_outbox_drops_the_least_and_says_how_many() -> None:
    """Never what asks, never a P0 while there is anything else."""
    outbox = an_outbox()
    outbox.put(a_notice("ask", asks=True))
    outbox.put(a_notice("fire", P0, utc=1.0))
    for n in range(MOST + 8):
        outbox.put(a_notice(f"n{n}", utc=2000.0 + n))

    assert len(outbox.items) == MOST
    assert {"api/ask", "api/fire"} <= set(outbox.items)
    assert "api/n0" not in outbox.items
    batch, _ = outbox.ready("desk", 9000.0, NOON)
    assert batch is not None
    assert batch.letter.body.endswith("… and 10 that were dropped while nothing could be sent")


def test_old_news_is_no_news() -> None:
    """After three days it is dropped; what asks is not."""
    outbox = an_outbox()
    outbox.put(a_notice("old"))
    outbox.put(a_notice("ask", asks=True))
    outbox.expire(1001.0 + STALE)

    assert set(outbox.items) == {"api/ask"}
    assert outbox.lost == 1


def test_what_is_on_disk_comes_back() -> None:
    """With the channels it still has to go to; one that is gone now is left out."""
    outbox = an_outbox()
    outbox.put(a_notice("fire", P0))
    outbox.put(a_notice("ask", asks=True))
    later = Outbox(Custom(routes={"phone": Route()}))
    later.restore(outbox.image())

    assert {key: item.due for key, item in later.items.items()} == {
        "api/fire": ["phone"],
        "api/ask": ["phone"],
    }


@given(st.binary(max_size=80))
def test_junk_on_disk_is_nothing(content: bytes) -> None:
    """A torn or foreign file does not keep anybody from being told."""
    outbox = an_outbox()
    outbox.restore(content)

    assert outbox.items == {}


@given(
    st.lists(
        st.tuples(st.sampled_from([P0, P1, P2]), st.booleans(), st.floats(0.0, 5000.0)),
        max_size=60,
    ),
    st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_everything_arrives_once(
    draws: list[tuple[Severity, bool, float]], works: list[bool]
) -> None:
    """Whatever fails in between: each notice reaches each of its channels once, and none waits."""
    outbox = an_outbox(repeat=0.0)
    expected, arrived, now = list[tuple[str, str]](), list[tuple[str, str]](), 5001.0
    for n, (severity, asks, utc) in enumerate(sorted(draws, key=lambda d: d[2])):
        notice = a_notice(str(n), severity, utc=utc, asks=asks)
        expected += [(channel, notice.id) for channel in outbox.put(notice)]
    for works_now in [*works, True, True]:
        for channel in ("desk", "phone"):
            batch, _ = outbox.ready(channel, now, NOON)
            if batch is not None and works_now:
                arrived += [(channel, each) for each in batch.ids]
                outbox.sent(channel, batch, now)
            elif batch is not None:
                outbox.failed(channel, now, "no")
        now += AGAIN_MAX

    assert sorted(arrived) == sorted(expected)
    assert outbox.items == {}
