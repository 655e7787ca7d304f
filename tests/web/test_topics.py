"""What many viewers are told: everything at first, then what changed, and nothing piles up."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from koboshi.web.topics import Topic, alike

KEYS = st.sampled_from("abc")
STEPS = st.lists(
    st.tuples(KEYS, st.one_of(st.none(), st.integers(0, 3)), st.booleans()), max_size=30
)


def told(frame: bytes) -> dict[str, Any]:
    """What a frame says."""
    value: dict[str, Any] = json.loads(frame.decode().partition("data: ")[2])
    return value


@given(STEPS)
def test_a_viewer_knows_what_is_so_however_much_they_missed(
    steps: list[tuple[str, int | None, bool]],
) -> None:
    """Told now and then, they know the same as one who is told all."""
    topic, known, version = Topic("t"), dict[str, int](), 0
    truth: dict[str, int] = {}
    for key, value, looks in steps:
        if value is None:
            topic.drop(key)
            truth.pop(key, None)
        else:
            topic.put(key, value)
            truth[key] = value
        if looks and topic.version > version:
            said = told(topic.since(version))
            known = {} if said["full"] else known
            known.update(said["items"])
            for each in said["gone"]:
                known.pop(each, None)
            version = topic.version
            assert known == truth


def test_what_nobody_could_see_is_no_news() -> None:
    """A time that was computed again differs by a breath."""
    topic = Topic("t")
    assert topic.put("a", {"since": 100.001, "run": {"started": 5.0, "number": 1}})
    assert not topic.put("a", {"since": 100.302, "run": {"started": 5.2, "number": 1}})
    assert topic.put("a", {"since": 100.0, "run": {"started": 5.0, "number": 2}})
    assert topic.put("a", {"since": 109.0, "run": {"started": 5.0, "number": 2}})
    assert not alike({"context": 1.0}, {"context": 1.2})
    assert not alike({"a": 1}, {"b": 1})


def test_a_frame_is_made_once() -> None:
    """A hundred viewers who know the same are told the very same bytes."""
    topic = Topic("t")
    topic.put("a", "line\nend \u2028 \ud800")

    assert topic.since(0) is topic.since(0)
    assert topic.since(0).count(b"\n") == 4
    before = topic.since(0)
    topic.put("b", 1)
    assert set(told(topic.since(0))["items"]) == {"a", "b"}
    assert before is not topic.since(0)
