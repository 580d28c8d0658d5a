"""New deals: mixed by a cryptographic generator, salted, and written once."""

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from broker.contract.words import SEATS, Seat, Wind
from broker.organiser.deals.committed import COMMITMENT, SALT_BYTES, publish_commitment
from broker.organiser.deals.listed import LAST_SET, Planned
from broker.rules.deal import Shuffler, new_deal
from broker.rules.errors import RuleError
from broker.scorer.folder import DEALS, DealRecord, write_deals

BY_ROUNDS: Final[tuple[Wind, ...]] = tuple(wind for wind in SEATS for _ in SEATS)
"""Prevalent winds as in a session of standard MCR: four deals in each, every seat dealing once."""

W = TypeVar("W")


def new_deals(
    count: int,
    winds: Sequence[Wind],
    dealers: Sequence[Seat],
    sets: Sequence[int],
    shuffler: Shuffler,
    *,
    red: bool = False,
) -> list[Planned]:
    """Mix the deals 1 to `count`; prevalent winds, dealers and sets (none: see `salted`) are taken in turn.

    `red`: with a red five of each suit.
    """
    return [
        (
            new_deal(number, _in_turn(winds, number), _in_turn(dealers, number), shuffler, red=red),
            _in_turn(sets, number) if sets else None,
        )
        for number in range(1, count + 1)
    ]


def _in_turn(words: Sequence[W], number: int) -> W:
    return words[(number - 1) % len(words)]


def salted(planned: Iterable[Planned]) -> list[DealRecord]:
    """Give deals as they are kept: by number, each with a new salt; unless said otherwise deal 7 lies in set 7.

    Raises RuleError `set_not_said` where there is no set of a deal's number.
    """
    return [
        DealRecord(
            number=deal.number,
            set=_set(deal.number, wished),
            prevalent_wind=deal.prevalent_wind,
            dealer=deal.dealer,
            faces=dict(deal.faces),
            salt=secrets.token_hex(SALT_BYTES),
        )
        for deal, wished in sorted(planned, key=lambda one: one[0].number)
    ]


def _set(number: int, wished: int | None) -> int:
    if wished is None and number > LAST_SET:
        raise RuleError("set_not_said", f"sets have numbers up to {LAST_SET}: say which one deal {number} lies in")
    return number if wished is None else wished


def refuse_second(folder: Path) -> None:
    """Raise RuleError `deals_exist` where there are deals, or a commitment to some."""
    for name in (DEALS, COMMITMENT):
        if (folder / name).exists():
            raise RuleError("deals_exist", f"{name} is in {folder} already, and stays as it is")


def keep(folder: Path, event: str, deals: Iterable[DealRecord]) -> str:
    """Write deals and the commitment to them; give its root. Raises RuleError `deals_exist`, OSError.

    If it ends between the two files, `homologue deal commit` goes on from there.
    """
    refuse_second(folder)
    kept = tuple(deals)
    write_deals(folder, kept)
    return publish_commitment(folder, event, kept)
