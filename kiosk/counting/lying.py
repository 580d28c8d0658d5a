"""From what the camera sees of a hand to the hand itself, or why it cannot be counted as it lies. Pure."""

from itertools import chain

from broker.rules.errors import RuleError
from broker.rules.laid_hand import LaidHand, sort_out
from kiosk.sight import HandSight, Winner

Serials = tuple[tuple[int, ...], ...]


def serials(sight: HandSight) -> Serials:
    """Give the serials by groups.

    Raises RuleError `hand_not_seen`, `hand_face_up`, `hand_foreign` or `hand_unread`.
    """
    tiles = [*chain.from_iterable(sight.groups)]
    if not tiles:
        raise RuleError("hand_not_seen", "no tile is in view")
    if any(tile.face_up for tile in tiles):
        raise RuleError("hand_face_up", "a tile lies face up")
    if any(tile.foreign for tile in tiles):
        raise RuleError("hand_foreign", "a tile of another set lies there")
    if any(tile.serial is None for tile in tiles):
        raise RuleError("hand_unread", "a tile could not be read")
    return tuple(tuple(tile.serial or 0 for tile in group) for group in sight.groups)


def hand_of(sight: HandSight, winner: Winner) -> LaidHand:
    """Give the hand. Raises RuleError with the codes of `serials` and `sort_out`."""
    return sort_out(serials(sight), winner.play.order, winner.seat)
