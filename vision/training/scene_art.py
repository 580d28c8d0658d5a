"""Random colours, materials and print for tables, tray floors, and the tops of tiles and cards.

Colours are BGR, 0..255. Any may occur, but those of real tiles, tables and people are more frequent.
"""

import colorsys

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Homography, Picture

Colour = NDArray[np.float64]  # shape (3,), BGR


def any_colour(rng: np.random.Generator) -> Colour:
    """Return any colour; greys and dark colours are as likely as bright ones."""
    saturation = float(rng.choice([rng.uniform(0, 0.15), rng.uniform(0, 1)]))
    return _from_hsv(rng.random(), saturation, float(rng.uniform(0.05, 1.0)))


def plastic(rng: np.random.Generator) -> Colour:
    """Return a colour for a tile's plastic."""
    kind = rng.integers(5)
    if kind == 0:
        return ivory(rng)
    if kind == 1:
        return _from_hsv(rng.random(), float(rng.uniform(0, 0.2)), float(rng.uniform(0.03, 0.25)))
    if kind == 2:
        return _from_hsv(float(rng.uniform(0.25, 0.65)), float(rng.uniform(0.3, 1)), float(rng.uniform(0.15, 0.9)))
    if kind == 3:
        return _from_hsv(float(rng.uniform(0.05, 0.16)), float(rng.uniform(0.2, 0.8)), float(rng.uniform(0.4, 1)))
    return any_colour(rng)


def ivory(rng: np.random.Generator) -> Colour:
    """Return a white, as of a face, a label or a pale back."""
    return _from_hsv(float(rng.uniform(0.05, 0.2)), float(rng.uniform(0, 0.3)), float(rng.uniform(0.72, 1.0)))


def skin(rng: np.random.Generator) -> Colour:
    """Return a skin colour, from the darkest to the lightest."""
    return _from_hsv(float(rng.uniform(0.0, 0.1)), float(rng.uniform(0.2, 0.7)), float(rng.uniform(0.18, 1.0)))


def similar_colour(rng: np.random.Generator, colour: Colour, spread: float) -> Colour:
    """Return a colour near another one."""
    return np.asarray(np.clip(colour + rng.normal(0, spread, 3), 0, 255))


def ink_on(rng: np.random.Generator, ground: Colour) -> Colour:
    """Return an ink that is distinguishable from its ground, if only just."""
    for _ in range(8):
        ink = any_colour(rng)
        if float(np.abs(ink - ground).max()) > 45:
            return ink
    return np.asarray(255.0 - ground)


def _from_hsv(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, saturation, value)
    return np.array([blue, green, red]) * 255.0


Grain = NDArray[np.float32]  # shape (512, 512), about -1..1

_SIDE = 512


def grain_bank(rng: np.random.Generator, count: int = 24) -> list[Grain]:
    """Return random textures, to be made once for all pictures."""
    makers = (_wood, _felt, _plain, _pattern)
    return [makers[int(rng.choice(4, p=[0.35, 0.3, 0.25, 0.1]))](rng) for _ in range(count)]


