"""What a player does: from a view, what is legal, a strength, and chance."""

import math
from collections.abc import Sequence

from broker.club.careless import careless
from broker.club.chance import Chance
from broker.club.claim import claimed
from broker.club.outlook import after_each_discard, outlook
from broker.club.safety import hopeless, safest
from broker.club.sets import AT, counted
from broker.club.view import View
from broker.rules.referee.actions import Action
from broker.rules.referee.hand import Meld


def choose(view: View, legal: Sequence[Action], strength: float, chance: Chance) -> Action | None:
    """Choose one of the legal actions, or None to claim nothing.

    A player of strength 1 always thinks; one of strength 0 never does. Everybody declares a hu that is one.
    """
    if not legal:
        return None
    if legal[0].do in ("self_hu", "hu_on_discard", "draw"):
        return legal[0]
    return sensible(view, legal) if chance.random() < strength else careless(view, legal)


def sensible(view: View, legal: Sequence[Action]) -> Action | None:
    """Aim at hands of 8 fan and more; give up late what cannot be won any more, and discard what is safe."""
    if view.phase == "hold":
        return _held(view, legal)
    return _claimed(view, legal)


def _held(view: View, legal: Sequence[Action]) -> Action:
    now = outlook(view, view.concealed, view.own.melds)
    discards = [action for action in legal if action.do == "discard"]
    if hopeless(view, now):
        return safest(view, discards)
    after = after_each_discard(now, counted(view.concealed))
    left = [_relative(float(after[AT[action.tile or ""]]), now.sum) for action in discards]
    best = max(left)
    for kong in legal:
        if kong.do.endswith("kong") and _relative(_with_kong(view, kong), now.sum) >= best:
            return kong
    return safest(view, [action for action, value in zip(discards, left, strict=True) if value == best])


def _with_kong(view: View, kong: Action) -> float:
    tile = kong.tile or ""
    rest = tuple(one for one in view.concealed if one != tile)
    new = (Meld("kong", (tile,) * 4),) if kong.do == "concealed_kong" else ()
    return outlook(view, rest, (*view.own.melds, *new)).sum


def _claimed(view: View, legal: Sequence[Action]) -> Action | None:
    """Claim where the hand is better with it, after the best discard, than without."""
    claims = [action for action in legal if action.do in ("chow", "pung")]
    if not claims:
        return None
    without = outlook(view, view.concealed, view.own.melds).sum
    gains = [_relative(_with_claim(view, claim), without) for claim in claims]
    best = max(gains)
    return claims[gains.index(best)] if best > 1 else None


def _with_claim(view: View, claim: Action) -> float:
    concealed, meld = claimed(view, claim)
    then = outlook(view, concealed, (*view.own.melds, meld))
    held = counted(concealed)
    return float(after_each_discard(then, held)[held > 0].max())


def _relative(value: float, to: float) -> float:
    """Compare, rounded, so that what is equal is so on every machine, in whatever order it adds."""
    return round(value / to, 6) if to else math.inf if value else 0.0
