"""Looks without styles: taken where they will do, and never instead of what they cannot tell."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from koboshi.adapters.claude import ClaudeAdapter
from koboshi.core.readings import Status
from koboshi.daemon import supervisor as supervisors
from koboshi.hosts.base import Place
from koboshi.observations import ScreenSeen
from koboshi.scripted.behaviour import Done
from tests.daemon.lives import Life

RULE = "─" * 80
BOX = f"● done\n\n{RULE}\n❯ \n{RULE}\n  ? for shortcuts"
DRAFT = BOX.replace("❯ ", "❯ Try something")


class Shown:
    """A host that shows one screen and notes how it was asked for it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.text = BOX
        self.asked: list[str] = []

    async def look(self, place: Place) -> ScreenSeen:
        """With styles: what stands in the box is faint, which is no draft."""
        self.asked.append("look")
        ansi = self.text.replace("Try something", "\x1b[2mTry something\x1b[0m")
        return replace(self._seen(place), ansi=ansi)

    async def glance(self, place: Place) -> ScreenSeen:
        """Without."""
        self.asked.append("glance")
        return replace(self._seen(place), plain=True)

    def _seen(self, place: Place) -> ScreenSeen:
        return ScreenSeen(text=self.text, run=place.run, cols=80, rows=24, command="claude")


def test_styles_are_asked_for_only_where_they_are_wanted() -> None:
    """And for some looks after that: the next one would mostly be refused, too."""
    life = Life((Done(),))
    watcher = life.rise()
    life.live(5.0)
    place = watcher.place
    assert place is not None
    shown = Shown(place)
    watcher._adapter = ClaudeAdapter()  # noqa: SLF001
    watcher.hands.host = shown  # type: ignore[assignment]
    watcher._glance = shown.glance  # noqa: SLF001

    def looked() -> list[str]:
        shown.asked = []
        asyncio.run(watcher.look())
        return shown.asked

    assert looked() == ["glance"]
    shown.text = DRAFT
    assert looked() == ["glance", "look"]
    assert watcher.world.view.sight.draft == ""
    for _ in range(supervisors.STYLED - 1):
        assert looked() == ["look"]
    shown.text = BOX
    assert looked() == ["glance"]
    assert watcher.world.view.status is not Status.GONE
