"""The choices of simulated players, from a view, the legal options, a strength, and a random source.

Players of many plays choose at once, which is much faster; no choice depends on who else is choosing. Every winning hu
is declared, so that is not a choice here.

How likely a discard is to be what an opponent waits for is estimated from what lies open (`deal_in`), by a logistic
model of whether a tile would complete an opponent's hand of 8 fan, fitted to 530,000 discards that simulated players
could have made (McFadden's R² 0.19). It agrees with the experience of club players: an opponent who has melds and has
drawn often is near to winning; tiles in that player's river, or just passed, are safe; honours and terminals are safer;
so is a tile of which few copies are left.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from math import exp
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from broker.protocol import SEATS
from broker.rules import COPIES, KINDS
from broker.rules.mcr import WALL, TableMeld, meld_from_table, shanten_and_useful
from broker.sim.outlook import EPSILON, Considered, Outlooks, Style, outlooks
from broker.sim.plans import CHOWS, NONE, SUITED, Whole
from broker.sim.view import OpenSeat, PlayerView, Rng, stacked


class SimulatedPlayer(Struct, frozen=True):
    """A player at a seat. With strength 1 the player always thinks, with strength 0 never."""

    strength: float
    rng: Rng
    style: Style = Style()


class Kong(NamedTuple):
    """A kong that may be made of the player's own tiles."""

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
        """Return the concealed tiles after the claim, before the discard."""
        rest = held.copy()
        for used in self.used:
            rest[used] -= 1
        return rest


class Hold(NamedTuple):
    """A player holds an extra tile, and discards one or makes a kong."""

    view: PlayerView
    kongs: Sequence[Kong]
    player: SimulatedPlayer


class Offer(NamedTuple):
    """A player may claim a discard."""

    view: PlayerView
    claims: Sequence[Claim]
    player: SimulatedPlayer


Choice = int | Kong | Claim | None
"""A tile to discard, a kong, a claim, or None if nothing is claimed."""


def choose(questions: Sequence[Hold | Offer]) -> list[Choice]:
    """Return all players' choices, each made from that player's own view."""
    chosen: list[Choice] = [None] * len(questions)
    holds, offers = dict[int, Hold](), dict[int, Offer]()
    for at, one in enumerate(questions):
        thinks = one.player.rng.random() < one.player.strength
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
    """Return discards and kongs, aiming at hands of 8 fan and more while considering danger and hopeless hands."""
    if not holds:
        return []
    now = outlooks([Considered(view, view.held, view.melds, player.style) for view, _, player in holds])
    lost = [
        hopeless(hold.view, missing, good) for hold, missing, good in zip(holds, now.missing, now.sums, strict=True)
    ]
    found = [
        None if is_lost else _best_kong(hold, now, at)
        for at, (hold, is_lost) in enumerate(zip(holds, lost, strict=True))
    ]
    discarding = np.array([kong is None for kong in found])
    worth = _worth(holds, now, np.array(lost)) + _misjudgements(holds, now.held > 0, discarding)
    worth[now.held == 0] = -np.inf
    best = worth == worth.max(axis=1)[:, None]
    tiles, ends = best.nonzero()[1].tolist(), best.sum(axis=1).cumsum().tolist()
    return [
        kong or safest(hold.view, tiles[start:end])
        for hold, kong, (start, end) in zip(holds, found, pairwise([0, *ends]), strict=True)
    ]


def _misjudgements(holds: Sequence[Hold], held: NDArray[np.bool_], discarding: NDArray[np.bool_]) -> Whole:
    """Return the misjudgement of each discard. Players without it, or who make a kong, draw no random numbers."""
    scales = np.array([hold.player.style.misjudgement for hold in holds])
    drawn = held & (discarding & (scales > 0))[:, None]
    noise = np.zeros(held.shape)
    draws = [
        hold.player.rng.random()
        for hold, number in zip(holds, drawn.sum(axis=1).tolist(), strict=True)
        for _ in range(number)
    ]
    noise[drawn] = -np.log(-np.log(np.minimum(np.maximum(draws, 1e-12), 1 - 1e-12)))
    noise *= scales[:, None]
    return noise


