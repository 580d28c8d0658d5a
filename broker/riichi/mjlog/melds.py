"""Tiles and melds as Tenhou writes them: numbers 0 to 135, and 16 bits for a meld.

Where the bits are: https://github.com/NegativeMjark/tenhou-log#meld-format
"""

from typing import Final

from broker.rules.errors import RuleError
from broker.rules.riichi.hand import Meld
from broker.rules.tiles import COPIES, KINDS

RED: Final = {16: "0m", 52: "0p", 88: "0s"}
"""The numbers of the red fives, where the game has them."""

FROM, CHII, PON, ADDED_KAN, NORTH = 0x3, 0x4, 0x8, 0x10, 0x20
"""Bits: whom the tile came from (none: a closed kan), and what it is."""

CHII_OF_A_SUIT: Final = 7


def tile_of(number: int, *, red: bool) -> str:
    """Give the tile of a number. Raises RuleError `bad_record`."""
    if not 0 <= number < COPIES * len(KINDS):
        raise RuleError("bad_record", f"there is no tile of number {number}")
    return RED[number] if red and number in RED else KINDS[number // COPIES]


def meld_of(bits: int, *, red: bool) -> Meld:
    """Give the meld of 16 bits. Raises RuleError `bad_record`, or the codes of `Meld`."""
    if not 0 <= bits < 1 << 16:
        raise RuleError("bad_record", f"there is no meld {bits}")
    if bits & CHII:
        return _meld("chii", _chii(bits), red=red)
    if bits & (PON | ADDED_KAN):
        return _of_pon(bits, red=red)
    if bits & NORTH:
        raise RuleError("bad_record", "a north set aside: only games of four are checked")
    first = bits >> 8 & ~3
    return _meld("kan", [first + copy for copy in range(COPIES)], red=red, is_open=bool(bits & FROM))


def _chii(bits: int) -> list[int]:
    low = (bits >> 10) // 3
    kind = low // CHII_OF_A_SUIT * 9 + low % CHII_OF_A_SUIT
    return [COPIES * (kind + step) + (bits >> 3 + 2 * step & 3) for step in range(3)]


def _of_pon(bits: int, *, red: bool) -> Meld:
    first = (bits >> 9) // 3 * COPIES
    if bits & ADDED_KAN:
        return _meld("kan", [first + copy for copy in range(COPIES)], red=red)
    return _meld("pon", [first + copy for copy in range(COPIES) if copy != bits >> 5 & 3], red=red)


def _meld(kind: str, numbers: list[int], *, red: bool, is_open: bool = True) -> Meld:
    return Meld(kind, tuple(tile_of(number, red=red) for number in numbers), is_open)
