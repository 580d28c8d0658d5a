"""Draw crops without a printed number: traps that the network must learn to ignore."""

from functools import cache
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from vision.training.backs import HEIGHT, WIDTH, Art, Chance, NumberStyle, Reals, paint_back
from vision.training.fonts import FOLDERS, font_files

_SIGNS = "一二三四五六七八九萬万東南西北中發春夏秋冬梅蘭竹菊"
_WORDS = ("DEAL", "HAND", "BOARD", "Set", "NORTH", "EAST", "SOUTH", "WEST", "TABLE", "ROUND")
_INKS = ((0.1, 0.1, 0.7), (0.15, 0.4, 0.1), (0.5, 0.15, 0.1), (0.05, 0.05, 0.05))


@cache
def _cjk_fonts() -> tuple[Path, ...]:
    files = sorted(path for folder in FOLDERS for path in folder.rglob("*.tt[cf]"))
    return tuple(path for path in files if "CJK" in path.name or "wqy" in path.name)


def draw_blank_crop(style: NumberStyle, chance: Chance) -> Art:
    """Draw a back without any mark."""
    return paint_back(style, np.zeros((HEIGHT, WIDTH), dtype=np.float32), chance)


def draw_label_crop(style: NumberStyle, chance: Chance) -> Art:
    """Draw a back with a label: white, with a grid of modules and a small number that this network must not read."""
    art = draw_blank_crop(style, chance)
    width = int(WIDTH * chance.uniform(0.36, 0.7))
    height = int(width * chance.uniform(1.0, 1.5))
    left = int((WIDTH - width) / 2 + chance.normal(0, 0.05 * WIDTH))
    top = int((HEIGHT - height) / 2 + chance.normal(0, 0.08 * HEIGHT))
    left, top = min(max(left, 0), WIDTH - width), min(max(top, 0), HEIGHT - height)
    paper = np.full((height, width), chance.uniform(0.75, 1.0), dtype=np.float32)
    count = int(chance.choice([10, 12, 14]))
    modules = (chance.random((count, count)) < 0.5).astype(np.float32)
    modules[:, 0] = modules[-1] = 0
    side = int(width * chance.uniform(0.7, 0.9))
    margin = (width - side) // 2
    below = max(0, height - side - 2 * margin)
    paper[margin : margin + side, margin : margin + side] = cv2.resize(modules, (side, side), interpolation=0)[:height]
    page = Image.fromarray((paper * 255).astype(np.uint8))
    if below > 8:
        font = ImageFont.truetype(str(font_files()[chance.integers(len(font_files()))]), int(below * 0.9))
        ImageDraw.Draw(page).text((margin, height - below - 2), f"{chance.integers(1, 137):03d}", fill=20, font=font)
    art[top : top + height, left : left + width] = (np.asarray(page) / np.float32(255))[:, :, None]
    return art


def draw_face_crop(chance: Chance) -> Art:
    """Draw a face: signs, circles or sticks in the usual inks, on white or ivory."""
    page = Image.new("RGB", (WIDTH, HEIGHT), tuple(int(255 * part) for part in chance.uniform(0.75, 1.0, 3)))
    draw = ImageDraw.Draw(page)
    kind = chance.integers(4)
    if kind == 0 and _cjk_fonts():
        _draw_signs(draw, chance)
    elif kind in {0, 1}:
        _draw_grid(draw, chance, round_ones=True)
    elif kind == 2:
        _draw_grid(draw, chance, round_ones=False)
    if chance.random() < 0.3:  # some sets have a small index in the corner
        font = ImageFont.truetype(str(font_files()[chance.integers(len(font_files()))]), 26)
        draw.text((8, 6), str(chance.integers(1, 10)), fill=_any_ink(chance), font=font)
    return np.asarray(np.asarray(page)[:, :, ::-1] / np.float32(255), dtype=np.float32)


def _any_ink(chance: Chance) -> tuple[int, int, int]:
    blue, green, red = (int(255 * part) for part in _INKS[chance.integers(len(_INKS))])
    return red, green, blue


def _draw_signs(draw: ImageDraw.ImageDraw, chance: Chance) -> None:
    count = int(chance.integers(1, 3))
    size = int(HEIGHT * (0.62 if count == 1 else 0.42))
    font = ImageFont.truetype(str(_cjk_fonts()[chance.integers(len(_cjk_fonts()))]), size)
    for place in range(count):
        sign = _SIGNS[chance.integers(len(_SIGNS))]
        at = (WIDTH / 2 - size / 2, HEIGHT / 2 - (size * 0.62 * count) + place * size)
        draw.text(at, sign, fill=_any_ink(chance), font=font)


