"""What of a hand that lies face down the camera has read, or why it cannot be counted as it lies. Pure."""

from itertools import accumulate, chain
from typing import Final, NamedTuple

from broker.rules.errors import RuleError
from broker.rules.said_hand import SaidHand
from kiosk.counting.as_said import AsSaid
from kiosk.sight import HandSight

Serials = tuple[tuple[int, ...], ...]

MOST_INDICATORS: Final = 5


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


class WithIndicators(NamedTuple):
    """A hand, and what lies in a row of its own under it: dora indicators, and apart from them those of under them."""

    groups: Serials
    hand: SaidHand
    dora: tuple[int, ...] = ()
    ura: tuple[int, ...] = ()


def with_indicators(sight: HandSight, said: AsSaid) -> WithIndicators:
    """Part a hand from the indicators under it: the hand has as few rows as make a whole one.

    Raises RuleError with the codes of `serials` and `sort_as_said`, or `indicators_unclear`.
    """
    groups = serials(sight)
    for end in accumulate(sight.rows):
        try:
            hand = said.sort(groups[:end])
        except RuleError:
            continue
        under = groups[end:]
        if len(under) > 2 or any(len(group) > MOST_INDICATORS for group in under):  # noqa: PLR2004 - dora and ura
            raise RuleError("indicators_unclear", f"{len(under)} groups lie under the hand, of at most 5 tiles each")
        return WithIndicators(groups[:end], hand, *under)
    return WithIndicators(groups, said.sort(groups))
