"""What a simulated player does: from a view, what is legal, a strength, and chance.

Everybody declares a hu that is one; that is not asked here.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from broker.protocol import SEATS
from broker.rules import COPIES, KINDS
from broker.rules.mcr import TableMeld, meld_from_table, shanten_and_useful
from broker.sim.danger import deal_in
from broker.sim.outlook import NEVER, Outlook, Style, outlook
from broker.sim.plans import SUITED, Whole
from broker.sim.view import Chance, PlayerView


class SimulatedPlayer(Struct, frozen=True):
    """A player at a seat. One of strength 1 always thinks; one of strength 0 never does."""

    strength: float
    chance: Chance
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
        """Return what stays concealed, before the discard."""
        rest = held.copy()
        for used in self.used:
            rest[used] -= 1
        return rest


def choose_hold(view: PlayerView, kongs: Sequence[Kong], player: SimulatedPlayer) -> int | Kong:
    """Choose a tile to discard, or a kong."""
    if player.chance.random() >= player.strength:
        return _careless_discard(view.held, view.melds)
    return discard_or_kong(view, kongs, player)


def choose_claim(view: PlayerView, claims: Sequence[Claim], player: SimulatedPlayer) -> Claim | None:
    """Choose one of some claims, or None to claim nothing."""
    if player.chance.random() >= player.strength:
        return _careless_claim(view, claims)
    return best_claim(view, claims, player.style)


def discard_or_kong(view: PlayerView, kongs: Sequence[Kong], player: SimulatedPlayer) -> int | Kong:
    """Aim at hands of 8 fan and more; weigh what others may wait for, and give up late what cannot be won."""
    style = player.style
    now = outlook(view, view.held, view.melds, style)
    discards = now.near.kinds
    lost = hopeless(view, now)
    if lost and not style.reads:
        return safest(view, discards)
    after = now.after_each_discard()
    best = 0.0 if lost or not kongs else _relative(float(after.max()), now.sum)
    for kong in () if lost else kongs:
        if _relative(_with_kong(view, kong, style), now.sum) >= best:
            return kong
    worth = _points(view, now.near.kinds, after, lost=lost) if style.reads else after / now.sum
    left = [round(one, 4 if style.reads else 6) for one in worth.tolist()]
    if style.whim:
        left = [one - style.whim * math.log(-math.log(_open(player.chance))) for one in left]
    best = max(left)
    return safest(view, [tile for tile, value in zip(discards, left, strict=True) if value == best])


def _open(chance: Chance) -> float:
    return min(max(chance.random(), 1e-12), 1 - 1e-12)


WIN, NO_WIN, DEAL_IN = 44.0, -12.0, -22.0
"""Points that a seat gets on average when it wins, when it does not, and when others win on its discard."""

LOGIT: Final = (-0.31, 0.53, 0.063)
"""The chance to win: alone, by the logarithm of the outlook's sum, by tiles left in the wall. Fitted as danger is."""


def _points(view: PlayerView, kinds: Sequence[int], after: Whole, *, lost: bool) -> Whole:
    """Return for some kinds the points to expect once one of them is discarded."""
    alone, by_sum, by_wall = LOGIT
    logit = alone + by_sum * np.log(np.maximum(after, NEVER)) + by_wall * view.own.wall
    win = np.zeros(len(after)) if lost else 1 / (1 + np.exp(-logit))
    danger = deal_in(view)[kinds]
    points: Whole = (1 - danger) * (NO_WIN + (WIN - NO_WIN) * win) + danger * DEAL_IN
    return points


def _with_kong(view: PlayerView, kong: Kong, style: Style) -> float:
    rest = view.held.copy()
    rest[kong.tile] = 0
    new = (TableMeld("kong", (KINDS[kong.tile],) * COPIES),) if kong.do == "concealed_kong" else ()
    return outlook(view, rest, (*view.melds, *new), style).sum


def best_claim(view: PlayerView, claims: Sequence[Claim], style: Style) -> Claim | None:
    """Claim where the hand is better with it, after the best discard, than without."""
    without = outlook(view, view.held, view.melds, style).sum
    gains = [_relative(_with_claim(view, claim, style), without) for claim in claims]
    best = max(gains)
    return claims[gains.index(best)] if best > 1 else None


def _with_claim(view: PlayerView, claim: Claim, style: Style) -> float:
    rest = claim.left(view.held)
    then = outlook(view, rest, (*view.melds, claim.meld(view.offered, view.turn)), style)
    return float(then.after_each_discard().max())


def hopeless(view: PlayerView, now: Outlook) -> bool:
    """Return whether more tiles are missing than can still come: from the wall, and one claim in about three turns."""
    left = view.own.wall
    return now.near.missing > left + (left + 2) // 3 or not now.sum


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
