"""What simulated players do: each from a view, what is legal, a strength, and chance.

Players of many plays are asked at once, as that is much quicker; no choice depends on who else is asked. Everybody
declares a hu that is one; that is not asked here.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.protocol import SEATS
from broker.rules import COPIES, KINDS
from broker.rules.mcr import TableMeld, meld_from_table, shanten_and_useful
from broker.sim.danger import deal_in
from broker.sim.outlook import NEVER, Considered, Outlooks, Style, outlooks
from broker.sim.plans import SUITED, Whole
from broker.sim.view import Chance, PlayerView


class SimulatedPlayer(Struct, frozen=True):
    """A player at a seat. One of strength 1 always thinks; one of strength 0 never does."""

    strength: float
    chance: Chance
    style: Style = Style()


class Kong(NamedTuple):
    """A kong that may be made of the own tiles."""

    do: Literal["concealed_kong", "added_kong"]
    tile: int


class Claim(NamedTuple):
    """A set that may be made with a discard."""

    do: Literal["chow", "pung"]
    low: int
    """The lowest tile of a chow; NONE for a pung."""
    used: tuple[int, int]

    def meld(self, tile: int, source: int) -> TableMeld:
        """Return the set as it is laid down."""
        return TableMeld(self.do, tuple(KINDS[one] for one in sorted((tile, *self.used))), SEATS[source], KINDS[tile])

    def left(self, held: Whole) -> Whole:
        """Return what stays concealed, before the discard."""
        rest = held.copy()
        for used in self.used:
            rest[used] -= 1
        return rest


class Hold(NamedTuple):
    """A player holds a tile more, and discards one or makes a kong."""

    view: PlayerView
    kongs: Sequence[Kong]
    player: SimulatedPlayer


class Offer(NamedTuple):
    """A player may claim a discard."""

    view: PlayerView
    claims: Sequence[Claim]
    player: SimulatedPlayer


Choice = int | Kong | Claim | None
"""The tile that is discarded, a kong, a claim, or None if nothing is claimed."""


def choose(asked: Sequence[Hold | Offer]) -> list[Choice]:
    """Choose for all who are asked, each by what that player sees alone."""
    chosen: list[Choice] = [None] * len(asked)
    holds, offers = dict[int, Hold](), dict[int, Offer]()
    for at, one in enumerate(asked):
        thinks = one.player.chance.random() < one.player.strength
        if isinstance(one, Hold):
            if thinks:
                holds[at] = one
            else:
                chosen[at] = _careless_discard(one.view.held, one.view.melds)
        elif thinks:
            offers[at] = one
        else:
            chosen[at] = _careless_claim(one.view, one.claims)
    for at, hold in zip(holds, discards_or_kongs([*holds.values()]), strict=True):
        chosen[at] = hold
    for at, claim in zip(offers, best_claims([*offers.values()]), strict=True):
        chosen[at] = claim
    return chosen


def discards_or_kongs(holds: Sequence[Hold]) -> list[int | Kong]:
    """Aim at hands of 8 fan and more; weigh what others may wait for, and give up late what cannot be won."""
    if not holds:
        return []
    now = outlooks([Considered(view, view.held, view.melds, player.style) for view, _, player in holds])
    lost = [
        hopeless(hold.view, missing, good) for hold, missing, good in zip(holds, now.missing, now.sums, strict=True)
    ]
    found = [
        None if without else _best_kong(hold, now, at)
        for at, (hold, without) in enumerate(zip(holds, lost, strict=True))
    ]
    discarding = np.array([kong is None for kong in found])
    worth = _worth(holds, now, np.array(lost)) + _whims(holds, now.held > 0, discarding)
    worth[now.held == 0] = -np.inf
    best = worth == worth.max(axis=1)[:, None]
    tiles, ends = best.nonzero()[1].tolist(), best.sum(axis=1).cumsum().tolist()
    return [
        kong or safest(hold.view, tiles[start:end])
        for hold, kong, (start, end) in zip(holds, found, pairwise([0, *ends]), strict=True)
    ]


def _whims(holds: Sequence[Hold], held: NDArray[np.bool_], discarding: NDArray[np.bool_]) -> Whole:
    """Return by how much each discard is misjudged; who does not misjudge, or makes a kong, draws nothing."""
    whims = np.array([hold.player.style.whim for hold in holds])
    drawn = held & (discarding & (whims > 0))[:, None]
    noise = np.zeros(held.shape)
    lots = [
        hold.player.chance.random()
        for hold, number in zip(holds, drawn.sum(axis=1).tolist(), strict=True)
        for _ in range(number)
    ]
    noise[drawn] = -np.log(-np.log(np.minimum(np.maximum(lots, 1e-12), 1 - 1e-12)))
    noise *= whims[:, None]
    return noise


WIN, NO_WIN, DEAL_IN = 44.0, -12.0, -22.0
"""Points that a seat gets on average when it wins, when it does not, and when others win on its discard."""

LOGIT: Final = (-0.31, 0.53, 0.063)
"""The chance to win: alone, by the logarithm of the outlook's sum, by tiles left in the wall. Fitted as danger is."""