def _draw_grid(draw: ImageDraw.ImageDraw, chance: Chance, *, round_ones: bool) -> None:
    rows, cols = int(chance.integers(1, 5)), int(chance.integers(1, 4))
    for row in range(rows):
        for col in range(cols):
            x, y = WIDTH * (col + 1) / (cols + 1), HEIGHT * (row + 1) / (rows + 1)
            deep = min(WIDTH / (cols + 1), HEIGHT / (rows + 1)) * 0.42
            wide = deep if round_ones else deep * 0.28
            box = (x - wide, y - deep, x + wide, y + deep)
            ink = _any_ink(chance)
            if round_ones:
                draw.ellipse(box, outline=ink, width=5)
                draw.ellipse((x - deep / 3, y - deep / 3, x + deep / 3, y + deep / 3), fill=ink)
            else:
                draw.rounded_rectangle(box, radius=3, fill=ink)


def draw_card_crop(chance: Chance) -> Art:
    """Draw part of a printed card: words and two-digit numbers, cut off anywhere."""
    shade = int(255 * chance.uniform(0.7, 1.0))
    page = Image.new("L", (WIDTH, HEIGHT), shade)
    draw = ImageDraw.Draw(page)
    top = int(chance.integers(-20, 40))
    while top < HEIGHT:
        size = int(chance.integers(18, 60))
        font = ImageFont.truetype(str(font_files()[chance.integers(len(font_files()))]), size)
        word = str(chance.integers(1, 60)).zfill(2) if chance.random() < 0.4 else _WORDS[chance.integers(len(_WORDS))]
        draw.text((int(chance.integers(-60, 50)), top), word, fill=int(chance.integers(0, 90)), font=font)
        top += int(size * chance.uniform(1.1, 2))
    return np.asarray(np.asarray(page)[:, :, None].repeat(3, axis=2) / np.float32(255), dtype=np.float32)


def draw_ground_crop(chance: Chance) -> Art:
    """Draw ground as in false detections: wood, felt or plastic, rails, and shadows of things around it."""
    base = chance.uniform(0, 0.9, 3)
    rows, cols = (int(part) for part in chance.choice([2, 4, 20, 60], 2))
    grain = cv2.resize(chance.normal(0, 0.2, (rows, cols)).astype(np.float32), (WIDTH, HEIGHT))
    art = np.asarray(base * (1 + grain[:, :, None] * chance.choice([0.05, chance.uniform(0, 1)])), dtype=np.float32)
    for _ in range(int(chance.integers(0, 4))):
        _draw_rail(art, chance)
    for side in range(4):
        if chance.random() < 0.4:
            art *= np.rot90(_shadow(chance, turned=side % 2 == 1), side)[:, :, None]
    return art


def _draw_rail(art: Art, chance: Chance) -> None:
    """Draw a rail or a rim along a side, with a bright edge, or a line anywhere."""
    colour = [float(part) for part in chance.uniform(0, 1, 3)]
    thick = int(chance.integers(1, 30))
    if chance.random() < 0.3:
        start, end = ([int(part) for part in chance.uniform(-20, 200, 2)] for _ in range(2))
        cv2.line(art, start, end, colour, thick)
        return
    level = chance.random() < 0.5
    at = int(chance.choice([chance.uniform(-5, 30), chance.uniform(-30, 5) + (HEIGHT if level else WIDTH)]))
    ends = ((-5, at), (WIDTH + 5, at + int(chance.integers(-8, 9)))) if level else ((at, -5), (at, HEIGHT + 5))
    cv2.line(art, *ends, colour, thick, cv2.LINE_AA)
    cv2.line(art, *ends, [min(1.0, part + 0.2) for part in colour], 1, cv2.LINE_AA)


def _shadow(chance: Chance, *, turned: bool) -> Reals:
    """Return the light left by the shadow of something above the crop, 0..1."""
    height, width = (WIDTH, HEIGHT) if turned else (HEIGHT, WIDTH)
    edge = chance.uniform(0, 0.6) * height
    fade = 1 / (1 + np.exp(-(np.arange(height) - edge) / chance.uniform(1, 20)))
    light = 1 - chance.uniform(0.3, 0.9) * (1 - fade)
    return np.asarray(np.repeat(light[:, None], width, axis=1), dtype=np.float32)


def cover_back(art: Art, ink: Reals, chance: Chance) -> float:
    """Draw a finger or a sleeve over a back; return the share of the ink that it hides."""
    mask = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    start = chance.uniform([-20, -20], [WIDTH + 20, HEIGHT + 20])
    end = start + chance.normal(0, 90, 2)
    ends = [(int(point[0]), int(point[1])) for point in (start, end)]
    cv2.line(mask, ends[0], ends[1], 1, int(chance.integers(20, 90)), cv2.LINE_AA)
    mask = np.asarray(cv2.GaussianBlur(mask, (0, 0), 1.5), dtype=np.float32)
    skin = np.array([0.55, 0.68, 0.9]) * chance.uniform(0.25, 1.05) * chance.uniform(0.85, 1.15, 3)
    art += (skin.astype(np.float32) - art) * mask[:, :, None]
    return float((ink * mask).sum() / max(float(ink.sum()), 1.0))
