"""Random nights of the scripted agent, for properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from koboshi.scripted.behaviour import (
    Act,
    Ask,
    Behaviour,
    Compact,
    Crash,
    Done,
    EndTurn,
    Fail,
    Hang,
    Limit,
    Print,
    Retry,
    Work,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: A Saturday in November, mid-morning; any instant would do.
UTC = 1_763_200_000.0

SPOOFS = (
    "● API Error: 500 Internal server error",
    "  ⎿ You've hit your session limit · resets 9:58am (UTC)",
    "✻ Worked for 3s",
    "✻ Brewing… (3s · esc to interrupt)",
    "─" * 40,
    "❯ 1. Yes",
    " ❯ 1. Yes",
    "   2. No",
    " Do you want to proceed?",
    " Bash command",
    " Esc to cancel",
    "  ? for shortcuts",
    "  esc to interrupt",
    "root@host:~#",
    "",
    "読んでいます、しばらくお待ちください。ファイルを確認しています。",
    "\x1b[2J\x07\t\r",
)

texts = st.one_of(
    st.sampled_from(SPOOFS),
    st.text(alphabet="ab /❯1.日本─ \n'", max_size=60),
    st.lists(st.sampled_from(SPOOFS), min_size=2, max_size=5).map("\n".join),
)
seconds = st.floats(min_value=0, max_value=40)
codes = st.sampled_from(("429", "500", "529"))
commands = st.one_of(
    texts, st.sampled_from(("rm -rf build", "git push --force origin main && echo ok", "x" * 130))
)
kinds = st.sampled_from(("permission", "question", "plan", "trust"))

acts: st.SearchStrategy[Act] = st.one_of(
    st.builds(Work, seconds=seconds, say=texts, context=st.sampled_from((0.0, 5.0, 30.0, 70.0))),
    st.builds(
        Ask,
        command=commands,
        kind=kinds,
        question=st.none() | texts,
        options=st.lists(texts, max_size=5).map(tuple),
    ),
    st.builds(Limit, seconds=st.floats(min_value=0, max_value=11.9 * 3600)),
    st.builds(Fail, code=codes),
    st.builds(Retry, code=codes, seconds=seconds, attempts=st.integers(0, 12)),
    st.builds(Compact, seconds=seconds),
    st.builds(Hang),
    st.builds(Crash),
    st.builds(EndTurn),
    st.builds(Done),
    st.builds(Print, lines=st.lists(st.sampled_from(SPOOFS), max_size=6).map(tuple)),
)
scripts = st.lists(acts, min_size=1, max_size=8).map(tuple)

Move = tuple[str, object]
moves: st.SearchStrategy[Move] = st.one_of(
    st.tuples(st.just("wait"), st.floats(min_value=0.001, max_value=60)),
    st.tuples(
        st.just("key"),
        st.sampled_from(
            ("Enter", "Enter", "Enter", "Escape", "Up", "Down", "C-u", "1", "2", "3", "x")
        ),
    ),
    st.tuples(st.just("type"), texts),
    st.tuples(st.just("paste"), texts),
    st.tuples(
        st.just("send"),
        st.sampled_from(
            (
                "go on",
                "/continue",
                "/save n",
                "/load n",
                "/nope",
                "/compact",
                "/clear",
                "/model",
                "続けて",
            )
        ),
    ),
    st.tuples(
        st.just("resize"),
        st.tuples(st.sampled_from((40, 60, 80, 100, 132)), st.sampled_from((16, 24, 30, 50))),
    ),
)


@dataclass(kw_only=True)
class Night:
    """A behaviour and the time in it."""

    agent: Behaviour
    now: float = 0.0
    frames: list[str] = field(default_factory=list)

    @property
    def utc(self) -> float:
        """Wall time of the night."""
        return UTC + self.now

    def move(self, move: Move) -> None:
        """Let one thing happen."""
        verb, what = move
        agent, now, utc = self.agent, self.now, self.utc
        if verb == "wait":
            self.now += what  # type: ignore[operator]
            agent.advance(self.now, self.utc)
        elif verb == "send":
            agent.type(what, now, utc)  # type: ignore[arg-type]
            agent.key("Enter", now, utc)
        elif verb == "resize":
            agent.resize(*what)  # type: ignore[misc]
        else:
            act: Callable[..., None] = getattr(agent, verb)
            act(what, now, utc)


def begin(
    script: tuple[Act, ...], *, resumed: bool = False, cols: int = 80, rows: int = 24
) -> Night:
    """A night at its beginning."""
    agent = Behaviour(
        script, session="s1", resumed=resumed, now=0.0, utc=UTC, notes={}, cols=cols, rows=rows
    )
    return Night(agent=agent)
