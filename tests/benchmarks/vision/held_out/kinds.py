"""The kinds of pictures, and how each is drawn from a seed, with fonts that are kept back from training."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tests.benchmarks.vision.held_out.backs import (
    TILE_MM,
    Back,
    Chance,
    Flat,
    Look,
    colours_that_differ,
    labelled_back,
    numbered_back,
    serials_for,
)
from tests.benchmarks.vision.held_out.table import (
    GROUNDS,
    Camera,
    Sheet,
    Shot,
    Standing,
    ground,
    mark_on,
    picture_of,
)
from tests.benchmarks.vision.scenes import Scene, Tile
from vision.geometry import Picture
from vision.marks.label_code import Payload
from vision.training.fonts import Look as FontLook
from vision.training.fonts import Part, families_kept_back

ROWS: Final = (13, 11, 10)
_TORN: Final = frozenset("01689")  # digits that are digits upside down
_FOREIGN: Final = ("MJ", "NORTH", "A1B", "&%", "DOM", "X", "HZ", "KTV", "QW7", "BOSS")
_SHEET_SCALE: Final = 4  # pixels per millimetre


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of picture: the text on the backs, their appearance, how the picture is taken, and what lies beside."""

    name: str
    style: str = "digits"  # or label
    text: Callable[[int, Chance], str] = lambda serial, _: f"{serial:03d}"
    fonts: FontLook = "print"
    look: Callable[[Look, Chance], Look] = lambda look, _: look
    shot: Callable[[Shot, Chance], Shot] = lambda shot, _: shot
    beside: Callable[[Chance, Path], list[Sheet]] = lambda _, __: []
    loose: bool = False  # tiles of the set also lie beside the tray, at any rotation
    promised: bool = False  # padded or labelled, and well visible: a share read is also promised


def _year(_: int, chance: Chance) -> str:
    return str(
        chance.choice(["1022", "2026", "1998", "2134", "1136", "0117", "1000", str(chance.integers(1000, 2100))])
    )


def _any_length(serial: int, _: Chance) -> str:
    return str(serial)


def _foreign(_: int, chance: Chance) -> str:
    return str(_FOREIGN[chance.integers(len(_FOREIGN))])


def _worn(share: float) -> Callable[[Look, Chance], Look]:
    return lambda look, chance: replace(look, worn=share * float(chance.uniform(0.7, 1.3)))


def _cards(chance: Chance, font: Path) -> list[Sheet]:
    """Cards of a tile's size and larger, with three digits on them, beside the tray."""
    sheets = []
    for number, (x, y) in enumerate(_edges()):
        size = (28.0, 38.0, 0.4) if number % 2 else (63.0, 40.0, 0.4)
        sheets.append(
            Sheet(
                _printed(f"{chance.integers(1, 137):03d}", size, font, 245, 20),
                np.array([x, y]),
                size,
                float(chance.normal(0, 8)),
            )
        )
    return sheets


def _blocks(chance: Chance, font: Path) -> list[Sheet]:
    """Wooden blocks and score counters with numbers, as thick as tiles but squarer or longer."""
    sheets = []
    for number, (x, y) in enumerate(_edges()):
        size = ((36.0, 36.0, 12.0), (30.0, 60.0, 8.0), (24.0, 32.0, 3.0))[number % 3]
        sheets.append(
            Sheet(
                _printed(f"{chance.integers(1, 137):03d}", size, font, 190, 30),
                np.array([x, y]),
                size,
                float(chance.uniform(-40, 40)),
            )
        )
    return sheets


def _phone(chance: Chance, font: Path) -> list[Sheet]:
    """A telephone that shows numbers in boxes, and a pocket calculator."""
    high, wide = 150 * _SHEET_SCALE, 72 * _SHEET_SCALE
    screen = Image.new("L", (wide, high), 15)
    draw = ImageDraw.Draw(screen)
    letters = ImageFont.truetype(str(font), 12 * _SHEET_SCALE)
    for row in range(3):
        for col in range(2):
            left, top = (4 + 33 * col) * _SHEET_SCALE, (10 + 46 * row) * _SHEET_SCALE
            draw.rounded_rectangle(
                (left, top, left + 30 * _SHEET_SCALE, top + 40 * _SHEET_SCALE), 20, fill=int(chance.integers(60, 230))
            )
            draw.text((left + 16, top + 50), f"{chance.integers(1, 137):03d}", fill=0, font=letters)
    art = np.repeat(np.asarray(screen, dtype=np.float32)[:, :, None] / 255, 3, axis=2)
    return [
        Sheet(art, np.array([side * 255.0, chance.uniform(-30, 30)]), (72.0, 150.0, 8.0), float(chance.normal(0, 10)))
        for side in (-1, 1)
    ]