WIN, NO_WIN, DEAL_IN = 44.0, -12.0, -22.0
"""A seat's average points when it wins, when it does not, and when others win on its discard."""

LOGIT: Final = (-0.31, 0.53, 0.063)
"""The chance to win: constant, by the logarithm of the hand's value, by the tiles left. Fitted as `deal_in` is."""


def _worth(holds: Sequence[Hold], now: Outlooks, lost: NDArray[np.bool_]) -> Whole:
    """Return the value of each discard: expected points, or for players who do not read, how good the hand stays."""
    worth: Whole = np.round(now.after / np.maximum(now.sums, EPSILON)[:, None], 6)
    worth[lost] = 0
    if reading := [at for at, hold in enumerate(holds) if hold.player.style.reads]:
        alone, by_sum, by_wall = LOGIT
        walls = np.array([holds[at].view.own.wall for at in reading])
        logit = alone + by_sum * np.log(np.maximum(now.after[reading], EPSILON)) + by_wall * walls[:, None]
        win = np.where(lost[reading][:, None], 0.0, 1 / (1 + np.exp(-logit)))
        danger = deal_in([holds[at].view for at in reading])
        worth[reading] = np.round((1 - danger) * (NO_WIN + (WIN - NO_WIN) * win) + danger * DEAL_IN, 4)
    return worth


def _best_kong(hold: Hold, now: Outlooks, at: int) -> Kong | None:
    """Return a kong that leaves the hand as good as the best discard does, if there is one."""
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
    """Return for each offer the claim that most improves the hand after its best discard, or None."""
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
    """Return whether a hand lacks more tiles than can come from the wall and by a claim in about every third turn."""
    left = view.own.wall
    return missing > left + (left + 2) // 3 or not good


def safest(view: PlayerView, discards: Sequence[int]) -> int:
    """Return the safest discard: one just discarded by anybody, then the one of which most copies are visible."""
    if len(discards) == 1:
        return discards[0]
    latest = {tile for one in view.before for tile in one.river[-2:]}

    def safety(tile: int) -> tuple[bool, int, bool]:
        return tile in latest, min(int(view.shown[tile] + view.held[tile]), COPIES), tile >= SUITED

    return max(discards, key=safety)


def _relative(value: float, to: float) -> float:
    """Compare two values, rounded so that equal ones are equal on every machine, whatever the order of summation."""
    return round(value / to, 6) if to else math.inf if value else 0.0


Melds = tuple[TableMeld, ...]


def _careless_discard(held: Whole, melds: Melds) -> int:
    """Return the discard that leaves the fewest tiles missing."""
    return min(np.flatnonzero(held).tolist(), key=lambda tile: _missing_after(held, melds, tile))


def _careless_claim(view: PlayerView, claims: Sequence[Claim]) -> Claim | None:
    """Return the claim that brings the hand nearest to complete, if any brings it nearer."""
    now = _shape(view.held.tobytes(), view.melds)[0]
    missing, at = min((_missing_with(view, claim), at) for at, claim in enumerate(claims))
    return claims[at] if missing < now else None


def _missing_with(view: PlayerView, claim: Claim) -> int:
    rest, melds = claim.left(view.held), (*view.melds, claim.meld(view.offered, view.turn))
    return min(_missing_after(rest, melds, tile)[0] for tile in np.flatnonzero(rest).tolist())


def _missing_after(held: Whole, melds: Melds, tile: int) -> tuple[int, int]:
    """Return the number of tiles missing after a discard, then minus the number of kinds that help."""
    rest = held.copy()
    rest[tile] -= 1
    return _shape(rest.tobytes(), melds)


@lru_cache(maxsize=20_000)
def _shape(held: bytes, melds: Melds) -> tuple[int, int]:
    concealed = tuple(KINDS[tile] for tile, count in enumerate(held) for _ in range(count))
    missing, helpful = shanten_and_useful(concealed, tuple(meld_from_table(meld) for meld in melds))
    return missing, -len(helpful)


ALONE: Final = -8.77
MELDS: Final = (0.0, 0.62, 1.24, 1.76, 1.76)
TURN, TURN_SQUARED = 6.25, -1.65
"""For each ten tiles drawn, and for the square of that."""

