"""One file per incident: bounded, kept for a while, and nothing secret in it."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from koboshi.incidents.bundles import Bounds, Part, cut, pack, prune, tail
from koboshi.store.redaction import redact
from tests.store.secret_corpus import CORPUS

UTC = 1_793_000_000.0


def unpacked(path: Path) -> dict[str, str]:
    """The files of a bundle."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            assert stream is not None
            found[member.name.partition("/")[2]] = stream.read().decode()
    return found


def test_no_planted_secret_is_in_a_bundle(tmp_path: Path) -> None:
    """Every kind, in every part; cut where it is worst."""
    planted = "\n".join(f"{kind}\n{text}" for kind, (_, text) in CORPUS.items())
    for most in (1 << 20, len(planted) - 500, 3000, 700):
        parts = [Part(name="a.txt", text=planted), Part(name="b.log", text=planted * 2)]
        bounds = Bounds(part=most)
        path = pack(tmp_path, f"20261115-010203-{most}", parts, redact, utc=UTC, bounds=bounds)
        for name, text in unpacked(path).items():
            left = [kind for kind, (secret, _) in CORPUS.items() if secret in text]
            assert left == [], name


def test_a_bundle_is_private_and_bounded(tmp_path: Path) -> None:
    """The end of each part stays; all together are not more than the bound."""
    parts = [Part(name=f"{n}.txt", text=f"line {n}\n" * 100_000) for n in range(4)]
    bounds = Bounds(part=10_000, total=25_000)
    path = pack(tmp_path / "b", "20261115-010203-x", parts, str, utc=UTC, bounds=bounds)
    found = unpacked(path)

    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert oct(path.parent.stat().st_mode & 0o777) == "0o700"
    assert found["0.txt"].startswith("[… 690000 bytes before this were cut off]\nline 0\n")
    assert found["0.txt"].endswith("line 0\n")
    assert sum(map(len, found.values())) <= 25_000
    assert found["3.txt"] == ""


@given(st.binary(max_size=300), st.integers(0, 400))
def test_a_cut_is_never_longer_than_asked(content: bytes, most: int) -> None:
    """Whatever it is, and however little is left."""
    assert len(cut(content, most)) <= most
    assert cut(content, 300) == content


def test_old_ones_go_by_count_and_by_age(tmp_path: Path) -> None:
    """The newest stays however old; what is not ours is not touched."""
    for n in range(6):
        path = tmp_path / f"20261115-01020{n}-x.tar.gz"
        path.touch()
        os.utime(path, (UTC + n, UTC + n))
    (tmp_path / "mine.tar.gz").touch()
    os.utime(tmp_path / "mine.tar.gz", (1, 1))

    prune(tmp_path, UTC + 10, Bounds(keep=4, keep_for=1000))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *(f"20261115-01020{n}-x.tar.gz" for n in range(2, 6)),
        "mine.tar.gz",
    ]
    prune(tmp_path, UTC + 9999, Bounds(keep=4, keep_for=1000))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "20261115-010205-x.tar.gz",
        "mine.tar.gz",
    ]


def test_the_end_of_a_file_begins_with_a_line(tmp_path: Path) -> None:
    """A row that was cut in its middle is left out."""
    (tmp_path / "log").write_text("first\nsecond\nthird\n")

    assert tail(tmp_path / "log", 12) == "third\n"
    assert tail(tmp_path / "log", 100) == "first\nsecond\nthird\n"
