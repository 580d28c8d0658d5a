"""The payloads of labels, as text and as modules of a DataMatrix ECC 200 (ISO/IEC 16022), and the one a picture shows.

There are 100 sets times 136 serials in each of three formats. The modules in the picture are compared with all of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import unit_rows
from vision.reading import LAST_SERIAL, LAST_SET

LABEL_TEXTS: Final[Mapping[int, str]] = {14: "HM1-{:02d}-{:03d}", 12: "HM{:02d}{:03d}", 10: "{:02d}{:03d}"}
"""Text of a label, with set and serial, by modules across. Fewer modules are larger, but less safe against chance."""

MODULE_COUNTS: Final = (*LABEL_TEXTS,)


@dataclass(frozen=True, slots=True, order=True)
class Payload:
    """One tile's identity: the set's number 0..99 and the tile's serial 1..136."""

    set: int
    serial: int

    @property
    def set_text(self) -> str:
        """The set as labels print it, two digits."""
        return f"{self.set:02d}"


def payload_text(payload: Payload, modules: int = max(MODULE_COUNTS)) -> str:
    """Return the text of a label; the longest format, the default, is the safest against chance."""
    return LABEL_TEXTS[modules].format(payload.set, payload.serial)


# ASCII digits only; `\d` would accept others.
_FORMATS = [
    re.compile(text.replace("{:02d}", "(?P<set>[0-9]{2})").replace("{:03d}", "(?P<tile>[0-9]{3})"))
    for text in LABEL_TEXTS.values()
]
_MODULES_BY_LENGTH = {len(payload_text(Payload(0, 1), count)): count for count in MODULE_COUNTS}


def parse_payload(text: str) -> Payload | None:
    """Return the payload in the text of a DataMatrix; None if it is not one of our labels."""
    for form in _FORMATS:
        if match := form.fullmatch(text):
            serial = int(match["tile"])
            return Payload(int(match["set"]), serial) if 1 <= serial <= LAST_SERIAL else None
    return None


def module_count(text: str) -> int:
    """Return how many modules across a label with this text has."""
    return _MODULES_BY_LENGTH[len(text)]


Codewords = NDArray[np.uint8]  # shape (..., codewords)
Modules = NDArray[np.bool_]  # shape (..., count, count), True is white

CORRECTING = {14: 10, 12: 7, 10: 5}  # Reed-Solomon codewords by modules across; the rest of the inside is content
_FIELD = 0x12D  # x^8 + x^5 + x^3 + x^2 + 1
_SHAPE = ((-2, -2), (-2, -1), (-1, -2), (-1, -1), (-1, 0), (0, -2), (0, -1), (0, 0))
"""Offsets (rows, columns) of the eight bits of a codeword, highest first, from its lowest bit."""


def draw_modules(content: Codewords, count: int) -> Modules:
    """Draw labels of `count` modules with these content codewords, shape (words, content codewords)."""
    codewords = np.concatenate([content, _correcting(content, CORRECTING[count])], axis=1)
    light: Modules = np.unpackbits(~codewords, axis=1).astype(np.bool_)
    white = np.ones((len(content), count, count), dtype=np.bool_)
    white[:, 0, ::2] = white[:, 1::2, -1] = False
    white[:, :, 0] = white[:, -1] = False
    inside: Modules = np.ones((len(content), (count - 2) ** 2), dtype=np.bool_)
    inside[:, _fixed_corner(count - 2)] = False
    inside[:, _places(count - 2).ravel()] = light
    white[:, 1:-1, 1:-1] = inside.reshape(-1, count - 2, count - 2)
    return white


@cache
def _powers() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the field's powers of 2, and logarithms (that of 0 is never used)."""
    power, powers = 1, []
    for _ in range(255):
        powers.append(power)
        power = power << 1 ^ (_FIELD if power & 0x80 else 0)
    logarithms = np.zeros(256, dtype=np.int64)
    logarithms[powers] = np.arange(255)
    return np.array(powers * 2, dtype=np.uint8), logarithms


def _times(codewords: Codewords, factor: int) -> Codewords:
    powers, logarithms = _powers()
    product = powers[logarithms[codewords] + logarithms[factor]]
    return np.where(codewords == 0, np.uint8(0), product)


@cache
def _generator(length: int) -> tuple[int, ...]:
    """Return the coefficients of (x - 2)(x - 4)...(x - 2^length), the second highest first."""
    powers, _ = _powers()
    polynomial = np.array([1], dtype=np.uint8)
    for root in powers[1 : length + 1]:
        polynomial = np.append(polynomial, 0) ^ np.append(0, _times(polynomial, int(root)))
    return tuple(int(part) for part in polynomial[1:])


