"""A heap under the camera: the picture with each tile's destination, and what is still to be seen."""

from collections.abc import Iterator
from typing import Final

import pygame

from broker.contract.words import SEATS
from broker.rules.deal import TRAY
from kiosk.bench import Bench
from kiosk.screens import style
from kiosk.screens.middle import Action, Middle, Paint
from kiosk.screens.pen import Pen, Said
from kiosk.screens.plain import extra, problem
from kiosk.screens.shown import Shown
from kiosk.screens.words import Words
from kiosk.sight import View
from kiosk.table.restoring.heap import stage, unseen
from kiosk.table.restoring.lying import where
from kiosk.table.restoring.places import deal_of, homes
from kiosk.table.restoring.work import Work

ALL: Final = TRAY * len(SEATS)

MOST_NAMED: Final = 12
"""As many serials as somebody looks for at a time."""


def heap(words: Words, shown: Shown) -> Middle | None:
    """Tiles that lie in no tray."""
    bench, work = shown.bench, shown.work
    if bench is None or work is None or bench.showing != "camera" or bench.sight.view is None or not bench.heap.in_view:
        return None
    lines = (*extra(words, shown), _sorting(words, shown, bench), *_told(words, bench, work), *problem(words, shown))
    by_hand = (Action("h", words("do_by_hand")),) if shown.check is not None and shown.check.unread else ()
    return Middle(lines, by_hand, paint=picture(bench.sight.view), seats=False)


def _sorting(words: Words, shown: Shown, bench: Bench) -> Said:
    """Say by what tiles are sorted now."""
    serials = (one.serial for one in bench.heap.in_view if one.serial is not None and not one.foreign)
    sort, seat = stage(serials, homes(deal_of(shown.order or {})))
    if sort == "seat" or seat is None:
        return Said(words("heap_by_seat"), 0.06, style.TEXT)
    return Said(words("heap_by_place", seat=words.seat(seat)), 0.06, style.TEXT)


def _told(words: Words, bench: Bench, work: Work) -> Iterator[Said]:
    """Say how far it is, and what to do with tiles that go nowhere."""
    missing = unseen(bench.heap, where(work.carrier).keys())
    progress = words("heap_progress", seen=ALL - len(missing), all=ALL)
    if 0 < len(missing) <= MOST_NAMED:
        progress = f"{progress}   {words('heap_unseen', serials=' '.join(map(str, missing)))}"
    yield Said(progress, 0.045, style.QUIET if missing else style.GOOD)
    for name, count in (
        ("heap_faces", bench.heap.count(face_up=True)),
        ("heap_foreign", bench.heap.count(foreign=True)),
        ("heap_unread", bench.heap.unread),
    ):
        if count:
            yield Said(words(name, count=count), 0.045, style.ATTENTION)


def picture(view: View) -> Paint:
    """Give what shows the camera's picture, no larger than it is."""

    def paint(surface: pygame.Surface, room: pygame.Rect, _: Pen) -> None:
        height, width = view.picture.shape[:2]
        seen = pygame.image.frombuffer(view.picture.tobytes(), (width, height), "BGR")
        scale = min(room.width / width, room.height / height)
        if scale < 1:
            seen = pygame.transform.smoothscale(seen, (round(width * scale), round(height * scale)))
        surface.blit(seen, seen.get_rect(center=room.center))

    return paint
