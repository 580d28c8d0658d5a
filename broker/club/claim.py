"""What a claim makes of a hand."""

from collections.abc import Sequence

from broker.club.view import View
from broker.rules.referee.actions import Action
from broker.rules.referee.hand import Meld, MeldKind
from broker.rules.referee.options import CHOWS


def claimed(view: View, claim: Action) -> tuple[tuple[str, ...], Meld]:
    """Give what stays concealed after a chow or pung, before the discard, and the meld."""
    tile = view.offered
    meld = sorted((tile, *(CHOWS[tile][claim.tile or ""] if claim.do == "chow" else (tile, tile))))
    kind: MeldKind = "chow" if claim.do == "chow" else "pung"
    used = list(meld)
    used.remove(tile)
    return without(view.concealed, used), Meld(kind, tuple(meld), view.turn, tile)


def without(concealed: Sequence[str], used: Sequence[str]) -> tuple[str, ...]:
    """Take tiles out of a hand."""
    left = list(concealed)
    for tile in used:
        left.remove(tile)
    return tuple(left)
