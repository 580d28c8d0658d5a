"""Several players declare hu on one discard: which of them win.

The table tells who declared, in the order of the presses. No source gives anything to who was quicker: within the claim
window all are simultaneous, and where not all can win the turn order after the discarder decides.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from broker.contract.words import SEATS, Seat
from broker.rules.errors import RuleError

SeveralHu = Literal["all", "two", "nearest"]
"""What a rule set does with them.

`all`: everybody wins (OEDMC rule 2); `two`: one or two win, three abort the hand (MONTREAL: "le double ron est compté,
le triple est refusé"); `nearest`: only the first in turn order wins (MCR; RIICHI-PLAY: "le joueur le plus près dans
l'ordre de tour").
"""


@dataclass(frozen=True, slots=True)
class Winners:
    """Who wins, and who had declared for nothing; both in turn order after the discarder.

    With nobody in `won` the hand is aborted. What only one winner can get (deposits, counters) is the first one's.
    """

    won: tuple[Seat, ...]
    refused: tuple[Seat, ...] = ()


def winners(declared: Collection[Seat], discarder: Seat, several: SeveralHu) -> Winners:
    """Give who wins of those who declared a valid hand on a discard.

    Raises RuleError `winner_missing`, `winner_twice`, `discarder_wins`.
    """
    _check(declared, discarder)
    in_turn = tuple(seat for seat in after(discarder) if seat in declared)
    winning = {"all": len(SEATS), "two": 2, "nearest": 1}[several]
    if several == "two" and len(in_turn) > winning:
        return Winners((), in_turn)
    return Winners(in_turn[:winning], in_turn[winning:])


def after(discarder: Seat) -> tuple[Seat, ...]:
    """Give the three others in turn order."""
    at = SEATS.index(discarder)
    return (*SEATS[at + 1 :], *SEATS[:at])


def _check(declared: Collection[Seat], discarder: Seat) -> None:
    if not declared:
        raise RuleError("winner_missing", "a win needs a winner")
    if len(set(declared)) < len(declared):
        raise RuleError("winner_twice", f"{', '.join(declared)}: each declares once")
    if discarder in declared:
        raise RuleError("discarder_wins", "nobody wins on their own discard")
