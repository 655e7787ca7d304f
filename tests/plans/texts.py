"""Plan files for tests: the one of the documentation, and made-up ones, whole and damaged."""

from pathlib import Path

from hypothesis import strategies as st

#: The file exactly as the documentation shows it.
M1 = (Path(__file__).parent.parent / "cases" / "plans" / "M1.md").read_text(encoding="utf-8")

_PROSE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12)
_KEYS = st.sampled_from(
    [
        *("STATUS", "GOAL", "CONSTRAINTS", "PLAN", "CURRENT", "RESULTS", "LAST_ACTION"),
        *("TOTAL_STEPS", "CURRENT_STEP", "STEPS", "1", "2", "3", "VERIFY", "TOUCH", "TIMEOUT"),
        *("RETRIES", "STEP_1", "STEP_2", "EXIT", "VERIFIED", "COMMIT", "NOTE", "CC_PID", "COMMAND"),
    ]
)
_VALUES = st.sampled_from(
    [
        *("", "RUNNING", "[DONE] x → y", "[RUNNING] 実装", "[PENDING]", "3", "(pending)", "true"),
        *(
            '"a \\" b"',
            "90s",
            "*.py, docs/**",
            "x # 12",
            "- a",
            "日本語の値",
            "2026-02-17T05:30:00",
        ),
    ]
)
_GAPS = st.sampled_from(["", " ", "  ", "\t", "   # said", " # IDLE / RUNNING", "\u3000"])
_INDENTS = st.sampled_from(["", "  ", "    ", "      ", "\t", "\t\t", "\ufeff", "\u3000"])
_ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
_LINES = st.one_of(
    st.builds(
        lambda indent, key, colon, value, gap, end: indent + key + colon + value + gap + end,
        _INDENTS,
        _KEYS,
        st.sampled_from([": ", ":", "：", " : ", ":\t", ""]),
        st.one_of(_VALUES, _PROSE),
        _GAPS,
        _ENDS,
    ),
    st.builds(lambda indent, text, end: indent + text + end, _INDENTS, _PROSE, _ENDS),
)


def _cut(pieces: list[str], end: int) -> str:
    text = "".join(pieces)
    return text[: len(text) - end] if end else text


#: Texts that look like plans, with everything that goes wrong in them.
PLANLIKE = st.builds(_cut, st.lists(_LINES, max_size=14), st.integers(0, 4))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The documented file after an accident: cut, doubled, shuffled, overwritten."""
    text = M1
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(text)))
        last = draw(st.integers(first, min(len(text), first + 200)))
        inserted = draw(st.one_of(st.just(""), st.just(text[first:last] * 2), PLANLIKE, st.text()))
        text = text[:first] + inserted + text[last:]
    return text


TEXTS = st.one_of(st.text(), PLANLIKE, damaged())
