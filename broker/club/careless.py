"""What a player does without a thought of 8 fan: brings the hand nearer to any winning shape."""

from collections.abc import Sequence
from functools import lru_cache

from broker.club.claim import claimed, without
from broker.club.view import View
from broker.rules.fan.declared import meld_of
from broker.rules.fan.shanten import nearest
from broker.rules.referee.actions import Action
from broker.rules.referee.hand import Meld

Melds = tuple[Meld, ...]


def careless(view: View, legal: Sequence[Action]) -> Action | None:
    """Discard what leaves the fewest tiles missing; claim whatever brings the hand nearer."""
    discards = [action for action in legal if action.do == "discard"]
    if discards:
        return min(discards, key=lambda action: _after(view.concealed, view.own.melds, action.tile or ""))
    claims = [action for action in legal if action.do in ("chow", "pung")]
    if not claims:
        return None
    now = _shape(tuple(sorted(view.concealed)), view.own.melds)[0]
    missing, at = min((_with(view, claim), at) for at, claim in enumerate(claims))
    return claims[at] if missing < now else None


def _with(view: View, claim: Action) -> int:
    concealed, meld = claimed(view, claim)
    return min(_after(concealed, (*view.own.melds, meld), tile)[0] for tile in set(concealed))


def _after(concealed: tuple[str, ...], melds: Melds, tile: str) -> tuple[int, int]:
    """Give what is missing after a discard, and the fewer the better, how many kinds do not help."""
    return _shape(tuple(sorted(without(concealed, (tile,)))), melds)


@lru_cache(maxsize=20_000)
def _shape(concealed: tuple[str, ...], melds: Melds) -> tuple[int, int]:
    missing, helpful = nearest(concealed, tuple(meld_of(meld) for meld in melds))
    return missing, -len(helpful)
