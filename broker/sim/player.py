"""What a simulated player does: from a view, what is legal, a strength, and chance.

How good a hand is: the plans that it is near, each weighed by the chance that it still comes about. A plan's weight is
the product, over the tiles that it lacks, of the chance to get one: the copies unseen times `reach`, about the share of
all unseen tiles that the player will still meet in time. The sum over plans measures a hand; it is no probability, but
it grows with every way to win and with how near it is.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from broker.protocol import SEATS
from broker.rules import COPIES, KINDS
from broker.rules.mcr import CHOWS, Action, MeldKind, TableMeld, meld_from_table, shanten_and_useful, tiles_left
from broker.sim.plans import COLUMN, NONE, TILES_OF, Plans, Whole, all_pungs, count_columns, plans, set_of, seven_pairs
from broker.sim.view import Chance, PlayerView

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


class PlanColumns(NamedTuple):
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


def outlook(view: PlayerView, concealed: tuple[str, ...], melds: tuple[TableMeld, ...]) -> Outlook:
    """Weigh the plans near some tiles of the player's."""
    held, unseen = count_columns(concealed), np.array(view.unseen)
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


def _sources(view: PlayerView, melds: tuple[TableMeld, ...], held: Whole) -> list[PlanColumns]:
    melded = tuple(sorted(set_of(meld) for meld in melds))
    winds = (SEATS.index(view.seat_wind), SEATS.index(view.prevalent_wind))
    known = PlanColumns(_plans_with_melds(melded).tiles, _counts_for(melded, winds, claimed=_has_claimed(melds)))
    return [known, PlanColumns(*all_pungs(held, melds)), PlanColumns(*seven_pairs(held, melds))]


def _has_claimed(melds: tuple[TableMeld, ...]) -> bool:
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
def _plans_with_melds(melded: tuple[int, ...]) -> Plans:
    """Return the plans that have these melds: what they still ask of the concealed tiles, and their other sets."""
    if not melded:
        return plans()
    tiles, sets, value, winds = _plans_with_melds(melded[:-1])
    at = np.flatnonzero((sets == melded[-1]).any(axis=0))
    place = (sets[:, at] == melded[-1]).argmax(axis=0)
    others = sets[:, at]
    others[place, np.arange(len(at))] = NONE
    return Plans(tiles[:, at] - TILES_OF[melded[-1]][:, None], others, value[at], winds[at])


@lru_cache(maxsize=1024)
def _counts_for(melded: tuple[int, ...], winds: tuple[int, int], *, claimed: bool) -> Whole:
    """Return what each of these plans counts for, with what pungs of the seat's and the round's wind are worth."""
    own, of_round = winds
    there = _plans_with_melds(melded)
    pung_of_own, pung_of_round = (there.winds >> own) & 1, (there.winds >> of_round) & 1
    beyond = pung_of_own + pung_of_round + (pung_of_own if own == of_round else 0)
    counts_for: Whole = (OPEN if claimed else CLOSED)[there.value + beyond]
    return counts_for


def after_each_discard(view: Outlook, held: Whole) -> Whole:
    """Return for each kind how good the hand is without one of it; what is not held changes nothing."""
    asked = (view.tiles >= held) & (held > 0)
    lost = view.weight @ asked
    kept: Whole = view.sum - lost * (1 - view.chance)
    return kept


def after_claim(view: PlayerView, claim: Action) -> tuple[tuple[str, ...], TableMeld]:
    """Return what stays concealed after a chow or pung, before the discard, and the meld."""
    tile = view.offered
    meld = sorted((tile, *(CHOWS[tile][claim.tile or ""] if claim.do == "chow" else (tile, tile))))
    kind: MeldKind = "chow" if claim.do == "chow" else "pung"
    used = list(meld)
    used.remove(tile)
    return tiles_left(view.concealed, used), TableMeld(kind, tuple(meld), view.turn, tile)


Melds = tuple[TableMeld, ...]


def careless(view: PlayerView, legal: Sequence[Action]) -> Action | None:
    """Discard what leaves the fewest tiles missing; claim whatever brings the hand nearer."""
    discards = [action for action in legal if action.do == "discard"]
    if discards:
        return min(discards, key=lambda action: _missing_after(view.concealed, view.own.melds, action.tile or ""))
    claims = [action for action in legal if action.do in ("chow", "pung")]
    if not claims:
        return None
    now = _shape(tuple(sorted(view.concealed)), view.own.melds)[0]
    missing, at = min((_missing_with(view, claim), at) for at, claim in enumerate(claims))
    return claims[at] if missing < now else None