def lay_texture(
    grain: Grain, colour: Colour, contrast: float, plane: Homography, size: tuple[int, int]
) -> NDArray[np.float32]:
    """Return a texture spread over the plane as the camera sees it: BGR, shape (height, width, 3)."""
    seen = cv2.warpPerspective(grain, plane, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(np.float32(colour) * (1 + contrast * seen[:, :, None]), dtype=np.float32)


def _noise(rng: np.random.Generator, rows: int, columns: int) -> Grain:
    small = rng.normal(0, 1, (rows, columns)).astype(np.float32)
    return np.asarray(cv2.resize(small, (_SIDE, _SIDE), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def _wood(rng: np.random.Generator) -> Grain:
    coarse = _noise(rng, int(rng.integers(8, 30)), 4)
    rings = np.sin(coarse * rng.uniform(2, 9)) + 0.5 * _noise(rng, 128, 6) + 0.3 * _noise(rng, _SIDE, 24)
    planks = np.repeat(rng.normal(0, 0.4, 8), _SIDE // 8)[:, None] if rng.random() < 0.3 else 0.0
    return np.asarray(0.5 * (rings + planks), dtype=np.float32)


def _felt(rng: np.random.Generator) -> Grain:
    clouds = _noise(rng, 12, 12) * rng.uniform(0, 0.6) + _noise(rng, 64, 64) * rng.uniform(0, 0.6)
    return np.asarray(clouds + 0.5 * _noise(rng, _SIDE, _SIDE), dtype=np.float32)


def _plain(rng: np.random.Generator) -> Grain:
    return np.asarray(0.1 * _noise(rng, 4, 4) + 0.03 * _noise(rng, 256, 256), dtype=np.float32)


def _pattern(rng: np.random.Generator) -> Grain:
    """Return checks, stripes or plaid, as on a printed cloth."""
    down, across = np.mgrid[0:_SIDE, 0:_SIDE].astype(np.float32)
    a, b = rng.uniform(0.02, 0.25, 2)
    waves = np.sign(np.sin(a * down)) * rng.uniform(0, 1) + np.sign(np.sin(b * across)) * rng.uniform(0, 1)
    return np.asarray(waves, dtype=np.float32)


_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX)
_LETTERS = "ABCDEFGHKLMNPRSTUVX"
_INKS = ((40, 40, 190), (60, 120, 20), (150, 60, 20), (30, 30, 30))  # red, green, blue and black, BGR


class BackStyle:
    """The style of the marks of one set; every tile has a different number."""

    def __init__(self, rng: np.random.Generator, ground: Colour) -> None:
        self.ground = ground
        self.kind = str(
            rng.choice(["digits", "prefixed", "two lines", "label", "blank"], p=[0.35, 0.15, 0.15, 0.3, 0.05])
        )
        self.ink = ink_on(rng, ground)
        self.font = int(rng.choice(_FONTS))
        self.share = float(rng.uniform(0.45, 0.95))  # width of the mark, in tile widths
        self.weight = float(rng.uniform(0.03, 0.09))
        self.spot = np.array([rng.normal(0, 0.03), rng.normal(0, 0.06)])
        self.modules = int(rng.choice([10, 12, 14]))
        self.letter = _LETTERS[int(rng.integers(len(_LETTERS)))]
        self.bars = bool(rng.random() < 0.4)

    def draw(self, rng: np.random.Generator, size: tuple[int, int]) -> Picture:
        """Draw one back; `size` is its width and height in pixels."""
        art = _flat(similar_colour(rng, self.ground, 3), size)
        number = f"{int(rng.integers(1, 137)):03d}"
        if self.kind == "label":
            self._label(rng, art, number)
        elif self.kind == "two lines":
            _print(art, self.letter, self._at(size, -0.18), 0.32 * self.share * size[0], self)
            _print(art, number, self._at(size, 0.18), self.share * size[0], self)
        elif self.kind != "blank":
            text = self.letter + number if self.kind == "prefixed" else number
            _print(art, text, self._at(size, 0), self.share * size[0], self)
            if self.bars and rng.random() < 0.3:
                self._bar(art, size)
        return art

    def _at(self, size: tuple[int, int], down: float) -> NDArray[np.float64]:
        return np.array([0.5 + self.spot[0], 0.5 + self.spot[1] + down]) * size

    def _bar(self, art: Picture, size: tuple[int, int]) -> None:
        x, y = self._at(size, 0.18)
        half = 0.4 * self.share * size[0]
        thick = max(1, round(self.weight * size[0]))
        cv2.line(art, (int(x - half), int(y)), (int(x + half), int(y)), self.ink.tolist(), thick, cv2.LINE_AA)

    def _label(self, rng: np.random.Generator, art: Picture, number: str) -> None:
        height, width = art.shape[:2]
        side = max(self.modules, int(0.8 * self.share * width))
        paper = _flat(ivory(rng), (int(side * 1.15), int(side * 1.45)))
        code = (rng.random((self.modules, self.modules)) < 0.5).astype(np.uint8)
        code[:, 0] = code[-1] = 0
        code[0] = np.arange(self.modules) % 2
        square = cv2.resize(code * 255, (side, side), interpolation=cv2.INTER_NEAREST)
        edge = (paper.shape[1] - side) // 2
        paper[edge : edge + side, edge : edge + side] = np.minimum(square[:, :, None], paper[0, 0])
        _print(paper, number, np.array([paper.shape[1] / 2, 0.5 * (side + edge + paper.shape[0])]), 0.5 * side, None)
        if rng.random() < 0.15:
            paper = np.ascontiguousarray(np.rot90(paper))
        x, y = (self._at((width, height), 0) - [paper.shape[1] / 2, paper.shape[0] / 2]).astype(int)
        x, y = max(0, x), max(0, y)
        room = art[y : y + paper.shape[0], x : x + paper.shape[1]]
        room[:] = paper[: room.shape[0], : room.shape[1]]


def draw_face(rng: np.random.Generator, ground: Colour, size: tuple[int, int]) -> Picture:
    """Draw an imaginary face: dots, sticks, strokes as of characters, a frame, or almost nothing."""
    art = _flat(similar_colour(rng, ground, 3), size)
    kind = rng.choice(["dots", "sticks", "strokes", "frame", "blank"], p=[0.3, 0.25, 0.37, 0.05, 0.03])
    if kind == "dots":
        _grid(rng, art, 0.11)
    elif kind == "sticks":
        _sticks(rng, art)
    elif kind == "strokes":
        _characters(rng, art)
    elif kind == "frame":
        inset = int(0.15 * size[0])
        corner = (size[0] - inset, size[1] - inset)
        cv2.rectangle(art, (inset, inset), corner, _ink(rng), max(1, size[0] // 14), cv2.LINE_AA)
    return art


def draw_card(rng: np.random.Generator, size: tuple[int, int]) -> tuple[Picture, Picture]:
    """Draw a card or a slip of paper with one to four lines of print, perhaps framed; return it and its opacity."""
    ground = ivory(rng) if rng.random() < 0.7 else any_colour(rng)
    art = _flat(ground, size)
    ink = ink_on(rng, ground)
    if rng.random() < 0.6:
        edge = max(1, size[0] // 30)
        cv2.rectangle(art, (edge, edge), (size[0] - edge, size[1] - edge), ink.tolist(), 1, cv2.LINE_AA)
    lines = int(rng.integers(1, 5))
    for line in range(lines):
        words = "".join(rng.choice(list(_LETTERS + "0123456789 "), int(rng.integers(2, 9))))
        at = np.array([size[0] / 2, size[1] * (line + 0.7) / (lines + 0.4)])
        _print(art, words, at, size[0] * float(rng.uniform(0.4, 0.9)), None, ink)
    return art, np.full(art.shape[:2], 255, np.uint8)


def draw_print(rng: np.random.Generator, size: tuple[int, int], ink: Colour) -> tuple[Picture, Picture]:
    """Draw a number as printed on a cloth, sometimes with a frame around it; return the ink and its opacity."""
    drawn = _flat(np.zeros(3), size)
    number = f"{int(rng.integers(1, 137)):03d}" if rng.random() < 0.7 else str(rng.integers(0, 10_000))
    _print(drawn, number, np.array(size) / 2, size[0] * float(rng.uniform(0.5, 0.9)), None, np.full(3, 255.0))
    if rng.random() < 0.4:
        edge = max(1, size[0] // 25)
        corner = (size[0] - edge, size[1] - edge)
        cv2.rectangle(drawn, (edge, edge), corner, (255, 255, 255), int(rng.integers(1, edge + 2)), cv2.LINE_AA)
    return _flat(ink, size), np.ascontiguousarray(drawn[:, :, 0])


def _flat(colour: Colour, size: tuple[int, int]) -> Picture:
    return np.full((size[1], size[0], 3), colour, dtype=np.uint8)


def _print(
    art: Picture, text: str, at: NDArray[np.float64], width: float, style: BackStyle | None, ink: Colour | None = None
) -> None:
    font = style.font if style else cv2.FONT_HERSHEY_SIMPLEX
    colour = style.ink if style else (ink if ink is not None else np.full(3, 30.0))
    thick = max(1, round((style.weight if style else 0.05) * width))
    (wide, high), _ = cv2.getTextSize(text, font, 1.0, 1)
    scale = min(width / max(wide, 1), 0.6 * art.shape[0] / high)
    left, base = int(at[0] - scale * wide / 2), int(at[1] + scale * high / 2)
    cv2.putText(art, text, (left, base), font, scale, colour.tolist(), thick, cv2.LINE_AA)


def _ink(rng: np.random.Generator) -> tuple[int, ...]:
    return _INKS[int(rng.integers(len(_INKS)))]


def _spots(rng: np.random.Generator, art: Picture) -> list[NDArray[np.float64]]:
    columns, rows = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    size = np.array([art.shape[1], art.shape[0]])
    return [
        size * [(col + 0.5) / columns * 0.8 + 0.1, (row + 0.5) / rows * 0.8 + 0.1]
        for row in range(rows)
        for col in range(columns)
    ]


def _grid(rng: np.random.Generator, art: Picture, radius: float) -> None:
    for x, y in _spots(rng, art):
        size = max(1, int(radius * art.shape[1] * rng.uniform(0.8, 1.2)))
        cv2.circle(art, (int(x), int(y)), size, _ink(rng), int(rng.choice([-1, -1, 2])), cv2.LINE_AA)


def _sticks(rng: np.random.Generator, art: Picture) -> None:
    half, thick = int(0.11 * art.shape[0]), max(1, int(0.08 * art.shape[1]))
    for x, y in _spots(rng, art):
        cv2.line(art, (int(x), int(y) - half), (int(x), int(y) + half), _ink(rng), thick, cv2.LINE_AA)


def _characters(rng: np.random.Generator, art: Picture) -> None:
    count = int(rng.integers(1, 3))
    size = np.array([art.shape[1], art.shape[0]])
    for one in range(count):
        middle = size * [0.5, (one + 0.5) / count]
        reach = 0.36 * min(size[0], size[1] / count)
        ink, thick = _ink(rng), max(1, int(art.shape[1] * rng.uniform(0.04, 0.1)))
        for _ in range(int(rng.integers(3, 10))):
            a = middle + rng.uniform(-reach, reach, 2)
            length = rng.uniform(-reach, reach, 2) * rng.choice([[1.4, 0.2], [0.2, 1.4], [0.8, 0.8]])
            b = np.clip(a + length, middle - reach, middle + reach)
            cv2.line(art, a.astype(int).tolist(), b.astype(int).tolist(), ink, thick, cv2.LINE_AA)
