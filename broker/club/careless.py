"""What a player does whose thoughts are elsewhere."""

from collections.abc import Sequence

from broker.club.chance import Chance
from broker.rules.referee.actions import Action


def careless(legal: Sequence[Action], chance: Chance) -> Action | None:
    """Discard any tile, and let what others discard pass."""
    discards = [action for action in legal if action.do == "discard"]
    return discards[int(chance.random() * len(discards))] if discards else None
