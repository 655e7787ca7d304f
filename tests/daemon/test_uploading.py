"""A bundle is uploaded in the end: after trouble, and by whoever comes after a daemon that died."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from koboshi.daemon.uploading import Courier
from koboshi.incidents import uploads, waiting
from koboshi.incidents.waiting import Parcel, Waiting
from tests.incidents.storages import Storage, storage

__all__ = ["storage"]

ADDRESS = "s3://nights/api"


class Office:
    """Couriers, one after the other, over one folder; time is ours."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now, self.address = folder, 1000.0, ADDRESS
        self.told: list[tuple[str, str]] = []
        self.bundle = folder / "20261115-010203-x.tar.gz"
        self.bundle.write_bytes(b"content")
        self.courier = self.opened()

    def opened(self) -> Courier:
        """A new one, as after a restart of the daemon."""
        self.courier = Courier(
            self.folder / "uploads", lambda: self.address, self.tell, now=lambda: self.now
        )
        return self.courier

    def bring(self) -> str:
        """The first try."""
        return asyncio.run(self.courier.bring(self.bundle, "api", "1.exit.bundle"))

    def later(self, seconds: float) -> None:
        """The courier looks again after that time."""
        self.now += seconds
        asyncio.run(self.courier.round())

    def on_disk(self) -> list[Parcel]:
        """What the next one would find."""
        return Waiting(self.folder / "uploads").parcels()

    def tell(self, parcel: Parcel, why: str) -> None:
        """What came out later."""
        assert parcel.agent == "api"
        self.told.append((Path(parcel.path).name, why))


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """One with a bundle."""
    return Office(tmp_path)


def test_what_works_at_once_leaves_nothing(office: Office, storage: Storage) -> None:
    """And is told by whoever asked."""
    assert office.bring() == "uploaded"
    assert storage.content(office.bundle.name) == b"content"
    assert (office.on_disk(), office.told) == ([], [])


def test_a_server_that_answers_500_first_gets_it_later(office: Office, storage: Storage) -> None:
    """Not before its pause is over."""
    storage.refuses = 1 + uploads.TRIES
    said = office.bring()

    assert said.startswith("not uploaded yet, and tried again: ")
    office.later(waiting.FIRST - 1)
    assert storage.content(office.bundle.name) is None
    office.later(2)
    assert storage.content(office.bundle.name) == b"content"
    assert (office.told, office.on_disk()) == ([(office.bundle.name, "")], [])


def test_it_survives_the_daemon(office: Office, storage: Storage) -> None:
    """The next one finds it on disk; one that died in the middle of a try, too."""
    storage.is_dead()
    office.bring()
    assert [(p.agent, p.key, p.tries) for p in office.on_disk()] == [("api", "1.exit.bundle", 1)]
    storage.answers()
    office.opened()
    office.later(waiting.FIRST)

    assert storage.content(office.bundle.name) == b"content"
    assert office.told == [(office.bundle.name, "")]


def test_a_try_that_a_death_cut_off_is_made_again(office: Office, storage: Storage) -> None:
    """What is kept is kept before the first try."""
    seen: list[int] = []

    async def dies(path: Path, address: str) -> str:
        del path, address
        seen.append(len(office.on_disk()))
        raise KeyboardInterrupt

    office.courier = Courier(
        office.folder / "uploads", lambda: ADDRESS, office.tell, send=dies, now=lambda: office.now
    )
    with pytest.raises(KeyboardInterrupt):
        office.bring()
    office.opened()
    office.later(0)

    assert seen == [1]
    assert storage.content(office.bundle.name) == b"content"


def test_a_slow_server_holds_up_nobody(
    office: Office, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop goes on while it is waited for, and its try ends."""
    monkeypatch.setattr(uploads, "PATIENCE", 2.0)
    storage.held = True
    ticks = 0

    async def go() -> str:
        nonlocal ticks
        bring = asyncio.create_task(office.courier.bring(office.bundle, "api", "k"))
        while not bring.done():
            ticks += 1
            await asyncio.sleep(0.01)
        return await bring

    assert asyncio.run(go()).startswith("not uploaded yet")
    assert ticks > 10
    storage.held = False
    monkeypatch.setattr(uploads, "PATIENCE", 20.0)
    office.later(waiting.FIRST)
    assert storage.content(office.bundle.name) == b"content"


def test_it_is_not_tried_for_ever(office: Office) -> None:
    """The pauses grow, and after three days it is given up by name."""

    async def dead(path: Path, address: str) -> str:
        del path, address
        return "nobody is there"

    office.courier = Courier(
        office.folder / "uploads", lambda: ADDRESS, office.tell, send=dead, now=lambda: office.now
    )
    office.bring()
    pauses = []
    while office.on_disk():
        (parcel,) = office.on_disk()
        pauses.append(parcel.due - office.now)
        office.later(parcel.due - office.now)
        assert len(pauses) < 1000

    assert pauses[:3] == [5.0, 10.0, 20.0]
    assert max(pauses) == waiting.LONGEST
    assert 250 < len(pauses) < 320
    assert len(office.told) == 1
    assert office.told[0][1] == f"given up after {len(pauses) + 1} tries: nobody is there"


@pytest.mark.parametrize(
    ("why", "address"),
    [
        ("the bundle is not there any more", ADDRESS),
        ("no storage is named any more", ""),
    ],
)
def test_what_cannot_be_brought_any_more_is_told(
    office: Office, storage: Storage, why: str, address: str
) -> None:
    """And not tried."""
    storage.is_dead()
    office.bring()
    office.address = address
    if address:
        office.bundle.unlink()
    office.later(60)

    assert office.told == [(office.bundle.name, why)]
    assert office.on_disk() == []


def test_not_too_many_wait(office: Office) -> None:
    """The oldest is given up, and told of; a file that is none is passed over."""
    (office.folder / "uploads").mkdir()
    (office.folder / "uploads" / "x.json").write_text("{")
    waits = Waiting(office.folder / "uploads")
    given_up = [
        each.path
        for n in range(waiting.MOST + 2)
        for each in waits.put(Parcel(path=f"/b{n}", agent="api", key="k", since=n, due=n))
    ]

    assert given_up == ["/b0", "/b1"]
    assert len(office.on_disk()) == waiting.MOST
