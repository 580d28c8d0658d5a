"""All that a label can say, as modules: 100 sets times 136 serials in each of three formats.

So few words can be compared with a picture one by one: soft-decision decoding of the label's Reed-Solomon code at its
limit (maximum likelihood), which needs no threshold between black and white and corrects as much as can be corrected.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from vision.marks.label_code import Codewords, Modules, draw_modules
from vision.payload import LAST_SERIAL, LAST_SET, Payload

MODULE_COUNTS = (14, 12, 10)
_PREFIXES = {14: "HM1-{}-", 12: "HM{}", 10: "{}"}
_WORDS = (LAST_SET + 1) * LAST_SERIAL  # in one spelling
_PAIR = 130  # ASCII encodation: two digits are one codeword from here, any other character is its code and 1
_ROWS = 34  # words in a matrix
_EDIFACT = 240  # from here four characters are three codewords


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one format: `modules`, shape (words, count, count); word i has the payload `payload(i)`."""

    count: int

    @cached_property
    def modules(self) -> Modules:
        """Every word with its frame."""
        return draw_modules(_contents(self.count), self.count)

    def match(self, inside: NDArray[np.float32]) -> NDArray[np.float32]:
        """Multiply the brightness of the inside's modules, shape ((count - 2) squared,), with every word's sign."""
        return np.asarray(self._signs @ inside).ravel()

    @cached_property
    def _signs(self) -> NDArray[np.float32]:
        """The insides of every word, white 1 and black -1, in many small matrices: a large one would start threads."""
        inside = self.modules[:, 1:-1, 1:-1].reshape(len(self.modules) // _ROWS, _ROWS, -1)
        return np.where(inside, np.float32(1), np.float32(-1))

    def payload(self, word: int) -> Payload:
        """Give what word `word` says."""
        return Payload(word % _WORDS // LAST_SERIAL, word % LAST_SERIAL + 1)


@cache
def words(count: int) -> Words:
    """Give the words of labels of 14, 12 or 10 modules."""
    return Words(count)


def _contents(count: int) -> Codewords:
    """Spell every word; for the longest format there are two spellings of one length, and encoders differ."""
    spellings = (_spell_ascii, _spell_edifact) if count == max(MODULE_COUNTS) else (_spell_ascii,)
    spelled = [
        spell(_PREFIXES[count], number, serial)
        for spell in spellings
        for number in range(LAST_SET + 1)
        for serial in range(1, LAST_SERIAL + 1)
    ]
    return np.array(spelled, dtype=np.uint8)


def _spell_ascii(prefix: str, number: int, serial: int) -> list[int]:
    before, after = prefix.split("{}")
    head = [*(ord(letter) + 1 for letter in before), _PAIR + number, *(ord(letter) + 1 for letter in after)]
    return [*head, _PAIR + serial // 10, ord("0") + 1 + serial % 10]


def _spell_edifact(prefix: str, number: int, serial: int) -> list[int]:
    text = f"{prefix.format(f'{number:02d}')}{serial // 100}"
    quads = (text[start : start + 4] for start in range(0, len(text), 4))
    packed = (sum((ord(letter) & 63) << 6 * (3 - place) for place, letter in enumerate(quad)) for quad in quads)
    return [_EDIFACT, *(part for three in packed for part in three.to_bytes(3, "big")), _PAIR + serial % 100]