def _correcting(content: Codewords, length: int) -> Codewords:
    """Return the error-correcting codewords: the remainder of a division by the generator polynomial."""
    rest: Codewords = np.zeros((len(content), length), dtype=np.uint8)
    for column in content.T:
        lead = column ^ rest[:, 0]
        shifted = np.concatenate([rest[:, 1:], np.zeros((len(content), 1), dtype=np.uint8)], axis=1)
        rest = np.bitwise_xor(shifted, np.stack([_times(lead, factor) for factor in _generator(length)], axis=1))
    return rest


def _fixed_corner(size: int) -> list[int]:
    """Return the two black ones of the four modules at the bottom right that codewords leave over in some squares."""
    return [size * size - 1, size * (size - 1) - 2] if size % 8 == 2 else []  # noqa: PLR2004 - 4 modules are left over


@cache
def _places(size: int) -> NDArray[np.int64]:
    """Return the index of each codeword's bits among the modules of the inside, shape (codewords, 8)."""
    taken: set[int] = set()
    places = []
    for corner in _codeword_corners(size):
        spots = _bits_at(corner, size)
        if spots[-1] not in taken:
            places.append(spots)
            taken.update(spots)
    return np.array(places)


def _codeword_corners(size: int) -> Iterator[tuple[int, int]]:
    """Yield the codewords' corners along the standard's diagonals; (size, 0), below the square, is the special corner.

    Its codeword is split between the corners of the square, see `_bits_at`.
    """
    row, col = 4, 0
    while row < size or col < size:
        if (row, col) == (size, 0):
            yield row, col
        while row >= 0 and col < size:
            if row < size and col >= 0:
                yield row, col
            row, col = row - 2, col + 2
        row, col = row + 1, col + 3
        while row < size and col >= 0:
            if row >= 0 and col < size:
                yield row, col
            row, col = row + 2, col - 2
        row, col = row + 3, col + 1


def _bits_at(corner: tuple[int, int], size: int) -> list[int]:
    """Return the indices of the bits of the codeword whose lowest is at `corner`; bits outside the square wrap."""
    row, col = corner
    if corner == (size, 0):
        cut = [(-1, 0), (-1, 1), (-1, 2), (0, -2), (0, -1), (1, -1), (2, -1), (3, -1)]
        return [down % size * size + right % size for down, right in cut]
    return [_wrap(row + down, col + right, size) for down, right in _SHAPE]


def _wrap(row: int, col: int, size: int) -> int:
    shift = 4 - (size + 4) % 8
    if row < 0:
        row, col = row + size, col + shift
    if col < 0:
        row, col = row + shift, col + size
    return row * size + col


_PAYLOADS = (LAST_SET + 1) * LAST_SERIAL  # words in one spelling
_PAIR = 130  # ASCII encodation: two digits are one codeword, 130 + their value; other characters are their code + 1
_ROWS = 34  # words in one matrix
_EDIFACT = 240  # codeword after which four characters are three codewords