BY_LEFT: Final = np.array([-1.73, -0.78, -0.37, 0.0])
"""By how many more copies of the tile the player has not seen."""

IN_RIVER: Final = -2.83
PASSED: Final = -1.62
"""For a tile that was somebody's last discard and that nobody won on."""

SHARE: Final = -0.43
"""For an opponent's river that is entirely of the tile's suit."""

FLUSH: Final = 0.35, -0.42
"""For two melds or more, all of one suit: if the tile is of that suit, and if it is of another."""

FLUSH_MELDS: Final = 2


def _by_kind() -> Whole:
    logit = np.zeros(len(KINDS))
    for suit in range(0, SUITED, 9):
        logit[[suit, suit + 8]], logit[[suit + 1, suit + 7]] = -0.61, -0.32
    logit[SUITED:] = -0.78
    return logit


BY_KIND: Final = _by_kind()
HONOURS: Final = 3
"""The index of honours among the suits."""

SUIT_OF: Final = np.arange(len(KINDS)) // 9
"""The suit of each column."""


ODDS: Final = np.exp(ALONE + BY_KIND[:, None] + BY_LEFT.take([3, 3, 2, 1, 0]))
"""34 x 5: the odds that a kind wins, by how many the player sees, before factors for the individual opponents."""

_ROWS: Final = np.arange(0, ODDS.size, ODDS.shape[1])
OPPONENTS: Final = 3
_JUST_PASSED: Final = exp(PASSED)


def deal_in(views: Sequence[PlayerView]) -> Whole:
    """Return for each view the probability that some opponent wins on a kind: views x 34."""
    seen = stacked([view.shown for view in views]) + stacked([view.held for view in views])
    odds: Whole = ODDS.take(_ROWS + seen)
    passed = [(row, one.river[-1]) for row, view in enumerate(views) for one in view.before if one.river]
    just_passed = np.zeros(odds.shape, dtype=np.bool_)
    if passed:
        just_passed[tuple(np.array(passed).T)] = True
    odds[just_passed] *= _JUST_PASSED
    opponents = [one for view in views for seat, one in enumerate(view.before) if seat != view.seat]
    no: Whole = 1 + odds[:, None] * _of_opponents(opponents).reshape(len(views), OPPONENTS, len(KINDS))
    some: Whole = 1 - 1 / no.prod(axis=1)
    return some


def _of_opponents(opponents: Sequence[OpenSeat]) -> Whole:
    """Return the factor for the odds of each kind, from what lies before each opponent."""
    turn = (WALL - np.array([one.wall for one in opponents])) / 10
    alone = np.array([MELDS[len(one.sets)] for one in opponents]) + TURN * turn + TURN_SQUARED * turn**2
    lengths = [len(one.river) for one in opponents]
    row = np.arange(len(opponents)).repeat(lengths)
    tile = np.fromiter(chain.from_iterable(one.river for one in opponents), dtype=np.intp, count=len(row))
    suits = np.bincount(row * 4 + SUIT_OF[tile], minlength=4 * len(opponents)).reshape(-1, 4)
    shares = suits / np.maximum(lengths, 1)[:, None]
    shares[:, HONOURS] = 0
    logit: Whole = alone[:, None] + (SHARE * shares).take(SUIT_OF, axis=1)
    in_river = np.zeros(logit.shape, dtype=np.bool_)
    in_river[row, tile] = True
    logit[in_river] += IN_RIVER
    for at, one in enumerate(opponents):
        if len(one.sets) >= FLUSH_MELDS and (suit := _flush(one.sets)) is not None:
            same, other = FLUSH
            logit[at, :SUITED] += np.where(SUIT_OF[:SUITED] == suit, same, other)
    odds: Whole = np.exp(logit)
    return odds


@lru_cache(maxsize=4096)
def _flush(sets: tuple[int, ...]) -> int | None:
    """Return the suit that all visible melds have in common, or None."""
    suits = {_suit(number) for number in sets if number != NONE}
    return suits.pop() if len(suits) == 1 and HONOURS not in suits else None


def _suit(number: int) -> int:
    return number // 7 if number < CHOWS else int(SUIT_OF[number - CHOWS])