def _missing_with(view: PlayerView, claim: Action) -> int:
    concealed, meld = after_claim(view, claim)
    return min(_missing_after(concealed, (*view.own.melds, meld), tile)[0] for tile in set(concealed))


def _missing_after(concealed: tuple[str, ...], melds: Melds, tile: str) -> tuple[int, int]:
    """Return what is missing after a discard, and the fewer the better, how many kinds do not help."""
    return _shape(tuple(sorted(tiles_left(concealed, (tile,)))), melds)


@lru_cache(maxsize=20_000)
def _shape(concealed: tuple[str, ...], melds: Melds) -> tuple[int, int]:
    missing, helpful = shanten_and_useful(concealed, tuple(meld_from_table(meld) for meld in melds))
    return missing, -len(helpful)


def hopeless(view: PlayerView, now: Outlook) -> bool:
    """Return whether more tiles are missing than can still come: the own wall, and about one claim in three turns."""
    left = view.own.wall
    return now.missing > left + (left + 2) // 3 or not now.sum


def safest(view: PlayerView, discards: Sequence[Action]) -> Action:
    """Return the discard that most others have passed lately, then the one of which most is seen."""
    latest = {tile for one in view.before for tile in one.river[-2:]}

    def safety(action: Action) -> tuple[bool, int, bool]:
        tile = action.tile or ""
        seen = view.shown[tile] + view.concealed.count(tile)
        return tile in latest, min(seen, COPIES), tile[1] == "z"

    return max(discards, key=safety)


def choose_action(view: PlayerView, legal: Sequence[Action], strength: float, chance: Chance) -> Action | None:
    """Choose one of the legal actions, or None to claim nothing.

    A player of strength 1 always thinks; one of strength 0 never does. Everybody declares a hu that is one.
    """
    if not legal:
        return None
    if legal[0].do in ("self_hu", "hu_on_discard", "draw"):
        return legal[0]
    return sensible(view, legal) if chance.random() < strength else careless(view, legal)


def sensible(view: PlayerView, legal: Sequence[Action]) -> Action | None:
    """Aim at hands of 8 fan and more; give up late what cannot be won any more, and discard what is safe."""
    if view.phase == "hold":
        return _choose_discard(view, legal)
    return _choose_claim(view, legal)


def _choose_discard(view: PlayerView, legal: Sequence[Action]) -> Action:
    now = outlook(view, view.concealed, view.own.melds)
    discards = [action for action in legal if action.do == "discard"]
    if hopeless(view, now):
        return safest(view, discards)
    after = after_each_discard(now, count_columns(view.concealed))
    left = [_relative(float(after[COLUMN[action.tile or ""]]), now.sum) for action in discards]
    best = max(left)
    for kong in legal:
        if kong.do.endswith("kong") and _relative(_with_kong(view, kong), now.sum) >= best:
            return kong
    return safest(view, [action for action, value in zip(discards, left, strict=True) if value == best])


def _with_kong(view: PlayerView, kong: Action) -> float:
    tile = kong.tile or ""
    rest = tuple(one for one in view.concealed if one != tile)
    new = (TableMeld("kong", (tile,) * 4),) if kong.do == "concealed_kong" else ()
    return outlook(view, rest, (*view.own.melds, *new)).sum


def _choose_claim(view: PlayerView, legal: Sequence[Action]) -> Action | None:
    """Claim where the hand is better with it, after the best discard, than without."""
    claims = [action for action in legal if action.do in ("chow", "pung")]
    if not claims:
        return None
    without = outlook(view, view.concealed, view.own.melds).sum
    gains = [_relative(_with_claim(view, claim), without) for claim in claims]
    best = max(gains)
    return claims[gains.index(best)] if best > 1 else None


def _with_claim(view: PlayerView, claim: Action) -> float:
    concealed, meld = after_claim(view, claim)
    then = outlook(view, concealed, (*view.own.melds, meld))
    held = count_columns(concealed)
    return float(after_each_discard(then, held)[held > 0].max())


def _relative(value: float, to: float) -> float:
    """Compare, rounded, so that what is equal is so on every machine, in whatever order it adds."""
    return round(value / to, 6) if to else math.inf if value else 0.0
