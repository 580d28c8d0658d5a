"""The points table, made from the same function that pays: by han and fu, and by limit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from broker.rules.riichi.points import SEVEN_PAIRS_FU, Limit, Win, payments
from broker.rules.riichi.profile import PointRules

FU: Final = (20, SEVEN_PAIRS_FU, *range(30, 120, 10))
HAN: Final = (1, 2, 3, 4)
LIMITS: Final[tuple[tuple[Limit, str, int], ...]] = (
    ("mangan", "5", 5),
    ("haneman", "6-7", 6),
    ("baiman", "8-10", 8),
    ("sanbaiman", "11-12", 11),
    ("counted_yakuman", "13+", 13),
)
"""Each limit with its han in words, and the han that are asked for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a hand pays: on a discard, and self-drawn; None where no hand has that value in that way.

    `self_drawn` is what each of two pays and what the dealer pays, or the same once for the dealer's hand.
    """

    on_discard: int | None
    self_drawn: tuple[int, ...] | None
    mangan: bool = False

    def __str__(self) -> str:
        """Give the cell as it is printed."""
        drawn = "-" if self.self_drawn is None else "/".join(map(str, self.self_drawn))
        return f"{'-' if self.on_discard is None else self.on_discard} ({drawn})"


def rows(rules: PointRules, *, dealer: bool) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """Give each row: the fu, and a cell for 1 to 4 han."""
    for fu in FU:
        yield fu, tuple(cell(rules, han, fu, dealer=dealer) for han in HAN)


def limit_rows(rules: PointRules, *, dealer: bool) -> Iterator[tuple[Limit, str, Cell]]:
    """Give each limit with its han and its cell; 13 han have no row of their own where they are a sanbaiman."""
    for limit, words, han in LIMITS:
        if limit == "counted_yakuman" and rules.counted_yakuman.value == "sanbaiman":
            continue
        last = limit == "sanbaiman" and rules.counted_yakuman.value == "sanbaiman"
        yield limit, "11+" if last else words, cell(rules, han, 30, dealer=dealer)
    yield "yakuman", "", _cell(rules, Win(0, 0, dealer, self_drawn=False, yakuman=1), (True, True))


def cell(rules: PointRules, han: int, fu: int, *, dealer: bool) -> Cell:
    """Give one cell."""
    return _cell(rules, Win(han, fu, dealer, self_drawn=False), possible(han, fu))


def possible(han: int, fu: int) -> tuple[bool, bool]:
    """Say whether there are such hands on a discard, and self-drawn.

    20 fu are a self-drawn pinfu (RIICHI-POINTS), so 2 han at least; 25 are seven pairs, 2 han and self-drawn 3.
    """
    if fu == FU[0]:
        return False, han > 1
    if fu == SEVEN_PAIRS_FU:
        return han > 1, han > 2  # noqa: PLR2004 - two for the pairs, one for drawing
    return True, True


def _cell(rules: PointRules, win: Win, there_are: tuple[bool, bool]) -> Cell:
    discarded, drawn = there_are
    on_discard = payments(win, rules)
    own = payments(Win(win.han, win.fu, win.dealer, self_drawn=True, yakuman=win.yakuman), rules)
    parts = (own.each_non_dealer_pays, own.dealer_pays, own.each_other_pays)
    return Cell(
        on_discard.discarder_pays if discarded else None,
        tuple(part for part in parts if part is not None) if drawn else None,
        on_discard.limit == "mangan",
    )