@dataclass(frozen=True, eq=False)
class LabelCodebook:
    """All words (possible labels) of one format; word i has the payload `payload(i)`."""

    count: int

    @cached_property
    def modules(self) -> Modules:
        """The modules of every word with its frame, shape (words, count, count)."""
        return draw_modules(_contents(self.count), self.count)

    def match(self, inside: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the dot product of the inside's brightness, shape ((count - 2) squared,), with every word's signs."""
        return np.asarray(self._signs @ inside).ravel()

    @cached_property
    def _signs(self) -> NDArray[np.float32]:
        """The inside of every word, white 1 and black -1, in many small matrices: a large one would start threads."""
        inside = self.modules[:, 1:-1, 1:-1].reshape(len(self.modules) // _ROWS, _ROWS, -1)
        return np.where(inside, np.float32(1), np.float32(-1))

    def payload(self, word: int) -> Payload:
        """Return the payload of a word, by its index."""
        return Payload(word % _PAYLOADS // LAST_SERIAL, word % LAST_SERIAL + 1)


@cache
def label_codebook(count: int) -> LabelCodebook:
    """Return the words of labels of 14, 12 or 10 modules."""
    return LabelCodebook(count)


Numbers = NDArray[np.int64]  # one for each word


def _contents(count: int) -> Codewords:
    """Return the content codewords of every word; the longest format has two spellings, as encoders differ."""
    spellings = (_spell_ascii, _spell_edifact) if count == max(MODULE_COUNTS) else (_spell_ascii,)
    number, serial = (part.ravel() for part in np.mgrid[0 : LAST_SET + 1, 1 : LAST_SERIAL + 1])
    fixed = re.split(r"{.*?}", LABEL_TEXTS[count])[:2]  # the text before the set, and between set and serial
    before, after = ([np.full_like(number, ord(letter)) for letter in part] for part in fixed)
    spelled = [np.column_stack(spell(before, number, after, serial)) for spell in spellings]
    return np.concatenate(spelled).astype(np.uint8)


def _spell_ascii(before: list[Numbers], number: Numbers, after: list[Numbers], serial: Numbers) -> list[Numbers]:
    head = [*(letter + 1 for letter in before), _PAIR + number, *(letter + 1 for letter in after)]
    return [*head, _PAIR + serial // 10, ord("0") + 1 + serial % 10]


def _spell_edifact(before: list[Numbers], number: Numbers, after: list[Numbers], serial: Numbers) -> list[Numbers]:
    tens, ones, hundreds = (ord("0") + digit for digit in (number // 10, number % 10, serial // 100))
    text = [*before, tens, ones, *after, hundreds]
    codewords = [np.full_like(number, _EDIFACT)]
    for start in range(0, len(text), 4):
        first, second, third, fourth = (letter & 63 for letter in text[start : start + 4])
        codewords += [first << 2 | second >> 4, (second & 15) << 4 | third >> 2, (third & 3) << 6 | fourth]
    return [*codewords, _PAIR + serial % 100]


_NEAREST = 24  # words to compare closely
_BLURS = (0.0, 0.08, 0.16, 0.22)  # share of a module's light that each of its four neighbours gets: the values to try
_SHARPER = 1.0  # strength of the sharpening before the first comparison

Grid = NDArray[np.float32]  # modules, samples or pixels: white above black


@dataclass(frozen=True, slots=True, eq=False)
class LabelGuess:
    """The likeliest word, its correlation with the picture (-1..1), and that of the likeliest other payload."""

    payload: Payload
    white: Grid  # shape (count + 2, count + 2), with the quiet zone
    likeness: float
    next_likeness: float


def guess_label(values: Grid) -> LabelGuess:
    """Return the likeliest word for the brightness of modules with their quiet zone, shape (count + 2, count + 2)."""
    count = len(values) - 2 * QUIET
    known = label_codebook(count)
    sharp = values + _SHARPER * (values - cv2.blur(values, (3, 3), borderType=cv2.BORDER_REPLICATE))
    scores = known.match(_flattened(sharp)[QUIET + 1 : -QUIET - 1, QUIET + 1 : -QUIET - 1].ravel())
    nearest = np.argpartition(scores, -_NEAREST)[-_NEAREST:]
    drawn = np.pad(known.modules[nearest].astype(np.float32), ((0, 0), (QUIET,) * 2, (QUIET,) * 2), constant_values=1)
    likeness = _compare(values, drawn)
    order = np.argsort(-likeness)
    first = known.payload(int(nearest[order[0]]))
    others = [float(likeness[at]) for at in order[1:] if known.payload(int(nearest[at])) != first]
    return LabelGuess(first, drawn[order[0]], float(likeness[order[0]]), others[0])


def _compare(values: Grid, drawn: Grid) -> NDArray[np.float64]:
    """Return the correlation of `values` with each word, shape (words, side, side), at the blur that suits it best."""
    seen = unit_rows(values.reshape(1, -1) @ _view(len(values), 0.0))
    words_drawn = drawn.reshape(len(drawn), -1)
    blurred = [unit_rows(words_drawn @ _view(len(values), share)) @ seen[0] for share in _BLURS]
    return np.asarray(np.max(blurred, axis=0), dtype=np.float64)


@cache
def _view(side: int, share: float) -> NDArray[np.float32]:
    """Return the matrix from modules with their quiet zone to the blurred and levelled inside that is compared."""
    inside = slice(QUIET + 1, -QUIET - 1)
    each = np.eye(side * side, dtype=np.float32).reshape(-1, side, side)
    return np.stack([_flattened(_blurred(one, share))[inside, inside].ravel() for one in each])


def _flattened(values: Grid) -> Grid:
    """Remove slow changes in brightness: glare, shadow, vignetting."""
    return np.asarray(values - cv2.blur(values, (5, 5), borderType=cv2.BORDER_REFLECT_101), dtype=np.float32)


def _blurred(values: Grid, share: float) -> Grid:
    """Let each module give `share` of its light to each of its four neighbours."""
    kernel = np.array([share, 1 - 2 * share, share], dtype=np.float32)
    return np.asarray(cv2.sepFilter2D(values, cv2.CV_32F, kernel, kernel, borderType=cv2.BORDER_REPLICATE))


QUIET = 1  # white modules around a DataMatrix
