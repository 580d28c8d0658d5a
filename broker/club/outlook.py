"""How good a hand is: the plans that it is near, each weighed by the chance that it still comes about.

A plan's weight is the product, over the tiles that it lacks, of the chance to get one: the copies unseen times `reach`,
about the share of all unseen tiles that the player will still meet in time. The sum over plans measures a hand; it is
no probability, but it grows with every way to win and with how near it is.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from broker.club.plans import NONE, Plans, plans
from broker.club.sets import TILES_OF, Whole, counted, set_of
from broker.club.special import all_pungs, seven_pairs
from broker.club.view import View
from broker.contract.words import SEATS
from broker.rules.referee.hand import Meld
from broker.rules.tiles import KINDS

FURTHER: Final = 1
"""Plans that lack so many tiles more than the nearest are looked at."""

IN_TIME: Final = 0.25
"""The part of the tiles still to come that comes in time. Found by play: 0.12 to 0.4 won more than 0.8, 1.6 and 2.5."""

LIKELY: Final = 0.9
"""No tile is surer than this."""

OPEN: Final = np.array([0.0] * 6 + [0.05, 0.35] + [1.0] * 200)
"""What a plan of a hand value counts for: 8 is enough, and what is missing may come by the way of winning."""

CLOSED: Final = np.array([0.0] * 6 + [0.6, 0.8] + [1.0] * 200)
"""The same without a claimed meld: a concealed hand is worth 2 more, or 4 if self-drawn."""

NO_PLAN: Final = 99
"""Tiles missing where no plan is left."""


class Rows(NamedTuple):
    """Plans as columns, by what they still ask of the concealed tiles, with what each counts for."""

    tiles: Whole
    counts_for: Whole


class Outlook(NamedTuple):
    """The plans near a hand."""

    tiles: Whole
    """n x 34: what each asks of the concealed tiles."""
    weight: Whole
    """n: weights."""
    missing: int
    """What the nearest lacks, a winning tile included; NO_PLAN where there is none."""
    chance: Whole
    """34: the chance to get one more of each kind."""

    @property
    def sum(self) -> float:
        """How good the hand is."""
        return float(self.weight.sum())


def outlook(view: View, concealed: tuple[str, ...], melds: tuple[Meld, ...]) -> Outlook:
    """Weigh the plans near some tiles of the player's."""
    held, unseen = counted(concealed), np.array(view.unseen)
    reach = IN_TIME * (view.own.wall + 0.5) / max(int(unseen.sum()), 1)
    chance = np.minimum(LIKELY, unseen * reach)
    near = [(rows, _lacks(rows.tiles, held)) for rows in _sources(view, melds, held) if rows.tiles.shape[1]]
    missing = min((int(lacks.min()) for _, lacks in near), default=NO_PLAN)
    tiles, weight = [np.zeros((0, len(KINDS)), dtype=np.int8)], [np.zeros(0)]
    for rows, lacks in near:
        at = np.flatnonzero(lacks <= missing + FURTHER)
        tiles.append(rows.tiles[:, at].T)
        weight.append(_weights(tiles[-1], held, unseen, chance) * rows.counts_for[at])
    return Outlook(np.concatenate(tiles), np.concatenate(weight), missing, chance)


def _sources(view: View, melds: tuple[Meld, ...], held: Whole) -> list[Rows]:
    melded = tuple(sorted(set_of(meld) for meld in melds))
    winds = (SEATS.index(view.seat_wind), SEATS.index(view.prevalent_wind))
    known = Rows(_with_melds(melded).tiles, _counts_for(melded, winds, claimed=_claimed(melds)))
    return [known, Rows(*all_pungs(held, melds)), Rows(*seven_pairs(held, melds))]


def _claimed(melds: tuple[Meld, ...]) -> bool:
    return any(not meld.concealed for meld in melds)


def _lacks(tiles: Whole, held: Whole) -> Whole:
    """Count the tiles that each plan lacks, copy by copy: comparing is what a processor does with many at once."""
    count = tiles.shape[1]
    lacks = np.full(count, int(tiles[:, 0].sum()), dtype=np.int8)
    asked = np.empty(count, dtype=np.bool_)
    for at in np.flatnonzero(held):
        for copy in range(held[at]):
            lacks -= np.greater(tiles[at], np.int8(copy), out=asked).view(np.int8)
    return lacks


def _weights(wanted: Whole, held: Whole, unseen: Whole, chance: Whole) -> Whole:
    lacked = np.maximum(wanted - held, 0)
    weight: Whole = np.exp(lacked @ np.log(np.maximum(chance, 1e-9)))
    weight[(lacked > unseen).any(axis=1)] = 0
    return weight


@lru_cache(maxsize=1024)
def _with_melds(melded: tuple[int, ...]) -> Plans:
    """Give the plans that have these melds: what they still ask of the concealed tiles, and their other sets."""
    if not melded:
        return plans()
    tiles, sets, value, winds = _with_melds(melded[:-1])
    at = np.flatnonzero((sets == melded[-1]).any(axis=0))
    place = (sets[:, at] == melded[-1]).argmax(axis=0)
    others = sets[:, at]
    others[place, np.arange(len(at))] = NONE
    return Plans(tiles[:, at] - TILES_OF[melded[-1]][:, None], others, value[at], winds[at])


@lru_cache(maxsize=1024)
def _counts_for(melded: tuple[int, ...], winds: tuple[int, int], *, claimed: bool) -> Whole:
    """Give what each of these plans counts for, with what pungs of the seat's and the round's wind are worth."""
    own, of_round = winds
    there = _with_melds(melded)
    pung_of_own, pung_of_round = (there.winds >> own) & 1, (there.winds >> of_round) & 1
    beyond = pung_of_own + pung_of_round + (pung_of_own if own == of_round else 0)
    counts_for: Whole = (OPEN if claimed else CLOSED)[there.value + beyond]
    return counts_for


def after_each_discard(view: Outlook, held: Whole) -> Whole:
    """Give for each kind how good the hand is without one of it; what is not held changes nothing."""
    asked = (view.tiles >= held) & (held > 0)
    lost = view.weight @ asked
    kept: Whole = view.sum - lost * (1 - view.chance)
    return kept
