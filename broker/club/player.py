"""What a player does: from a view, what is legal, a strength, and chance."""

from collections.abc import Sequence

import numpy as np

from broker.club.careless import careless
from broker.club.chance import Chance
from broker.club.claim import claimed
from broker.club.outlook import Outlook, after_each_discard, outlook
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
    return sensible(view, legal) if chance.random() < strength else careless(legal, chance)


def sensible(view: View, legal: Sequence[Action]) -> Action | None:
    """Aim at hands of 8 fan and more; give up late what cannot be won any more, and discard what is safe."""
    if view.phase == "hold":
        return _held(view, legal)
    return _claimed(view, legal)


def _held(view: View, legal: Sequence[Action]) -> Action:
    now = outlook(view, view.concealed, view.own.melds)
    kinds = [AT[action.tile or ""] for action in legal if action.do == "discard"]
    after = after_each_discard(now, counted(view.concealed))
    if hopeless(view, now):
        return safest(view, [action for action in legal if action.do == "discard"])
    best = float(max(after[kinds]))
    for kong in legal:
        if kong.do.endswith("kong") and _with_kong(view, kong) > best:
            return kong
    return _best_discard(view, legal, after / best if best else after)


def _best_discard(view: View, legal: Sequence[Action], after: object) -> Action:
    """Of discards that are as good as each other, choose the safest; rounded, so that no machine sees another order."""
    values = np.round(np.asarray(after), 6)
    discards = [action for action in legal if action.do == "discard"]
    best = max(values[AT[action.tile or ""]] for action in discards)
    return safest(view, [action for action in discards if values[AT[action.tile or ""]] == best])


def _with_kong(view: View, kong: Action) -> float:
    tile = kong.tile or ""
    rest = tuple(one for one in view.concealed if one != tile)
    if kong.do == "concealed_kong":
        return outlook(view, rest, (*view.own.melds, Meld("kong", (tile,) * 4)), drawn=1).sum
    return outlook(view, rest, view.own.melds, drawn=1).sum


def _claimed(view: View, legal: Sequence[Action]) -> Action | None:
    """Claim where the hand is better with it, after the best discard, than without."""
    claims = [action for action in legal if action.do in ("chow", "pung")]
    if not claims:
        return None
    without = outlook(view, view.concealed, view.own.melds).sum
    valued = [(round(_with_claim(view, claim), 12), claim) for claim in claims]
    value, best = max(valued, key=lambda one: one[0])
    return best if value > without else None


def _with_claim(view: View, claim: Action) -> float:
    concealed, meld = claimed(view, claim)
    then: Outlook = outlook(view, concealed, (*view.own.melds, meld))
    held = counted(concealed)
    return float(after_each_discard(then, held)[held > 0].max())

