"""Whether a hand can have won as it is said: the rules of the situation fan, before they are counted."""

from broker.rules.errors import RuleError
from broker.rules.fan.hand import Hand, Situation, held_of_each


def check(hand: Hand, situation: Situation) -> None:
    """Raise RuleError where the hand contradicts the situation.

    `not_last_of_kind`, `replacement_without_kong`, `robbed_on_last_tile`, `kong_not_robbed`.

    The library drops such flags silently, and a judge would never know that what was said cannot be.
    """
    tile = hand.winning_tile
    if situation.last_of_kind and tile in hand.concealed:
        raise RuleError("not_last_of_kind", f"the winner holds another {tile}, so not all three others lie open")
    if situation.kong and situation.self_drawn:
        # It may be the last tile, too: the turn that reaches it may have come by claiming the kong (OEDMC, LTW).
        if all(meld.kind != "kong" for meld in hand.melds):
            raise RuleError("replacement_without_kong", "a replacement tile is drawn after a kong, and there is none")
    elif situation.kong:
        # A kong is robbed of the tile that its owner adds to a melded pung: all four are accounted for.
        if situation.last_tile:
            raise RuleError(
                "robbed_on_last_tile", "no kong is declared in the last tile of the wall, so none is robbed"
            )
        if held_of_each(hand.concealed, hand.melds)[tile]:
            raise RuleError("kong_not_robbed", f"the winner has another {tile}, so nobody makes a kong of it")
