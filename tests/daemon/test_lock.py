"""Locks that the kernel drops with their holder."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from koboshi.daemon import lock
from koboshi.daemon.lock import session_lock


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "sessions_dir", lambda: tmp_path / "sessions")


def test_a_session_is_opened_by_one_at_a_time(tmp_path: Path) -> None:
    """Also within one process: a daemon has many agents."""
    with session_lock("s1") as first, session_lock("s1") as second, session_lock("s2") as other:
        assert (first, second, other) == (True, False, True)
    with session_lock("s1") as again:
        assert again is True

    assert stat.S_IMODE((tmp_path / "sessions").stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in tmp_path.glob("sessions/*")} == {0o600}


def test_where_no_lock_can_be_had_nobody_is_kept_out(tmp_path: Path) -> None:
    """A look at the processes has to do."""
    (tmp_path / "sessions").write_text("in the way")

    with session_lock("s1") as ours:
        assert ours is True