def _cloth(chance: Chance, font: Path) -> list[Sheet]:
    """A cloth with numbers printed all over it."""
    size = (700.0, 420.0, 0.0)
    page = Image.new(
        "RGB", (int(size[0] * 3), int(size[1] * 3)), tuple(int(part) for part in chance.integers(90, 230, 3))
    )
    draw = ImageDraw.Draw(page)
    letters = ImageFont.truetype(str(font), 34)
    for row in range(0, page.height, 118):
        for col in range(0, page.width, 96):
            draw.rounded_rectangle(
                (col, row, col + 84, row + 106),
                8,
                outline=(40, 40, 40),
                width=2,
                fill=(230, 225, 205) if (row + col) % 4 else None,
            )
            draw.text((col + 12, row + 32), f"{chance.integers(1, 137):03d}", fill=(30, 30, 60), font=letters)
    art = np.asarray(page, dtype=np.float32)[:, :, ::-1] / 255
    return [Sheet(np.ascontiguousarray(art), np.zeros(2), size, float(chance.normal(0, 6)))]


def _lists(chance: Chance, font: Path) -> list[Sheet]:
    """Seating lists on paper on both sides of the tray: a line for each table, with numbers of three digits."""
    size = (148.0, 210.0, 0.2)
    sheets = []
    for side in (-1, 1):
        page = Image.new(
            "L", (int(size[0] * _SHEET_SCALE), int(size[1] * _SHEET_SCALE)), int(chance.integers(215, 250))
        )
        draw = ImageDraw.Draw(page)
        letters = ImageFont.truetype(str(font), int(chance.uniform(5, 11) * _SHEET_SCALE))
        step = letters.size * float(chance.uniform(1.2, 2.2))
        for line in np.arange(0.5 * step, page.height - step, step):
            players = "  ".join(f"{chance.integers(1, 137):03d}" for _ in range(12))
            draw.text((30, line), f"{chance.choice(['Table', 'Round', ''])} {players}", fill=35, font=letters)
        art = np.repeat(np.asarray(page, dtype=np.float32)[:, :, None] / 255, 3, axis=2)
        sheets.append(Sheet(art, np.array([side * 235.0, chance.uniform(-30, 30)]), size, float(chance.normal(0, 10))))
    return sheets


def _printed(text: str, size: tuple[float, float, float], font: Path, paper: int, ink: int) -> Flat:
    wide, high = int(size[0] * _SHEET_SCALE), int(size[1] * _SHEET_SCALE)
    page = Image.new("L", (wide, high), paper)
    letters = ImageFont.truetype(str(font), int(0.42 * min(wide, high)))
    ImageDraw.Draw(page).text((wide / 2, high / 2), text, fill=ink, font=letters, anchor="mm")
    return np.repeat(np.asarray(page, dtype=np.float32)[:, :, None] / 255, 3, axis=2)


def _edges() -> Iterator[tuple[float, float]]:
    """Return places around a tray."""
    yield from ((float(x), y) for y in (-105.0, 105.0) for x in range(-160, 200, 80))


KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("padded", promised=True),
        Kind(
            "padded, hard",
            promised=True,
            look=lambda look, _: replace(look, contrast=0.6),
            shot=lambda shot, _: replace(shot, blur=1.4, noise=0.03, quality=65),
        ),
        Kind("unpadded", text=_any_length),
        Kind("years", text=_year),
        Kind("foreign signs", text=_foreign),
        Kind("number and logo", look=lambda look, _: replace(look, logo=True)),
        Kind("pale", look=lambda look, chance: replace(look, contrast=float(chance.uniform(0.1, 0.25)))),
        Kind("worn a little", look=_worn(0.12)),
        Kind("worn", look=_worn(0.3)),
        Kind("worn away", look=_worn(0.5)),
        Kind("odd fonts", fonts="odd"),
        Kind(
            "handwriting",
            fonts="handwriting",
            look=lambda look, chance: replace(look, hand=float(chance.uniform(0.6, 1.4))),
        ),
        Kind(
            "handwriting, unpadded", fonts="handwriting", text=_any_length, look=lambda look, _: replace(look, hand=1.0)
        ),
        Kind("cards beside", beside=_cards),
        Kind("blocks beside", beside=_blocks),
        Kind("telephones beside", beside=_phone),
        Kind("lists beside", beside=_lists),
        Kind("printed cloth", beside=_cloth),
        Kind("tiles beside", loose=True, promised=True),
        Kind("night", shot=lambda shot, chance: replace(shot, light=0.14, noise=float(chance.uniform(0.01, 0.03)))),
        Kind("motion", shot=lambda shot, chance: replace(shot, motion=float(chance.uniform(5, 14)))),
        Kind("portrait", shot=lambda shot, _: replace(shot, size=(1080, 1920)), promised=True),
        Kind("640 x 480", shot=lambda shot, _: replace(shot, size=(640, 480), noise=0.02)),
        Kind(
            "lens",
            shot=lambda shot, chance: replace(shot, lens=float(chance.uniform(0.12, 0.3)), fill=0.8),
            promised=True,
        ),
        Kind("steep tilt", shot=lambda shot, chance: replace(shot, tilt=float(chance.uniform(40, 52)), fill=0.85)),
        Kind("labels", style="label", promised=True),
        Kind("labels, inverted", style="label", look=lambda look, _: replace(look, inverted=True), promised=True),
        Kind(
            "labels, tilted 45",
            style="label",
            look=lambda look, chance: replace(look, tilt=float(chance.choice([-45, 45, 40, 50]))),
            promised=True,
        ),
        Kind(
            "labels, tray askew",
            style="label",
            shot=lambda shot, chance: replace(shot, turn=float(chance.choice([-45, 45, 38])), fill=0.72),
            promised=True,
        ),
        Kind("labels, 640 x 480", style="label", shot=lambda shot, _: replace(shot, size=(640, 480), noise=0.02)),
        Kind(
            "labels, motion", style="label", shot=lambda shot, chance: replace(shot, motion=float(chance.uniform(3, 9)))
        ),
        Kind("labels, cards beside", style="label", beside=_cards, promised=True),
    )
}


