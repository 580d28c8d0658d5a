"""What a counted hand is worth: its fan, or its yaku and fu, below each other. Names are of the rule book's files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import pygame

from broker.contract.counting import McrValue, RiichiValue
from broker.rules.fan import catalogue
from broker.rules.riichi import names
from kiosk.screens import style
from kiosk.screens.middle import Paint
from kiosk.screens.pen import MUCH_SMALLER, Pen, Said
from kiosk.screens.riichi_seat import worth
from kiosk.screens.words import Words

FAN_LANGUAGES: Final[Mapping[str, catalogue.Language]] = {language: language for language in catalogue.LANGUAGES}

YAKU_LANGUAGES: Final[Mapping[str, names.Language]] = {"en": "en", "fr": "fr", "zh": "kanji"}

LEADING: Final = 0.006
"""Between two rows, as a share of the screen's height."""

SHARE: Final = 0.055
"""Height of a row where there is room, as a share of the screen's."""

LONGEST: Final = 6
"""Rows of fan in one column."""

NARROW: Final = 0.62
"""Width of a column that stands alone, as a share of the room's: the eye finds its way from left to right."""

Row = tuple[str, str]
"""What it is, and what it is worth."""


def valued(words: Words, value: McrValue | RiichiValue) -> tuple[Said, ...]:
    """Give what a hand comes to."""
    if isinstance(value, RiichiValue):
        return (Said(worth(words, value).text, 0.09, style.GOOD),)
    if value.fan < value.minimum:
        return (Said(words("count_under", fan=value.fan, minimum=value.minimum), 0.06, style.ATTENTION),)
    return (Said(words("count_total", fan=value.fan), 0.09, style.GOOD),)


def listed(words: Words, value: McrValue | RiichiValue) -> Paint:
    """Give what writes what it is made of: names on the left, what each is worth on the right."""
    if isinstance(value, McrValue):
        fan = _fan(words, value)
        half = -(-len(fan) // 2)
        return _columns([fan[:half], fan[half:]] if len(fan) > LONGEST else [fan])
    yaku = [(yaku_name(words, one.id), _han(words, one.han, one.yakuman)) for one in value.yaku]
    return _columns([yaku, _fu(words, value)] if value.items and not value.yakuman else [yaku])


def _fan(words: Words, value: McrValue) -> list[Row]:
    times = Counter((one.id, one.fan) for one in value.elements)
    return [(_times(fan_name(words, fan_id), many), str(fan * many)) for (fan_id, fan), many in times.items()]


def _fu(words: Words, value: RiichiValue) -> list[Row]:
    times = Counter((one.id, one.fu) for one in value.items)
    rows = [(_times(_name("fu", words, fu_id), many), str(fu * many)) for (fu_id, fu), many in times.items()]
    return [*rows, (words("count_fu_rounded"), str(value.fu))]


def _han(words: Words, han: int, yakuman: int) -> str:
    return words("riichi_yakuman", count=yakuman) if yakuman else words("riichi_han", han=han)


def _times(name: str, times: int) -> str:
    return f"{name} ×{times}" if times > 1 else name


def fan_name(words: Words, fan_id: str) -> str:
    """Name a fan; of one that this version does not know, its id."""
    if fan_id not in catalogue.entries():
        return fan_id
    return catalogue.name(fan_id, FAN_LANGUAGES.get(words.language, "en"))


def yaku_name(words: Words, yaku_id: str) -> str:
    """Name a yaku; of one that this version does not know, its id."""
    return _name("yaku", words, yaku_id)


def _name(part: names.Part, words: Words, of: str) -> str:
    known = of in names.catalogue(part)
    return names.name(part, of, YAKU_LANGUAGES.get(words.language, "ja")) if known else of


def _columns(columns: Sequence[Sequence[Row]]) -> Paint:
    """Give what writes rows in columns beside each other, all of one size."""

    def paint(surface: pygame.Surface, room: pygame.Rect, pen: Pen) -> None:
        gap, leading = room.width // 20, round(LEADING * surface.get_height())
        if len(columns) == 1 and _natural(columns[0], pen) < NARROW * room.width:
            room = room.inflate(-round((1 - NARROW) * room.width), 0)
        boxes = [*_beside(room, gap, [_natural(rows, pen) for rows in columns])]
        share = min(_share(pen, rows, box.width, box.height, leading) for rows, box in zip(columns, boxes, strict=True))
        for rows, box in zip(columns, boxes, strict=True):
            _write(surface, pen, rows, box, share, leading)

    return paint


def _beside(room: pygame.Rect, gap: int, natural: Sequence[int]) -> Iterator[pygame.Rect]:
    """Give columns beside each other: each has of the room what it needs of all."""
    left, wide = room.left, room.width - (len(natural) - 1) * gap
    for one in natural:
        box = pygame.Rect(left, room.top, wide * one // sum(natural), room.height)
        yield box
        left = box.right + gap


def _natural(rows: Iterable[Row], pen: Pen) -> int:
    """Give how wide a column is where nothing is made smaller."""
    return max((pen.wide(f"{name}    {worth_}", SHARE) for name, worth_ in rows), default=0)


def _number(rows: Iterable[Row], pen: Pen, share: float, width: int) -> int:
    """Give how wide the right side is: as wide as its widest, and no more than half."""
    return min(width // 2, max((pen.wide(worth, share) for _, worth in rows), default=0))


def _share(pen: Pen, rows: Sequence[Row], width: int, high: int, leading: int) -> float:
    """Give a size for all rows: that of the longest name, but where it would make all others much smaller."""
    lines = pen.fit([Said(name, SHARE, style.TEXT) for name, _ in rows], width, high, leading)
    share = lines[0].share if lines else SHARE
    alike = pen.share([name for name, _ in rows], share, width - _number(rows, pen, share, width) - width // 20)
    return max(alike, MUCH_SMALLER * share)


def _write(
    surface: pygame.Surface, pen: Pen, rows: Sequence[Row], box: pygame.Rect, share: float, leading: int
) -> None:
    number, y = _number(rows, pen, share, box.width), box.top
    for name, worth_ in rows:
        wide = box.width - number - box.width // 20
        stands = pen.write(surface, name, (box.left, y), share, style.TEXT, wide)
        pen.write(surface, worth_, (box.right, y), share, style.TEXT, number, align="right")
        y = stands.bottom + leading
