"""Registry, transcripts and tails: files that live processes write about themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koboshi.core.events import Source
from koboshi.core.view import Run
from koboshi.hosts.recorder import born
from koboshi.observations import RegistryRead, TranscriptGrew
from koboshi.sources import registry as registry_module
from koboshi.sources import tail as tail_module
from koboshi.sources import transcripts as transcripts_module
from koboshi.sources.registry import Registry
from koboshi.sources.senses import Senses
from koboshi.sources.tail import Tail
from koboshi.sources.transcripts import ClaudeTranscript


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose HOME is the test's."""
    program = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(program, env={"HOME": str(tmp_path)}) as process:
        deadline = time.monotonic() + 10
        while not Path(f"/proc/{process.pid}/environ").read_bytes():
            assert time.monotonic() < deadline
        yield process
        process.kill()


@pytest.fixture(autouse=True)
def searching_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between searches."""
    monkeypatch.setattr(registry_module, "SEARCH", 0.0)
    monkeypatch.setattr(transcripts_module, "SEARCH", 0.0)


def write_registry(home: Path, pid: int, /, **more: object) -> Path:
    """The file about that process."""
    path = home / ".claude" / "sessions" / f"{pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"pid": pid, "procStart": str(born(pid)), "sessionId": "s1", "status": "busy", **more}
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


@needs_proc
def test_a_registry_is_told_when_it_changes(tmp_path: Path, agent: subprocess.Popen[bytes]) -> None:
    """Once each time; a file that is being written is waited for."""
    registry = Registry(1, agent.pid)
    before = registry.read()
    path = write_registry(tmp_path, agent.pid)
    first, again = registry.read(), registry.read()
    path.write_text('{"pid": ', encoding="utf-8")
    torn = registry.read()
    write_registry(tmp_path, agent.pid, status="idle")
    second = registry.read()

    assert (before, again, torn) == (None, None, None)
    assert first is not None
    assert first.record["status"] == "busy"
    assert second is not None
    assert second.record["status"] == "idle"


@needs_proc
def test_what_a_killed_process_left_is_taken_back(
    tmp_path: Path, agent: subprocess.Popen[bytes]
) -> None:
    """Once, and nobody believes the file again; not even while a zombie holds the number."""
    registry = Registry(1, agent.pid)
    path = write_registry(tmp_path, agent.pid)
    assert registry.read() is not None

    agent.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
    lost, after = registry.read(), registry.read()

    assert lost == RegistryRead(run=1, record={})
    assert after is None
    assert path.exists()


@needs_proc
@pytest.mark.parametrize("more", [{"procStart": "1"}, {"pid": 1}])
def test_a_file_about_another_process_of_that_number_is_stale(
    tmp_path: Path, agent: subprocess.Popen[bytes], more: dict[str, object]
) -> None:
    """Numbers are used again."""
    write_registry(tmp_path, agent.pid, **more)

    assert Registry(1, agent.pid).read() is None


@needs_proc
def test_senses_follow_the_session_from_file_to_file(
    tmp_path: Path, agent: subprocess.Popen[bytes]
) -> None:
    """The registry says which transcript is the run's."""
    run = Run(number=1, pid=agent.pid)
    senses = Senses("a1", "claude")
    projects = tmp_path / ".claude" / "projects" / "-work"
    projects.mkdir(parents=True)
    for name in ("s1", "s2", "other"):
        (projects / f"{name}.jsonl").write_bytes(f'{{"n":"{name}"}}\n'.encode())
    write_registry(tmp_path, agent.pid)
    first = list(senses.read(run))
    quiet = list(senses.read(run))
    write_registry(tmp_path, agent.pid, sessionId="s2")
    second = list(senses.read(run))

    assert [type(seen) for seen in first] == [RegistryRead, TranscriptGrew]
    assert first[1] == TranscriptGrew(run=1, session="s1", lines=(b'{"n":"s1"}',))
    assert quiet == []
    assert second[1] == TranscriptGrew(run=1, session="s2", lines=(b'{"n":"s2"}',))


@needs_proc
def test_a_session_name_that_climbs_is_not_followed(
    tmp_path: Path, agent: subprocess.Popen[bytes]
) -> None:
    """The file may be written by anything that runs as the user."""
    (tmp_path / ".claude" / "projects" / "x").mkdir(parents=True)
    (tmp_path / ".claude" / "secret.jsonl").write_bytes(b"{}\n")
    write_registry(tmp_path, agent.pid, sessionId="../../secret")
    senses = Senses("a1", "claude")

    assert [type(seen) for seen in senses.read(Run(number=1, pid=agent.pid))] == [RegistryRead]