def draw(kind: Kind, seed: int, part: Part = "test") -> Scene:
    """Draw a tray of a kind; it depends on seed and fonts alone."""
    chance = np.random.default_rng([*kind.name.encode(), seed, len(part)])
    look = look_of(kind, chance, part)
    shot = kind.shot(
        Shot(tilt=float(chance.uniform(0, 22)), turn=float(chance.normal(0, 4)), blur=float(chance.uniform(0.3, 0.9))),
        chance,
    )
    beside = kind.beside(chance, families_kept_back(part, "print")[0][0])
    camera = Camera.over(shot, 480.0 if beside or kind.loose else 400.0)
    tiles, texts = _tray(kind, look, chance)
    floor = ground(GROUNDS[chance.integers(len(GROUNDS))], chance)
    picture = picture_of(camera, floor, beside, tiles, chance)
    truth = tuple(truth_of(camera, tile, text, kind.style) for tile, text in zip(tiles, texts, strict=True))
    return scene_of(kind, f"{kind.name} {seed}", picture, truth)


def look_of(kind: Kind, chance: Chance, part: Part) -> Look:
    """Draw the appearance of a set's marks."""
    groups = families_kept_back(part, kind.fonts)
    if not groups:
        raise SystemExit(
            f"no font of those kept back for {part}, {kind.fonts}, is installed: vision/training/packages.txt"
        )
    group = groups[chance.integers(len(groups))]
    look = Look(
        (group[chance.integers(len(group))],),
        height=float(chance.uniform(0.24, 0.36)),
        colours=colours_that_differ(chance),
    )
    return kind.look(look, chance)


def back_of(kind: Kind, serial: int, look: Look, chance: Chance, surface: Chance | None = None) -> tuple[Back, str]:
    """Draw the back of a tile of a kind; also return its text."""
    if kind.style == "label":
        return labelled_back(Payload(8, serial), look, chance, surface), f"{serial:03d}"
    text = kind.text(serial, chance)
    return numbered_back(text, look, chance, surface), text


def scene_of(kind: Kind, name: str, picture: Picture, truth: tuple[Tile, ...]) -> Scene:
    """Return a tray's picture of a kind with its truth."""
    return Scene(name, picture, kind.style, kind.name, "tray", truth)


def _tray(kind: Kind, look: Look, chance: Chance) -> tuple[list[Standing], list[str]]:
    tiles, texts = [], []
    pitch = np.array([TILE_MM[0] + chance.uniform(0.3, 1.5), TILE_MM[1] + chance.uniform(2, 7)])
    spots = [np.array([col - 6.0, row - 1.0]) * pitch for row, count in enumerate(ROWS) for col in range(count)]
    beside = [np.array(edge) for edge in _edges()] if kind.loose else []
    for number, serial in enumerate(serials_for(len(spots) + len(beside), chance)):
        back, text = back_of(kind, serial, look, chance)
        at = [*spots, *beside][number] + chance.normal(0, 0.25, 2)
        turn = chance.normal(0, 0.8) if number < len(spots) else chance.uniform(0, 360)
        tiles.append(Standing(at, float(turn), back))
        texts.append(text)
    return tiles, texts


def truth_of(camera: Camera, tile: Standing, text: str, style: str) -> Tile:
    """Return a tile's truth: a text that is not a number from 1 to 136 has the serial 0, and must not be read."""
    quad, mark = mark_on(camera, tile)
    serial = int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= 136 and len(text) <= 3 else 0
    readable = serial > 0 and (style == "label" or not _TORN.issuperset(text))
    return Tile(quad, mark, serial, is_back=True, readable=readable)
