"""Kuikae: discarding what would have completed the same set (RIICHI-PLAY, note B: some house rules forbid it)."""

from typing import Literal

from broker.rules.riichi.referee.board import Meld
from broker.rules.riichi.waits import kind_of

Rule = Literal["allowed", "same_tile", "forbidden"]


def forbidden(meld: Meld, claimed: str, rule: Rule) -> frozenset[str]:
    """Give the tiles that may not be discarded straight after a call.

    `same_tile`: the claimed one. `forbidden`: also the one at the other end, which with the two tiles of the hand made
    the same chii: 23 of the hand take 4 and must not give 1.
    """
    if rule == "allowed" or meld.kind == "kan":
        return frozenset()
    tile = kind_of(claimed)
    if rule == "same_tile" or meld.kind == "pon":
        return frozenset({tile})
    ranks = sorted(int(kind_of(one)[0]) for one in meld.tiles)
    rank, suit = int(tile[0]), tile[1]
    other = {ranks[0]: rank + 3, ranks[2]: rank - 3}.get(rank, 0)
    return frozenset({tile} | ({f"{other}{suit}"} if 1 <= other <= 9 else set()))  # noqa: PLR2004 - ranks