@needs_proc
def test_codex_is_known_by_the_rollout_that_it_has_open(tmp_path: Path) -> None:
    """Of several the person's; a file that is only there is nobody's."""
    ids = [f"01a1df2b-c251-7d11-b4f0-a1e41612d36{n}" for n in range(3)]
    paths = [tmp_path / f"rollout-2026-11-15T12-25-4{n}-{ids[n]}.jsonl" for n in range(3)]
    sources: list[object] = ["cli", {"subagent": "review"}, "cli"]
    for path, source in zip(paths, sources, strict=True):
        meta = {"type": "session_meta", "payload": {"source": source}}
        path.write_text(json.dumps(meta) + "\n", encoding="utf-8")
    code = (
        "import sys, time; f = [open(p, 'a') for p in sys.argv[1:]]; "
        "print(flush=True); time.sleep(60)"
    )
    program = [sys.executable, "-S", "-c", code, str(paths[0]), str(paths[1])]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        [seen] = Senses("a1", "codex").read(Run(number=2, pid=process.pid))
        process.kill()

    assert isinstance(seen, TranscriptGrew)
    assert (seen.run, seen.session) == (2, ids[0])


@pytest.mark.parametrize("run", [Run(), Run(number=1)])
def test_without_a_process_nothing_is_sensed(run: Run) -> None:
    """A run that nobody has a pid of is known by its screen."""
    for kind in ("claude", "codex", "gemini", "generic"):
        assert list(Senses("a1", kind).read(run)) == []
    assert Source.REGISTRY.value == "registry"


# -- tails ------------------------------------------------------------------------------------


@given(
    st.lists(st.binary(min_size=1, max_size=9).filter(lambda b: b"\n" not in b), max_size=8),
    st.lists(st.integers(1, 30), max_size=8),
)
def test_however_a_file_grows_each_line_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int]
) -> None:
    """Torn anywhere."""
    path = tmp_path_factory.mktemp("tail") / "f"
    content = b"".join(line + b"\n" for line in lines)
    tail = Tail(path)
    read: list[bytes] = []
    with path.open("ab", buffering=0) as file:
        for cut in [*cuts, len(content)]:
            file.write(content[:cut])
            content = content[cut:]
            read += tail.read()

    assert read == [line for line in lines if line.strip()]


def test_a_huge_line_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture in a transcript is no news, and what follows it is."""
    monkeypatch.setattr(tail_module, "LONGEST", 50)
    monkeypatch.setattr(tail_module, "CHUNK", 20)
    path = tmp_path / "f"
    path.touch()
    tail = Tail(path)
    path.write_bytes(b"one\n" + b"x" * 500 + b"\ntwo\n")
    read = [line for _ in range(60) for line in tail.read()]

    assert read == [b"one", b"two"]


def test_of_an_old_file_only_the_end_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enough to know how things stand; and a file that was begun anew is read anew."""
    monkeypatch.setattr(tail_module, "HISTORY", 10)
    path = tmp_path / "f"
    path.write_bytes(b"an old line\nnew\nest\n")
    tail = Tail(path)

    assert tail.read() == (b"new", b"est")
    path.write_bytes(b"again\n")
    assert tail.read() == (b"again",)
    path.unlink()
    assert tail.read() == ()


def test_who_asks_for_a_transcript_need_not_wait_for_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was not there yet when it was looked for last."""
    monkeypatch.setattr("koboshi.sources.transcripts.SEARCH", 0.0)
    transcript = ClaudeTranscript(1)
    before = transcript.read(tmp_path, "s1"), transcript.last(100)
    (tmp_path / "projects" / "-work").mkdir(parents=True)
    (tmp_path / "projects" / "-work" / "s1.jsonl").write_bytes(b"{}\n")

    assert before == (None, ())
    assert transcript.last(100) == (b"{}", b"")


def test_a_run_that_ended_before_anybody_looked_is_known_by_its_session(tmp_path: Path) -> None:
    """After a restart of the machine there is no process that could tell; its file is there."""
    path = tmp_path / ".claude" / "projects" / "-work" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"a": 1}\n{"b": 2}\n')
    senses, around = Senses("a", "claude"), {"HOME": str(tmp_path)}

    assert senses.last_lines("s1", around) == (b'{"a": 1}', b'{"b": 2}', b"")
    assert senses.last_lines("s2", around) == ()
    assert senses.last_lines("../s1", around) == ()
    assert senses.last_lines("s1", {}) == ()
    assert Senses("a", "codex").last_lines("s1", around) == ()