def _worth(holds: Sequence[Hold], now: Outlooks, lost: NDArray[np.bool_]) -> Whole:
    """Return what each discard is worth: expected points, or to who reads nobody how good the hand is without it."""
    worth: Whole = np.round(now.after / np.maximum(now.sums, NEVER)[:, None], 6)
    worth[lost] = 0
    if reading := [at for at, hold in enumerate(holds) if hold.player.style.reads]:
        alone, by_sum, by_wall = LOGIT
        walls = np.array([holds[at].view.own.wall for at in reading])
        logit = alone + by_sum * np.log(np.maximum(now.after[reading], NEVER)) + by_wall * walls[:, None]
        win = np.where(lost[reading][:, None], 0.0, 1 / (1 + np.exp(-logit)))
        danger = deal_in([holds[at].view for at in reading])
        worth[reading] = np.round((1 - danger) * (NO_WIN + (WIN - NO_WIN) * win) + danger * DEAL_IN, 4)
    return worth


def _best_kong(hold: Hold, now: Outlooks, at: int) -> Kong | None:
    """Return a kong with which the hand is as good as after any discard."""
    if not hold.kongs:
        return None
    good = float(now.sums[at])
    best = _relative(float(now.best_after()[at]), good)
    then = outlooks([_with_kong(hold, kong) for kong in hold.kongs]).sums.tolist()
    return next((kong for kong, sum_ in zip(hold.kongs, then, strict=True) if _relative(sum_, good) >= best), None)


def _with_kong(hold: Hold, kong: Kong) -> Considered:
    view, rest = hold.view, hold.view.held.copy()
    rest[kong.tile] = 0
    new = (TableMeld("kong", (KINDS[kong.tile],) * COPIES),) if kong.do == "concealed_kong" else ()
    return Considered(view, rest, (*view.melds, *new), hold.player.style)


def best_claims(offers: Sequence[Offer]) -> list[Claim | None]:
    """Claim where the hand is better with it, after the best discard, than without."""
    if not offers:
        return []
    considered = [Considered(view, view.held, view.melds, player.style) for view, _, player in offers]
    considered += [_with_claim(offer, claim) for offer in offers for claim in offer.claims]
    found = outlooks(considered)
    without, after, chosen = found.sums.tolist(), iter(found.best_after()[len(offers) :].tolist()), []
    for offer, good in zip(offers, without, strict=False):
        gains = [_relative(next(after), good) for _ in offer.claims]
        best = max(gains)
        chosen.append(offer.claims[gains.index(best)] if best > 1 else None)
    return chosen


def _with_claim(offer: Offer, claim: Claim) -> Considered:
    view = offer.view
    melds = (*view.melds, claim.meld(view.offered, view.turn))
    return Considered(view, claim.left(view.held), melds, offer.player.style)


def hopeless(view: PlayerView, missing: int, good: float) -> bool:
    """Return whether more tiles are missing than can still come: from the wall, and one claim in about three turns."""
    left = view.own.wall
    return missing > left + (left + 2) // 3 or not good


def safest(view: PlayerView, discards: Sequence[int]) -> int:
    """Return the discard that most others have passed lately, then the one of which most is seen."""
    if len(discards) == 1:
        return discards[0]
    latest = {tile for one in view.before for tile in one.river[-2:]}

    def safety(tile: int) -> tuple[bool, int, bool]:
        return tile in latest, min(int(view.shown[tile] + view.held[tile]), COPIES), tile >= SUITED

    return max(discards, key=safety)


def _relative(value: float, to: float) -> float:
    """Compare, rounded, so that what is equal is so on every machine, in whatever order it adds."""
    return round(value / to, 6) if to else math.inf if value else 0.0


Melds = tuple[TableMeld, ...]


def _careless_discard(held: Whole, melds: Melds) -> int:
    """Discard what leaves the fewest tiles missing."""
    return min(np.flatnonzero(held).tolist(), key=lambda tile: _missing_after(held, melds, tile))


def _careless_claim(view: PlayerView, claims: Sequence[Claim]) -> Claim | None:
    """Claim whatever brings the hand nearer."""
    now = _shape(view.held.tobytes(), view.melds)[0]
    missing, at = min((_missing_with(view, claim), at) for at, claim in enumerate(claims))
    return claims[at] if missing < now else None


def _missing_with(view: PlayerView, claim: Claim) -> int:
    rest, melds = claim.left(view.held), (*view.melds, claim.meld(view.offered, view.turn))
    return min(_missing_after(rest, melds, tile)[0] for tile in np.flatnonzero(rest).tolist())


def _missing_after(held: Whole, melds: Melds, tile: int) -> tuple[int, int]:
    """Return what is missing after a discard, and the fewer the better, how many kinds do not help."""
    rest = held.copy()
    rest[tile] -= 1
    return _shape(rest.tobytes(), melds)


@lru_cache(maxsize=20_000)
def _shape(held: bytes, melds: Melds) -> tuple[int, int]:
    concealed = tuple(KINDS[tile] for tile, count in enumerate(held) for _ in range(count))
    missing, helpful = shanten_and_useful(concealed, tuple(meld_from_table(meld) for meld in melds))
    return missing, -len(helpful)
