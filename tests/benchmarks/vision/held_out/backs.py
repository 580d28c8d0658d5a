"""Draw backs of tiles flat, with the marks of a kind of set. No drawing code or font of the training is used."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vision.geometry import Quad, rectangle
from vision.marks.label_code import Payload, payload_text

SCALE: Final = 6.0  # pixels per millimetre
TILE_MM: Final = (28.0, 38.0, 20.0)
SIZE: Final = (round(TILE_MM[0] * SCALE), round(TILE_MM[1] * SCALE))
_BIG: Final = 160  # pixels of a sign before it is scaled
_PLASTICS: Final = (
    (40, 105, 30),
    (95, 60, 25),
    (30, 30, 32),
    (200, 225, 235),
    (70, 140, 200),
    (50, 45, 120),
    (215, 215, 210),
)
_INKS: Final = ((245, 245, 245), (20, 20, 25), (30, 30, 160), (120, 50, 20), (120, 200, 230), (40, 90, 30))

Flat = NDArray[Any]  # BGR, float32, 0..1
Chance = np.random.Generator


@dataclass(frozen=True, slots=True)
class Look:
    """The common appearance of a set's marks; lengths in shares of the tile's width."""

    fonts: tuple[Path, ...]
    height: float = 0.3  # of the digits
    contrast: float = 1.0  # of ink and plastic, 0..1
    worn: float = 0.0  # approximate share of each sign's ink that is missing
    hand: float = 0.0  # shakiness of the handwriting
    logo: bool = False  # a maker's sign below the number
    inverted: bool = False  # labels: white on black
    tilt: float = 0.0  # rotation of labels, in degrees
    colours: tuple[int, int] = field(default=(0, 0))  # of plastics and of inks


@dataclass(frozen=True, slots=True, eq=False)
class Back:
    """A back, shape (228, 168, 3), and the corners of its mark, pixels."""

    art: Flat
    mark: Quad


def colours_that_differ(chance: Chance) -> tuple[int, int]:
    """Return a plastic and an ink that people can distinguish."""
    while True:
        plastic, ink = int(chance.integers(len(_PLASTICS))), int(chance.integers(len(_INKS)))
        if abs(np.mean(_PLASTICS[plastic]) - np.mean(_INKS[ink])) > 70:
            return plastic, ink


def numbered_back(text: str, look: Look, chance: Chance, surface: Chance | None = None) -> Back:
    """Print, engrave or write a text on a back; `surface` draws its plastic, if that varies from tile to tile."""
    ink = np.zeros((SIZE[1], SIZE[0]), dtype=np.float32)
    signs = _line(text, look, chance)
    middle = np.array([0.5, 0.46]) * SIZE + chance.normal(0, 1.5, 2)
    top, left = (int(part) for part in np.round(middle[::-1] - np.array(signs.shape) / 2))
    left, top = max(left, 0), max(top, 0)
    signs = signs[: SIZE[1] - top, : SIZE[0] - left]
    ink[top : top + signs.shape[0], left : left + signs.shape[1]] = signs
    if look.logo:
        _stamp_logo(ink, top + signs.shape[0])
    plastic = _plastic(look, surface or chance)
    colour = np.array(_INKS[look.colours[1]], dtype=np.float32) / 255
    bare = np.array(_PLASTICS[look.colours[0]], dtype=np.float32) / 255
    colour = bare + (colour - bare) * np.float32(look.contrast)
    art = plastic + (colour - plastic) * ink[:, :, None]
    mark = rectangle(np.array([left + signs.shape[1] / 2, top + signs.shape[0] / 2]), signs.shape[1], signs.shape[0])
    return Back(_rounded(art), mark)


def labelled_back(payload: Payload, look: Look, chance: Chance, surface: Chance | None = None) -> Back:
    """Stick a label on a back; `surface` as for numbers."""
    art = _plastic(look, surface or chance)
    code = np.array(
        zxingcpp.write_barcode_to_image(
            zxingcpp.create_barcode(payload_text(payload), zxingcpp.BarcodeFormat.DataMatrix), add_quiet_zones=False
        )
    )
    side, margin = round(10.5 * SCALE), round(1.2 * SCALE)
    paper = Image.new("L", (side + 2 * margin, side + 2 * margin + round(3.5 * SCALE)), 240)
    paper.paste(Image.fromarray(code).resize((side, side), Image.Resampling.NEAREST), (margin, margin))
    font = ImageFont.truetype(str(look.fonts[0]), round(3.2 * SCALE))
    ImageDraw.Draw(paper).text((margin, side + round(1.3 * margin)), f"{payload.serial:03d}", fill=20, font=font)
    sticker = np.clip(np.asarray(paper, dtype=np.float32) / 255, 0.08, 0.94)
    sticker = 1 - sticker if look.inverted else sticker
    middle = np.array([0.5, 0.48]) * SIZE + chance.normal(0, 2.0, 2)
    half = np.array(sticker.shape[::-1]) / 2
    spin = cv2.getRotationMatrix2D((float(half[0]), float(half[1])), -(look.tilt + chance.normal(0, 1)), 1.0)
    spin = spin + np.column_stack([np.zeros((2, 2)), middle - half])
    mask = cv2.warpAffine(np.ones(sticker.shape, dtype=np.float32), spin, SIZE)[:, :, None]
    art = art * (1 - mask) + cv2.warpAffine(sticker, spin, SIZE)[:, :, None] * mask
    corners = rectangle(np.array([margin + side / 2, margin + side / 2]), side, side)
    return Back(_rounded(np.asarray(art, dtype=np.float32)), corners @ spin[:, :2].T + spin[:, 2])


def _plastic(look: Look, chance: Chance) -> Flat:
    """Return bare plastic, slightly clouded, with fine scratches."""
    coarse = chance.normal(0, 1, (7, 5)).astype(np.float32)
    cloud: Flat = cv2.resize(coarse, SIZE, interpolation=cv2.INTER_CUBIC)[:, :, None]
    art = np.full((SIZE[1], SIZE[0], 3), _PLASTICS[look.colours[0]], dtype=np.float32) / 255 * (1 + 0.05 * cloud)
    for _ in range(int(chance.integers(0, 4))):
        ends = chance.uniform(0, SIZE, (2, 2)).astype(int)
        line = np.zeros((SIZE[1], SIZE[0]), dtype=np.float32)
        cv2.line(line, ends[0].tolist(), ends[1].tolist(), 0.12, 1, cv2.LINE_AA)
        art += line[:, :, None]
    return art


def _line(text: str, look: Look, chance: Chance) -> Flat:
    """Return a line of text, 0..1, cropped to its ink; signs are drawn one by one, so that they can shake and wear."""
    font = ImageFont.truetype(str(look.fonts[0]), _BIG)
    signs = [_sign(sign, font, look, chance) for sign in text]
    wide = int(sum(step for _, step in signs)) + 2 * _BIG
    line = np.zeros((2 * _BIG, wide), dtype=np.float32)
    at = _BIG // 2
    for art, step in signs:
        shake = (chance.normal(0, 1, 2) * look.hand * _BIG * 0.06).astype(int) if look.hand else np.zeros(2, dtype=int)
        left, top = at + int(shake[0]), _BIG // 4 + int(shake[1])
        piece = line[top : top + art.shape[0], left : left + art.shape[1]]
        np.maximum(piece, art[: piece.shape[0], : piece.shape[1]], out=piece)
        at += int(step)
    inked = line > 0.2
    down, across = np.nonzero(inked.any(axis=1))[0], np.nonzero(inked.any(axis=0))[0]
    line = line[down[0] : down[-1] + 1, across[0] : across[-1] + 1]
    scale = min(look.height * SIZE[0] / line.shape[0], 0.86 * SIZE[0] / line.shape[1])
    return np.asarray(cv2.resize(line, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.float32)


def _sign(sign: str, font: ImageFont.FreeTypeFont, look: Look, chance: Chance) -> tuple[Flat, float]:
    """Return one sign, and the distance to the next one."""
    page = Image.new("L", (int(1.6 * _BIG), int(1.6 * _BIG)))
    ImageDraw.Draw(page).text((int(0.2 * _BIG), 0), sign, font=font, fill=255)
    art: Flat = np.asarray(page, dtype=np.float32) / 255
    if look.hand:
        wobble = np.stack(
            [
                cv2.resize(
                    chance.normal(0, 1, (4, 4)).astype(np.float32), art.shape[::-1], interpolation=cv2.INTER_CUBIC
                )
                for _ in range(2)
            ]
        )
        rows, cols = np.indices(art.shape).astype(np.float32)
        bend = look.hand * _BIG * 0.035
        art = cv2.remap(art, cols + bend * wobble[0], rows + bend * wobble[1], cv2.INTER_LINEAR)
    return wear_off(art, look.worn, chance), font.getlength(sign)


def wear_off(ink: Flat, share: float, chance: Chance) -> Flat:
    """Remove ink as abrasion does, more on one side, in flakes, until about `share` of it is missing."""
    if share <= 0:
        return ink
    high, wide = ink.shape
    flakes = cv2.resize(
        chance.normal(0, 1, (high // 9, wide // 9)).astype(np.float32), (wide, high), interpolation=cv2.INTER_CUBIC
    )
    angle = chance.uniform(0, 2 * np.pi)
    rows, cols = np.indices(ink.shape).astype(np.float32)
    slope = ((cols - wide / 2) * np.cos(angle) + (rows - high / 2) * np.sin(angle)) / _BIG
    field_ = flakes * 0.5 + slope * float(chance.uniform(1, 5))
    inked = field_[ink > 0.5]
    if inked.size == 0:
        return ink
    limit = float(np.quantile(inked, 1 - min(share * chance.uniform(0.5, 1.4), 0.9)))
    return np.asarray(ink * np.clip((limit - field_) * 6 + 0.5, 0, 1), dtype=np.float32)


def worn_since(back: Back, look: Look, share: float, chance: Chance) -> Flat:
    """Return a back after more play: about `share` of everything on it has flaked off."""
    bare = np.array(_PLASTICS[look.colours[0]], dtype=np.float32) / 255
    keep = wear_off(np.ones(back.art.shape[:2], dtype=np.float32), share, chance)[:, :, None]
    rim = 8  # pixels of the rounded edge, which is not worn
    keep[:rim], keep[-rim:], keep[:, :rim], keep[:, -rim:] = 1, 1, 1, 1
    return np.asarray(bare + (back.art - bare) * keep, dtype=np.float32)


def _stamp_logo(ink: Flat, below: int) -> None:
    """Stamp a maker's sign: a ring, a wave and a dot."""
    centre = (SIZE[0] // 2, min(below + 34, SIZE[1] - 30))
    cv2.circle(ink, centre, 22, 1.0, 4, cv2.LINE_AA)
    cv2.ellipse(ink, centre, (12, 8), 0, 0, 180, 1.0, 4, cv2.LINE_AA)
    cv2.circle(ink, (centre[0], centre[1] - 8), 3, 1.0, -1, cv2.LINE_AA)


def _rounded(art: Flat) -> Flat:
    """Light the rounded edges: brighter at the top, darker at the bottom."""
    rim = np.zeros(art.shape[:2], dtype=np.float32)
    rim[:5], rim[-6:], rim[:, :4], rim[:, -4:] = 0.14, -0.2, 0.05, -0.08
    return np.asarray(np.clip(art + cv2.GaussianBlur(rim, (0, 0), 2)[:, :, None], 0, 1), dtype=np.float32)


def serials_for(count: int, chance: Chance) -> Sequence[int]:
    """Return `count` different serials in random order."""
    return [int(serial) for serial in chance.permutation(np.arange(1, 137))[:count]]
